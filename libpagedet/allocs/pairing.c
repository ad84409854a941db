/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Events one by one, while the entries of later ones come into the cache. */
#include <errno.h>

#include "allocs/pairing.h"
#include "base/env.h"
#include "base/vec.h"

/* Events whose entries are read ahead. */
#define AHEAD 8u
/* include/linux/slab.h */
#define ZERO_SIZE_PTR 16

static bool is_page(unsigned kind)
{
	return kind >= PDET_KMEM_PAGE_ALLOC;
}

static bool is_alloc(unsigned kind)
{
	return kind == PDET_KMEM_KMALLOC || kind == PDET_KMEM_CACHE_ALLOC ||
	       kind == PDET_KMEM_PAGE_ALLOC;
}

static struct pdet_live_table *table_of(struct pdet_pairing *p, unsigned kind)
{
	return is_page(kind) ? &p->pages : &p->objects;
}

static uint32_t narrow(uint64_t bytes)
{
	return (uint32_t)PDET_MIN(bytes, (uint64_t)UINT32_MAX);
}

/* The sums of the event's group, or NULL without memory. */
static struct pdet_alloc_sum *sum_of(struct pdet_pairing *p,
				     const struct pdet_kmem_event *e,
				     uint32_t *group)
{
	const struct pdet_alloc_sum none = { 0 };
	const int64_t g = p->group(p->arg, e);

	if (g < 0)
		return NULL;
	while (p->sums.n <= (size_t)g)
		if (!pdet_vec_push(&p->sums, none))
			return NULL;
	*group = (uint32_t)g;
	return &p->sums.data[g];
}

static void leave(struct pdet_pairing *p, const struct pdet_live *l)
{
	struct pdet_alloc_sum *s = &p->sums.data[l->group];

	s->live--;
	s->live_bytes -= l->allocated;
}

/* 0: not known. */
static uint64_t bytes_of_pages(const struct pdet_pairing *p, unsigned order)
{
	return order < 32 ? p->page_size << order : 0;
}

static int allocate(struct pdet_pairing *p, const struct pdet_kmem_event *e)
{
	uint64_t requested = e->requested, allocated = e->allocated;
	struct pdet_alloc_sum *s;
	struct pdet_live *l;
	uint32_t group;
	bool had;

	s = sum_of(p, e, &group);
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
		p->sums.data[l->group].replaced++;
		leave(p, l);
	}
	if (e->kind == PDET_KMEM_PAGE_ALLOC) {
		requested = allocated = bytes_of_pages(p, e->order);
		s->unsized += !allocated;
	}
	s->times++;
	s->requested += requested;
	s->allocated += allocated;
	s->less += allocated < requested;
	l->ns = e->ns;
	l->allocated = narrow(allocated);
	l->group = group;
	l->cpu = e->cpu;
	l->kind = e->kind;
	l->order = e->order;
	s->live++;
	s->live_bytes += l->allocated;
	return 0;
}

static bool is_of_family(unsigned alloc, unsigned free)
{
	return alloc == PDET_KMEM_KMALLOC ? free == PDET_KMEM_KFREE :
	       alloc == PDET_KMEM_CACHE_ALLOC ? free == PDET_KMEM_CACHE_FREE :
						true;
}

/* What kmalloc(0) gives is an address of no memory; and it has no event. */
static bool is_nothing(const struct pdet_kmem_event *e)
{
	return !e->object ||
	       (e->kind == PDET_KMEM_KFREE && e->object == ZERO_SIZE_PTR);
}

static void release(struct pdet_pairing *p, const struct pdet_kmem_event *e)
{
	struct pdet_alloc_sum *s;
	struct pdet_live l;

	if (is_nothing(e)) {
		p->rest.freed_nothing++;
		return;
	}
	if (!pdet_live_take(table_of(p, e->kind), e->object, &l)) {
		p->rest.freed_unknown[is_page(e->kind)]++;
		return;
	}
	leave(p, &l);
	s = &p->sums.data[l.group];
	s->freed++;
	s->cross_cpu += l.cpu != e->cpu;
	s->mismatched += !is_of_family(l.kind, e->kind);
	if (e->ns < l.ns)
		p->rest.early++;
	else
		s->lifetime_ns += e->ns - l.ns;
}

static int add(struct pdet_pairing *p, const struct pdet_kmem_event *e)
{
	p->rest.event[e->kind]++;
	if (is_alloc(e->kind))
		return allocate(p, e);
	if (e->kind >= PDET_KMEM_NAME)
		return p->group(p->arg, e) < 0 ? -ENOMEM : 0;
	if (e->kind != PDET_KMEM_PAGE_BATCHED)
		release(p, e);
	return 0;
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

void pdet_pairing_free(struct pdet_pairing *p)
{
	pdet_vec_free(&p->sums);
	pdet_live_free(&p->objects);
	pdet_live_free(&p->pages);
}
