/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Physical memory as cells of equal size. Each cell knows the most frequent
 * category of its pages. A picture takes a few hundred KiB for any amount of
 * memory. Other files get the pages and draw it.
 */
#ifndef PDET_EMIT_SVG_PICTURE_H
#define PDET_EMIT_SVG_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PDET_PICTURE_CELLS 65536u
/* Categories that are kept apart; all others become one. */
#define PDET_PICTURE_CATEGORIES 4096u
/* Longest name of a category, in bytes. */
#define PDET_PICTURE_NAME 128

/* Properties that stay visible even if only one page of millions has them. */
enum pdet_picture_mark {
	PDET_MARK_HWPOISON,
	PDET_MARK_OFFLINE,
	PDET_MARKS
};

struct pdet_picture_category {
	uint64_t key;		/* identifies the category; the caller chooses
				 * it */
	uint64_t value;		/* decides the colour */
	uint64_t pages;
	uint32_t rank;		/* 0 is the category with most pages; see
				 * pdet_picture_rank() */
	uint8_t state;		/* PAGEDET_HAVE, PAGEDET_NONE or a reason */
	bool undecided;		/* the filter is neither true nor false */
	bool cut;		/* the name was cut */
	char name[PDET_PICTURE_NAME];
};

struct pdet_picture_cell {
	uint16_t category;	/* index + 1 of the most frequent category; 0 if
				 * there is none */
	uint8_t marks;		/* bits of enum pdet_picture_mark */
	uint8_t pale;		/* the cell has pages that were not part of the
				 * query */
	uint32_t pages;		/* of that category, at most UINT32_MAX */
};

struct pdet_picture {
	unsigned order;		/* a cell has 1 << order pages */
	uint64_t end;		/* the frame behind the last one seen */
	struct pdet_picture_cell *cell;	/* PDET_PICTURE_CELLS */
	struct {
		struct pdet_picture_category *data;
		size_t n, cap;
	} categories;		/* index 0 is the overflow */
	uint16_t *slot;		/* index + 1 of a category, by its key */
	uint64_t pages;		/* of all categories */
	uint64_t pale;		/* frames of earlier queries only */
	uint64_t marked[PDET_MARKS];

	/* The cell that is being counted. */
	uint32_t open;
	uint32_t *count;	/* by category */
	uint16_t *touched;	/* categories with a count */
	uint32_t n_touched;
};

/*
 * pdet_picture_init - prepare for about @frames frames. The picture grows if
 * there are more. Returns false without memory.
 */
bool pdet_picture_init(struct pdet_picture *p, uint64_t frames);
void pdet_picture_free(struct pdet_picture *p);

/*
 * pdet_picture_find - find the category with that key. Returns -1 if there is
 * none.
 */
int pdet_picture_find(const struct pdet_picture *p, uint64_t key);

/*
 * pdet_picture_new - add a category. The caller sets its name. Returns 0 if
 * there are too many, -1 without memory.
 */
int pdet_picture_new(struct pdet_picture *p, uint64_t key);

/*
 * pdet_picture_add - count @n frames from @pfn on. Pages must come in the order
 * of frames. If more pages of an earlier cell come, only its most frequent
 * category is known.
 */
void pdet_picture_add(struct pdet_picture *p, uint64_t pfn, uint64_t n,
		      unsigned category, unsigned marks);

/*
 * pdet_picture_ground - record that @n frames from @pfn on exist. Only
 * pdet_picture_add() says more about them.
 */
void pdet_picture_ground(struct pdet_picture *p, uint64_t pfn, uint64_t n);

/* pdet_picture_fade - turn all pages so far into pale ones. */
void pdet_picture_fade(struct pdet_picture *p);

/*
 * pdet_picture_rank - end the counting. Settles the cells and ranks the
 * categories.
 */
bool pdet_picture_rank(struct pdet_picture *p);

/* pdet_picture_cells - the number of cells up to the last one seen. */
uint32_t pdet_picture_cells(const struct pdet_picture *p);

#endif
