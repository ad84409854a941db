/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Open addressing: an object is in the first free slot from its own one on. */
#include <stdlib.h>
#include <sys/random.h>

#include "allocs/live.h"

#define FIRST_SHIFT 52u	/* 4096 slots */

/* The slot that has @object, or the empty one where it would be. */
static size_t find(const struct pdet_live_table *t, uint64_t object)
{
	size_t at = pdet_live_slot(t, object);

	while (t->slot[at].object && t->slot[at].object != object)
		at = (at + 1) & (t->slots - 1);
	return at;
}

static bool grow(struct pdet_live_table *t)
{
	struct pdet_live_table more = {
		.shift = t->slots ? t->shift - 1 : FIRST_SHIFT, .n = t->n,
		.key = t->key,
	};
	size_t i;

	/* Without a key, a trace can be made to be slow. */
	if (!t->slots && getrandom(&more.key, sizeof(more.key),
				   GRND_NONBLOCK) < 0)
		more.key = 0;
	more.slots = (size_t)1 << (64 - more.shift);
	more.slot = calloc(more.slots, sizeof(*more.slot));
	if (!more.slot)
		return false;
	for (i = 0; i < t->slots; i++)
		if (t->slot[i].object)
			more.slot[find(&more, t->slot[i].object)] = t->slot[i];
	free(t->slot);
	*t = more;
	return true;
}

struct pdet_live *pdet_live_put(struct pdet_live_table *t, uint64_t object,
				bool *had)
{
	size_t at;

	/* Full at three quarters. */
	if (t->n + 1 > t->slots / 4 * 3 && !grow(t))
		return NULL;
	at = find(t, object);
	*had = t->slot[at].object != 0;
	t->n += !*had;
	t->slot[at].object = object;
	return &t->slot[at];
}

/*
 * Closes the gap at @hole: whatever a search would not find behind it any more
 * moves up.
 */
static void close_gap(struct pdet_live_table *t, size_t hole)
{
	const size_t mask = t->slots - 1;
	size_t at = hole, home;

	for (;;) {
		at = (at + 1) & mask;
		if (!t->slot[at].object)
			break;
		home = pdet_live_slot(t, t->slot[at].object);
		if (((at - home) & mask) >= ((at - hole) & mask)) {
			t->slot[hole] = t->slot[at];
			hole = at;
		}
	}
	t->slot[hole].object = 0;
}

bool pdet_live_take(struct pdet_live_table *t, uint64_t object,
		    struct pdet_live *ret)
{
	size_t at;

	if (!t->n)
		return false;
	at = find(t, object);
	if (!t->slot[at].object)
		return false;
	*ret = t->slot[at];
	close_gap(t, at);
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
	size_t i, n = 0;

	if (t->is_list)
		return t->slot;
	for (i = 0; i < t->slots; i++)
		if (t->slot[i].object)
			t->slot[n++] = t->slot[i];
	if (n)
		qsort(t->slot, n, sizeof(*t->slot), compare);
	t->is_list = true;
	return t->slot;
}

void pdet_live_free(struct pdet_live_table *t)
{
	free(t->slot);
	t->slot = NULL;
	t->n = t->slots = 0;
}
