/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A list, and a table of its entries. */
#include <stdlib.h>

#include "allocs/findings.h"
#include "base/env.h"
#include "base/vec.h"
#include "pagedet.h"

/* Ascending in the order of the list. */
static uint64_t key_of(const struct pdet_alloc_finding *f)
{
	return (uint64_t)f->kind << 32 | (uint64_t)f->has_cpu << 16 | f->cpu;
}

bool pdet_findings_add(struct pdet_alloc_findings *f,
		       const struct pdet_alloc_finding *one)
{
	struct pdet_alloc_finding *had;
	uint64_t at;

	if (!pdet_pairs_get(&f->at, key_of(one), &at))
		return pdet_pairs_set(&f->at, key_of(one), f->list.n) &&
		       pdet_vec_push(&f->list, *one);
	had = &f->list.data[at];
	had->times += one->times;
	had->uncounted |= one->uncounted;
	return true;
}

bool pdet_findings_stream(struct pdet_alloc_findings *f,
			  const struct pdet_trace_stream *s)
{
	const struct pdet_trace_loss *l = &s->loss;
	const struct pdet_alloc_finding all[] = {
		{ .kind = PAGEDET_FOUND_DISORDER, .has_cpu = s->has_cpu,
		  .times = l->disorder, .first_ns = l->disorder_ns },
		{ .kind = PAGEDET_FOUND_LOST, .has_cpu = s->has_cpu,
		  .times = l->lost + l->missing, .first_ns = l->lost_ns,
		  .uncounted = l->unknown || l->uncounted },
		{ .kind = PAGEDET_FOUND_CUT, .has_cpu = s->has_cpu,
		  .times = (l->cut > 0) + l->damaged },
		{ .kind = PAGEDET_FOUND_FORMAT, .has_cpu = s->has_cpu,
		  .times = l->strange },
	};
	struct pdet_alloc_finding one;
	size_t i;

	for (i = 0; i < PDET_COUNT(all); i++) {
		one = all[i];
		one.cpu = one.has_cpu ? s->cpu : 0;
		if ((one.times || one.uncounted) && !pdet_findings_add(f, &one))
			return false;
	}
	return true;
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = key_of(a), y = key_of(b);

	return (x > y) - (x < y);
}

const struct pdet_alloc_finding *
pdet_findings_get(struct pdet_alloc_findings *f, size_t i)
{
	if (!f->sorted && f->list.n)
		qsort(f->list.data, f->list.n, sizeof(*f->list.data), compare);
	f->sorted = true;
	return i < f->list.n ? &f->list.data[i] : NULL;
}

void pdet_findings_free(struct pdet_alloc_findings *f)
{
	pdet_vec_free(&f->list);
	pdet_pairs_free(&f->at);
}
