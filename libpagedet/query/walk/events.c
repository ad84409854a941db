/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Walks the events of a trace in the order of their times, while they are read:
 * nothing keeps them. What the event says is in the row. The kernel is asked
 * what is at its address now, unless it is not the kernel that was traced.
 * Where events were lost, a row says so.
 */
#include <errno.h>
#include <stdlib.h>

#include "allocs/allocs.h"
#include "allocs/keys.h"
#include "query/query.h"

/* Texts of a batch whose ids are kept at hand. Powers of two. */
#define RECENT 256
/* The calls and threads of a damaged trace may have any number of names. */
#define MOST_NAMES ((size_t)1 << 18)

/* The id of a text in the batch that is filled. */
struct recent {
	uint64_t key, id, batch;
	unsigned state;
};

struct walk_events {
	struct pdet_walk walk;
	struct pdet_worker *worker;
	struct pdet_alloc_keys *keys;
	const struct pdet_kmem_event *const *event; /* that were read */
	size_t n, next;
	uint64_t asked;		/* rows so far */
	uint64_t batch;		/* number of the batch, and of names in it */
	/* By row of the batch: the address that the kernel was asked for. */
	struct {
		uint64_t *data;
		size_t n, cap;
	} object;
	uint64_t first;		/* number of the first row of the batch */
	struct pdet_fields of_kernel;
	struct recent site[RECENT], comm[RECENT], gfp[RECENT];
	int stopped;		/* errno for which the reading ended early */
	bool begun, at_end;
};

static const struct {
	uint8_t event, family;
} kinds[PDET_KMEM_KINDS] = {
#define KIND(kmem, event, family) \
	[PDET_KMEM_##kmem] = { PAGEDET_EVENT_##event, PAGEDET_FAMILY_##family }
	KIND(KMALLOC, KMALLOC, KMALLOC),
	KIND(CACHE_ALLOC, CACHE_ALLOC, CACHE),
	KIND(KFREE, KFREE, KMALLOC),
	KIND(CACHE_FREE, CACHE_FREE, CACHE),
	KIND(PAGE_ALLOC, PAGE_ALLOC, PAGE),
	KIND(PAGE_FREE, PAGE_FREE, PAGE),
	KIND(PAGE_BATCHED, PAGE_FREE_BATCHED, PAGE),
#undef KIND
};

static struct walk_events *walk_of(struct pdet_walk *w)
{
	return PDET_CONTAINER(w, struct walk_events, walk);
}

static bool is_asked(const struct walk_events *w)
{
	return !w->walk.it->text_only && w->walk.backend->ops->kaddr;
}

/* --- reading --- */

static bool is_stopped(void *arg)
{
	struct walk_events *w = arg;

	w->stopped = -pdet_engine_check(w->worker);
	return w->stopped;
}

static int events_begin(struct pdet_walk *base, struct pdet_worker *k)
{
	struct walk_events *w = walk_of(base);

	w->worker = k;
	return pdet_allocs_begin(base->it->q.allocs,
				 &pdet_session_of(k, base)->env, is_stopped, w);
}

/* All events are one span: one thread reads them. */
static int events_next(struct pdet_walk *base, struct pdet_worker *k,
		       struct pdet_span *span, uint64_t pages)
{
	(void)k;
	(void)pages;
	return pdet_span_all(span, &walk_of(base)->begun);
}

/* What is not an event itself. */
static int take_other(struct walk_events *w, struct pdet_env *env,
		      const struct pdet_kmem_event *e)
{
	if (e->kind == PDET_KMEM_SUM)
		return pdet_fail(env, EINVAL, "these are sums of what is live: "
				 "objects and events are not known");
	if (w->keys->comms.n >= MOST_NAMES && e->kind == PDET_KMEM_NAME)
		return 0;
	w->batch++;
	return pdet_alloc_keys_group(w->keys, e) < 0 ?
		       pdet_fail(env, ENOMEM, "no memory") : 0;
}

/* --- texts --- */

static struct recent *recent_of(struct recent *all, uint64_t key)
{
	return &all[pdet_hash_number(key, 0) >> 32 & (RECENT - 1)];
}

static bool put_recent(const struct walk_events *w, struct pdet_batch *b,
		       uint32_t row, unsigned field, const struct recent *r,
		       uint64_t key)
{
	if (r->batch != w->batch || r->key != key)
		return false;
	if (r->state == PAGEDET_HAVE)
		pdet_put(b, row, field, r->id, PAGEDET_SOURCE_TRACE);
	else
		pdet_put_lost(b, row, field, r->state, PAGEDET_SOURCE_TRACE);
	return true;
}

static void keep_recent(const struct walk_events *w, const struct pdet_batch *b,
			uint32_t row, unsigned field, struct recent *r,
			uint64_t key)
{
	r->batch = w->batch;
	r->key = key;
	r->id = b->value[field][row];
	r->state = pdet_batch_state(b, row, field);
}

static void put_lost(struct pdet_batch *b, uint32_t row, unsigned field,
		     unsigned reason)
{
	pdet_put_lost(b, row, field, reason, PAGEDET_SOURCE_TRACE);
}

static void put_none(struct pdet_batch *b, uint32_t row, unsigned field)
{
	pdet_put_none(b, row, field, PAGEDET_SOURCE_TRACE);
}

/* A text that the keys have. */
static void put_kept(const struct walk_events *w, struct pdet_batch *b,
		     uint32_t row, unsigned field, uint64_t id)
{
	size_t len = 0;
	const char *text = pdet_groups_text(&w->keys->groups, id, &len);

	if (text)
		pdet_put_text(b, row, field, text, len, PAGEDET_SOURCE_TRACE);
	else
		put_lost(b, row, field, PAGEDET_NO_MEMORY);
}

static void find_site(const struct walk_events *w, struct pdet_batch *b,
		      uint32_t row, uint64_t address)
{
	const struct pdet_alloc_site *site;
	uint64_t had;

	if (w->keys->sites.n >= MOST_NAMES &&
	    !pdet_pairs_get(&w->keys->site_at, address, &had)) {
		put_lost(b, row, PAGEDET_FIELD_EVENT_SITE, PAGEDET_TOO_COSTLY);
		return;
	}
	site = pdet_alloc_keys_site(w->keys, address);
	if (site)
		put_kept(w, b, row, PAGEDET_FIELD_EVENT_SITE, site->site);
	else
		put_lost(b, row, PAGEDET_FIELD_EVENT_SITE, PAGEDET_NO_MEMORY);
}

static void put_site(struct walk_events *w, struct pdet_batch *b, uint32_t row,
		     const struct pdet_kmem_event *e)
{
	struct recent *r = recent_of(w->site, e->site);

	if (!b->value[PAGEDET_FIELD_EVENT_SITE])
		return;
	if (!e->site) {
		/* Events of pages have none; that of a free may not be told. */
		if (pdet_kmem_is_page(e->kind) || pdet_kmem_is_alloc(e->kind))
			put_none(b, row, PAGEDET_FIELD_EVENT_SITE);
		else
			put_lost(b, row, PAGEDET_FIELD_EVENT_SITE,
				 PAGEDET_UNSUPPORTED);
		return;
	}
	if (put_recent(w, b, row, PAGEDET_FIELD_EVENT_SITE, r, e->site))
		return;
	find_site(w, b, row, e->site);
	keep_recent(w, b, row, PAGEDET_FIELD_EVENT_SITE, r, e->site);
}

static void put_comm(struct walk_events *w, struct pdet_batch *b, uint32_t row,
		     const struct pdet_kmem_event *e)
{
	const uint64_t tid = (uint32_t)e->pid;
	struct recent *r = recent_of(w->comm, tid);
	uint64_t id;

	if (!b->value[PAGEDET_FIELD_EVENT_COMM] ||
	    put_recent(w, b, row, PAGEDET_FIELD_EVENT_COMM, r, tid))
		return;
	if (e->pid >= 0 && pdet_pairs_get(&w->keys->comms, tid, &id))
		put_kept(w, b, row, PAGEDET_FIELD_EVENT_COMM, id);
	else
		put_lost(b, row, PAGEDET_FIELD_EVENT_COMM, PAGEDET_UNSUPPORTED);
	keep_recent(w, b, row, PAGEDET_FIELD_EVENT_COMM, r, tid);
}

static void put_gfp_names(struct walk_events *w, struct pdet_batch *b,
			  uint32_t row, uint64_t gfp)
{
	struct recent *r = recent_of(w->gfp, gfp);
	char text[PDET_GFP_TEXT];
	size_t len;

	if (!b->value[PAGEDET_FIELD_GFP] ||
	    put_recent(w, b, row, PAGEDET_FIELD_GFP, r, gfp))
		return;
	if (pdet_allocs_gfp(w->walk.it->q.allocs, gfp, text, &len))
		pdet_put_text(b, row, PAGEDET_FIELD_GFP, text, len,
			      PAGEDET_SOURCE_TRACE);
	else
		put_lost(b, row, PAGEDET_FIELD_GFP, PAGEDET_UNSUPPORTED);
	keep_recent(w, b, row, PAGEDET_FIELD_GFP, r, gfp);
}

/* --- what the event says --- */

static void put_told(struct pdet_batch *b, uint32_t row, unsigned field,
		     uint64_t value, bool is_told)
{
	if (is_told)
		pdet_put(b, row, field, value, PAGEDET_SOURCE_TRACE);
	else
		put_lost(b, row, field, PAGEDET_UNSUPPORTED);
}

static void put_gfp(struct walk_events *w, struct pdet_batch *b, uint32_t row,
		    const struct pdet_kmem_event *e)
{
	if (!pdet_kmem_is_alloc(e->kind)) {
		put_none(b, row, PAGEDET_FIELD_GFP_MASK);
		put_none(b, row, PAGEDET_FIELD_GFP);
	} else if (e->gfp == PDET_KMEM_NO_GFP) {
		put_lost(b, row, PAGEDET_FIELD_GFP_MASK, PAGEDET_UNSUPPORTED);
		put_lost(b, row, PAGEDET_FIELD_GFP, PAGEDET_UNSUPPORTED);
	} else {
		pdet_put(b, row, PAGEDET_FIELD_GFP_MASK, e->gfp,
			 PAGEDET_SOURCE_TRACE);
		put_gfp_names(w, b, row, e->gfp);
	}
}

static void put_cache(struct pdet_batch *b, uint32_t row,
		      const struct pdet_kmem_event *e)
{
	if (e->cache)
		pdet_put_text(b, row, PAGEDET_FIELD_EVENT_CACHE, e->cache,
			      e->cache_len, PAGEDET_SOURCE_TRACE);
	else if (e->kind == PDET_KMEM_CACHE_ALLOC ||
		 e->kind == PDET_KMEM_CACHE_FREE)
		put_lost(b, row, PAGEDET_FIELD_EVENT_CACHE,
			 PAGEDET_UNSUPPORTED);
	else
		put_none(b, row, PAGEDET_FIELD_EVENT_CACHE);
}

/* A block was asked for by its order, and it gets all of that. */
static void put_sizes(const struct walk_events *w, struct pdet_batch *b,
		      uint32_t row, const struct pdet_kmem_event *e)
{
	const uint64_t page = pdet_allocs_page_size(w->walk.it->q.allocs);
	const uint64_t bytes = page * pdet_kmem_pages(e->order);

	if (!pdet_kmem_is_page(e->kind))
		put_none(b, row, PAGEDET_FIELD_ALLOC_ORDER);
	else
		put_told(b, row, PAGEDET_FIELD_ALLOC_ORDER, e->order,
			 e->kind != PDET_KMEM_PAGE_BATCHED);
	if (!pdet_kmem_is_alloc(e->kind)) {
		put_none(b, row, PAGEDET_FIELD_ALLOC_REQUESTED);
		put_none(b, row, PAGEDET_FIELD_ALLOC_BYTES);
	} else if (pdet_kmem_is_page(e->kind)) {
		put_told(b, row, PAGEDET_FIELD_ALLOC_REQUESTED, bytes, bytes);
		put_told(b, row, PAGEDET_FIELD_ALLOC_BYTES, bytes, bytes);
	} else {
		pdet_put(b, row, PAGEDET_FIELD_ALLOC_REQUESTED, e->requested,
			 PAGEDET_SOURCE_TRACE);
		pdet_put(b, row, PAGEDET_FIELD_ALLOC_BYTES, e->allocated,
			 PAGEDET_SOURCE_TRACE);
	}
}

static void put_event(struct walk_events *w, struct pdet_batch *b, uint32_t row,
		      const struct pdet_kmem_event *e)
{
	pdet_put(b, row, PAGEDET_FIELD_EVENT_FAMILY, kinds[e->kind].family,
		 PAGEDET_SOURCE_TRACE);
	put_told(b, row, PAGEDET_FIELD_EVENT_TID, (uint32_t)e->pid,
		 e->pid >= 0);
	put_none(b, row, PAGEDET_FIELD_EVENT_LOST);
	put_comm(w, b, row, e);
	put_site(w, b, row, e);
	put_cache(b, row, e);
	put_gfp(w, b, row, e);
	put_sizes(w, b, row, e);
}

static void put_loss(struct pdet_batch *b, uint32_t row,
		     const struct pdet_kmem_event *e)
{
	static const uint8_t none[] = {
		PAGEDET_FIELD_EVENT_FAMILY, PAGEDET_FIELD_EVENT_TID,
		PAGEDET_FIELD_EVENT_COMM, PAGEDET_FIELD_EVENT_SITE,
		PAGEDET_FIELD_EVENT_CACHE, PAGEDET_FIELD_GFP_MASK,
		PAGEDET_FIELD_GFP, PAGEDET_FIELD_ALLOC_ORDER,
		PAGEDET_FIELD_ALLOC_REQUESTED, PAGEDET_FIELD_ALLOC_BYTES,
	};
	size_t i;

	for (i = 0; i < PDET_COUNT(none); i++)
		put_none(b, row, none[i]);
	put_told(b, row, PAGEDET_FIELD_EVENT_LOST, e->object,
		 e->object != UINT64_MAX);
}

/* --- rows --- */

/* The row is of no kernel address; with @has_page, of a page at least. */
static void put_no_address(const struct walk_events *w, struct pdet_batch *b,
			   uint32_t row, bool has_page)
{
	unsigned f;

	pdet_fields_for(f, &w->of_kernel)
		pdet_put_none(b, row, f, PAGEDET_SOURCE_DERIVED);
	if (has_page)
		return;
	pdet_put_none(b, row, PAGEDET_FIELD_PFN, PAGEDET_SOURCE_DERIVED);
	pdet_put_none(b, row, PAGEDET_FIELD_KIND, PAGEDET_SOURCE_DERIVED);
}

/* Whether it is of an object that has an address. */
static bool has_address(const struct pdet_kmem_event *e)
{
	return e->kind != PDET_KMEM_LOST && !pdet_kmem_is_page(e->kind) &&
	       !pdet_kmem_is_nothing(e);
}

/* Where it happened, by the event alone. */
static void put_place(const struct walk_events *w, struct pdet_batch *b,
		      uint32_t row, const struct pdet_kmem_event *e)
{
	const bool is_page = pdet_kmem_is_page(e->kind) && e->object;

	if (is_page)
		pdet_put(b, row, PAGEDET_FIELD_PFN, e->object,
			 PAGEDET_SOURCE_TRACE);
	if (!has_address(e))
		put_no_address(w, b, row, is_page);
	if (e->object && e->kind != PDET_KMEM_LOST &&
	    !pdet_kmem_is_page(e->kind))
		pdet_put(b, row, PAGEDET_FIELD_VADDR, e->object,
			 PAGEDET_SOURCE_TRACE);
}

static void put_row(struct walk_events *w, struct pdet_batch *b, uint32_t row,
		    const struct pdet_kmem_event *e)
{
	const struct pdet_allocs *a = w->walk.it->q.allocs;

	pdet_put(b, row, PAGEDET_FIELD_ASK, w->asked++, PAGEDET_SOURCE_DERIVED);
	pdet_put(b, row, PAGEDET_FIELD_EVENT, kinds[e->kind].event,
		 PAGEDET_SOURCE_TRACE);
	put_told(b, row, PAGEDET_FIELD_EVENT_NS, e->ns,
		 pdet_allocs_counts_ns(a) && e->ns != PDET_KMEM_NO_NS);
	put_told(b, row, PAGEDET_FIELD_EVENT_CPU, e->cpu,
		 pdet_allocs_tells_cpu(a) && (e->kind != PDET_KMEM_LOST ||
					      e->node != PDET_KMEM_NO_NUMBER));
	if (e->kind == PDET_KMEM_LOST)
		put_loss(b, row, e);
	else
		put_event(w, b, row, e);
}

/* With what the kernel says of their addresses. */
static int put_asked(struct walk_events *w, struct pdet_session *s,
		     struct pdet_batch *b,
		     const struct pdet_kmem_event *const *event, uint32_t n)
{
	uint32_t i;
	int r = 0;

	for (i = 0; i < n && r == 0; i++) {
		const struct pdet_kmem_event *e = event[i];
		const uint32_t row = b->n;

		w->object.data[row] = has_address(e) ? e->object : 0;
		if (has_address(e)) {
			r = w->walk.backend->ops->kaddr(
				s, e->object, PAGEDET_KADDR_MEMORY, b);
			if (r < 0)
				break;
		} else {
			pdet_batch_grow(b, 1);
			put_place(w, b, row, e);
		}
		put_row(w, b, row, e);
	}
	return r;
}

static void put_alone(struct walk_events *w, struct pdet_batch *b,
		      const struct pdet_kmem_event *const *event, uint32_t n)
{
	const uint32_t row = b->n;
	uint32_t i;

	pdet_batch_grow(b, n);
	for (i = 0; i < n; i++) {
		put_place(w, b, row + i, event[i]);
		put_row(w, b, row + i, event[i]);
	}
}

/* How many of the next ones have rows, and there is room for them. */
static uint32_t count_rows(const struct walk_events *w,
			   const struct pdet_batch *b)
{
	const size_t most = PDET_MIN(w->n - w->next, (size_t)(b->cap - b->n));
	size_t n = 0;
	unsigned kind;

	while (n < most) {
		kind = w->event[w->next + n]->kind;
		if (kind >= PDET_KMEM_NAME && kind != PDET_KMEM_LOST)
			break;
		n++;
	}
	return (uint32_t)n;
}

/* Adds what was read, up to where it must be read on. */
static int put_events(struct walk_events *w, struct pdet_worker *k,
		      struct pdet_batch *b)
{
	struct pdet_session *s = pdet_session_of(k, &w->walk);
	const uint32_t n = count_rows(w, b);
	const struct pdet_kmem_event *const *event = w->event + w->next;
	int r = 0;

	if (!n) {
		w->next++;
		return take_other(w, &s->env, *event);
	}
	if (is_asked(w))
		r = put_asked(w, s, b, event, n);
	else
		put_alone(w, b, event, n);
	w->next += n;
	k->cover.visited += n;
	return r;
}

static int read_more(struct walk_events *w, struct pdet_env *env)
{
	const int n = pdet_allocs_more(w->walk.it->q.allocs, env, &w->event);

	w->at_end = n <= 0;
	w->n = n > 0 ? (size_t)n : 0;
	w->next = 0;
	return PDET_MIN(n, 0);
}

static int events_place(struct pdet_walk *base, struct pdet_worker *k,
			struct pdet_span *span, struct pdet_batch *b)
{
	struct walk_events *w = walk_of(base);
	struct pdet_env *env = &pdet_session_of(k, base)->env;
	int r = 0;

	if (!w->object.data && !pdet_vec_reserve(&w->object, b->cap))
		return pdet_fail(env, ENOMEM, "no memory");
	w->batch++;
	w->first = w->asked;
	while (b->n < b->cap && !w->at_end && r == 0)
		r = w->next < w->n ? put_events(w, k, b) : read_more(w, env);
	if (r == 0 && w->at_end)
		span->at = span->end;
	return r;
}

static int events_recheck(struct pdet_walk *base, struct pdet_worker *k,
			  struct pdet_span *span, struct pdet_batch *b)
{
	const struct walk_events *w = walk_of(base);
	const uint64_t *ask = b->value[PAGEDET_FIELD_ASK];
	uint64_t object;
	uint32_t row;

	(void)span;
	for (row = 0; row < b->n && is_asked(w); row++) {
		object = w->object.data[ask[row] - w->first];
		if (object)
			base->backend->ops->kaddr_recheck(
				pdet_session_of(k, base), object,
				PAGEDET_KADDR_MEMORY, b, row);
	}
	return 0;
}

static void events_free(struct pdet_walk *base)
{
	struct walk_events *w = walk_of(base);

	pdet_allocs_end(base->it->q.allocs, base->it->env, w->stopped);
	pdet_vec_free(&w->object);
	free(w);
}

static const struct pdet_walk_ops events_ops = {
	.begin = events_begin,
	.next = events_next,
	.place = events_place,
	.recheck = events_recheck,
	.free = events_free,
};

int pdet_walk_events(struct pdet_iter *it, struct pdet_walk **ret)
{
	const int r = pdet_walk_new(it, &events_ops,
				    sizeof(struct walk_events), ret);
	struct walk_events *w;

	if (r < 0)
		return r;
	w = walk_of(*ret);
	w->of_kernel = pdet_plan_of_kernel();
	w->keys = pdet_allocs_of_events(it->q.allocs);
	w->walk.serial = true;
	return 0;
}
