/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A few events, and a table of times. */
#include "trace/gaps.h"

bool pdet_trace_gaps_note(struct pdet_trace_gaps *g, uint16_t cpu, uint64_t ns)
{
	return pdet_pairs_set(&g->last_ns, cpu, ns);
}

void pdet_trace_gaps_add(struct pdet_trace_gaps *g, uint16_t cpu, uint64_t lost)
{
	struct pdet_kmem_event *e = &g->waiting[g->n++];

	*e = (struct pdet_kmem_event){ .kind = PDET_KMEM_LOST, .cpu = cpu,
				       .object = lost };
	pdet_pairs_get(&g->last_ns, cpu, &e->requested);
}

void pdet_trace_gaps_give(struct pdet_trace_gaps *g, uint64_t ns,
			  struct pdet_kmem_event *events,
			  struct pdet_trace_piece *piece)
{
	size_t i;

	for (i = 0; i < g->n; i++) {
		events[piece->n] = g->waiting[i];
		events[piece->n].ns = ns;
		piece->data[piece->n] = &events[piece->n];
		piece->n++;
	}
	g->n = 0;
}

void pdet_trace_gaps_free(struct pdet_trace_gaps *g)
{
	pdet_pairs_free(&g->last_ns);
}
