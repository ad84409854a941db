/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The border for timelines: where frames are mapped, then the trace. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocs/pairing.h"
#include "allocs/timeline.h"
#include "api/kmem/reading.h"
#include "emit/timeline.h"
#include "query/walk/objects_boot.h"

#define MOST_EVENTS 1000000u
/* No machine has more bits in a physical address, with pages of 4 KB. */
#define PFN_BITS 52
/* Upper bits of an address may be a tag. */
#define ADDRESS (UINT64_MAX >> 8)

struct pagedet_timeline {
	struct pagedet_allocs trace;
	struct pdet_timeline t;
	struct pagedet_timeline_query q;
	unsigned shift;		/* of pages, of the kernel that is asked */
	size_t next;
	char why[PDET_BOOT_WHY]; /* objects are not placed; "" they are */
};

/* --- where the frames are mapped --- */

static void note_why(struct pagedet_timeline *tl, const char *why)
{
	const char *advice = tl->trace.pd->env.advice;

	snprintf(tl->why, sizeof(tl->why), "%s%s%s", why, *advice ? "; " : "",
		 advice);
	pdet_clear(&tl->trace.pd->env);
}

static bool find_direct_map(struct pagedet_timeline *tl)
{
	struct pagedet *pd = tl->trace.pd;
	bool found = false, asked = false;
	size_t i;

	for (i = 0; i < pd->n_backends && !found; i++) {
		struct pdet_backend *b = pd->backends[i];

		if (!b->ops->direct_map)
			continue;
		pdet_clear(&pd->env);
		asked = true;
		found = b->ops->direct_map(b, &pd->env, &tl->t.direct) == 0;
	}
	if (!found)
		note_why(tl, asked ? pd->env.error : "no open source knows "
			 "where the kernel maps memory");
	return found;
}

/* What cannot be placed is not an error. */
static void look_for_objects(struct pagedet_timeline *tl)
{
	struct pagedet_info info = { .size = sizeof(info) };
	struct pagedet *pd = tl->trace.pd;

	if (tl->q.pages_only)
		return;
	if (!pd->open || pagedet_info(pd, &info) < 0 || !info.page_size) {
		note_why(tl, pd->open ? "no open source knows the size of a "
			 "page" : "no source is open");
		return;
	}
	if (!find_direct_map(tl))
		return;
	tl->shift = (unsigned)__builtin_ctzll(info.page_size);
	/* No bit of its address may be lost. */
	if ((tl->q.first_pfn + tl->q.pages) << tl->shift > ADDRESS ||
	    (tl->q.first_pfn + tl->q.pages) >> (64 - tl->shift)) {
		note_why(tl, "no kernel maps pages with such numbers");
		return;
	}
	tl->t.start = tl->t.direct + (tl->q.first_pfn << tl->shift);
	tl->t.bytes = tl->q.pages << tl->shift;
	tl->t.memory = info.max_pfn << tl->shift;
	tl->t.has_addresses = true;
}

/* Some of it is known only after the trace was read. */
static bool are_here(struct pagedet_timeline *tl)
{
	struct pagedet *pd = tl->trace.pd;
	const struct pdet_asked k = {
		&pd->env, pd->backends, pd->n_backends,
		pdet_asks_running(pd),
	};
	const uint64_t page = pdet_allocs_page_size(tl->trace.a);

	if (!tl->t.has_addresses)
		return false;
	if (page && page != (uint64_t)1 << tl->shift) {
		note_why(tl, "the trace is of a kernel with pages of another "
			 "size");
		return false;
	}
	if (!pdet_objects_are_of(tl->trace.a, &k, tl->q.any_boot, tl->why))
		return false;
	if (!tl->t.outside)
		return true;
	note_why(tl, "some of them are where the kernel that is asked has no "
		 "memory, so the trace is of another boot");
	return false;
}

/* --- the query --- */

static bool has_lifetime(const struct pagedet_allocs_query *q)
{
	uint64_t i;

	for (i = 0; q->by && i < PDET_MIN(q->n_by, PAGEDET_ALLOC_KEYS); i++)
		if (q->by[i] == PAGEDET_ALLOC_LIFETIME)
			return true;
	return false;
}

static int check(struct pdet_env *env, const struct pagedet_timeline_query *q)
{
	if (q->first > 1 || q->any_boot > 1 || q->pages_only > 1 || q->reserved)
		return pdet_fail(env, E2BIG, "a timeline does not have this "
				 "option");
	if (!q->trace)
		return pdet_fail(env, EINVAL, "a timeline needs a trace");
	if (!q->pages || q->pages > PDET_TIMELINE_FRAMES)
		return pdet_fail(env, EINVAL, "a timeline is of 1 to %llu "
				 "pages", (unsigned long long)
				 PDET_TIMELINE_FRAMES);
	if (q->first_pfn >> PFN_BITS ||
	    (q->first_pfn + q->pages - 1) >> PFN_BITS)
		return pdet_fail(env, EINVAL, "there is no page %llu",
				 (unsigned long long)q->first_pfn);
	if (has_lifetime(q->trace))
		return pdet_fail(env, EINVAL, "events do not have the key "
				 "lifetime: frees have one in any case");
	return 0;
}

static int read_trace(struct pagedet_timeline *tl)
{
	struct pdet_env *env = &tl->trace.pd->env;
	const struct pdet_alloc_sink sink = { pdet_timeline_add, &tl->t };
	int r;

	tl->t.first = tl->q.first_pfn;
	tl->t.frames = tl->q.pages;
	tl->t.most = (size_t)PDET_MIN(tl->q.max_events ? tl->q.max_events :
				      MOST_EVENTS, (uint64_t)SIZE_MAX);
	tl->t.keeps_first = tl->q.first;
	if (pdet_timeline_begin(&tl->t) < 0)
		return pdet_fail(env, ENOMEM, "no memory");
	look_for_objects(tl);
	r = pdet_read_allocs(tl->trace.pd, tl->q.trace, &sink, &tl->trace.a);
	if (r == 0)
		r = pdet_allocs_need_events(tl->trace.a, env);
	if (r == 0 && pdet_timeline_end(&tl->t, are_here(tl)) < 0)
		r = pdet_fail(env, ENOMEM, "no memory");
	return r;
}

int pagedet_allocs_timeline(struct pagedet *pd,
			    const struct pagedet_timeline_query *query,
			    struct pagedet_timeline **ret)
{
	static const struct pagedet_timeline_query defaults =
		PAGEDET_TIMELINE_QUERY_INIT;
	struct pagedet_timeline *tl;
	int r;

	pdet_clear(&pd->env);
	tl = calloc(1, sizeof(*tl));
	if (!tl)
		return pdet_fail(&pd->env, ENOMEM, "no memory");
	tl->trace.pd = pd;
	r = pdet_check_struct(&pd->env, &tl->q, sizeof(tl->q), query, &defaults,
			      "struct pagedet_timeline_query");
	if (r == 0)
		r = check(&pd->env, &tl->q);
	if (r == 0)
		r = read_trace(tl);
	/* The caller has it no longer. */
	tl->q.trace = NULL;
	if (r < 0) {
		pagedet_timeline_free(tl);
		return r;
	}
	*ret = tl;
	return 0;
}

/* --- answers --- */

static bool is_object(const struct pdet_timeline_row *row)
{
	return row->kind >= PAGEDET_EVENT_KMALLOC &&
	       row->kind <= PAGEDET_EVENT_CACHE_FREE;
}

static void fill_place(const struct pagedet_timeline *tl,
		       const struct pdet_timeline_row *row,
		       struct pagedet_timeline_event *to)
{
	const uint64_t page = pdet_allocs_page_size(tl->trace.a);

	if (is_object(row)) {
		to->address = row->object;
		to->pfn = ((row->object - tl->t.direct) & ADDRESS) >> tl->shift;
		to->bytes = row->bytes;
	} else if (row->kind == PAGEDET_EVENT_LOST) {
		to->lost = row->bytes;
		to->bytes_state = PAGEDET_NONE;
		return;
	} else {
		to->pfn = row->object;
		to->order = row->order;
		to->bytes = page * pdet_kmem_pages(row->order);
	}
	to->bytes_state = to->bytes ? PAGEDET_HAVE : PAGEDET_UNSUPPORTED;
}

static unsigned lifetime_state(const struct pagedet_timeline *tl,
			       const struct pdet_timeline_row *row)
{
	if (row->effect != PAGEDET_EFFECT_FREED &&
	    row->effect != PAGEDET_EFFECT_FREED_UNKNOWN &&
	    row->effect != PAGEDET_EFFECT_OBJECT_FREED &&
	    row->effect != PAGEDET_EFFECT_OBJECT_UNKNOWN)
		return PAGEDET_NONE;
	return row->lifetime == PDET_LIFETIME_UNKNOWN ||
	       !pdet_allocs_counts_ns(tl->trace.a) ? PAGEDET_UNSUPPORTED :
						     PAGEDET_HAVE;
}

static int next(void *arg, struct pagedet_timeline_event *ret)
{
	struct pagedet_timeline *tl = arg;
	const struct pdet_timeline_row *row;
	unsigned i;

	if (tl->next == tl->t.n)
		return 0;
	row = &tl->t.rows[tl->next++];
	memset(ret, 0, sizeof(*ret));
	ret->size = sizeof(*ret);
	ret->ns = row->ns;
	ret->kind = row->kind;
	ret->effect = row->effect;
	fill_place(tl, row, ret);
	ret->lifetime_state = lifetime_state(tl, row);
	if (ret->lifetime_state == PAGEDET_HAVE)
		ret->lifetime_ns = row->lifetime;
	for (i = 0; i < PAGEDET_ALLOC_KEYS; i++)
		ret->state[i] = PAGEDET_NONE;
	if (row->group != PDET_TIMELINE_NO_GROUP)
		pdet_allocs_values(tl->trace.a, row->group, ret->value,
				   ret->state);
	return 1;
}

int pagedet_timeline_next(struct pagedet_timeline *timeline,
			  struct pagedet_timeline_event *ret)
{
	struct pagedet_timeline_event event;
	int r = pdet_check_answer(&timeline->trace.pd->env, ret);

	if (r < 0)
		return r;
	if (!next(timeline, &event))
		return 0;
	pdet_answer_struct(&timeline->trace.pd->env, ret, &event,
			   sizeof(event));
	return 1;
}

const char *pagedet_timeline_text(const struct pagedet_timeline *timeline,
				  uint64_t id, size_t *len)
{
	return pagedet_allocs_text(&timeline->trace, id, len);
}

const char *pagedet_timeline_gfp(struct pagedet_timeline *timeline,
				 uint64_t gfp)
{
	return pagedet_allocs_gfp(&timeline->trace, gfp);
}

static bool is_unplaced(const struct pagedet_timeline *tl)
{
	return tl->t.unplaced && !tl->q.pages_only;
}

const char *pagedet_timeline_why(const struct pagedet_timeline *timeline)
{
	return is_unplaced(timeline) ? timeline->why : NULL;
}

static void sum(const struct pagedet_timeline *tl,
		struct pagedet_timeline_total *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->size = sizeof(*ret);
	ret->page_events = tl->t.of_pages.events;
	ret->object_events = tl->t.of_objects.events;
	ret->events = ret->page_events + ret->object_events;
	ret->losses = tl->t.lost;
	ret->rows = tl->t.n;
	ret->left_out = ret->events + ret->losses - ret->rows;
	ret->unplaced = tl->t.unplaced;
	ret->objects = is_unplaced(tl) ? PAGEDET_UNSUPPORTED :
		       tl->t.unplaced ? PAGEDET_NOT_ASKED : PAGEDET_HAVE;
	ret->no_ns = !pdet_allocs_counts_ns(tl->trace.a);
	ret->no_pages = !tl->t.has_pages;
}

int pagedet_timeline_total(const struct pagedet_timeline *timeline,
			   struct pagedet_timeline_total *ret)
{
	struct pagedet_timeline_total total;

	sum(timeline, &total);
	return pdet_answer_struct(&timeline->trace.pd->env, ret, &total,
				  sizeof(total));
}

int pagedet_timeline_trace(const struct pagedet_timeline *timeline,
			   struct pagedet_allocs_total *ret)
{
	return pagedet_allocs_total(&timeline->trace, ret);
}

int pagedet_emit_timeline(struct pagedet_emitter *emitter,
			  struct pagedet_timeline *timeline, uint64_t max)
{
	struct pdet_emit_timeline t = {
		.allocs = timeline->trace.a, .next = next, .arg = timeline,
		.why = pagedet_timeline_why(timeline), .max = max,
	};

	sum(timeline, &t.total);
	return pdet_emit_timeline(emitter, &timeline->trace.pd->env, &t);
}

void pagedet_timeline_free(struct pagedet_timeline *timeline)
{
	if (!timeline)
		return;
	pdet_allocs_free(timeline->trace.a);
	pdet_timeline_free(&timeline->t);
	free(timeline);
}
