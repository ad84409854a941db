/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Numbers of a sequence that did not come: events that were lost. A number may
 * come behind larger ones, so that all must have come before it is known.
 */
#ifndef PDET_TRACE_OLD_HOLES_H
#define PDET_TRACE_OLD_HOLES_H

#include "trace/merge.h"

struct pdet_old_hole {
	uint64_t first, last;	/* numbers that are missing */
};

/* Zeroed, nothing has come. */
struct pdet_old_holes {
	struct {
		struct pdet_old_hole *data;
		size_t n, cap;
	} list;			/* in order */
	struct {
		uint64_t *data;
		size_t n, cap;
	} late;			/* numbers that came behind larger ones */
	uint64_t first, next;	/* next 0: none has come */
	bool unknown;		/* there are more of them */
};

/* pdet_old_holes_add - a number, not 0, has come. False without memory. */
bool pdet_old_holes_add(struct pdet_old_holes *h, uint64_t number);

/* pdet_old_holes_end - all have come. False without memory. */
bool pdet_old_holes_end(struct pdet_old_holes *h);

void pdet_old_holes_free(struct pdet_old_holes *h);

/*
 * pdet_old_losses - a stream that tells where the holes are, and has their sum
 * as its loss. It takes them over, and is freed by its close(). NULL without
 * memory.
 */
struct pdet_trace_stream *pdet_old_losses(struct pdet_old_holes *h);

#endif
