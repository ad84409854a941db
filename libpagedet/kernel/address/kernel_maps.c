/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Walks the page tables of the kernel's half once. Counting merges adjacent
 * mappings that continue each other. The direct map then takes few of them; the
 * rest are vmalloc areas.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "kernel/address/kernel_maps.h"

/* both architectures */
#define PRESENT ((uint64_t)1 << 0)

/* 16 MiB of them for each thread. They can be sorted within a second. */
#define MOST_MAPPINGS ((size_t)1 << 20)

struct walk {
	const struct pdet_kernel_maps_visit *visit;
	bool lost;
};

/* Skip entries that are not present. Pages removed from the direct map keep
 * their address, and nothing here is swapped or migrating. */
static int pass_on(void *arg, const struct pdet_leaf *leaf)
{
	const struct walk *w = arg;

	return leaf->is == PDET_PT_PAGE && leaf->entry & PRESENT ?
	       w->visit->leaf(w->visit->arg, leaf) : 0;
}

static int note_lost(void *arg, uint64_t start, uint64_t size, int error)
{
	struct walk *w = arg;

	(void)start;
	(void)size;
	w->lost = true;
	return error == -ETIMEDOUT ? error : 0;
}

int pdet_kernel_maps_each(struct pdet_reader *r, const struct pdet_paging *p,
			  const struct pdet_kernel_maps_visit *visit,
			  bool *lost)
{
	const uint64_t half = -((uint64_t)1 << (p->va_bits - p->one_root));
	struct walk w = { visit, false };
	const struct pdet_paging_visit each = { pass_on, note_lost, &w, NULL };
	int e = pdet_paging_each(r, p, p->root, half, UINT64_MAX, &each);

	*lost = w.lost;
	return e;
}

/* --- counts --- */

struct counting {
	struct pdet_kernel_counts *c;
	unsigned shift;
	uint64_t va, pfn;	/* end of the last mapping */
};

static bool grow(struct pdet_kernel_counts *c)
{
	const size_t cap = c->cap ? c->cap * 2 : 1024;
	uint64_t *first = realloc(c->first, cap * sizeof(*first)), *end;

	if (!first)
		return false;
	c->first = first;
	end = realloc(c->end, cap * sizeof(*end));
	if (!end)
		return false;
	c->end = end;
	c->cap = cap;
	return true;
}

static int count(void *arg, const struct pdet_leaf *leaf)
{
	struct counting *k = arg;
	struct pdet_kernel_counts *c = k->c;
	const uint64_t pfn = leaf->addr >> k->shift;

	if (!c->n || leaf->start != k->va || pfn != k->pfn) {
		if (c->n == MOST_MAPPINGS) {
			c->too_many = true;
			return 1;
		}
		if (c->n == c->cap && !grow(c))
			return -ENOMEM;
		c->first[c->n++] = pfn;
	}
	k->va = leaf->start + leaf->size;
	k->pfn = pfn + (leaf->size >> k->shift);
	c->end[c->n - 1] = k->pfn;
	return 0;
}

int pdet_kernel_counts_read(struct pdet_kernel_counts *ret,
			    struct pdet_reader *r, const struct pdet_paging *p)
{
	struct pdet_kernel_counts c = { .n = 0 };
	struct counting k = { .c = &c, .shift = p->page_shift };
	const struct pdet_kernel_maps_visit visit = { count, &k };
	int e = pdet_kernel_maps_each(r, p, &visit, &c.lost);

	if (e < 0) {
		pdet_kernel_counts_free(&c);
		return e;
	}
	if (c.too_many) {
		pdet_kernel_counts_free(&c);
		c.too_many = true;
	}
	pdet_sort_u64(c.first, c.n);
	pdet_sort_u64(c.end, c.n);
	*ret = c;
	return 0;
}

void pdet_kernel_counts_free(struct pdet_kernel_counts *c)
{
	free(c->first);
	free(c->end);
	memset(c, 0, sizeof(*c));
}

/* How many elements are not above @pfn. */
static size_t up_to(const uint64_t *list, size_t n, uint64_t pfn)
{
	size_t low = 0, high = n, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (list[mid] <= pfn)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

uint64_t pdet_kernel_counts_of(const struct pdet_kernel_counts *c,
			       uint64_t pfn)
{
	/* mappings that begin at or before pfn, minus those that end there */
	return up_to(c->first, c->n, pfn) - up_to(c->end, c->n, pfn);
}
