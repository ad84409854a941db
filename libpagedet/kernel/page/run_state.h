/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The results of decoding a run of struct pages, and the state kept between
 * runs. run.h declares the functions that decode; run_parts.h their parts.
 */
#ifndef PDET_KERNEL_PAGE_RUN_STATE_H
#define PDET_KERNEL_PAGE_RUN_STATE_H

#include "kernel/address/space.h"
#include "kernel/page/alike.h"

/* Bits of the column has: which other columns have a value. */
enum pdet_page_has {
	PDET_HAS_ORDER = 1 << 0,
	PDET_HAS_REFCOUNT = 1 << 1,
	PDET_HAS_MAPCOUNT = 1 << 2,
	PDET_HAS_PINCOUNT = 1 << 3,
	PDET_HAS_MAPPING = 1 << 4,
	PDET_HAS_INDEX = 1 << 5,
	PDET_HAS_PRIVATE = 1 << 6,
	PDET_HAS_MEMCG = 1 << 7,
	PDET_HAS_SLAB_CACHE = 1 << 8,
	PDET_HAS_LARGE = 1 << 9, /* not a value: the folio has several pages */
	PDET_HAS_ESTIMATE = 1 << 10 /* the pincount is an estimate */
};

/* Arrays with one element for each page. NULL: the column is not wanted. */
struct pdet_page_columns {
	uint8_t *is;		/* enum pdet_page_is. If it is not a page, only
				 * this member and raw_flags are valid */
	uint16_t *has;		/* PDET_HAS_*; 0: no value */
	uint16_t *bad;		/* PDET_BAD_* */
	int16_t *error;		/* a result of memory/memory.h, if the first
				 * struct pages of the folio could not be read;
				 * otherwise 0 */
	uint8_t *kind, *mapcount_kind, *order;
	uint64_t *raw_flags, *flags, *known;
	uint64_t *refcount, *mapcount, *pincount;
	uint64_t *head_pfn;	/* its own if it is not a tail */
	/* of the folio, as in struct pdet_page_facts */
	uint64_t *mapping, *index, *private, *memcg_data, *slab_cache;
};

/* The frames of the zero pages. They are known when the symbols are known. */
struct pdet_page_zeros {
	bool known;
	uint64_t pfn;
	uint64_t huge, n_huge;	/* n_huge 0: no huge zero page */
	bool maybe_huge;	/* a huge one may exist at an unknown place */
};

#define PDET_PAGE_RUN_SLOTS 1024
#define PDET_PAGE_RUN_FOLIOS 64

/* The element of an equal page; valid in the turn that set it. */
struct pdet_page_run_element {
	uint32_t turn, element;
};

/* Results for pages of a large folio, and the words that led to them. */
struct pdet_page_run_large {
	struct pdet_page_run_said {
		bool has;
		uint64_t flags;
		int32_t mapcount;
		struct pdet_page_facts facts;
		struct pdet_page_run_element joins;
	} head, second, tail;
};

/* The state of one thread. */
struct pdet_page_run {
	const struct pdet_layout *layout;
	struct pdet_space *space; /* reads struct pages outside the run */
	struct pdet_page_zeros zeros;
	uint64_t next;		/* frame after the previous run */
	uint64_t free_end;	/* frame after the current free block */
	unsigned free_order;	/* of that block */
	bool free_lost;		/* it cannot be read whether this is a free
				 * block */
	uint64_t reads;		/* outside of runs */
	/* The last large folio. */
	struct {
		uint64_t addr;	/* 0: none */
		int error;	/* one of them could not be read */
		bool has_first, has_second;
		char pages[2 * PDET_PAGE_BYTES];
		struct pdet_page_run_large said;
		struct pdet_page_run_folio *same; /* NULL: not known */
	} folio;
	/* Results of large folios that are equal except for numbers. */
	struct pdet_page_run_folio {
		bool used;
		struct pdet_page_folio_key key;
		struct pdet_page_run_large said;
	} folios[PDET_PAGE_RUN_FOLIOS];
	uint64_t own;		/* flag bits that matter */
	uint64_t head;		/* the flag bit of a head page */
	/* Set up for the columns wanted last. */
	bool has_alike;
	struct pdet_page_alike_wants alike_wants;
	struct pdet_page_alike alike;
	/* For the last decoded page: where its element is stored, or NULL; and
	 * whether the element existed already, so that nothing was written. */
	uint32_t *element;
	bool joined;
	/* Results of small pages that are equal except for numbers. */
	struct pdet_page_run_slot {
		uint64_t flags, rest;
		struct pdet_page_run_same {
			/* Indexed by what is known about free blocks. */
			struct pdet_page_run_element joins[3];
			bool used:1;
			bool may_be_free:1;
			bool counts:1;	/* the mapcount field holds a count */
			bool maps:1;	/* mapping is */
			uint8_t kind, mapcount_kind, order;
			uint16_t has, bad;
			uint64_t flags, known;
		} same;
	} slot[PDET_PAGE_RUN_SLOTS];
};

/* State of a run while it is decoded. */
struct pdet_page_run_at {
	const char *pages;
	uint64_t start, end;	/* addresses */
	const struct pdet_page_columns *to;
	bool numbers;		/* a number other than mapcount is wanted */
	uint32_t turn;		/* 0: do not merge elements */
};

#endif
