/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A source that reads page tables itself. A walk asks it for what its own
 * source cannot see there, because the kernel does not show it.
 */
#ifndef PDET_QUERY_WALK_OTHER_H
#define PDET_QUERY_WALK_OTHER_H

#include "query/query.h"

struct pdet_other {
	bool looked;		/* pdet_other_find() was called */
	struct pdet_backend *backend; /* NULL: there is none */
	unsigned index;		/* of its session in a worker */
	unsigned source;
	struct pdet_task *task;	/* of the last rows; NULL: none */
	struct pdet_batch rows;
};

/*
 * pdet_other_find - look for such a source among those that the query may ask,
 * and start it. Only on the caller's thread. Returns 1, 0 if there is none, or
 * a negative errno.
 */
int pdet_other_find(struct pdet_other *o, const struct pdet_walk *w);

/*
 * pdet_other_entries - for rows from @row on, about ascending addresses of task
 * @pid, whose page table entry the walk's source cannot show: get the entry. If
 * that fails, they stay as they are.
 */
int pdet_other_entries(struct pdet_other *o, const struct pdet_walk *w,
		       struct pdet_worker *k, uint32_t pid,
		       struct pdet_batch *b, uint32_t row);

/*
 * pdet_other_answered - the number of rows from @row on that are all from this
 * source, or all not.
 */
uint32_t pdet_other_answered(const struct pdet_other *o,
			     const struct pdet_batch *b, uint32_t row,
			     bool *from_it);

void pdet_other_free(struct pdet_other *o);

#endif
