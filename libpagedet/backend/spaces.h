/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tells the address spaces of tasks apart. Two processes may have the same one
 * (vfork, clone with CLONE_VM): what it maps, the kernel counts once.
 */
#ifndef PDET_BACKEND_SPACES_H
#define PDET_BACKEND_SPACES_H

#include "backend/backend.h"

struct pdet_task_space {
	uint64_t number, key;	/* as in struct pdet_task */
	uint32_t thread;
};

/* Zero it first. Its owner locks it. */
struct pdet_spaces {
	struct pdet_task_space *data;
	size_t n, cap;
	uint32_t with;		/* after PDET_SPACE_SHARED: the thread that has
				 * it, too */
	struct {
		uint64_t *data;
		size_t n, cap;
	} lost;			/* keys of those that cannot be compared any
				 * more; 0: one whose key is not known */
};

enum pdet_space_is {
	PDET_SPACE_NEW,		/* none of the tasks before has it */
	PDET_SPACE_SHARED,	/* one of them has it */
	PDET_SPACE_UNSURE	/* it is not known which of these */
};

/* pdet_spaces_may_have - whether one of these is that of the task, as far as it
 * is known: false only if none is. */
bool pdet_spaces_may_have(struct pdet_spaces *spaces, struct pdet_session *s,
			  const struct pdet_task *task);

/* pdet_spaces_add - returns an enum pdet_space_is, or -ENOMEM. */
int pdet_spaces_add(struct pdet_spaces *spaces, struct pdet_session *s,
		    const struct pdet_task *task);

/*
 * pdet_spaces_remain - whether each of these tasks still has its address space.
 * If not, whether a later one shares it cannot be found out.
 */
bool pdet_spaces_remain(const struct pdet_spaces *spaces,
			struct pdet_session *s);

/* pdet_spaces_empty - forgets all. */
void pdet_spaces_empty(struct pdet_spaces *spaces);

void pdet_spaces_free(struct pdet_spaces *spaces);

#endif
