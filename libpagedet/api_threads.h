/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Stacks of the tasks that an answer was about, behind its rows. */
#ifndef PDET_API_THREADS_H
#define PDET_API_THREADS_H

#include "emit/emit.h"
#include "handle.h"

/* Process ids, ascending, each once. */
struct pdet_pids {
	uint32_t *data;
	size_t n, cap;
};

/* pdet_pids_asked - those that the query names; pdet_pids_add - those of some
 * rows. False without memory. */
bool pdet_pids_asked(struct pdet_pids *pids, const struct pdet_iter *it);
bool pdet_pids_add(struct pdet_pids *pids, const struct pdet_batch *b);

/* pdet_threads_emit - all threads of them. 0, or negative errno. */
int pdet_threads_emit(struct pagedet_emitter *emitter, struct pagedet_iter *it,
		      const struct pdet_pids *pids);

#endif
