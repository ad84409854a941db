/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Events one by one, while the entries of later ones come into the cache. */
#include <errno.h>

#include "allocs/pairing.h"
#include "base/env.h"
#include "base/vec.h"
#include "pagedet.h"

/* Events whose entries are read ahead. */
#define AHEAD 16u

static struct pdet_live_table *table_of(struct pdet_pairing *p, unsigned kind)
{
	return pdet_kmem_is_page(kind) ? &p->pages : &p->objects;
}

static uint32_t narrow(uint64_t bytes)
{
	return (uint32_t)PDET_MIN(bytes, (uint64_t)UINT32_MAX);
}

/* The sums of a group, or NULL without memory; -1 was without. */
static struct pdet_alloc_sum *sum_of(struct pdet_pairing *p, int64_t group)
{
	const struct pdet_alloc_sum none = { 0 };

	if (group < 0)
		return NULL;
	while (p->sums.n <= (size_t)group)
		if (!pdet_vec_push(&p->sums, none))
			return NULL;
	return &p->sums.data[group];
}

static void move(const struct pdet_live *l, struct pdet_alloc_sum *from,
		 struct pdet_alloc_sum *to)
{
	const bool less = l->allocated < l->requested;
	const bool unsized = l->kind == PDET_KMEM_PAGE_ALLOC && !l->allocated;

	from->times--;
	from->requested -= l->requested;
	from->allocated -= l->allocated;
	from->less -= less;
	from->unsized -= unsized;
	to->times++;
	to->requested += l->requested;
	to->allocated += l->allocated;
	to->less += less;
	to->unsized += unsized;
}

/* The sums that the end of an allocation is added to; NULL without memory. */
static struct pdet_alloc_sum *end(struct pdet_pairing *p,
				  const struct pdet_live *l, uint64_t lifetime)
{
	struct pdet_alloc_sum *from = &p->sums.data[l->group], *to = from;

	from->live--;
	from->live_bytes -= l->allocated;
	if (!p->ended)
		return from;
	to = sum_of(p, p->ended(p->arg, l->group, lifetime));
	if (to)
		move(l, &p->sums.data[l->group], to);
	return to;
}

/* 0: not known. */
static uint64_t bytes_of_pages(const struct pdet_pairing *p, unsigned order)
{
	return order < 32 ? p->page_size << order : 0;
}

/* enum migratetype of include/linux/mmzone.h */
static unsigned mobility(const struct pdet_kmem_event *e)
{
	return e->kind != PDET_KMEM_PAGE_ALLOC ||
	       e->migratetype == PDET_KMEM_NO_NUMBER ? PDET_LIVE_UNTOLD :
	       e->migratetype == 1 ? PDET_LIVE_MOVABLE : PDET_LIVE_FIXED;
}

/* An event, and the group of its allocation. False without memory. */
static bool found(struct pdet_pairing *p, uint32_t kind,
		  const struct pdet_kmem_event *e, uint32_t group)
{
	const struct pdet_alloc_finding one = {
		.kind = kind, .has_cpu = true, .has_group = true,
		.cpu = e->cpu, .group = group, .times = 1, .first_ns = e->ns,
	};

	return pdet_findings_add(&p->findings, &one);
}

static int allocate(struct pdet_pairing *p, const struct pdet_kmem_event *e)
{
	uint32_t requested = narrow(e->requested);
	uint32_t allocated = narrow(e->allocated);
	const int64_t group = p->group(p->arg, e);
	struct pdet_alloc_sum *s = sum_of(p, group);
	struct pdet_live *l;
	bool had;

	if (!s)
		return -ENOMEM;
	if (!e->object) {
		s->failed++;
		return 0;
	}
	l = pdet_live_put(table_of(p, e->kind), e->object, &had);
	if (!l)
		return -ENOMEM;
	if (had) {
		s = end(p, l, PDET_LIFETIME_UNKNOWN);
		if (!s)
			return -ENOMEM;
		s->replaced++;
		s = &p->sums.data[group];
	}
	if (e->kind == PDET_KMEM_PAGE_ALLOC) {
		requested = allocated = narrow(bytes_of_pages(p, e->order));
		s->unsized += !allocated;
	}
	s->times++;
	s->requested += requested;
	s->allocated += allocated;
	s->less += allocated < requested;
	if (allocated < requested &&
	    !found(p, PAGEDET_FOUND_TOO_SMALL, e, (uint32_t)group))
		return -ENOMEM;
	l->ns = e->ns;
	l->requested = requested;
	l->allocated = allocated;
	l->group = (uint32_t)group;
	l->cpu = e->cpu;
	l->kind = e->kind & 0x3f;
	l->mobility = mobility(e);
	l->order = e->order;
	s->live++;
	s->live_bytes += l->allocated;
	return 0;
}

static int release(struct pdet_pairing *p, const struct pdet_kmem_event *e)
{
	struct pdet_alloc_sum *s;
	struct pdet_live l;

	if (pdet_kmem_is_nothing(e)) {
		p->rest.freed_nothing++;
		return 0;
	}
	if (!pdet_live_take(table_of(p, e->kind), e->object, &l)) {
		p->rest.freed_unknown[pdet_kmem_is_page(e->kind)]++;
		return 0;
	}
	s = end(p, &l, e->ns < l.ns ? PDET_LIFETIME_UNKNOWN : e->ns - l.ns);
	if (!s)
		return -ENOMEM;
	s->freed++;
	s->cross_cpu += l.cpu != e->cpu;
	if (!pdet_kmem_is_of_family(l.kind, e->kind)) {
		s->mismatched++;
		if (!found(p, e->kind == PDET_KMEM_KFREE ?
				      PAGEDET_FOUND_KFREE :
				      PAGEDET_FOUND_CACHE_FREE, e, l.group))
			return -ENOMEM;
	}
	if (e->ns < l.ns)
		p->rest.early++;
	else
		s->lifetime_ns += e->ns - l.ns;
	return 0;
}

/* Objects and bytes that are live, one by one not known. */
static int add_live(struct pdet_pairing *p, const struct pdet_kmem_event *e)
{
	struct pdet_alloc_sum *s = sum_of(p, p->group(p->arg, e));

	if (!s)
		return -ENOMEM;
	s->live += PDET_MIN(e->object, UINT64_MAX - s->live);
	s->live_bytes += PDET_MIN(e->allocated, UINT64_MAX - s->live_bytes);
	return 0;
}

static int add(struct pdet_pairing *p, const struct pdet_kmem_event *e)
{
	p->rest.event[e->kind]++;
	if (e->kind == PDET_KMEM_SUM)
		return add_live(p, e);
	if (e->kind == PDET_KMEM_LOST)
		return 0;
	if (pdet_kmem_is_alloc(e->kind))
		return allocate(p, e);
	if (e->kind >= PDET_KMEM_NAME)
		return p->group(p->arg, e) < 0 ? -ENOMEM : 0;
	return e->kind == PDET_KMEM_PAGE_BATCHED ? 0 : release(p, e);
}

int pdet_pairing_add(struct pdet_pairing *p,
		     const struct pdet_kmem_event *const *e, size_t n)
{
	const struct pdet_kmem_event *later;
	size_t i;
	int r = 0;

	for (i = 0; i < PDET_MIN(n, 2 * AHEAD); i++)
		pdet_live_expect_slot(table_of(p, e[i]->kind), e[i]->object);
	for (i = 0; i < n && r == 0; i++) {
		if (n - i > 2 * AHEAD) {
			later = e[i + 2 * AHEAD];
			pdet_live_expect_slot(table_of(p, later->kind),
					      later->object);
		}
		if (n - i > AHEAD) {
			later = e[i + AHEAD];
			pdet_live_expect(table_of(p, later->kind),
					 later->object);
		}
		r = add(p, e[i]);
	}
	return r;
}

static uint64_t rest(uint64_t all, uint64_t part)
{
	return all - PDET_MIN(all, part);
}

/* What became of them. The kernel counts each of them once. */
static void add_frees(struct pdet_alloc_sum *s, const struct pdet_kmem_sum *sum)
{
	s->freed += sum->freed;
	s->cross_cpu += sum->cross_cpu;
	s->mismatched += sum->mismatched;
	s->replaced += sum->replaced;
	s->untracked += sum->untracked;
	s->live += rest(sum->times, sum->freed + sum->replaced +
				    sum->untracked);
	s->live_bytes += rest(sum->allocated, sum->gone);
}

int pdet_pairing_sum(struct pdet_pairing *p, const struct pdet_kmem_sum *sum,
		     bool frees)
{
	struct pdet_kmem_event e = sum->keys;
	struct pdet_alloc_sum *s;

	if (e.cache_len)
		e.cache = sum->cache;
	s = sum_of(p, p->group(p->arg, &e));
	if (!s)
		return -ENOMEM;
	p->rest.event[e.kind] += sum->times + sum->failed;
	s->times += sum->times;
	s->requested += sum->requested;
	s->allocated += sum->allocated;
	s->failed += sum->failed;
	if (frees)
		add_frees(s, sum);
	return 0;
}

int pdet_pairing_object(struct pdet_pairing *p, const struct pdet_kmem_event *e)
{
	const int64_t group = p->group(p->arg, e);
	struct pdet_live *l;
	bool had;

	if (!sum_of(p, group))
		return -ENOMEM;
	l = pdet_live_put(&p->objects, e->object, &had);
	if (!l)
		return -ENOMEM;
	/* When and where it was allocated is not told. */
	*l = (struct pdet_live){
		.object = e->object, .allocated = narrow(e->allocated),
		.requested = narrow(e->allocated), .group = (uint32_t)group,
		.kind = e->kind & 0x3f, .mobility = PDET_LIVE_UNTOLD,
	};
	return 0;
}

void pdet_pairing_free(struct pdet_pairing *p)
{
	pdet_vec_free(&p->sums);
	pdet_findings_free(&p->findings);
	pdet_live_free(&p->objects);
	pdet_live_free(&p->pages);
}
