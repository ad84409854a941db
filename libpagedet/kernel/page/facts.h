/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What one struct page says about its page, and the contradictions in it. */
#ifndef PDET_KERNEL_PAGE_FACTS_H
#define PDET_KERNEL_PAGE_FACTS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Contradictions in a struct page. They are the reason why the fields concerned
 * are unknown.
 */
enum pdet_page_bad {
	PDET_BAD_FOLIO = 1 << 0, /* the head is not a head, or the second page
				  * is not a tail */
	PDET_BAD_TYPE = 1 << 1,	/* neither a count nor a type */
	PDET_BAD_MAPCOUNT = 1 << 3,
	PDET_BAD_PINCOUNT = 1 << 4,
	PDET_BAD_ORDER = 1 << 5,
	PDET_BAD_MAPPING = 1 << 6,
	PDET_BAD_MEMCG = 1 << 7,
	PDET_BAD_SLAB = 1 << 8
};

struct pdet_page_facts {
	uint64_t raw_flags;	/* of this page, not of its folio */
	uint64_t flags, known;	/* PAGEDET_PF bits of the folio; a flag that is
				 * set is always known */
	unsigned bad;		/* PDET_BAD_* */
	unsigned kind;		/* PAGEDET_KIND_* */
	unsigned type;		/* PDET_TYPE_* of the folio; PDET_TYPES: there
				 * is no type, or libpagedet does not know it */
	bool large;		/* part of a folio with several pages */
	bool may_be_zero;	/* a huge page that is the huge zero page, or
				 * not */
	/* Which of the following are known. */
	bool has_order, has_refcount, has_mapcount, has_pincount, has_mapping,
	     has_index, has_private, has_memcg, has_slab_cache;
	unsigned order;		/* of the folio, or of the free block that
				 * begins at this page */
	unsigned mapcount_kind;	/* PAGEDET_MAPCOUNT_* */
	bool pincount_estimated;
	uint64_t refcount, mapcount, pincount;
	/* of the folio; 0: none */
	uint64_t mapping;	/* including its state bits */
	uint64_t index;		/* of the folio's first page */
	uint64_t private;
	uint64_t memcg_data;	/* with such bits */
	uint64_t slab_cache;	/* address */
};

#endif
