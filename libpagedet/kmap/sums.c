/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* An object counts once in each group that has some of its accesses. */
#include "kmap/object.h"
#include "kmap/sums.h"

static void count_end(struct pdet_kmap_sum *s, unsigned end)
{
	switch (end) {
	case PAGEDET_KMAP_LIVE:
		s->live++;
		break;
	case PAGEDET_KMAP_FREED:
		s->freed++;
		break;
	case PAGEDET_KMAP_MISSED:
		s->missed++;
		break;
	default:
		s->unknown++;
	}
}

void pdet_kmap_sum_object(struct pdet_kmap_sum *s,
			  const struct pdet_kmap_line *l, unsigned dialect,
			  bool *saturated)
{
	const unsigned end = pdet_kmap_end(l);

	s->objects++;
	if (pdet_kmap_origin(l, dialect) == PAGEDET_KMAP_CATCH_ALL) {
		s->catch_all++;
		return;
	}
	count_end(s, end);
	if (pdet_kmap_is_nested(l)) {
		s->nested++;
		return;
	}
	s->bytes = pdet_kmap_add(s->bytes, l->bytes, saturated);
	if (end == PAGEDET_KMAP_LIVE)
		s->live_bytes = pdet_kmap_add(s->live_bytes, l->bytes,
					      saturated);
}

bool pdet_kmap_sums_fill(struct pdet_kmap_sums *s, size_t n)
{
	static const struct pdet_kmap_sum none;

	while (s->n < n)
		if (!pdet_vec_push(s, none))
			return false;
	while (s->last.n < n)
		if (!pdet_vec_push(&s->last, 0))
			return false;
	return true;
}

static bool add(struct pdet_kmap_sums *s, struct pdet_kmap_keys *k,
		const struct pdet_kmap_object *o,
		const struct pdet_kmap_access *a)
{
	const int64_t group = pdet_kmap_keys_group(k, &o->line, a);
	struct pdet_kmap_sum *sum;

	if (group < 0 || !pdet_kmap_sums_fill(s, (size_t)group + 1))
		return false;
	sum = &s->data[group];
	if (s->last.data[group] != s->objects)
		pdet_kmap_sum_object(sum, &o->line, k->dialect, &s->saturated);
	s->last.data[group] = s->objects;
	sum->accesses += a ? 1 : o->n_accesses;
	sum->reads = pdet_kmap_add(sum->reads, a ? a->reads : o->reads,
				   &s->saturated);
	sum->writes = pdet_kmap_add(sum->writes, a ? a->writes : o->writes,
				    &s->saturated);
	return true;
}

bool pdet_kmap_sums_add(struct pdet_kmap_sums *s, struct pdet_kmap_keys *k,
			const struct pdet_kmap_object *o)
{
	size_t i;

	s->objects++;
	if (!o->accesses.n || !pdet_kmap_keys_has_accesses(k))
		return add(s, k, o, NULL);
	for (i = 0; i < o->accesses.n; i++)
		if (!add(s, k, o, &o->accesses.data[i]))
			return false;
	return true;
}

void pdet_kmap_sums_free(struct pdet_kmap_sums *s)
{
	pdet_vec_free(s);
	pdet_vec_free(&s->last);
}
