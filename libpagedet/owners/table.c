/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Adds up groups, compares them with those of an earlier time, sorts them. */
#include <string.h>

#include "base/env.h"
#include "owners/table.h"

void pdet_owner_table_free(struct pdet_owner_table *t)
{
	pdet_vec_free(&t->totals);
	pdet_groups_free(&t->groups);
}

int64_t pdet_owner_table_find(struct pdet_owner_table *t,
			      const uint64_t *value, const uint8_t *state)
{
	const struct pdet_owner_total none = { .oldest = UINT64_MAX };
	int64_t group;

	if (!pdet_vec_reserve(&t->totals, 1))
		return -1;
	group = pdet_groups_find(&t->groups, value, state);
	if (group == (int64_t)t->totals.n)
		t->totals.data[t->totals.n++] = none;
	return group;
}

bool pdet_owner_table_add(struct pdet_owner_table *to,
			  const struct pdet_owner_table *from)
{
	size_t i;

	for (i = 0; i < from->totals.n; i++) {
		int64_t at = pdet_owner_table_find(to,
				pdet_groups_value(&from->groups, i),
				pdet_groups_state(&from->groups, i));

		if (at < 0)
			return false;
		pdet_owner_total_join(&to->totals.data[at],
				      &from->totals.data[i]);
	}
	return pdet_groups_add_texts(&to->groups, &from->groups);
}

bool pdet_owner_table_before(struct pdet_owner_table *t,
			     const struct pdet_owner_table *before)
{
	size_t i;

	for (i = 0; i < t->totals.n; i++) {
		t->totals.data[i].times_before = 0;
		t->totals.data[i].pages_before = 0;
	}
	for (i = 0; i < before->totals.n; i++) {
		const struct pdet_owner_total *f = &before->totals.data[i];
		int64_t at = pdet_owner_table_find(t,
				pdet_groups_value(&before->groups, i),
				pdet_groups_state(&before->groups, i));

		if (at < 0)
			return false;
		t->totals.data[at].times_before = f->times;
		t->totals.data[at].pages_before = f->pages;
	}
	return pdet_groups_add_texts(&t->groups, &before->groups);
}

/* --- order --- */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_growth(const struct pdet_owner_total *a,
			  const struct pdet_owner_total *b)
{
	const bool more_a = a->pages >= a->pages_before;
	const bool more_b = b->pages >= b->pages_before;

	if (more_a != more_b)
		return more_a ? -1 : 1;
	/* The difference may be negative. */
	return compare_numbers(b->pages - b->pages_before,
			       a->pages - a->pages_before);
}

static int compare_totals(const struct pdet_owner_total *a,
			  const struct pdet_owner_total *b, uint32_t sort)
{
	switch (sort) {
	case PAGEDET_OWNERS_SORT_PAGES:
		return compare_numbers(b->pages, a->pages);
	case PAGEDET_OWNERS_SORT_TIMES:
		return compare_numbers(b->times, a->times);
	case PAGEDET_OWNERS_SORT_OLDEST:
		return compare_numbers(a->oldest, b->oldest);
	case PAGEDET_OWNERS_SORT_NEWEST:
		return compare_numbers(b->newest, a->newest);
	case PAGEDET_OWNERS_SORT_BLOCKS:
		return compare_numbers(b->blocks, a->blocks);
	case PDET_OWNERS_SORT_GROWTH:
		return compare_growth(a, b);
	default:
		return 0;
	}
}

struct ordering {
	const struct pdet_owner_table *t;
	const struct pdet_owner_order *by;
	unsigned n;
};

static int compare_several(const void *pa, const void *pb, void *arg)
{
	const struct ordering *s = arg;
	const struct pdet_groups *g = &s->t->groups;
	const uint32_t ia = *(const uint32_t *)pa, ib = *(const uint32_t *)pb;
	const struct pdet_owner_total *a = &s->t->totals.data[ia];
	const struct pdet_owner_total *b = &s->t->totals.data[ib];
	unsigned i;
	int r;

	for (i = 0; i < s->n; i++) {
		const struct pdet_owner_order *by = &s->by[i];

		if (by->sort == PDET_OWNERS_SORT_KEY)
			r = pdet_groups_compare_key(g, ia, ib, by->key);
		else if (by->sort == PAGEDET_OWNERS_SORT_KEYS)
			r = pdet_groups_compare(g, ia, ib);
		else
			r = compare_totals(a, b, by->sort);
		if (r)
			return by->reverse ? -r : r;
	}
	r = compare_numbers(b->pages, a->pages);
	return r ? r : pdet_groups_compare(g, ia, ib);
}

uint32_t *pdet_owner_table_order(const struct pdet_owner_table *t,
				 const struct pdet_owner_order *by, unsigned n)
{
	struct ordering s = { t, by, n };
	uint32_t *order = calloc(t->totals.n + 1, sizeof(*order));
	size_t i;

	if (!order)
		return NULL;
	for (i = 0; i < t->totals.n; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, t->totals.n, sizeof(*order), compare_several, &s);
	return order;
}

/* The largest first, then the oldest. */
uint32_t *pdet_owner_table_sort(const struct pdet_owner_table *t,
				uint32_t sort, bool reverse)
{
	const struct pdet_owner_order by[] = {
		{ .sort = sort, .reverse = reverse },
		{ .sort = PAGEDET_OWNERS_SORT_PAGES, .reverse = reverse },
		{ .sort = PAGEDET_OWNERS_SORT_TIMES, .reverse = reverse },
	};

	return pdet_owner_table_order(t, by, PDET_COUNT(by));
}
