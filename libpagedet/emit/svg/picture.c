/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Counts the categories of the pages in each cell. Frames come in order, so
 * only one cell is open at a time, and only this one keeps all its counts. For
 * other cells only the most frequent category is kept.
 */
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/vec.h"
#include "emit/svg/picture.h"

/* Twice the number of categories, so that each search finds a free slot. */
#define SLOTS (2 * PDET_PICTURE_CATEGORIES)
/* No frame exists past this. */
#define MAX_ORDER 48
#define NONE UINT32_MAX

bool pdet_picture_init(struct pdet_picture *p, uint64_t frames)
{
	memset(p, 0, sizeof(*p));
	while (p->order < MAX_ORDER &&
	       (frames + (((uint64_t)1 << p->order) - 1)) >> p->order >
			PDET_PICTURE_CELLS)
		p->order++;
	p->open = NONE;
	p->cell = calloc(PDET_PICTURE_CELLS, sizeof(*p->cell));
	p->slot = calloc(SLOTS, sizeof(*p->slot));
	p->count = calloc(PDET_PICTURE_CATEGORIES, sizeof(*p->count));
	p->touched = calloc(PDET_PICTURE_CATEGORIES, sizeof(*p->touched));
	if (p->cell && p->slot && p->count && p->touched &&
	    pdet_vec_push(&p->categories,
			  (struct pdet_picture_category){ .state = 0 }))
		return true;
	pdet_picture_free(p);
	return false;
}

void pdet_picture_free(struct pdet_picture *p)
{
	free(p->cell);
	free(p->slot);
	free(p->count);
	free(p->touched);
	pdet_vec_free(&p->categories);
	memset(p, 0, sizeof(*p));
}

/* --- categories --- */

static uint32_t slot_of(uint64_t key)
{
	return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 40) & (SLOTS - 1);
}

int pdet_picture_find(const struct pdet_picture *p, uint64_t key)
{
	uint32_t at;

	for (at = slot_of(key); p->slot[at]; at = (at + 1) & (SLOTS - 1))
		if (p->categories.data[p->slot[at] - 1].key == key)
			return p->slot[at] - 1;
	return -1;
}

int pdet_picture_new(struct pdet_picture *p, uint64_t key)
{
	struct pdet_picture_category c = { .key = key };
	uint32_t at = slot_of(key);

	if (p->categories.n == PDET_PICTURE_CATEGORIES)
		return 0;
	if (!pdet_vec_push(&p->categories, c))
		return -1;
	while (p->slot[at])
		at = (at + 1) & (SLOTS - 1);
	p->slot[at] = (uint16_t)p->categories.n;
	return (int)p->categories.n - 1;
}

/* --- cells --- */

static void close_cell(struct pdet_picture *p)
{
	struct pdet_picture_cell *cell = &p->cell[p->open];
	uint32_t i, most = 0;

	if (p->open == NONE)
		return;
	for (i = 0; i < p->n_touched; i++) {
		const uint16_t c = p->touched[i];

		if (p->count[c] > most) {
			most = p->count[c];
			cell->category = (uint16_t)(c + 1);
		}
		p->count[c] = 0;
	}
	cell->pages = most;
	p->n_touched = 0;
	p->open = NONE;
}

static void count(struct pdet_picture *p, unsigned category, uint64_t n)
{
	const uint64_t sum = p->count[category] + n;

	if (!p->count[category])
		p->touched[p->n_touched++] = (uint16_t)category;
	p->count[category] = (uint32_t)PDET_MIN(sum, (uint64_t)UINT32_MAX);
}

static void open_cell(struct pdet_picture *p, uint32_t at)
{
	const struct pdet_picture_cell *cell = &p->cell[at];

	close_cell(p);
	p->open = at;
	if (cell->category)
		count(p, cell->category - 1u, cell->pages);
}

/* More frames came than expected: merges pairs of cells. */
static void widen(struct pdet_picture *p)
{
	uint32_t i;

	close_cell(p);
	for (i = 0; i < PDET_PICTURE_CELLS / 2; i++) {
		struct pdet_picture_cell a = p->cell[2 * i];
		const struct pdet_picture_cell b = p->cell[2 * i + 1];

		if (a.category == b.category)
			a.pages += PDET_MIN(b.pages, UINT32_MAX - a.pages);
		else if (a.pages < b.pages)
			a = b;
		a.marks = p->cell[2 * i].marks | b.marks;
		a.pale = p->cell[2 * i].pale | b.pale;
		p->cell[i] = a;
	}
	memset(p->cell + i, 0, i * sizeof(*p->cell));
	p->order++;
}

/*
 * Makes cells up to the last of these frames. Returns false if no machine can
 * have so many.
 */
static bool reach(struct pdet_picture *p, uint64_t pfn, uint64_t n)
{
	if (!n || n > (uint64_t)1 << 52 || pfn > (uint64_t)1 << 52)
		return false;
	while ((pfn + n - 1) >> p->order >= PDET_PICTURE_CELLS)
		widen(p);
	p->end = PDET_MAX(p->end, pfn + n);
	return true;
}

void pdet_picture_ground(struct pdet_picture *p, uint64_t pfn, uint64_t n)
{
	uint64_t at;

	if (!reach(p, pfn, n))
		return;
	p->pale += n;
	for (at = pfn >> p->order; at <= (pfn + n - 1) >> p->order; at++)
		p->cell[at].pale = 1;
}

void pdet_picture_add(struct pdet_picture *p, uint64_t pfn, uint64_t n,
		      unsigned category, unsigned marks)
{
	unsigned m;

	if (!reach(p, pfn, n))
		return;
	p->pages += n;
	p->categories.data[category].pages += n;
	for (m = 0; m < PDET_MARKS; m++)
		p->marked[m] += marks >> m & 1 ? n : 0;
	while (n) {
		const uint32_t at = (uint32_t)(pfn >> p->order);
		const uint64_t left = (((uint64_t)at + 1) << p->order) - pfn;
		const uint64_t some = PDET_MIN(n, left);

		if (at != p->open)
			open_cell(p, at);
		count(p, category, some);
		p->cell[at].marks |= (uint8_t)marks;
		pfn += some;
		n -= some;
	}
}

void pdet_picture_fade(struct pdet_picture *p)
{
	uint32_t i;

	close_cell(p);
	for (i = 0; i < PDET_PICTURE_CELLS; i++) {
		struct pdet_picture_cell *cell = &p->cell[i];
		const uint8_t pale = cell->pale || cell->category;

		memset(cell, 0, sizeof(*cell));
		cell->pale = pale;
	}
	p->pale += p->pages;
	p->pages = 0;
	memset(p->marked, 0, sizeof(p->marked));
	memset(p->slot, 0, SLOTS * sizeof(*p->slot));
	p->categories.n = 1;
	p->categories.data[0].pages = 0;
}

/* --- the end --- */

static int more_pages(const void *pa, const void *pb)
{
	const struct pdet_picture_category *a, *b;

	a = *(const struct pdet_picture_category *const *)pa;
	b = *(const struct pdet_picture_category *const *)pb;
	if (a->pages != b->pages)
		return a->pages < b->pages ? 1 : -1;
	return strcmp(a->name, b->name);
}

bool pdet_picture_rank(struct pdet_picture *p)
{
	struct pdet_picture_category **order;
	size_t i;

	close_cell(p);
	order = calloc(p->categories.n, sizeof(*order));
	if (!order)
		return false;
	for (i = 0; i < p->categories.n; i++)
		order[i] = &p->categories.data[i];
	/* The first one holds the overflow, and has no rank. */
	qsort(order + 1, p->categories.n - 1, sizeof(*order), more_pages);
	for (i = 1; i < p->categories.n; i++)
		order[i]->rank = (uint32_t)(i - 1);
	free(order);
	return true;
}

uint32_t pdet_picture_cells(const struct pdet_picture *p)
{
	const uint64_t cells = (p->end + (((uint64_t)1 << p->order) - 1)) >>
			       p->order;

	return (uint32_t)cells;
}
