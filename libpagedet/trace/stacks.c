/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A trace has few different stacks; only a hostile one has very many. */
#include "base/hash.h"
#include "base/vec.h"
#include "trace/stacks.h"

/* Of all stacks together; they have 64 MiB. */
#define MOST_FRAMES ((size_t)8 << 20)

bool pdet_trace_stacks_add(struct pdet_trace_stacks *s, const uint64_t *frames,
			   size_t n, uint32_t *ret)
{
	const struct pdet_trace_stack stack = { s->frames.n, n };
	uint64_t hash, number;
	size_t i;

	*ret = PDET_STACK_NONE;
	if (!n)
		return true;
	hash = pdet_hash(frames, n * sizeof(*frames));
	if (pdet_pairs_get(&s->known, hash, &number)) {
		*ret = (uint32_t)number;
		return true;
	}
	*ret = PDET_STACK_TOO_MANY;
	if (n > MOST_FRAMES - s->frames.n)
		return true;
	if (!pdet_vec_reserve(&s->frames, n) ||
	    !pdet_vec_push(&s->stacks, stack) ||
	    !pdet_pairs_set(&s->known, hash, s->stacks.n))
		return false;
	for (i = 0; i < n; i++)
		s->frames.data[s->frames.n++] = frames[i];
	*ret = (uint32_t)s->stacks.n;
	return true;
}

const uint64_t *pdet_trace_stacks_get(const struct pdet_trace_stacks *s,
				      uint32_t number, size_t *n)
{
	const struct pdet_trace_stack *stack = &s->stacks.data[number - 1];

	*n = stack->n;
	return s->frames.data + stack->at;
}

void pdet_trace_stacks_free(struct pdet_trace_stacks *s)
{
	pdet_pairs_free(&s->known);
	pdet_vec_free(&s->stacks);
	pdet_vec_free(&s->frames);
}
