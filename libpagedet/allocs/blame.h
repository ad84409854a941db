/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Who holds blocks of memory. A block can be freed as a whole only if each of
 * its pages is free or can be moved; all others hold it. Pages come first, then
 * the objects and blocks of pages that are in use, which explain some of them.
 */
#ifndef PDET_ALLOCS_BLAME_H
#define PDET_ALLOCS_BLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pairs.h"

struct pdet_blame_block {
	/* Pages; others are not there. Some have no kind and a count of 0:
	 * these are in perhaps_free, and not held. */
	uint32_t free, movable, held, perhaps_free;
	uint32_t explained;	/* of the held */
	uint32_t first_share, n_shares; /* after pdet_blame_end() */
};

/* What a group holds of a block. */
struct pdet_blame_share {
	uint32_t block, group;
	uint32_t pages;		/* held pages that it has something in */
	uint32_t alone;		/* of these: those where nobody else is known */
	uint64_t objects, bytes;
};

/* The sums of a group. */
struct pdet_blame_holder {
	uint32_t group;
	uint64_t blocks;
	uint64_t blocks_alone;	/* nobody else is known to hold any page */
	uint64_t pages, pages_alone, objects, bytes;
};

/* Zeroed, it is empty. */
struct pdet_blame {
	uint64_t first;		/* page frame; a multiple of a block */
	unsigned shift;		/* a block has 1 << shift pages */
	struct pdet_blame_block *blocks;
	size_t n_blocks;
	uint64_t *held, *explained; /* a bit for each page */
	struct {
		struct pdet_blame_share *data;
		size_t n, cap;
	} shares;		/* sorted by pdet_blame_end(): by block, those
				 * with most pages first */
	struct pdet_pairs share_of; /* numbers of shares, by block and group */
	/* Filled in by pdet_blame_end(): those that hold most blocks alone come
	 * first, then those in most blocks. */
	struct pdet_blame_holder *holders;
	size_t n_holders;
	/* Numbers of blocks that are held: those with fewest held pages that
	 * are not explained come first, then those with fewest held pages. */
	uint32_t *order;
	size_t n_order;
	/* The slab whose objects come now. */
	struct {
		uint64_t head, pages; /* pages 0: none */
		struct pdet_blame_part {
			uint32_t group;
			uint64_t objects, bytes;
		} *data;
		size_t n, cap;
	} slab;
};

/* pdet_blame_begin - for @n blocks. -ENOMEM. */
int pdet_blame_begin(struct pdet_blame *b, uint64_t first, uint64_t n,
		     unsigned shift);

/* pdet_blame_run - @n pages of a kind, PAGEDET_KIND_*. */
void pdet_blame_run(struct pdet_blame *b, uint64_t pfn, uint64_t n,
		    unsigned kind);

/* pdet_blame_uncounted - a page that was counted as held has a count of 0. */
void pdet_blame_uncounted(struct pdet_blame *b, uint64_t pfn);

/*
 * pdet_blame_object - an object in use, in the order of addresses; @head and
 * @order are of the pages that it is in. -ENOMEM.
 */
int pdet_blame_object(struct pdet_blame *b, uint64_t head, unsigned order,
		      uint32_t group, uint64_t bytes);

/*
 * pdet_blame_pages - a block of pages in use, after all objects, which explain
 * a page better. -ENOMEM.
 */
int pdet_blame_pages(struct pdet_blame *b, uint64_t pfn, unsigned order,
		     uint32_t group, uint64_t bytes);

/* pdet_blame_end - all is told, and groups are below @groups. -ENOMEM. */
int pdet_blame_end(struct pdet_blame *b, size_t groups);

void pdet_blame_free(struct pdet_blame *b);

#endif
