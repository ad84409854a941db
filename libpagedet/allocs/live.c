/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Slots by linear probing; what is removed leaves no gap in front of others. */
#include <stdlib.h>
#include <string.h>

#include "allocs/live.h"
#include "base/large.h"

#define FIRST_SHIFT 52u	/* 4096 slots */
#define FIRST_ROOM ((size_t)2048)

/* Where the search for what is in a slot begins. */
static size_t home(const struct pdet_live_table *t, uint64_t slot)
{
	return slot >> t->shift;
}

static size_t behind(const struct pdet_live_table *t, size_t at)
{
	return (at + 1) & (t->slots - 1);
}

static uint32_t number_of(uint64_t slot)
{
	return (uint32_t)slot;
}

static struct pdet_live *entry(const struct pdet_live_table *t, uint64_t slot)
{
	return &t->entries[number_of(slot) - 1];
}

/* Where @object is, or the empty slot where it would be. */
static inline size_t find(const struct pdet_live_table *t, uint64_t object,
			  uint64_t hash)
{
	size_t at = home(t, hash);

	while (t->slot[at] && (t->slot[at] >> 32 != hash >> 32 ||
			       entry(t, t->slot[at])->object != object))
		at = behind(t, at);
	return at;
}

static void fill(struct pdet_live_table *t, uint64_t slot)
{
	size_t at = home(t, slot);

	while (t->slot[at])
		at = behind(t, at);
	t->slot[at] = slot;
}

static bool add_slots(struct pdet_live_table *t)
{
	const struct pdet_live_table before = *t;
	const unsigned shift = t->slots ? t->shift - 1 : FIRST_SHIFT;
	const size_t slots = (size_t)1 << (64 - shift);
	uint64_t *slot = pdet_large_grow(NULL, 0, slots * sizeof(*slot));
	size_t i;

	if (!slot)
		return false;
	t->slot = slot;
	t->slots = slots;
	t->shift = shift;
	for (i = 0; i < before.slots; i++)
		if (before.slot[i])
			fill(t, before.slot[i]);
	if (before.slots)
		munmap(before.slot, before.slots * sizeof(*slot));
	else
		t->salt = pdet_hash_salt();
	return true;
}

static bool add_entries(struct pdet_live_table *t)
{
	const size_t room = t->room ? 2 * t->room : FIRST_ROOM;
	struct pdet_live *more = pdet_large_grow(t->entries,
						 t->room * sizeof(*more),
						 room * sizeof(*more));

	if (!more)
		return false;
	t->entries = more;
	t->room = room;
	return true;
}

/* A number and half a hash fill a slot, so that neither may have more bits. */
static bool make_room(struct pdet_live_table *t)
{
	if (t->n >= UINT32_MAX / 2)
		return false;
	return (4 * t->n < 3 * t->slots || add_slots(t)) &&
	       (t->unused || t->n_entries < t->room || add_entries(t));
}

struct pdet_live *pdet_live_put(struct pdet_live_table *t, uint64_t object,
				bool *had)
{
	struct pdet_live *l;
	uint32_t number;
	uint64_t hash;
	size_t at;

	if (!make_room(t))
		return NULL;
	hash = pdet_hash_number(object, t->salt);
	at = find(t, object, hash);
	*had = t->slot[at];
	if (*had)
		return entry(t, t->slot[at]);
	number = t->unused ? t->unused : (uint32_t)++t->n_entries;
	l = &t->entries[number - 1];
	if (t->unused)
		t->unused = l->group;
	t->slot[at] = hash >> 32 << 32 | number;
	l->object = object;
	t->n++;
	return l;
}

/* Those behind @at that may be there, or in front of it, move up. */
static void empty(struct pdet_live_table *t, size_t at)
{
	size_t next = at, far;

	for (;;) {
		next = behind(t, next);
		if (!t->slot[next])
			break;
		far = (next - home(t, t->slot[next])) & (t->slots - 1);
		if (far < ((next - at) & (t->slots - 1)))
			continue;
		t->slot[at] = t->slot[next];
		at = next;
	}
	t->slot[at] = 0;
}

bool pdet_live_take(struct pdet_live_table *t, uint64_t object,
		    struct pdet_live *ret)
{
	struct pdet_live *l;
	uint32_t number;
	size_t at;

	if (!t->n)
		return false;
	at = find(t, object, pdet_hash_number(object, t->salt));
	number = number_of(t->slot[at]);
	if (!number)
		return false;
	l = &t->entries[number - 1];
	*ret = *l;
	empty(t, at);
	l->object = 0;
	l->group = t->unused;
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
	struct pdet_live *l = t->entries;
	size_t i, n = 0;

	if (t->is_list)
		return l;
	for (i = 0; i < t->n_entries; i++)
		if (l[i].object)
			l[n++] = l[i];
	if (n)
		qsort(l, n, sizeof(*l), compare);
	t->is_list = true;
	return l;
}

void pdet_live_free(struct pdet_live_table *t)
{
	if (t->entries)
		munmap(t->entries, t->room * sizeof(*t->entries));
	if (t->slot)
		munmap(t->slot, t->slots * sizeof(*t->slot));
	memset(t, 0, sizeof(*t));
}
