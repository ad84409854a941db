/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What is wrong with a trace, or with what it shows, by kind and processor. */
#ifndef PDET_ALLOCS_FINDINGS_H
#define PDET_ALLOCS_FINDINGS_H

#include "base/pairs.h"
#include "trace/merge.h"

struct pdet_alloc_finding {
	uint32_t kind;		/* PAGEDET_FOUND_* */
	bool has_cpu;
	bool uncounted;		/* there may be more than times */
	bool has_group;
	uint16_t cpu;
	uint32_t group;		/* of the first allocation */
	uint64_t times;
	uint64_t first_ns;	/* 0: not known */
};

/* Zeroed, it is empty. */
struct pdet_alloc_findings {
	struct {
		struct pdet_alloc_finding *data;
		size_t n, cap;
	} list;			/* no two of the same kind and processor */
	struct pdet_pairs at;	/* their places in the list */
	bool sorted;
};

/*
 * pdet_findings_add - add what one was found of; the first of a kind and
 * processor stays the first. False without memory.
 */
bool pdet_findings_add(struct pdet_alloc_findings *f,
		       const struct pdet_alloc_finding *one);

/* pdet_findings_stream - add what a stream lacks. False without memory. */
bool pdet_findings_stream(struct pdet_alloc_findings *f,
			  const struct pdet_trace_stream *s);

/*
 * pdet_findings_get - the @i-th in the order of kinds and processors, or NULL
 * at the end. Nothing is added after the first call.
 */
const struct pdet_alloc_finding *
pdet_findings_get(struct pdet_alloc_findings *f, size_t i);

void pdet_findings_free(struct pdet_alloc_findings *f);

#endif
