/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Events one by one, while the entries of later ones come into the cache. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

static enum pdet_alloc_part part_of(unsigned kind)
{
	return pdet_kmem_is_page(kind) ? PDET_OF_PAGES : PDET_OF_OBJECTS;
}

/* The sums of a group, or NULL without memory; -1 was without. @kind: of an
 * event. */
static struct pdet_alloc_sum *sum_of(struct pdet_pairing *p, int64_t group,
				     unsigned kind)
{
	const struct pdet_alloc_parts none = { { { 0 } } };

	if (group < 0)
		return NULL;
	while (p->sums.n <= (size_t)group)
		if (!pdet_vec_push(&p->sums, none))
			return NULL;
	return &p->sums.data[group].of[part_of(kind)];
}

/* The same of a group that there is. */
static struct pdet_alloc_sum *sum_at(const struct pdet_pairing *p,
				     uint32_t group, unsigned kind)
{
	return &p->sums.data[group].of[part_of(kind)];
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
static struct pdet_alloc_sum *end(struct pdet_pairing *p, struct pdet_live *l,
				  uint64_t lifetime)
{
	struct pdet_alloc_sum *from = sum_at(p, l->group, l->kind), *to;
	int64_t group;

	from->live--;
	from->live_bytes -= l->allocated;
	if (!p->ended)
		return from;
	group = p->ended(p->arg, l->group, lifetime);
	to = sum_of(p, group, l->kind);
	if (to) {
		move(l, sum_at(p, l->group, l->kind), to);
		l->group = (uint32_t)group;
	}
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
	struct pdet_alloc_sum *s = sum_of(p, group, e->kind);
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
		s = sum_at(p, (uint32_t)group, e->kind);
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

/* --- lifetimes over a loss --- */

static uint64_t lifetime_of(const struct pdet_pairing *p, uint64_t from,
			    uint64_t to)
{
	if (to < from || (p->holes.n && pdet_holes_has(&p->holes, from, to)))
		return PDET_LIFETIME_UNKNOWN;
	return to - from;
}

/* False without memory. */
static bool remember(struct pdet_pairing *p, const struct pdet_paired *pair)
{
	struct pdet_paired *to;

	if (!p->recent)
		p->recent = calloc(PDET_PAIRING_RECENT, sizeof(*p->recent));
	if (!p->recent)
		return false;
	to = &p->recent[p->n_paired++ % PDET_PAIRING_RECENT];
	if (p->n_paired > PDET_PAIRING_RECENT &&
	    to->l.ns != PDET_LIFETIME_UNKNOWN)
		p->forgotten_ns = PDET_MAX(p->forgotten_ns, to->freed_ns);
	*to = *pair;
	return true;
}

/* False without memory. */
static bool doubt(struct pdet_pairing *p, struct pdet_paired *pair)
{
	const unsigned kind = pair->l.kind;
	struct pdet_alloc_sum *from = sum_at(p, pair->l.group, kind);
	struct pdet_alloc_sum *to = from;
	int64_t group = pair->l.group;

	if (p->ended) {
		group = p->ended(p->arg, pair->l.group, PDET_LIFETIME_UNKNOWN);
		to = sum_of(p, group, kind);
		if (!to)
			return false;
		from = sum_at(p, pair->l.group, kind);
		move(&pair->l, from, to);
		from->freed--;
		from->cross_cpu -= pair->cross_cpu;
		from->mismatched -= pair->mismatched;
		to->freed++;
		to->cross_cpu += pair->cross_cpu;
		to->mismatched += pair->mismatched;
	}
	from->lifetime_ns -= pair->freed_ns - pair->l.ns;
	to->lifetime_unknown++;
	pair->l.group = (uint32_t)group;
	pair->l.ns = PDET_LIFETIME_UNKNOWN;
	return true;
}

/* What was freed goes to the group of no known lifetime. */
static bool doubt_group(struct pdet_pairing *p, uint32_t group, unsigned kind)
{
	struct pdet_alloc_sum *from = sum_at(p, group, kind), *to;
	const uint64_t *more;
	int64_t other;
	size_t k;

	from->lifetime_ns = 0;
	from->lifetime_unknown = from->freed;
	if (!p->ended || !from->freed)
		return true;
	other = p->ended(p->arg, group, PDET_LIFETIME_UNKNOWN);
	to = sum_of(p, other, kind);
	if (!to || other == group)
		return to;
	from = sum_at(p, group, kind);
	more = (const uint64_t *)from;
	for (k = 0; k < sizeof(*to) / sizeof(*more); k++)
		((uint64_t *)to)[k] += more[k];
	memset(from, 0, sizeof(*from));
	return true;
}

static bool doubt_all(struct pdet_pairing *p)
{
	const size_t n = p->sums.n;
	size_t i;

	for (i = 0; i < n; i++)
		if (!doubt_group(p, (uint32_t)i, PDET_KMEM_KMALLOC) ||
		    !doubt_group(p, (uint32_t)i, PDET_KMEM_PAGE_ALLOC))
			return false;
	p->n_paired = p->forgotten_ns = 0;
	return true;
}

bool pdet_pairing_lost(struct pdet_pairing *p, const struct pdet_kmem_event *e)
{
	const uint64_t n = PDET_MIN(p->n_paired, (uint64_t)PDET_PAIRING_RECENT);
	struct pdet_paired *pair;
	uint64_t i;

	if (!pdet_holes_add(&p->holes, e->requested, e->ns))
		return false;
	if (p->forgotten_ns && p->forgotten_ns >= e->requested)
		return doubt_all(p);
	for (i = 1; i <= n; i++) {
		pair = &p->recent[(p->n_paired - i) % PDET_PAIRING_RECENT];
		if (pair->freed_ns < e->requested)
			break;
		if (pair->l.ns != PDET_LIFETIME_UNKNOWN &&
		    pair->l.ns <= e->ns && !doubt(p, pair))
			return false;
	}
	return true;
}

/* --- */

static int release(struct pdet_pairing *p, const struct pdet_kmem_event *e)
{
	struct pdet_alloc_sum *s;
	uint64_t lifetime;
	struct pdet_live l;
	uint32_t group;
	bool other;

	if (pdet_kmem_is_nothing(e)) {
		p->rest.freed_nothing++;
		return 0;
	}
	if (!pdet_live_take(table_of(p, e->kind), e->object, &l)) {
		p->rest.freed_unknown[pdet_kmem_is_page(e->kind)]++;
		return 0;
	}
	group = l.group;
	lifetime = lifetime_of(p, l.ns, e->ns);
	s = end(p, &l, lifetime);
	if (!s)
		return -ENOMEM;
	s->freed++;
	s->cross_cpu += l.cpu != e->cpu;
	other = !pdet_kmem_is_of_family(l.kind, e->kind);
	if (other) {
		s->mismatched++;
		if (!found(p, e->kind == PDET_KMEM_KFREE ?
				      PAGEDET_FOUND_KFREE :
				      PAGEDET_FOUND_CACHE_FREE, e, group))
			return -ENOMEM;
	}
	p->rest.early += e->ns < l.ns;
	if (lifetime == PDET_LIFETIME_UNKNOWN) {
		s->lifetime_unknown++;
		return 0;
	}
	s->lifetime_ns += lifetime;
	if (!p->is_one_stream)
		return 0;
	return remember(p, &(struct pdet_paired){
		l, e->ns, l.cpu != e->cpu, other,
	}) ? 0 : -ENOMEM;
}

/* Objects and bytes that are live, one by one not known. */
static int add_live(struct pdet_pairing *p, const struct pdet_kmem_event *e)
{
	struct pdet_alloc_sum *s = sum_of(p, p->group(p->arg, e), e->kind);

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
		return pdet_pairing_lost(p, e) ? 0 : -ENOMEM;
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
	s = sum_of(p, p->group(p->arg, &e), e.kind);
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

	if (!sum_of(p, group, e->kind))
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
	pdet_holes_free(&p->holes);
	free(p->recent);
	p->recent = NULL;
	p->n_paired = p->forgotten_ns = 0;
	pdet_live_free(&p->objects);
	pdet_live_free(&p->pages);
}
