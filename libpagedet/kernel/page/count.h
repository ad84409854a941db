/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Numbers that are read from struct pages, and the meaning of page_type. */
#ifndef PDET_KERNEL_PAGE_COUNT_H
#define PDET_KERNEL_PAGE_COUNT_H

#include <string.h>

#include "kernel/page/facts.h"
#include "kernel/types/fields.h"
#include "kernel/types/layout.h"

static inline uint64_t pdet_page_u64(const struct pdet_layout *l,
				     const char *page, enum pdet_member m)
{
	uint64_t v;

	memcpy(&v, page + pdet_layout_at(l, m, sizeof(v)), sizeof(v));
	return v;
}

static inline int32_t pdet_page_i32(const struct pdet_layout *l,
				    const char *page, enum pdet_member m)
{
	int32_t v;

	memcpy(&v, page + pdet_layout_at(l, m, sizeof(v)), sizeof(v));
	return v;
}

static inline uint8_t pdet_page_u8(const struct pdet_layout *l,
				   const char *page, enum pdet_member m)
{
	return (uint8_t)page[pdet_layout_at(l, m, 1)];
}

static inline bool pdet_page_has(const struct pdet_layout *l,
				 enum pdet_member m)
{
	return l->member[m] >= 0;
}

/* The class of a pointer that has state bits. It is below 32. */
static inline unsigned pdet_page_pointer_sort(uint64_t v)
{
	const uint64_t bits = 7;

	return (unsigned)(v & bits) | (!(v & ~bits) ? 0u :
				       pdet_is_address(v) ? 8u : 16u);
}

/* Each pin of a small folio adds this many references. 0 for a count below
 * zero. */
static inline uint64_t pdet_page_pins(uint64_t refcount)
{
	return refcount >> 63 ? 0 : refcount / 1024;
}

/* The content of _mapcount, which shares its place with page_type. */
enum pdet_page_holds {
	PDET_HOLDS_COUNT,	/* number of mappings, less one; damaged if it
				 * is below -1 */
	PDET_HOLDS_TYPE,
	PDET_HOLDS_NONSENSE,
	PDET_HOLDS_UNKNOWN	/* a type whose encoding is unknown */
};

/*
 * pdet_page_holds - what the field contains and, if that is a type, which type.
 * PDET_TYPES: libpagedet does not know the type.
 */
enum pdet_page_holds pdet_page_holds(const struct pdet_layout *l, uint32_t v,
				     unsigned *type);

/* Facts of a folio that pdet_page_count() needs. */
struct pdet_page_folio {
	const char *page, *head;
	const char *second;	/* NULL: missing, or not trustworthy */
	enum pdet_page_holds holds; /* for the head */
	enum { PDET_NO, PDET_YES, PDET_DONT_KNOW } hugetlb, anon;
	bool unmappable;	/* a process never maps it */
};

/* pdet_page_count - order, counts, and whether it is mapped. */
void pdet_page_count(const struct pdet_layout *l,
		     const struct pdet_page_folio *f,
		     struct pdet_page_facts *ret);

/*
 * pdet_page_folio_maps - get the number of page table entries that map a folio
 * or one of its pages. @f has what is known of its head, including an order.
 * Returns false if the number is not known. @own is the sum of _mapcount of all
 * its pages, which is needed if pdet_page_sums_pages(); kernels since 6.10 keep
 * the sum themselves.
 */
bool pdet_page_folio_maps(const struct pdet_layout *l,
			  const struct pdet_page_facts *f, const char *second,
			  int64_t own, uint64_t *ret);
bool pdet_page_sums_pages(const struct pdet_layout *l,
			  const struct pdet_page_facts *f);

#endif
