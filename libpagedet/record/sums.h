/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Sums of allocations that the kernel has added up, instead of events. */
#ifndef PDET_RECORD_SUMS_H
#define PDET_RECORD_SUMS_H

#include "base/io.h"
#include "kernel/owner/names.h"
#include "trace/kmem.h"
#include "trace/stacks.h"

/* The allocations that have these keys. */
struct pdet_kmem_sum {
	struct pdet_kmem_event keys; /* what was not asked for is not told; its
				      * cache is the text of cache_len below */
	uint64_t times, requested, allocated, failed;
	/* With frees: of the times. */
	uint64_t freed, cross_cpu, mismatched, replaced;
	uint64_t untracked;	/* what became of them is not known */
	uint64_t gone;		/* bytes of those that are freed, replaced or
				 * untracked */
	char cache[64];
};

struct pdet_kmem_sums {
	struct {
		struct pdet_kmem_sum *data;
		size_t n, cap;
	} rows;
	struct pdet_trace_stacks stacks;
	struct pdet_text kallsyms; /* of code */
	struct pdet_gfp_names gfp;
	char boot[40], release[64];
	uint64_t begin_ns, end_ns;
	uint64_t lost;		/* events */
	uint32_t uncounted;	/* processors whose losses are not counted */
	bool has_frees;		/* the kernel has paired them, too */
	uint64_t freed_unknown[2]; /* frees of objects, and of pages, whose
				 * allocation was not tracked */
	uint64_t freed_nothing;
	uint64_t untracked;	/* allocations that are in no row, either */
};

#endif
