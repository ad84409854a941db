/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Adds up pages by block, and what is in them by block and group. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "allocs/blame.h"
#include "base/env.h"
#include "base/vec.h"
#include "pagedet.h"
#include "trace/kmem.h"

/* 128 TB */
#define MOST_BLOCKS ((uint64_t)1 << 26)

int pdet_blame_begin(struct pdet_blame *b, uint64_t first, uint64_t n,
		     unsigned shift)
{
	uint64_t words;

	*b = (struct pdet_blame){ .first = first, .shift = shift };
	if (n > MOST_BLOCKS)
		return -ENOMEM;
	words = ((n << shift) + 63) / 64;
	if (words > SIZE_MAX / sizeof(*b->held))
		return -ENOMEM;
	b->n_blocks = (size_t)n;
	b->blocks = calloc(n, sizeof(*b->blocks));
	b->held = calloc(words, sizeof(*b->held));
	b->explained = calloc(words, sizeof(*b->explained));
	return b->blocks && b->held && b->explained ? 0 : -ENOMEM;
}

static bool has(const uint64_t *bits, uint64_t i)
{
	return bits[i / 64] >> i % 64 & 1;
}

static void set(uint64_t *bits, uint64_t i)
{
	bits[i / 64] |= (uint64_t)1 << i % 64;
}

/* --- pages --- */

/* Pages that are in no block's way, or not there at all; mm/migrate.c. */
enum use { ABSENT, FREE, MOVABLE, HELD };

static enum use use_of(unsigned kind)
{
	switch (kind) {
	case PAGEDET_KIND_FREE:
		return FREE;
	case PAGEDET_KIND_ANON:
	case PAGEDET_KIND_FILE:
	case PAGEDET_KIND_SHMEM:
	case PAGEDET_KIND_HUGETLB:
	case PAGEDET_KIND_ZSMALLOC:
		return MOVABLE;
	case PAGEDET_KIND_HOLE:
	case PAGEDET_KIND_UNINIT:
	case PAGEDET_KIND_OFFLINE:
	case PAGEDET_KIND_DEVICE:
		return ABSENT;
	default:
		return HELD;
	}
}

/* The part of [pfn, pfn + n) in the blocks, from their first page on. */
static bool clip(const struct pdet_blame *b, uint64_t pfn, uint64_t n,
		 uint64_t *begin, uint64_t *end)
{
	const uint64_t all = (uint64_t)b->n_blocks << b->shift;
	const uint64_t last = n ? pfn + n - 1 : pfn;

	if (!n || last < b->first || last < pfn)
		return false;
	*begin = pfn > b->first ? pfn - b->first : 0;
	*end = PDET_MIN(last - b->first + 1, all);
	return *begin < *end;
}

void pdet_blame_run(struct pdet_blame *b, uint64_t pfn, uint64_t n,
		    unsigned kind)
{
	const enum use use = use_of(kind);
	uint64_t i, end;

	if (use == ABSENT || !clip(b, pfn, n, &i, &end))
		return;
	for (; i < end; i++) {
		struct pdet_blame_block *block = &b->blocks[i >> b->shift];

		block->free += use == FREE;
		block->movable += use == MOVABLE;
		block->held += use == HELD;
		if (use == HELD)
			set(b->held, i);
	}
}

void pdet_blame_uncounted(struct pdet_blame *b, uint64_t pfn)
{
	struct pdet_blame_block *block;
	uint64_t i, end;

	if (!clip(b, pfn, 1, &i, &end) || !has(b->held, i))
		return;
	b->held[i / 64] &= ~((uint64_t)1 << i % 64);
	block = &b->blocks[i >> b->shift];
	block->held--;
	block->perhaps_free++;
}

/* --- who holds them --- */

/* NULL without memory. */
static struct pdet_blame_share *share_of(struct pdet_blame *b, uint32_t block,
					 uint32_t group)
{
	const struct pdet_blame_share none = { .block = block, .group = group };
	const uint64_t key = (uint64_t)block << 32 | group;
	uint64_t number;

	if (!pdet_pairs_get(&b->share_of, key, &number)) {
		number = b->shares.n;
		if (!pdet_vec_push(&b->shares, none) ||
		    !pdet_pairs_set(&b->share_of, key, number))
			return NULL;
	}
	return &b->shares.data[number];
}

/*
 * The held pages of [i, end), which are in one block, that nothing has
 * explained so far.
 */
static uint32_t explain(struct pdet_blame *b, uint64_t i, uint64_t end)
{
	uint32_t n = 0;

	while (i < end) {
		if (!(b->held[i / 64] & ~b->explained[i / 64])) {
			i = (i | 63) + 1;
			continue;
		}
		if (has(b->held, i) && !has(b->explained, i)) {
			set(b->explained, i);
			n++;
		}
		i++;
	}
	return n;
}

/* The bytes and objects are of the block in which the pages begin. */
static int hold(struct pdet_blame *b, uint64_t pfn, uint64_t pages,
		const struct pdet_blame_part *parts, size_t n)
{
	const uint64_t per_block = (uint64_t)1 << b->shift;
	uint64_t i, end, next;
	bool begins;
	uint32_t some;
	size_t k;

	if (!clip(b, pfn, pages, &i, &end))
		return 0;
	begins = pfn >= b->first;
	for (; i < end; i = next, begins = false) {
		next = PDET_MIN((i | (per_block - 1)) + 1, end);
		some = explain(b, i, next);
		if (!some)
			continue;
		b->blocks[i >> b->shift].explained += some;
		for (k = 0; k < n; k++) {
			struct pdet_blame_share *s =
				share_of(b, (uint32_t)(i >> b->shift),
					 parts[k].group);

			if (!s)
				return -ENOMEM;
			s->pages += some;
			s->alone += n == 1 ? some : 0;
			s->objects += begins ? parts[k].objects : 0;
			s->bytes += begins ? parts[k].bytes : 0;
		}
	}
	return 0;
}

static int compare_parts(const void *pa, const void *pb)
{
	const struct pdet_blame_part *x = pa, *y = pb;

	return (x->group > y->group) - (x->group < y->group);
}

/* One part for each group. */
static void join_parts(struct pdet_blame *b)
{
	struct pdet_blame_part *p = b->slab.data;
	size_t i, n = 0;

	qsort(p, b->slab.n, sizeof(*p), compare_parts);
	for (i = 0; i < b->slab.n; i++)
		if (n && p[n - 1].group == p[i].group) {
			p[n - 1].objects += p[i].objects;
			p[n - 1].bytes += p[i].bytes;
		} else {
			p[n++] = p[i];
		}
	b->slab.n = n;
}

static int end_slab(struct pdet_blame *b)
{
	int r = 0;

	if (b->slab.n) {
		join_parts(b);
		r = hold(b, b->slab.head, b->slab.pages, b->slab.data,
			 b->slab.n);
	}
	b->slab.pages = b->slab.n = 0;
	return r;
}

static int add_part(struct pdet_blame *b, uint32_t group, uint64_t bytes)
{
	const struct pdet_blame_part part = { group, 1, bytes };
	const size_t n = b->slab.n;

	/* Most objects of a slab are of one group. */
	if (n && b->slab.data[n - 1].group == group) {
		b->slab.data[n - 1].objects++;
		b->slab.data[n - 1].bytes += bytes;
		return 0;
	}
	return pdet_vec_push(&b->slab, part) ? 0 : -ENOMEM;
}

int pdet_blame_object(struct pdet_blame *b, uint64_t head, unsigned order,
		      uint32_t group, uint64_t bytes)
{
	int r = 0;

	if (b->slab.head != head)
		r = end_slab(b);
	b->slab.head = head;
	b->slab.pages = pdet_kmem_pages(order);
	return r < 0 ? r : add_part(b, group, bytes);
}

int pdet_blame_pages(struct pdet_blame *b, uint64_t pfn, unsigned order,
		     uint32_t group, uint64_t bytes)
{
	const struct pdet_blame_part part = { group, 1, bytes };
	const int r = end_slab(b);

	return r < 0 ? r : hold(b, pfn, pdet_kmem_pages(order), &part, 1);
}

/* --- the result --- */

static int compare_shares(const void *pa, const void *pb)
{
	const struct pdet_blame_share *x = pa, *y = pb;

	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	if (x->pages != y->pages)
		return x->pages > y->pages ? -1 : 1;
	return (x->group > y->group) - (x->group < y->group);
}

static int compare_holders(const void *pa, const void *pb)
{
	const struct pdet_blame_holder *x = pa, *y = pb;

	if (x->blocks_alone != y->blocks_alone)
		return x->blocks_alone > y->blocks_alone ? -1 : 1;
	if (x->blocks != y->blocks)
		return x->blocks > y->blocks ? -1 : 1;
	if (x->pages != y->pages)
		return x->pages > y->pages ? -1 : 1;
	return (x->group > y->group) - (x->group < y->group);
}

static void add_share(struct pdet_blame_holder *to,
		      const struct pdet_blame_share *s,
		      const struct pdet_blame_block *block)
{
	to->blocks++;
	to->blocks_alone += s->alone == block->held;
	to->pages += s->pages;
	to->pages_alone += s->alone;
	to->objects += s->objects;
	to->bytes += s->bytes;
}

static bool sum_holders(struct pdet_blame *b, size_t groups)
{
	size_t i, n = 0;

	b->holders = calloc(groups + 1, sizeof(*b->holders));
	if (!b->holders)
		return false;
	for (i = 0; i < groups; i++)
		b->holders[i].group = (uint32_t)i;
	for (i = 0; i < b->shares.n; i++)
		add_share(&b->holders[b->shares.data[i].group],
			  &b->shares.data[i],
			  &b->blocks[b->shares.data[i].block]);
	for (i = 0; i < groups; i++)
		if (b->holders[i].blocks)
			b->holders[n++] = b->holders[i];
	b->n_holders = n;
	qsort(b->holders, n, sizeof(*b->holders), compare_holders);
	return true;
}

static int compare_blocks(const void *pa, const void *pb, void *arg)
{
	const uint32_t i = *(const uint32_t *)pa, k = *(const uint32_t *)pb;
	const struct pdet_blame_block *blocks = arg;
	const uint32_t x = blocks[i].held - blocks[i].explained;
	const uint32_t y = blocks[k].held - blocks[k].explained;

	if (x != y)
		return x < y ? -1 : 1;
	if (blocks[i].held != blocks[k].held)
		return blocks[i].held < blocks[k].held ? -1 : 1;
	return (i > k) - (i < k);
}

static bool order_blocks(struct pdet_blame *b)
{
	size_t i;

	b->order = calloc(b->n_blocks, sizeof(*b->order));
	for (i = 0; b->order && i < b->n_blocks; i++)
		if (b->blocks[i].held)
			b->order[b->n_order++] = (uint32_t)i;
	if (b->order)
		qsort_r(b->order, b->n_order, sizeof(*b->order),
			compare_blocks, b->blocks);
	return b->order;
}

int pdet_blame_end(struct pdet_blame *b, size_t groups)
{
	const int r = end_slab(b);
	size_t i;

	if (r < 0)
		return r;
	pdet_pairs_free(&b->share_of);
	if (b->shares.n)
		qsort(b->shares.data, b->shares.n, sizeof(*b->shares.data),
		      compare_shares);
	for (i = 0; i < b->shares.n; i++) {
		struct pdet_blame_block *block =
			&b->blocks[b->shares.data[i].block];

		if (!block->n_shares++)
			block->first_share = (uint32_t)i;
	}
	return sum_holders(b, groups) && order_blocks(b) ? 0 : -ENOMEM;
}

void pdet_blame_free(struct pdet_blame *b)
{
	free(b->blocks);
	free(b->held);
	free(b->explained);
	free(b->holders);
	free(b->order);
	pdet_vec_free(&b->shares);
	pdet_pairs_free(&b->share_of);
	free(b->slab.data);
	memset(b, 0, sizeof(*b));
}
