/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Walks frames: a list of pfns or physical addresses, all memory, or the pages
 * charged to a cgroup. The last can only be found by a scan of every frame.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "query/query.h"

/*
 * No architecture has physical addresses past this one. A frame there is a
 * hole, and a range without an end ends here.
 */
#define MAX_PFN ((uint64_t)1 << 52)

struct walk_pfn {
	struct pdet_walk walk;
	struct pdet_ranges ranges; /* the frames to walk, in this order */
	bool items;		/* ranges are the items of the query */
	size_t range;
	uint64_t at;		/* frames of it that were delivered */
	uint64_t *inos;		/* of the wanted cgroups, sorted */
	size_t n_inos;
};

/* A span of frames, which may cross several ranges. */
struct pfn_span {
	size_t range;
	uint64_t at;
};

static struct walk_pfn *walk_of(struct pdet_walk *w)
{
	return PDET_CONTAINER(w, struct walk_pfn, walk);
}

/*
 * The number of frames of @r, at most @max, after its first @at frames. The
 * last frame may be the largest number.
 */
static uint64_t take(const struct pdet_range *r, uint64_t at, uint64_t max)
{
	uint64_t left = r->last - r->first - at;

	return left < max ? left + 1 : max;
}

static int pfn_next(struct pdet_walk *base, struct pdet_worker *k,
		    struct pdet_span *span, uint64_t pages)
{
	struct walk_pfn *w = walk_of(base);
	struct pfn_span *ps = span->data;
	uint64_t n, taken = 0;

	if (w->range == w->ranges.n)
		return 0;
	if (!ps)
		span->data = ps = malloc(sizeof(*ps));
	if (!ps)
		return pdet_fail(&pdet_session_of(k, base)->env, ENOMEM,
				 "no memory");
	ps->range = w->range;
	ps->at = w->at;
	span->item = w->range;
	span->place = w->ranges.data[w->range].first + w->at;
	while (w->range < w->ranges.n && taken < pages) {
		const struct pdet_range *r = &w->ranges.data[w->range];

		n = take(r, w->at, pages - taken);
		taken += n;
		w->at += n;
		if (w->at - 1 == r->last - r->first) {
			w->range++;
			w->at = 0;
		}
	}
	span->at = 0;
	span->end = taken;
	return 1;
}

static int pfn_place(struct pdet_walk *base, struct pdet_worker *k,
		     struct pdet_span *span, struct pdet_batch *b)
{
	struct walk_pfn *w = walk_of(base);
	struct pfn_span *ps = span->data;

	/* Folded rows stay within one range. */
	while (span->at < span->end && b->n < b->cap && !b->bare) {
		const struct pdet_range *r = &w->ranges.data[ps->range];
		uint64_t room = b->cap - b->n;
		uint64_t n = take(r, ps->at,
				  PDET_MIN(span->end - span->at, room));
		uint32_t row = b->n;

		if (base->it->fold) {
			pdet_batch_series(b, (uint32_t)n, r->first + ps->at,
					  base->source);
		} else {
			pdet_batch_grow(b, (uint32_t)n);
			pdet_put_series(b, row, (uint32_t)n, PAGEDET_FIELD_PFN,
					r->first + ps->at, base->source);
		}
		pdet_put_run(b, row, (uint32_t)n, PAGEDET_FIELD_ASK,
			     w->items ? ps->range : 0, PAGEDET_SOURCE_DERIVED);
		span->at += n;
		ps->at += n;
		if (ps->at - 1 == r->last - r->first) {
			ps->range++;
			ps->at = 0;
		}
	}
	k->cover.visited += b->n;
	span->place = ps->range < w->ranges.n ?
		w->ranges.data[ps->range].first + ps->at :
		w->ranges.data[ps->range - 1].last + 1;
	return 0;
}

/*
 * Answers one frame if all its fields come from one source. Frames that this
 * source cannot answer are answered in the usual way.
 */
static bool pfn_glance(struct pdet_walk *base, struct pdet_worker *k,
		       struct pdet_batch *b)
{
	const struct pdet_question *q = &base->it->q;
	const struct pdet_plan *plan = &base->it->plan;

	if (q->target != PAGEDET_TARGET_PFN || q->items[0].count != 1)
		return false;
	pdet_put(b, 0, PAGEDET_FIELD_PFN, q->items[0].first, base->source);
	pdet_put(b, 0, PAGEDET_FIELD_ASK, 0, PAGEDET_SOURCE_DERIVED);
	if (plan->n_steps &&
	    base->backend->ops->fill(pdet_session_of(k, base), b,
				     &plan->steps[0].fields,
				     plan->steps[0].source) < 0)
		return false;
	return pdet_batch_answered(b);
}

static void pfn_span_free(struct pdet_walk *w, struct pdet_span *span)
{
	(void)w;
	free(span->data);
	span->data = NULL;
}

/* Keeps the pages of the wanted cgroups. */
static uint64_t cgroup_match(struct pdet_walk *base, const struct pdet_batch *b,
			     uint8_t *keep)
{
	struct walk_pfn *w = walk_of(base);
	uint64_t last = 0, undecided = 0;
	bool found = false;
	uint32_t row;

	for (row = 0; row < b->n; row++) {
		unsigned state = pdet_batch_state(b, row,
						  PAGEDET_FIELD_MEMCG_INO);
		uint64_t ino = pdet_batch_get(b, row, PAGEDET_FIELD_MEMCG_INO,
					      0);
		size_t low = 0, high = w->n_inos;

		if (ino != last) {
			while (low < high) {
				size_t mid = low + (high - low) / 2;

				if (w->inos[mid] < ino)
					low = mid + 1;
				else
					high = mid;
			}
			found = low < w->n_inos && w->inos[low] == ino;
			last = ino;
		}
		keep[row] = found;
		/* The charges of slab pages are never visible. */
		undecided += state > PAGEDET_NONE &&
			     state != PAGEDET_UNSUPPORTED;
	}
	return undecided;
}

static void start(struct walk_pfn *w)
{
	size_t i;

	w->range = 0;
	w->at = 0;
	w->walk.total = 0;
	for (i = 0; i < w->ranges.n; i++)
		w->walk.total += w->ranges.data[i].last -
				 w->ranges.data[i].first + 1;
}

/* The frames of one item. */
static void item_range(const struct pdet_iter *it,
		       const struct pagedet_item *item, struct pdet_range *ret)
{
	ret->first = item->first;
	ret->last = item->count == PAGEDET_TO_END ? UINT64_MAX :
		item->first + (item->count - 1);
	if (it->q.target == PAGEDET_TARGET_PHYS) {
		ret->first /= it->page_size;
		ret->last /= it->page_size;
	}
	if (item->count == PAGEDET_TO_END)
		ret->last = PDET_MAX(MAX_PFN - 1, ret->first);
}

static int from_items(struct walk_pfn *w)
{
	const struct pdet_iter *it = w->walk.it;
	struct pdet_range range;
	uint64_t i;

	w->items = true;
	w->ranges.n = 0;
	for (i = 0; i < it->q.n_items; i++) {
		item_range(it, &it->q.items[i], &range);
		if (!pdet_vec_push(&w->ranges, range))
			return pdet_fail(it->env, ENOMEM, "no memory");
	}
	start(w);
	return 0;
}

/* All memory, without frames that a filter on pfn excludes. */
static int from_memory(struct walk_pfn *w)
{
	struct pdet_iter *it = w->walk.it;
	uint64_t first = 0, last = UINT64_MAX;
	size_t i, out = 0;
	int r;

	r = w->walk.backend->ops->memory(w->walk.backend, it->env, &w->ranges);
	if (r < 0)
		return r;
	if (it->filter)
		pdet_filter_range(it->filter, PAGEDET_FIELD_PFN, &first,
				  &last);
	for (i = 0; i < w->ranges.n; i++) {
		struct pdet_range *range = &w->ranges.data[i];

		if (range->last < first || range->first > last)
			continue;
		w->ranges.data[out].first = PDET_MAX(range->first, first);
		w->ranges.data[out++].last = PDET_MIN(range->last, last);
	}
	w->ranges.n = out;
	/* Frames between the ranges are known to be empty. */
	for (i = 1; i < out; i++)
		it->cover.skipped += w->ranges.data[i].first -
				     w->ranges.data[i - 1].last - 1;
	start(w);
	return 0;
}

static int pfn_retarget(struct pdet_walk *base, struct pdet_worker *k)
{
	(void)k;
	return from_items(walk_of(base));
}

static void pfn_free(struct pdet_walk *base)
{
	struct walk_pfn *w = walk_of(base);

	pdet_vec_free(&w->ranges);
	free(w->inos);
	free(w);
}

static const struct pdet_walk_ops pfn_ops = {
	.next = pfn_next,
	.place = pfn_place,
	.glance = pfn_glance,
	.span_free = pfn_span_free,
	.retarget = pfn_retarget,
	.free = pfn_free,
};

static const struct pdet_walk_ops cgroup_ops = {
	.next = pfn_next,
	.place = pfn_place,
	.match = cgroup_match,
	.span_free = pfn_span_free,
	.free = pfn_free,
};

static int set_up(struct walk_pfn *w)
{
	struct pdet_iter *it = w->walk.it;
	int r;

	switch (it->q.target) {
	case PAGEDET_TARGET_SCAN:
		return from_memory(w);
	case PAGEDET_TARGET_CGROUP:
		w->walk.ops = &cgroup_ops;
		r = w->walk.backend->ops->cgroup(w->walk.backend, it->env,
						 it->q.path, &w->inos,
						 &w->n_inos);
		return r < 0 ? r : from_memory(w);
	default:
		return from_items(w);
	}
}

int pdet_walk_pfn(struct pdet_iter *it, struct pdet_walk **ret)
{
	struct pdet_walk *base;
	int r = pdet_walk_new(it, &pfn_ops, sizeof(struct walk_pfn), &base);

	if (r < 0)
		return r;
	r = set_up(walk_of(base));
	if (r < 0) {
		pfn_free(base);
		return r;
	}
	*ret = base;
	return 0;
}
