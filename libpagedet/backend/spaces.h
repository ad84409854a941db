/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tells the address spaces of tasks apart. Two processes may have the same one
 * (vfork, clone with CLONE_VM): what it maps, the kernel counts once.
 */
#ifndef PDET_BACKEND_SPACES_H
#define PDET_BACKEND_SPACES_H

#include "backend/backend.h"

struct pdet_task_space {
	uint64_t number;	/* as in struct pdet_task */
	uint32_t thread;
};

/* Zero it first. Its owner locks it. */
struct pdet_spaces {
	struct pdet_task_space *data;
	size_t n, cap;
	bool unordered;		/* otherwise they are in their order */
};

enum pdet_space_is {
	PDET_SPACE_NEW,		/* none of the tasks before has it */
	PDET_SPACE_SHARED,	/* one of them has it */
	PDET_SPACE_UNSURE	/* it is not known which of these */
};

/* pdet_spaces_has - whether one of these is that of the task. */
bool pdet_spaces_has(const struct pdet_spaces *spaces, struct pdet_session *s,
		     const struct pdet_task *task);

/* pdet_spaces_add - returns an enum pdet_space_is, or -ENOMEM. */
int pdet_spaces_add(struct pdet_spaces *spaces, struct pdet_session *s,
		    const struct pdet_task *task);

/*
 * pdet_spaces_remain - whether each of these tasks still has its memory. If
 * not, a later one may share it without being found to.
 */
bool pdet_spaces_remain(const struct pdet_spaces *spaces,
			struct pdet_session *s);

void pdet_spaces_free(struct pdet_spaces *spaces);

#endif
