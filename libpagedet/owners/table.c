/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A hash table of groups, and one of their texts. */
#include <string.h>

#include "base/env.h"
#include "owners/table.h"

void pdet_owner_table_free(struct pdet_owner_table *t)
{
	pdet_vec_free(&t->totals);
	pdet_vec_free(&t->values);
	pdet_vec_free(&t->states);
	pdet_vec_free(&t->text);
	pdet_pairs_free(&t->text_at);
	free(t->slot);
	t->slot = NULL;
	t->slots = 0;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 29;
}

static uint64_t hash_of(const uint64_t *value, const uint8_t *state,
			unsigned n)
{
	uint64_t hash = n;
	unsigned i;

	for (i = 0; i < n; i++)
		hash = mix(mix(hash, value[i]), state[i]);
	return hash;
}

static bool grow(struct pdet_owner_table *t)
{
	size_t slots = t->slots ? t->slots * 2 : 256, i, at;
	uint32_t *slot = calloc(slots, sizeof(*slot));

	if (!slot)
		return false;
	for (i = 0; i < t->totals.n; i++) {
		at = hash_of(t->values.data + i * t->n_keys,
			     t->states.data + i * t->n_keys, t->n_keys);
		while (slot[at & (slots - 1)])
			at++;
		slot[at & (slots - 1)] = (uint32_t)i + 1;
	}
	free(t->slot);
	t->slot = slot;
	t->slots = slots;
	return true;
}

static bool push(struct pdet_owner_table *t, const uint64_t *value,
		 const uint8_t *state)
{
	const struct pdet_owner_total none = { .oldest = UINT64_MAX };

	if (!pdet_vec_reserve(&t->values, t->n_keys) ||
	    !pdet_vec_reserve(&t->states, t->n_keys) ||
	    !pdet_vec_push(&t->totals, none))
		return false;
	memcpy(t->values.data + t->values.n, value,
	       t->n_keys * sizeof(*value));
	memcpy(t->states.data + t->states.n, state, t->n_keys);
	t->values.n += t->n_keys;
	t->states.n += t->n_keys;
	return true;
}

int64_t pdet_owner_table_find(struct pdet_owner_table *t,
			      const uint64_t *value, const uint8_t *state)
{
	const unsigned n = t->n_keys;
	size_t at, i;

	if (t->totals.n * 2 >= t->slots &&
	    (t->totals.n == UINT32_MAX - 1 || !grow(t)))
		return -1;
	for (at = hash_of(value, state, n);; at++) {
		uint32_t *slot = &t->slot[at & (t->slots - 1)];

		if (!*slot) {
			if (!push(t, value, state))
				return -1;
			*slot = (uint32_t)t->totals.n;
			return *slot - 1;
		}
		i = *slot - 1;
		if (!memcmp(t->values.data + i * n, value,
			    n * sizeof(*value)) &&
		    !memcmp(t->states.data + i * n, state, n))
			return (int64_t)i;
	}
}

bool pdet_owner_table_keep(struct pdet_owner_table *t, uint64_t hash,
			   const char *text, size_t n)
{
	uint64_t at;

	if (pdet_pairs_get(&t->text_at, hash, &at))
		return true;
	at = t->text.n;
	if (!pdet_vec_reserve(&t->text, sizeof(n) + n + 1) ||
	    !pdet_pairs_set(&t->text_at, hash, at))
		return false;
	memcpy(t->text.data + at, &n, sizeof(n));
	memcpy(t->text.data + at + sizeof(n), text, n);
	t->text.data[at + sizeof(n) + n] = '\0';
	t->text.n += sizeof(n) + n + 1;
	return true;
}

const char *pdet_owner_table_text(const struct pdet_owner_table *t,
				  uint64_t hash, size_t *n)
{
	uint64_t at;

	if (!pdet_pairs_get(&t->text_at, hash, &at))
		return NULL;
	memcpy(n, t->text.data + at, sizeof(*n));
	return t->text.data + at + sizeof(*n);
}

static bool add_texts(struct pdet_owner_table *to,
		      const struct pdet_owner_table *from)
{
	const char *text;
	size_t i, len = 0;

	for (i = 0; i < from->text_at.slots; i++) {
		const uint64_t hash = from->text_at.slot[i].key;

		if (!from->text_at.slot[i].used)
			continue;
		text = pdet_owner_table_text(from, hash, &len);
		if (!pdet_owner_table_keep(to, hash, text, len))
			return false;
	}
	return true;
}

bool pdet_owner_table_add(struct pdet_owner_table *to,
			  const struct pdet_owner_table *from)
{
	const unsigned n = from->n_keys;
	size_t i;

	for (i = 0; i < from->totals.n; i++) {
		const struct pdet_owner_total *f = &from->totals.data[i];
		struct pdet_owner_total *t;
		int64_t at = pdet_owner_table_find(to,
						   from->values.data + i * n,
						   from->states.data + i * n);

		if (at < 0)
			return false;
		t = &to->totals.data[at];
		pdet_owner_total_add(t, f->times, f->pages);
		if (f->oldest <= f->newest) {
			pdet_owner_total_at(t, f->oldest);
			pdet_owner_total_at(t, f->newest);
		}
	}
	return add_texts(to, from);
}

bool pdet_owner_table_before(struct pdet_owner_table *t,
			     const struct pdet_owner_table *before)
{
	const unsigned n = before->n_keys;
	size_t i;

	for (i = 0; i < t->totals.n; i++) {
		t->totals.data[i].times_before = 0;
		t->totals.data[i].pages_before = 0;
	}
	for (i = 0; i < before->totals.n; i++) {
		const struct pdet_owner_total *f = &before->totals.data[i];
		int64_t at = pdet_owner_table_find(t,
						   before->values.data + i * n,
						   before->states.data + i * n);

		if (at < 0)
			return false;
		t->totals.data[at].times_before = f->times;
		t->totals.data[at].pages_before = f->pages;
	}
	return add_texts(t, before);
}

/* --- order --- */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/*
 * Compares the first key that differs: numbers by value, texts by letters,
 * unknown ones last.
 */
static int compare_key(const struct pdet_owner_table *t, uint32_t a,
		       uint32_t b, unsigned key)
{
	const uint64_t va = t->values.data[(size_t)a * t->n_keys + key];
	const uint64_t vb = t->values.data[(size_t)b * t->n_keys + key];
	const uint8_t sa = t->states.data[(size_t)a * t->n_keys + key];
	const uint8_t sb = t->states.data[(size_t)b * t->n_keys + key];
	const char *ta, *tb;
	size_t na, nb;
	int r;

	if (sa != sb)
		return sa < sb ? -1 : 1;
	if (va == vb)
		return 0;
	ta = pdet_owner_table_text(t, va, &na);
	tb = pdet_owner_table_text(t, vb, &nb);
	r = ta && tb ? strcmp(ta, tb) : 0;
	return r ? r : compare_numbers(va, vb);
}

static int compare_keys(const struct pdet_owner_table *t, uint32_t a,
			uint32_t b)
{
	unsigned i;
	int r;

	for (i = 0; i < t->n_keys; i++) {
		r = compare_key(t, a, b, i);
		if (r)
			return r;
	}
	return compare_numbers(a, b);
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
	const uint32_t ia = *(const uint32_t *)pa, ib = *(const uint32_t *)pb;
	const struct pdet_owner_total *a = &s->t->totals.data[ia];
	const struct pdet_owner_total *b = &s->t->totals.data[ib];
	unsigned i;
	int r;

	for (i = 0; i < s->n; i++) {
		const struct pdet_owner_order *by = &s->by[i];

		if (by->sort == PDET_OWNERS_SORT_KEY)
			r = compare_key(s->t, ia, ib, by->key);
		else if (by->sort == PAGEDET_OWNERS_SORT_KEYS)
			r = compare_keys(s->t, ia, ib);
		else
			r = compare_totals(a, b, by->sort);
		if (r)
			return by->reverse ? -r : r;
	}
	r = compare_numbers(b->pages, a->pages);
	return r ? r : compare_keys(s->t, ia, ib);
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
