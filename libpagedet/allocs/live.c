/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A slot has a chain of entries. There are twice as many slots as entries. */
#include <stdlib.h>

#include "allocs/live.h"
#include "base/vec.h"

#define FIRST_SHIFT 52u	/* 4096 slots */

/* Where the number of the entry for @object is, or the 0 behind the chain. */
static uint32_t *find(const struct pdet_live_table *t, uint64_t object)
{
	uint32_t *at = pdet_live_slot(t, object);
	struct pdet_live *l;

	while (*at) {
		l = &t->entries.data[*at - 1];
		if (l->object == object)
			break;
		at = &l->next;
	}
	return at;
}

static void chain(struct pdet_live_table *t, uint32_t number)
{
	struct pdet_live *l = &t->entries.data[number - 1];
	uint32_t *at = pdet_live_slot(t, l->object);

	l->next = *at;
	*at = number;
}

/* All entries are used. */
static bool grow(struct pdet_live_table *t)
{
	const unsigned shift = t->slots ? t->shift - 1 : FIRST_SHIFT;
	const size_t slots = (size_t)1 << (64 - shift);
	uint32_t *slot = calloc(slots, sizeof(*slot));
	size_t i;

	if (!slot)
		return false;
	if (!t->slots)
		t->salt = pdet_hash_salt();
	free(t->slot);
	t->slot = slot;
	t->slots = slots;
	t->shift = shift;
	for (i = 0; i < t->entries.n; i++)
		chain(t, (uint32_t)i + 1);
	return true;
}

static bool make_room(struct pdet_live_table *t)
{
	if (t->unused)
		return true;
	return t->n < UINT32_MAX && (2 * t->n < t->slots || grow(t)) &&
	       pdet_vec_reserve(&t->entries, 1);
}

struct pdet_live *pdet_live_put(struct pdet_live_table *t, uint64_t object,
				bool *had)
{
	struct pdet_live *l;
	uint32_t number;

	if (!make_room(t))
		return NULL;
	number = *find(t, object);
	*had = number;
	if (number)
		return &t->entries.data[number - 1];
	number = t->unused ? t->unused : (uint32_t)++t->entries.n;
	l = &t->entries.data[number - 1];
	if (t->unused)
		t->unused = l->next;
	l->object = object;
	chain(t, number);
	t->n++;
	return l;
}

bool pdet_live_take(struct pdet_live_table *t, uint64_t object,
		    struct pdet_live *ret)
{
	struct pdet_live *l;
	uint32_t *at, number;

	if (!t->n)
		return false;
	at = find(t, object);
	number = *at;
	if (!number)
		return false;
	l = &t->entries.data[number - 1];
	*ret = *l;
	*at = l->next;
	l->object = 0;
	l->next = t->unused;
	t->unused = number;
	t->n--;
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct pdet_live *x = a, *y = b;

	return (x->object > y->object) - (x->object < y->object);
}

const struct pdet_live *pdet_live_list(struct pdet_live_table *t)
{
	struct pdet_live *l = t->entries.data;
	size_t i, n = 0;

	if (t->is_list)
		return l;
	for (i = 0; i < t->entries.n; i++)
		if (l[i].object)
			l[n++] = l[i];
	if (n)
		qsort(l, n, sizeof(*l), compare);
	t->is_list = true;
	return l;
}

void pdet_live_free(struct pdet_live_table *t)
{
	pdet_vec_free(&t->entries);
	free(t->slot);
	t->slot = NULL;
	t->n = t->slots = 0;
	t->unused = 0;
}
