/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What a struct page says of its page. Bytes in, facts out: who reads the
 * bytes, and when they are read again, is decided above. The layout must have
 * pages.
 */
#ifndef PDET_KERNEL_PAGE_H
#define PDET_KERNEL_PAGE_H

#include "kernel/layout.h"

enum pdet_page_is {
	PDET_PAGE_PLAIN,	/* of one page, or the first of a folio */
	PDET_PAGE_TAIL,		/* another one of a folio */
	PDET_PAGE_UNINIT,	/* nobody has written to it */
	PDET_PAGE_DAMAGED	/* nothing that a kernel writes */
};

/*
 * pdet_page_is - and for a tail, where the struct page of its head is: before
 * it, which is all that is sure. @addr is where @page itself is, @next is the
 * one behind it; without it (NULL) a tail of a hugetlb folio may be taken for
 * a head, because kernels until 7.0 can show the first struct pages of such a
 * folio again and again.
 */
enum pdet_page_is pdet_page_is(const struct pdet_layout *l, const char *page,
			       const char *next, uint64_t addr,
			       uint64_t *head);

/* What contradicts itself: it is not known, and this is why. */
enum pdet_page_bad {
	PDET_BAD_FOLIO = 1 << 0, /* the head is none, or the second no tail */
	PDET_BAD_TYPE = 1 << 1,	/* neither a count nor a type */
	PDET_BAD_REFCOUNT = 1 << 2,
	PDET_BAD_MAPCOUNT = 1 << 3,
	PDET_BAD_PINCOUNT = 1 << 4,
	PDET_BAD_ORDER = 1 << 5,
	PDET_BAD_MAPPING = 1 << 6,
	PDET_BAD_MEMCG = 1 << 7,
	PDET_BAD_SLAB = 1 << 8
};

struct pdet_page_facts {
	uint64_t raw_flags;	/* of the page itself */
	uint64_t flags, known;	/* PAGEDET_PF bits of the folio; no flag is set
				 * that is not known */
	unsigned bad;		/* PDET_BAD_* */
	unsigned kind;		/* PAGEDET_KIND_* */
	unsigned type;		/* PDET_TYPE_* of the folio; PDET_TYPES: none,
				 * or one that we do not know */
	bool large;		/* one of several pages of a folio */
	bool may_be_zero;	/* a huge page, if it is the huge zero page */
	/* Which of these are known. */
	bool has_order, has_refcount, has_mapcount, has_pincount, has_mapping,
	     has_index, has_private, has_memcg, has_slab_cache;
	unsigned order;		/* of the folio, or of the free block that
				 * begins here */
	unsigned mapcount_kind;	/* PAGEDET_MAPCOUNT_* */
	bool pincount_estimated;
	uint64_t refcount, mapcount, pincount;
	/* of the folio; 0: it has none */
	uint64_t mapping;	/* with the bits that say what it is */
	uint64_t index;		/* of the first page */
	uint64_t private;
	uint64_t memcg_data;	/* with such bits */
	uint64_t slab_cache;	/* address */
};

/*
 * pdet_page_decode - @page is the page's own; @head its folio's first, which
 * is the same for a plain page; NULL: it could not be read. @second: the one
 * behind @head, needed for large folios only; NULL: it could not be read.
 */
void pdet_page_decode(const struct pdet_layout *l, const char *page,
		      const char *head, const char *second,
		      struct pdet_page_facts *ret);

/* Whether a folio of that order, if it begins at that frame, has that page:
 * to be asked of every tail, whose head may be anything. */
static inline bool pdet_page_in_folio(uint64_t head_pfn, unsigned order,
				      uint64_t pfn)
{
	return !(head_pfn & (((uint64_t)1 << order) - 1)) &&
	       pfn - head_pfn < (uint64_t)1 << order;
}

/* What no struct page alone can say: a page without references may be within
 * a free block, on a processor's list of free pages, or in use. */
enum pdet_page_free { PDET_FREE_NOT, PDET_FREE_BLOCK, PDET_FREE_LIST };

void pdet_page_add_free(struct pdet_page_facts *f, enum pdet_page_free where);

/* And which one is the zero page, or within the huge one. */
enum pdet_page_zero { PDET_ZERO_NOT, PDET_ZERO_PAGE, PDET_ZERO_HUGE };

void pdet_page_add_zero(struct pdet_page_facts *f, enum pdet_page_zero zero);

#endif
