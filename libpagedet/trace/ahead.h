/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A thread that reads and unpacks what will be decoded next. */
#ifndef PDET_TRACE_AHEAD_H
#define PDET_TRACE_AHEAD_H

#include "trace/chunks.h"

struct pdet_ahead;

/* What one processor reads, and what was read ahead of it. */
struct pdet_ahead_input {
	struct pdet_chunks chunks;
	struct pdet_chunk chunk; /* of the call before */
	/* Of the thread, unless is_asked is not set. */
	struct pdet_chunk next;
	int result;
	bool is_done;
	bool is_asked;
	struct pdet_ahead_input *behind; /* that the thread reads after it */
};

/* pdet_ahead_begin - start the thread. NULL: there is none, and all is read by
 * the caller. */
struct pdet_ahead *pdet_ahead_begin(void);

/*
 * pdet_ahead_next - fill in i->chunk as pdet_chunks_next() does. @a may be
 * NULL. The offset and whether it is damaged are those of this chunk.
 */
int pdet_ahead_next(struct pdet_ahead *a, struct pdet_ahead_input *i,
		    uint64_t *offset, bool *damaged);

/* pdet_ahead_end - end the thread; it reads nothing any more. NULL does
 * nothing. */
void pdet_ahead_end(struct pdet_ahead *a);

/* pdet_ahead_free - free an input that no thread reads. */
void pdet_ahead_free(struct pdet_ahead_input *i);

#endif
