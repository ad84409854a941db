/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The stacks of the kernel that events have, each of them once. */
#ifndef PDET_TRACE_STACKS_H
#define PDET_TRACE_STACKS_H

#include "base/pairs.h"

/* Numbers of stacks that are not there. */
#define PDET_STACK_NONE 0u		/* the event has none */
#define PDET_STACK_TOO_MANY UINT32_MAX	/* there was no room for it */

struct pdet_trace_stack {
	size_t at;		/* in the frames */
	size_t n;
};

/* Zeroed, it is empty. */
struct pdet_trace_stacks {
	struct pdet_pairs known; /* numbers, by the hash of the frames */
	struct {
		struct pdet_trace_stack *data;
		size_t n, cap;
	} stacks;
	struct {
		uint64_t *data;
		size_t n, cap;
	} frames;
};

/*
 * pdet_trace_stacks_add - the number of a stack of @n addresses, the innermost
 * first. Without any it is PDET_STACK_NONE. False without memory.
 */
bool pdet_trace_stacks_add(struct pdet_trace_stacks *s, const uint64_t *frames,
			   size_t n, uint32_t *ret);

/* pdet_trace_stacks_get - the addresses of a stack that was added. */
const uint64_t *pdet_trace_stacks_get(const struct pdet_trace_stacks *s,
				      uint32_t number, size_t *n);

void pdet_trace_stacks_free(struct pdet_trace_stacks *s);

#endif
