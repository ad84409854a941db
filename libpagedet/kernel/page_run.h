/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Struct pages that lie behind each other, decoded into columns: what one page
 * says, and what only its neighbours know - its folio's first page, the free
 * block that it is in.
 */
#ifndef PDET_KERNEL_PAGE_RUN_H
#define PDET_KERNEL_PAGE_RUN_H

#include "kernel/page_alike.h"
#include "kernel/space.h"

/* Bits of the column has: which of the others have a value. */
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
	PDET_HAS_LARGE = 1 << 9, /* no value: it is of a folio of several */
	PDET_HAS_ESTIMATE = 1 << 10 /* the pincount is one */
};

/* One element a page; NULL: not wanted. */
struct pdet_page_columns {
	uint8_t *is;		/* enum pdet_page_is; of what is no page only
				 * this and raw_flags have a meaning */
	uint16_t *has;		/* PDET_HAS_*; 0 where there is no value */
	uint16_t *bad;		/* PDET_BAD_* */
	int16_t *error;		/* not 0: the folio's first pages could not be
				 * read, a result of memory/memory.h */
	uint8_t *kind, *mapcount_kind, *order;
	uint64_t *raw_flags, *flags, *known;
	uint64_t *refcount, *mapcount, *pincount;
	uint64_t *head_pfn;	/* its own, if it is no tail */
	/* of the folio, as in struct pdet_page_facts */
	uint64_t *mapping, *index, *private, *memcg_data, *slab_cache;
};

/* Which frames are zero pages; known once symbols are. */
struct pdet_page_zeros {
	bool known;
	uint64_t pfn;
	uint64_t huge, n_huge;	/* n_huge 0: there is no huge one */
	bool maybe_huge;	/* unless there is one and nobody knows where */
};

#define PDET_PAGE_RUN_SLOTS 1024
#define PDET_PAGE_RUN_FOLIOS 64

/* An element that says the same, of the turn of whoever joins them. */
struct pdet_page_run_element {
	uint32_t turn, element;
};

/* What pages of a large folio said, and what made them so. */
struct pdet_page_run_large {
	struct pdet_page_run_said {
		bool has;
		uint64_t flags;
		int32_t mapcount;
		struct pdet_page_facts facts;
		struct pdet_page_run_element joins;
	} head, second, tail;
};

/* One thread's. */
struct pdet_page_run {
	const struct pdet_layout *layout;
	struct pdet_space *space; /* reads what is outside of a run */
	struct pdet_page_zeros zeros;
	uint64_t next;		/* frame behind the run before */
	uint64_t free_end;	/* frame behind the free block that we are in */
	unsigned free_order;	/* of that block */
	bool free_lost;		/* whether we are in one cannot be read */
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
	/* What large folios say that are alike in all but numbers. */
	struct pdet_page_run_folio {
		bool used;
		struct pdet_page_folio_key key;
		struct pdet_page_run_large said;
	} folios[PDET_PAGE_RUN_FOLIOS];
	uint64_t own;		/* bits of flags that say something */
	uint64_t head;		/* the one of the first page of several */
	/* Of the columns wanted last. */
	bool has_alike;
	struct pdet_page_alike_wants alike_wants;
	struct pdet_page_alike alike;
	/* Of the page that was decoded last: where its element is kept, NULL
	 * if it is not; and whether it was there, so that nothing was
	 * written. */
	uint32_t *element;
	bool joined;
	/* What small pages say that are alike in all but numbers. */
	struct pdet_page_run_slot {
		uint64_t flags, rest;
		struct pdet_page_run_same {
			uint64_t flags, known;
			uint16_t has, bad;
			uint8_t kind, mapcount_kind, order;
			bool used;
			bool counts;	/* mapcount is what is written there */
			bool maps;	/* mapping is */
			bool may_be_free;
			/* By what is known of free blocks. */
			struct pdet_page_run_element joins[3];
		} same;
	} slot[PDET_PAGE_RUN_SLOTS];
};

/* pdet_page_run_init - @layout must have pages. */
void pdet_page_run_init(struct pdet_page_run *run,
			const struct pdet_layout *layout,
			struct pdet_space *space);

/* pdet_page_block_end - behind the free block that begins with @page, which is
 * frame @pfn; 0: none does. */
uint64_t pdet_page_block_end(const struct pdet_layout *layout,
			     const char *page, uint64_t pfn);

/* A run while it is decoded. */
struct pdet_page_run_at {
	const char *pages;
	uint64_t start, end;	/* addresses */
	const struct pdet_page_columns *to;
	bool numbers;		/* some other than mapcount is wanted */
	uint32_t turn;		/* 0: elements are not joined */
};

/*
 * pdet_page_run_begin, pdet_page_next - for who does not need an element for
 * every page: page @i of the run's @n, which is frame @pfn, is decoded into
 * element @o. How many pages from there on say the same, but for head_pfn. With
 * a @turn, which is another one each time that elements begin anew, elements
 * that are the same can be found in run->element; not if raw_flags, refcount or
 * mapcount is wanted.
 */
void pdet_page_run_begin(struct pdet_page_run *run,
			 struct pdet_page_run_at *at, const char *pages,
			 uint64_t addr, uint64_t pfn, size_t n,
			 const struct pdet_page_columns *to, uint32_t turn);
size_t pdet_page_next(struct pdet_page_run *run,
		      const struct pdet_page_run_at *at, uint64_t pfn,
		      size_t i, size_t n, size_t o);

/* pdet_page_join - how many pages from there on are such that their elements
 * are there already; they are added to what @count has for these. 0: none, it
 * takes pdet_page_next(). */
size_t pdet_page_join(struct pdet_page_run *run,
		      const struct pdet_page_run_at *at, uint64_t pfn,
		      size_t i, size_t n, uint64_t *count);

/*
 * pdet_page_run - @pages has @n struct pages from @addr on, which are those of
 * the frames from @pfn on. Runs that go on where the one before ended read
 * nothing twice. What is moving is decoded as it was read.
 */
void pdet_page_run(struct pdet_page_run *run, const char *pages, uint64_t addr,
		   uint64_t pfn, size_t n, const struct pdet_page_columns *to);

#endif
