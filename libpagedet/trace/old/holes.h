/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Numbers of a sequence that did not come: events that were lost. They may come
 * in any order, so that all must have come before it is known.
 */
#ifndef PDET_TRACE_OLD_HOLES_H
#define PDET_TRACE_OLD_HOLES_H

#include "base/pairs.h"
#include "trace/merge.h"

struct pdet_old_hole {
	uint64_t first, last;	/* numbers that are missing */
};

/* So many numbers in a row. */
struct pdet_old_part {
	uint64_t at;		/* the first one, divided by how many */
	uint64_t *bits;		/* that came; NULL: all did */
	uint32_t n;		/* how many came */
};

/* Zeroed, nothing has come. */
struct pdet_old_holes {
	struct {
		struct pdet_old_hole *data;
		size_t n, cap;
	} list;			/* in order; found at the end */
	struct {
		struct pdet_old_part *data;
		size_t n, cap;
	} parts;
	struct pdet_pairs part_at; /* index of a part, by its place */
	size_t latest;		/* the part that was looked for last */
	size_t with_bits;	/* parts */
	uint64_t next;		/* at the end: what must come; 0 anything */
	bool unknown;		/* there are others */
};

/* pdet_old_holes_add - a number, not 0, has come. False without memory. */
bool pdet_old_holes_add(struct pdet_old_holes *h, uint64_t number);

/*
 * pdet_old_holes_end - all have come, and the list is made; not if @h->unknown
 * was set, as some that came may not be known. False without memory.
 */
bool pdet_old_holes_end(struct pdet_old_holes *h);

void pdet_old_holes_free(struct pdet_old_holes *h);

/*
 * pdet_old_losses - a stream that tells where holes are, and has their sum as
 * its loss. When it is read first, it calls @find, which adds all numbers, and
 * returns 1; or 0, and they come while other streams are read; or a negative
 * errno. NULL without memory.
 */
struct pdet_trace_stream *
pdet_old_losses(int (*find)(void *arg, struct pdet_old_holes *h), void *arg);

/* pdet_old_losses_end - all numbers have come: sets the loss of that stream.
 * False without memory. */
bool pdet_old_losses_end(struct pdet_trace_stream *s);

#endif
