/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Walks the objects and pages that a trace has no free of. What the trace says
 * of an allocation is in the row. The kernel is asked what is at its address
 * now, unless it is not the kernel that was traced.
 */
#include <errno.h>
#include <stdlib.h>

#include "allocs/allocs.h"
#include "query/query.h"
#include "query/walk/objects_state.h"

struct walk_objects {
	struct pdet_walk walk;
	const struct pdet_live *objects, *pages;
	size_t n_objects, n_pages;
	uint64_t next;		/* of both: objects come first */
};

static struct walk_objects *walk_of(struct pdet_walk *w)
{
	return PDET_CONTAINER(w, struct walk_objects, walk);
}

static const struct pdet_live *live_at(const struct walk_objects *w,
				       uint64_t i)
{
	return i < w->n_objects ? &w->objects[i] : &w->pages[i - w->n_objects];
}

static bool is_asked(const struct walk_objects *w)
{
	return !w->walk.it->text_only && w->walk.backend->ops->kaddr;
}

static int objects_next(struct pdet_walk *base, struct pdet_worker *k,
			struct pdet_span *span, uint64_t pages)
{
	struct walk_objects *w = walk_of(base);
	const uint64_t left = w->n_objects + w->n_pages - w->next;

	(void)k;
	if (!left)
		return 0;
	span->at = w->next;
	span->place = w->next;
	w->next += PDET_MIN(pages, left);
	span->end = w->next;
	return 1;
}

/* --- what the trace says --- */

static void put_key(const struct walk_objects *w, struct pdet_batch *b,
		    uint32_t row, const struct pdet_live *l, unsigned field,
		    uint32_t key)
{
	const struct pdet_allocs *a = w->walk.it->q.allocs;
	uint64_t value = 0;
	const unsigned state = pdet_allocs_key(a, l, key, &value);
	const char *text;
	size_t len;

	if (state == PAGEDET_NONE && key == PAGEDET_ALLOC_CACHE) {
		/* kmalloc has caches, but its events do not name them. */
		pdet_put_lost(b, row, field, PAGEDET_UNSUPPORTED,
			      PAGEDET_SOURCE_TRACE);
	} else if (state != PAGEDET_HAVE) {
		pdet_put_lost(b, row, field, state, PAGEDET_SOURCE_TRACE);
	} else if (key == PAGEDET_ALLOC_TID || key == PAGEDET_ALLOC_GFP) {
		pdet_put(b, row, field, value, PAGEDET_SOURCE_TRACE);
	} else {
		text = pdet_allocs_text(a, value, &len);
		pdet_put_text(b, row, field, text ? text : "", text ? len : 0,
			      PAGEDET_SOURCE_TRACE);
	}
}

static void put_told(struct pdet_batch *b, uint32_t row, unsigned field,
		     uint64_t value, bool is_told)
{
	if (is_told)
		pdet_put(b, row, field, value, PAGEDET_SOURCE_TRACE);
	else
		pdet_put_lost(b, row, field, PAGEDET_UNSUPPORTED,
			      PAGEDET_SOURCE_TRACE);
}

/* Numbers that do not fit, and sizes of pages that are not known. */
static void put_bytes(struct pdet_batch *b, uint32_t row, unsigned field,
		      uint32_t bytes, bool is_page)
{
	put_told(b, row, field, bytes, bytes != UINT32_MAX &&
				       !(is_page && !bytes));
}

static void put_allocation(const struct walk_objects *w, struct pdet_batch *b,
			   uint32_t row, const struct pdet_live *l,
			   bool is_page)
{
	put_key(w, b, row, l, PAGEDET_FIELD_ALLOC_SITE, PAGEDET_ALLOC_SITE);
	put_key(w, b, row, l, PAGEDET_FIELD_ALLOC_PID, PAGEDET_ALLOC_TID);
	put_key(w, b, row, l, PAGEDET_FIELD_ALLOC_COMM, PAGEDET_ALLOC_COMM);
	put_key(w, b, row, l, PAGEDET_FIELD_GFP_MASK, PAGEDET_ALLOC_GFP);
	put_bytes(b, row, PAGEDET_FIELD_ALLOC_REQUESTED, l->requested, is_page);
	put_bytes(b, row, PAGEDET_FIELD_ALLOC_BYTES, l->allocated, is_page);
	put_told(b, row, PAGEDET_FIELD_ALLOC_CPU, l->cpu,
		 pdet_allocs_tells_cpu(w->walk.it->q.allocs));
	put_told(b, row, PAGEDET_FIELD_ALLOC_NS, l->ns,
		 pdet_allocs_counts_ns(w->walk.it->q.allocs));
	if (is_page)
		pdet_put(b, row, PAGEDET_FIELD_ALLOC_ORDER, l->order,
			 PAGEDET_SOURCE_TRACE);
	else
		pdet_put_none(b, row, PAGEDET_FIELD_ALLOC_ORDER,
			      PAGEDET_SOURCE_TRACE);
}

/* --- rows --- */

/* The kernel's cache is that of the page as it is now. */
static int put_object(const struct walk_objects *w, struct pdet_session *s,
		      struct pdet_batch *b, const struct pdet_live *l)
{
	const uint32_t row = b->n;

	if (is_asked(w))
		return w->walk.backend->ops->kaddr(s, l->object,
						   PAGEDET_KADDR_MEMORY, b);
	pdet_batch_grow(b, 1);
	pdet_put(b, row, PAGEDET_FIELD_VADDR, l->object, PAGEDET_SOURCE_TRACE);
	put_key(w, b, row, l, PAGEDET_FIELD_SLAB_CACHE, PAGEDET_ALLOC_CACHE);
	return 0;
}

static void put_page(struct pdet_batch *b, const struct pdet_live *l)
{
	const struct pdet_fields of_kernel = pdet_plan_of_kernel();
	const uint32_t row = b->n;
	unsigned f;

	pdet_batch_grow(b, 1);
	pdet_put(b, row, PAGEDET_FIELD_PFN, l->object, PAGEDET_SOURCE_TRACE);
	pdet_fields_for(f, &of_kernel)
		pdet_put_none(b, row, f, PAGEDET_SOURCE_DERIVED);
}

static int objects_place(struct pdet_walk *base, struct pdet_worker *k,
			 struct pdet_span *span, struct pdet_batch *b)
{
	const struct walk_objects *w = walk_of(base);
	struct pdet_session *s = pdet_session_of(k, base);
	int r = 0;

	for (; span->at < span->end && b->n < b->cap; span->at++) {
		const struct pdet_live *l = live_at(w, span->at);
		const bool is_page = span->at >= w->n_objects;
		const uint32_t row = b->n;

		if (is_page)
			put_page(b, l);
		else
			r = put_object(w, s, b, l);
		if (r < 0)
			return r;
		if (is_asked(w))
			pdet_objects_state(base, s, b, l);
		put_allocation(w, b, row, l, is_page);
		pdet_put(b, row, PAGEDET_FIELD_ASK, span->at,
			 PAGEDET_SOURCE_DERIVED);
		k->cover.visited++;
	}
	span->place = span->at;
	return 0;
}

static int objects_recheck(struct pdet_walk *base, struct pdet_worker *k,
			   struct pdet_span *span, struct pdet_batch *b)
{
	const struct walk_objects *w = walk_of(base);
	const uint64_t *ask = b->value[PAGEDET_FIELD_ASK];
	uint32_t row;

	(void)span;
	for (row = 0; row < b->n && is_asked(w); row++)
		if (ask[row] < w->n_objects)
			base->backend->ops->kaddr_recheck(
				pdet_session_of(k, base),
				live_at(w, ask[row])->object,
				PAGEDET_KADDR_MEMORY, b, row);
	return 0;
}

static void objects_free(struct pdet_walk *base)
{
	free(walk_of(base));
}

static const struct pdet_walk_ops objects_ops = {
	.next = objects_next,
	.place = objects_place,
	.recheck = objects_recheck,
	.free = objects_free,
};

int pdet_walk_objects(struct pdet_iter *it, struct pdet_walk **ret)
{
	const int r = pdet_walk_new(it, &objects_ops,
				    sizeof(struct walk_objects), ret);
	struct walk_objects *w;

	if (r < 0)
		return r;
	w = walk_of(*ret);
	w->objects = pdet_allocs_live(it->q.allocs, false, &w->n_objects);
	w->pages = pdet_allocs_live(it->q.allocs, true, &w->n_pages);
	w->walk.total = w->n_objects + w->n_pages;
	return 0;
}
