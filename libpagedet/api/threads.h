/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Writes the kernel stacks of an answer's tasks after its rows. */
#ifndef PDET_API_THREADS_H
#define PDET_API_THREADS_H

#include "api/handle.h"
#include "emit/emit.h"

/* Process ids, ascending, each once. */
struct pdet_pids {
	uint32_t *data;
	size_t n, cap;
};

/*
 * pdet_pids_asked - get the pids that the query names. pdet_pids_add - add
 * those of some rows. Both return false without memory.
 */
bool pdet_pids_asked(struct pdet_pids *pids, const struct pdet_iter *it);
bool pdet_pids_add(struct pdet_pids *pids, const struct pdet_batch *b);

/*
 * pdet_threads_emit - write all threads of @pids. Returns 0, or negative errno.
 */
int pdet_threads_emit(struct pagedet_emitter *emitter, struct pagedet_iter *it,
		      const struct pdet_pids *pids);

#endif
