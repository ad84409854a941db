/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Selects events, and follows what they do to each frame. Whether addresses of
 * objects mean anything may be known at the end only; so their rows are kept
 * apart.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "allocs/pairing.h"
#include "allocs/timeline.h"

/* Upper bits of an address may be a tag. */
#define ADDRESS (UINT64_MAX >> 8)

static const uint8_t kinds[PDET_KMEM_KINDS] = {
	[PDET_KMEM_KMALLOC] = PAGEDET_EVENT_KMALLOC,
	[PDET_KMEM_CACHE_ALLOC] = PAGEDET_EVENT_CACHE_ALLOC,
	[PDET_KMEM_KFREE] = PAGEDET_EVENT_KFREE,
	[PDET_KMEM_CACHE_FREE] = PAGEDET_EVENT_CACHE_FREE,
	[PDET_KMEM_PAGE_ALLOC] = PAGEDET_EVENT_PAGE_ALLOC,
	[PDET_KMEM_PAGE_FREE] = PAGEDET_EVENT_PAGE_FREE,
	[PDET_KMEM_LOST] = PAGEDET_EVENT_LOST,
};

int pdet_timeline_begin(struct pdet_timeline *t)
{
	t->since = calloc(t->frames, sizeof(*t->since));
	return t->since ? 0 : -ENOMEM;
}

/* --- rows --- */

static bool keep(struct pdet_timeline *t, struct pdet_timeline_list *l,
		 const struct pdet_timeline_row *row)
{
	if (l->n < t->most)
		return pdet_vec_push(l, *row);
	if (!t->keeps_first) {
		l->data[l->oldest] = *row;
		l->oldest = (l->oldest + 1) % l->n;
	}
	return true;
}

/* The row is complete but for what all have. */
static int add_row(struct pdet_timeline *t, struct pdet_timeline_list *l,
		   struct pdet_alloc_keys *keys,
		   const struct pdet_kmem_event *e,
		   struct pdet_timeline_row *row)
{
	int64_t group;

	l->events++;
	t->numbers++;
	if (t->keeps_first && l->n == t->most)
		return 0;
	group = pdet_alloc_keys_group(keys, e);
	row->ns = e->ns;
	row->number = t->numbers;
	row->object = e->object;
	row->group = (uint32_t)group;
	row->kind = kinds[e->kind];
	return group >= 0 && keep(t, l, row) ? 0 : -ENOMEM;
}

/* The time since @ns; a free may seem to come before. */
static uint64_t lifetime(const struct pdet_kmem_event *e, uint64_t ns)
{
	return e->ns < ns ? PDET_LIFETIME_UNKNOWN : e->ns - ns;
}

/* --- pages --- */

/* An order that cannot be is that of one page. */
static uint64_t pages_of(const struct pdet_kmem_event *e)
{
	const uint64_t n = pdet_kmem_pages(e->order);

	return n ? n : 1;
}

static bool has_frame(const struct pdet_timeline *t,
		      const struct pdet_kmem_event *e)
{
	return e->object && (t->first - e->object < pages_of(e) ||
			     e->object - t->first < t->frames);
}

/* When the frames were allocated; 0: not in the trace; *several: not all of
 * these at the same time. */
static uint64_t follow(struct pdet_timeline *t, const struct pdet_kmem_event *e,
		       bool *several)
{
	const uint64_t n = pages_of(e), before = t->first - e->object;
	const uint64_t now = e->kind == PDET_KMEM_PAGE_ALLOC ? e->ns + 1 : 0;
	const uint64_t end = before < n ? PDET_MIN(n - before, t->frames) :
		PDET_MIN(e->object - t->first + n, t->frames);
	uint64_t i = before < n ? 0 : e->object - t->first, since = 0;

	*several = false;
	for (; i < end; i++) {
		if (since && t->since[i] && t->since[i] != since)
			*several = true;
		if (!since)
			since = t->since[i];
		t->since[i] = now;
	}
	return since;
}

static int add_page(struct pdet_timeline *t, struct pdet_alloc_keys *keys,
		    const struct pdet_kmem_event *e)
{
	struct pdet_timeline_row row = { .order = e->order,
					 .lifetime = PDET_LIFETIME_UNKNOWN };
	bool several;
	uint64_t since;

	t->has_pages = true;
	if (!has_frame(t, e))
		return 0;
	since = follow(t, e, &several);
	if (e->kind == PDET_KMEM_PAGE_ALLOC) {
		row.effect = since ? PAGEDET_EFFECT_ALLOCATED_AGAIN :
				     PAGEDET_EFFECT_ALLOCATED;
	} else {
		row.effect = since ? PAGEDET_EFFECT_FREED :
				     PAGEDET_EFFECT_FREED_UNKNOWN;
		if (since && !several)
			row.lifetime = lifetime(e, since - 1);
	}
	return add_row(t, &t->of_pages, keys, e, &row);
}

/* --- objects --- */

/* Whether it may lie in the frames; of a free the size is not known. */
static bool is_near(const struct pdet_timeline *t,
		    const struct pdet_kmem_event *e)
{
	const uint64_t before = (t->start - e->object) & ADDRESS;

	return ((e->object - t->start) & ADDRESS) < t->bytes ||
	       before <= (pdet_kmem_is_alloc(e->kind) ?
			  e->allocated - !!e->allocated : t->reach);
}

static int add_alloc(struct pdet_timeline *t, struct pdet_alloc_keys *keys,
		     const struct pdet_kmem_event *e)
{
	const uint64_t before = (t->start - e->object) & ADDRESS;
	struct pdet_timeline_row row = { .bytes = e->allocated,
					 .lifetime = PDET_LIFETIME_UNKNOWN };
	struct pdet_live *l;
	bool had;

	l = pdet_live_put(&t->objects, e->object, &had);
	if (!l)
		return -ENOMEM;
	l->ns = e->ns;
	l->allocated = (uint32_t)PDET_MIN(e->allocated, (uint64_t)UINT32_MAX);
	if (((e->object - t->start) & ADDRESS) >= t->bytes)
		t->reach = PDET_MAX(t->reach, before);
	row.effect = had ? PAGEDET_EFFECT_OBJECT_AGAIN :
			   PAGEDET_EFFECT_OBJECT_ALLOCATED;
	return add_row(t, &t->of_objects, keys, e, &row);
}

static int add_free(struct pdet_timeline *t, struct pdet_alloc_keys *keys,
		    const struct pdet_kmem_event *e)
{
	const bool begins = ((e->object - t->start) & ADDRESS) < t->bytes;
	struct pdet_timeline_row row = {
		.effect = PAGEDET_EFFECT_OBJECT_UNKNOWN,
		.lifetime = PDET_LIFETIME_UNKNOWN,
	};
	struct pdet_live l;

	if (pdet_live_take(&t->objects, e->object, &l)) {
		row.effect = PAGEDET_EFFECT_OBJECT_FREED;
		row.lifetime = lifetime(e, l.ns);
		row.bytes = l.allocated == UINT32_MAX ? 0 : l.allocated;
	} else if (!begins) {
		return 0;
	}
	return add_row(t, &t->of_objects, keys, e, &row);
}

static int add_object(struct pdet_timeline *t, struct pdet_alloc_keys *keys,
		      const struct pdet_kmem_event *e)
{
	if (pdet_kmem_is_nothing(e))
		return 0;
	t->unplaced++;
	if (!t->has_addresses)
		return 0;
	t->outside += t->memory &&
		      ((e->object - t->direct) & ADDRESS) >= t->memory;
	if (!is_near(t, e))
		return 0;
	return pdet_kmem_is_alloc(e->kind) ? add_alloc(t, keys, e) :
					     add_free(t, keys, e);
}

/* --- losses --- */

static uint64_t sum_of(uint64_t a, uint64_t b)
{
	return a == UINT64_MAX || b == UINT64_MAX || a + b < a ? UINT64_MAX :
								 a + b;
}

/* Losses with nothing between them are one row, with the time of the first. */
static int add_lost(struct pdet_timeline *t, const struct pdet_kmem_event *e)
{
	struct pdet_timeline_list *l = &t->of_pages;
	struct pdet_timeline_row *last = l->n ?
		&l->data[(l->oldest + l->n - 1) % l->n] : NULL;
	const struct pdet_timeline_row row = {
		.ns = e->ns, .number = t->numbers + 1, .bytes = e->object,
		.lifetime = PDET_LIFETIME_UNKNOWN,
		.group = PDET_TIMELINE_NO_GROUP, .kind = PAGEDET_EVENT_LOST,
		.effect = PAGEDET_EFFECT_LOST,
	};

	if (!pdet_holes_add(&t->holes, e->requested, e->ns))
		return -ENOMEM;
	if (last && last->number == t->numbers &&
	    last->kind == PAGEDET_EVENT_LOST) {
		last->bytes = sum_of(last->bytes, e->object);
		return 0;
	}
	t->lost++;
	t->numbers++;
	return keep(t, l, &row) ? 0 : -ENOMEM;
}

/* --- all --- */

static int add_other(struct pdet_timeline *t, struct pdet_alloc_keys *keys,
		     const struct pdet_kmem_event *e)
{
	if (e->kind == PDET_KMEM_LOST)
		return add_lost(t, e);
	return pdet_alloc_keys_group(keys, e) < 0 ? -ENOMEM : 0;
}

int pdet_timeline_add(void *arg, struct pdet_alloc_keys *keys,
		      const struct pdet_kmem_event *const *e, size_t n)
{
	struct pdet_timeline *t = arg;
	size_t i;
	int r = 0;

	for (i = 0; i < n && r == 0; i++) {
		if (e[i]->kind >= PDET_KMEM_NAME)
			r = add_other(t, keys, e[i]);
		else if (!pdet_kmem_is_page(e[i]->kind))
			r = add_object(t, keys, e[i]);
		else if (e[i]->kind != PDET_KMEM_PAGE_BATCHED)
			r = add_page(t, keys, e[i]);
	}
	return r;
}

static const struct pdet_timeline_row *
row_at(const struct pdet_timeline_list *l, size_t i)
{
	return i < l->n ? &l->data[(l->oldest + i) % l->n] : NULL;
}

/* All rows that were kept, by their numbers. */
static void join(struct pdet_timeline *t)
{
	const struct pdet_timeline_row *a, *b;
	size_t i = 0, k = 0;

	while ((a = row_at(&t->of_pages, i)) || row_at(&t->of_objects, k)) {
		b = row_at(&t->of_objects, k);
		if (a && (!b || a->number < b->number)) {
			t->rows[t->n++] = *a;
			i++;
		} else {
			t->rows[t->n++] = *b;
			k++;
		}
	}
}

/* If events were lost between both, a free may be that of a later
 * allocation. */
static void judge_lifetimes(struct pdet_timeline *t)
{
	struct pdet_timeline_row *row;
	size_t i;

	for (i = 0; i < t->n; i++) {
		row = &t->rows[i];
		if (row->lifetime != PDET_LIFETIME_UNKNOWN &&
		    pdet_holes_has(&t->holes, row->ns - row->lifetime, row->ns))
			row->lifetime = PDET_LIFETIME_UNKNOWN;
	}
}

static void drop(struct pdet_timeline_list *l)
{
	pdet_vec_free(l);
	l->oldest = 0;
	l->events = 0;
}

int pdet_timeline_end(struct pdet_timeline *t, bool are_here)
{
	if (t->has_addresses && are_here)
		t->unplaced = 0;
	else
		drop(&t->of_objects);
	t->rows = calloc(t->of_pages.n + t->of_objects.n + 1,
			 sizeof(*t->rows));
	if (!t->rows)
		return -ENOMEM;
	/* Without an event, losses are not about these pages. */
	if (t->of_pages.events + t->of_objects.events)
		join(t);
	else
		t->lost = 0;
	pdet_vec_free(&t->of_pages);
	pdet_vec_free(&t->of_objects);
	if (t->n > t->most && !t->keeps_first)
		memmove(t->rows, t->rows + (t->n - t->most),
			t->most * sizeof(*t->rows));
	t->n = PDET_MIN(t->n, t->most);
	judge_lifetimes(t);
	return 0;
}

void pdet_timeline_free(struct pdet_timeline *t)
{
	free(t->since);
	free(t->rows);
	pdet_live_free(&t->objects);
	pdet_holes_free(&t->holes);
	pdet_vec_free(&t->of_pages);
	pdet_vec_free(&t->of_objects);
}
