/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The groups of two traces, matched by the values of their keys. */
#ifndef PDET_ALLOCS_COMPARE_H
#define PDET_ALLOCS_COMPARE_H

#include "allocs/keys.h"
#include "allocs/pairing.h"

struct pdet_alloc_matching {
	/* What is only in the trace before is added, without sums. */
	struct pdet_alloc_keys *keys;
	struct pdet_alloc_sums *sums;
	const struct pdet_trace_kernel *kernel;
	/* The trace before. */
	const struct pdet_alloc_keys *keys_before;
	const struct pdet_alloc_sums *sums_before;
	const struct pdet_trace_kernel *kernel_before;
	/* Its sums, by group of keys. */
	struct pdet_alloc_sums ret;
	/* Its groups with an address that may be another place now; it gets a
	 * mark. */
	uint64_t unmatched;
};

/* pdet_alloc_match - m->ret is empty, and gets as long as m->sums. -ENOMEM. */
int pdet_alloc_match(struct pdet_alloc_matching *m);

/* pdet_alloc_is_empty - whether no allocation is in it. */
static inline bool pdet_alloc_is_empty(const struct pdet_alloc_parts *parts)
{
	const struct pdet_alloc_sum *s;

	for (s = parts->of; s < parts->of + PDET_ALLOC_PARTS; s++)
		if (s->times || s->failed || s->live || s->live_bytes)
			return false;
	return true;
}

#endif
