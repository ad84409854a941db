/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Losses that an input tells in front of the next event of the processor: they
 * wait for its time.
 */
#ifndef PDET_TRACE_GAPS_H
#define PDET_TRACE_GAPS_H

#include "base/pairs.h"
#include "trace/merge.h"

/* How many wait at once. Only a damaged input has several in a row. */
#define PDET_TRACE_GAPS 64

/* Zeroed, there are none. */
struct pdet_trace_gaps {
	struct pdet_pairs last_ns; /* of the events so far, by processor */
	struct pdet_kmem_event waiting[PDET_TRACE_GAPS];
	size_t n;
};

/* pdet_trace_gaps_note - there is an event at this time. False without memory.
 */
bool pdet_trace_gaps_note(struct pdet_trace_gaps *g, uint16_t cpu, uint64_t ns);

/*
 * pdet_trace_gaps_add - a loss of @cpu begins to wait; @lost as in an event of
 * the kind LOST. No more than PDET_TRACE_GAPS may.
 */
void pdet_trace_gaps_add(struct pdet_trace_gaps *g, uint16_t cpu,
			 uint64_t lost);

/*
 * pdet_trace_gaps_give - put those that wait into @piece, which points to
 * @events and has room: they ended at @ns, or PDET_KMEM_NO_NS.
 */
void pdet_trace_gaps_give(struct pdet_trace_gaps *g, uint64_t ns,
			  struct pdet_kmem_event *events,
			  struct pdet_trace_piece *piece);

void pdet_trace_gaps_free(struct pdet_trace_gaps *g);

#endif
