/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Builds struct pages for any given layout. */
#ifndef TESTS_UNIT_PAGES_H
#define TESTS_UNIT_PAGES_H

#include "kernel/page/count.h"
#include "kernel/page/page.h"
#include "pagekernel.h"

#define PAGES_MAP 0xffffea0000000000ull
#define PAGES_POINTER 0xffff888012345600ull

static inline void pages_set(const struct pdet_layout *l, char *page,
			     enum pdet_member m, uint64_t v)
{
	const bool half = m == PDET_MEMBER_PAGE_MAPCOUNT ||
			  m == PDET_MEMBER_PAGE_REFCOUNT ||
			  (m >= PDET_MEMBER_SECOND_NR_PAGES &&
			   m <= PDET_MEMBER_SECOND_PINCOUNT &&
			   m != PDET_MEMBER_SECOND_DTOR);
	const bool byte = m == PDET_MEMBER_SECOND_ORDER ||
			  m == PDET_MEMBER_SECOND_FLAGS_1 ||
			  m == PDET_MEMBER_SECOND_DTOR;

	ck_assert_int_ge(l->member[m], 0);
	memcpy(page + l->member[m], &v, byte ? 1 : half ? 4 : 8);
}

/* The flags word for PAGEDET_PF bits; it includes node and zone. */
static inline uint64_t pages_flags(const struct pdet_layout *l, uint64_t flags)
{
	uint64_t word = 0x00fffe0000000000;

	for (; flags; flags &= flags - 1) {
		const int nr = l->flag[__builtin_ctzll(flags)];

		ck_assert_int_ge(nr, 0);
		word |= (uint64_t)1 << nr;
	}
	return word;
}

/* A page with one reference and @mapcount mappings. */
static inline void pages_plain(const struct pdet_layout *l, char *page,
			       uint64_t flags, uint64_t mapping,
			       int32_t mapcount, int32_t refcount)
{
	memset(page, 0, l->size[PDET_SIZE_PAGE]);
	pages_set(l, page, PDET_MEMBER_PAGE_FLAGS, pages_flags(l, flags));
	pages_set(l, page, PDET_MEMBER_PAGE_COMPOUND_HEAD, PAGES_POINTER);
	pages_set(l, page, PDET_MEMBER_PAGE_MAPPING, mapping);
	pages_set(l, page, PDET_MEMBER_PAGE_MAPCOUNT, (uint32_t)mapcount - 1);
	pages_set(l, page, PDET_MEMBER_PAGE_REFCOUNT, (uint32_t)refcount);
}

/* A page with a page type, which the kernel must have. */
static inline void pages_typed(const struct pdet_layout *l, char *page,
			       unsigned type, int32_t refcount)
{
	unsigned i = 0;

	pages_plain(l, page, 0, 0, 0, refcount);
	while (i < 32 && l->type.is[i] != type)
		i++;
	ck_assert_uint_lt(i, 32);
	pages_set(l, page, PDET_MEMBER_PAGE_MAPCOUNT,
		  l->type.form == PDET_TYPE_FORM_BYTE ?
		  (0xf0ull + i) << 24 : (uint32_t)~(1u << i));
}

/* The tail pages of a folio that is not mapped. */
static inline void pages_tail(const struct pdet_layout *l, char *page,
			      uint64_t head)
{
	memset(page, 0, l->size[PDET_SIZE_PAGE]);
	pages_set(l, page, PDET_MEMBER_PAGE_FLAGS, pages_flags(l, 0));
	pages_set(l, page, PDET_MEMBER_PAGE_COMPOUND_HEAD, head | 1);
	pages_set(l, page, PDET_MEMBER_PAGE_MAPCOUNT, UINT32_MAX);
}

static inline void pages_second(const struct pdet_layout *l, char *page,
				uint64_t head, unsigned order, int32_t whole,
				int32_t all, int32_t mapped, int32_t pins)
{
	pages_tail(l, page, head);
	if (l->member[PDET_MEMBER_SECOND_ORDER] >= 0)
		pages_set(l, page, PDET_MEMBER_SECOND_ORDER, order);
	else
		pages_set(l, page, PDET_MEMBER_SECOND_FLAGS_1, order);
	if (l->second[PDET_SECOND_LARGE_RMAPPABLE] >= 0)
		page[1] |= 1 << (l->second[PDET_SECOND_LARGE_RMAPPABLE] - 8);
	pages_set(l, page, PDET_MEMBER_SECOND_NR_PAGES, 1u << order);
	pages_set(l, page, PDET_MEMBER_SECOND_ENTIRE_MAPCOUNT,
		  (uint32_t)whole - 1);
	if (l->member[PDET_MEMBER_SECOND_LARGE_MAPCOUNT] >= 0)
		pages_set(l, page, PDET_MEMBER_SECOND_LARGE_MAPCOUNT,
			  (uint32_t)all - 1);
	if (l->member[PDET_MEMBER_SECOND_NR_PAGES_MAPPED] >= 0)
		pages_set(l, page, PDET_MEMBER_SECOND_NR_PAGES_MAPPED,
			  (uint32_t)mapped);
	pages_set(l, page, PDET_MEMBER_SECOND_PINCOUNT, (uint32_t)pins);
}

#endif
