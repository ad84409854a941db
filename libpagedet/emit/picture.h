/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Physical memory as cells of equal size, each of which knows what most of its
 * pages are. Knows neither where pages come from nor how it is drawn; takes a
 * few hundred KiB, however much memory there is.
 */
#ifndef PDET_EMIT_PICTURE_H
#define PDET_EMIT_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PDET_PICTURE_CELLS 65536u
/* Kinds of answers that are told apart; the rest is one category. */
#define PDET_PICTURE_CATEGORIES 4096u
/* Bytes of a category's name that are kept. */
#define PDET_PICTURE_NAME 128

/* What is to be seen even where one page of millions is it. */
enum pdet_picture_mark {
	PDET_MARK_HWPOISON,
	PDET_MARK_OFFLINE,
	PDET_MARKS
};

struct pdet_picture_category {
	uint64_t key;		/* of the caller, tells categories apart */
	uint64_t value;		/* for its colour */
	uint64_t pages;
	uint32_t rank;		/* 0: most pages; see pdet_picture_rank() */
	uint8_t state;		/* PAGEDET_HAVE, PAGEDET_NONE or a reason */
	bool undecided;		/* the filter is neither true nor false */
	bool cut;		/* the name goes on */
	char name[PDET_PICTURE_NAME];
};

struct pdet_picture_cell {
	uint16_t category;	/* number + 1 of what most pages are; 0 none */
	uint8_t marks;		/* bits of enum pdet_picture_mark */
	uint8_t pale;		/* has pages that are not spoken of */
	uint32_t pages;		/* of that category; at most UINT32_MAX */
};

struct pdet_picture {
	unsigned order;		/* a cell has 1 << order pages */
	uint64_t end;		/* frame behind the last one that was seen */
	struct pdet_picture_cell *cell;	/* PDET_PICTURE_CELLS */
	struct {
		struct pdet_picture_category *data;
		size_t n, cap;
	} categories;		/* number 0 is what is too many */
	uint16_t *slot;		/* number + 1 of a category, by its key */
	uint64_t pages;		/* of all categories */
	uint64_t pale;		/* frames of those that were said before */
	uint64_t marked[PDET_MARKS];

	/* The cell that pages are being counted for. */
	uint32_t open;
	uint32_t *count;	/* by category */
	uint16_t *touched;	/* categories with a count */
	uint32_t n_touched;
};

/* pdet_picture_init - for about @frames frames; it grows if there are more.
 * false without memory. */
bool pdet_picture_init(struct pdet_picture *p, uint64_t frames);
void pdet_picture_free(struct pdet_picture *p);

/* pdet_picture_find - the category of that key, or -1. */
int pdet_picture_find(const struct pdet_picture *p, uint64_t key);

/* pdet_picture_new - a category that is not there yet; its name is set by the
 * caller. 0 if there are too many, -1 without memory. */
int pdet_picture_new(struct pdet_picture *p, uint64_t key);

/* pdet_picture_add - @n frames from @pfn on. Pages come in the order of their
 * frames; of cells that are come back to only the most is remembered. */
void pdet_picture_add(struct pdet_picture *p, uint64_t pfn, uint64_t n,
		      unsigned category, unsigned marks);

/* pdet_picture_ground - @n frames from @pfn on are there, and not spoken of
 * otherwise than by pdet_picture_add(). */
void pdet_picture_ground(struct pdet_picture *p, uint64_t pfn, uint64_t n);

/* pdet_picture_fade - what was added so far becomes what is not spoken of. */
void pdet_picture_fade(struct pdet_picture *p);

/* pdet_picture_rank - all was added: cells are settled, categories ranked. */
bool pdet_picture_rank(struct pdet_picture *p);

/* pdet_picture_cells - how many cells there are up to the last one seen. */
uint32_t pdet_picture_cells(const struct pdet_picture *p);

#endif
