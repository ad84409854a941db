/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Numbers out of struct pages, and what page_type means; between page.c and
 * page_count.c.
 */
#ifndef PDET_KERNEL_PAGE_COUNT_H
#define PDET_KERNEL_PAGE_COUNT_H

#include <string.h>

#include "kernel/fields.h"
#include "kernel/page.h"

static inline uint64_t pdet_page_u64(const struct pdet_layout *l,
				     const char *page, enum pdet_member m)
{
	uint64_t v;

	memcpy(&v, page + l->member[m], sizeof(v));
	return v;
}

static inline int32_t pdet_page_i32(const struct pdet_layout *l,
				    const char *page, enum pdet_member m)
{
	int32_t v;

	memcpy(&v, page + l->member[m], sizeof(v));
	return v;
}

static inline bool pdet_page_has(const struct pdet_layout *l,
				 enum pdet_member m)
{
	return l->member[m] >= 0;
}

/* What kind of pointer with bits of state in it: below 32. */
static inline unsigned pdet_page_pointer_sort(uint64_t v)
{
	const uint64_t bits = 7;

	return (unsigned)(v & bits) | (!(v & ~bits) ? 0u :
				       pdet_is_address(v) ? 8u : 16u);
}

/* Each pin of a small folio counts so many references. */
static inline uint64_t pdet_page_pins(uint64_t refcount)
{
	return refcount / 1024;
}

/* What _mapcount, which is page_type, holds. */
enum pdet_page_holds {
	PDET_HOLDS_COUNT,	/* of mappings, less one */
	PDET_HOLDS_TYPE,
	PDET_HOLDS_NONSENSE,
	PDET_HOLDS_UNKNOWN	/* a type, if we knew their form */
};

/* pdet_page_holds - and which type; PDET_TYPES: one that we do not know. */
enum pdet_page_holds pdet_page_holds(const struct pdet_layout *l, uint32_t v,
				     unsigned *type);

/* What is known of a folio while its pages are counted. */
struct pdet_page_folio {
	const char *page, *head;
	const char *second;	/* NULL: not there, or not to be believed */
	enum pdet_page_holds holds; /* the head's */
	enum { PDET_NO, PDET_YES, PDET_DONT_KNOW } hugetlb, anon;
	bool unmappable;	/* never mapped by a process */
};

/* pdet_page_count - order, counts, and whether it is mapped. */
void pdet_page_count(const struct pdet_layout *l,
		     const struct pdet_page_folio *f,
		     struct pdet_page_facts *ret);

#endif
