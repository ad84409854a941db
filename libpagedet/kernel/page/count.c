/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Decodes the counts of a page: references, mappings, pins, and the order of
 * its folio (Linux include/linux/mm.h, fs/proc/internal.h). A count that the
 * kernel keeps for the page is exact. One that it keeps for the whole folio
 * gives an average, which is marked.
 */
#include "base/env.h"
#include "kernel/page/count.h"
#include "kernel/page/kpf.h"

/* A folio cannot be larger than the memory of a machine. */
#define MAX_ORDER 40
/*
 * _nr_pages_mapped counts pages in these bits, and entire mappings above them.
 */
#define PAGES_MAPPED 0x7fffff

enum pdet_page_holds pdet_page_holds(const struct pdet_layout *l, uint32_t v,
				     unsigned *type)
{
	uint32_t bit;

	*type = PDET_TYPES;
	if ((int32_t)v >= -1)
		return PDET_HOLDS_COUNT;
	switch (l->type.form) {
	case PDET_TYPE_FORM_BYTE:
		/* a count that underflowed: PGTY_mapcount_underflow */
		if (v >> 24 == 0xff)
			return PDET_HOLDS_COUNT;
		/* a count that overflowed */
		if (v >> 24 < 0xf0)
			return PDET_HOLDS_NONSENSE;
		*type = l->type.is[v >> 24 & 0xf];
		return PDET_HOLDS_TYPE;
	case PDET_TYPE_FORM_BITS:
		/* PAGE_MAPCOUNT_RESERVE: -128, and in 6.11 -65536 */
		if (v >= ~(l->type.base == 0xf0000000 ? 0x7fu : 0xffffu))
			return PDET_HOLDS_COUNT;
		bit = ~v & l->type.bits;
		if (bit & ~l->type.also)
			bit &= ~l->type.also;
		if ((v & l->type.base) != l->type.base || !bit ||
		    (bit & (bit - 1)))
			return PDET_HOLDS_NONSENSE;
		*type = l->type.is[__builtin_ctz(bit)];
		return PDET_HOLDS_TYPE;
	default:
		return PDET_HOLDS_UNKNOWN;
	}
}

/* --- order --- */

static void find_order(const struct pdet_layout *l,
		       const struct pdet_page_folio *f,
		       struct pdet_page_facts *ret)
{
	const int32_t at = pdet_page_has(l, PDET_MEMBER_SECOND_ORDER) ?
			   l->member[PDET_MEMBER_SECOND_ORDER] :
			   l->member[PDET_MEMBER_SECOND_FLAGS_1];
	uint64_t order = 0;

	if (ret->type == PDET_TYPE_BUDDY) {
		/* A free page belongs to no folio. */
		if (ret->large)
			ret->bad |= PDET_BAD_FOLIO;
		if (ret->large || !ret->has_private)
			return;
		order = ret->private;
	} else if (ret->large) {
		if (!f->second || at < 0)
			return;
		order = (uint8_t)f->second[at];
	}
	/* A folio of one page has no second struct page with an order. */
	if (order > MAX_ORDER || (ret->large && !order) ||
	    (ret->large && order < 31 &&
	     pdet_page_has(l, PDET_MEMBER_SECOND_NR_PAGES) &&
	     pdet_page_i32(l, f->second, PDET_MEMBER_SECOND_NR_PAGES) !=
		     (int32_t)1 << order)) {
		ret->bad |= PDET_BAD_ORDER;
		return;
	}
	ret->order = (unsigned)order;
	ret->has_order = true;
}

/* --- mappings --- */

/* Mapping counts of a large folio. The kernel stores each count minus one. */
struct large {
	int64_t whole;		/* mappings of the whole folio by one entry */
	int64_t all;		/* mappings of the folio or of one of its
				 * pages */
	bool has_all;
	bool has_pages;		/* single pages are mapped, and each page has
				 * its own count */
};

static bool count_large(const struct pdet_layout *l,
			const struct pdet_page_folio *f, struct large *ret)
{
	if (!f->second || !pdet_page_has(l, PDET_MEMBER_SECOND_ENTIRE_MAPCOUNT))
		return false;
	ret->whole = (int64_t)pdet_page_i32(
		l, f->second, PDET_MEMBER_SECOND_ENTIRE_MAPCOUNT) + 1;
	ret->has_all = pdet_page_has(l, PDET_MEMBER_SECOND_LARGE_MAPCOUNT);
	if (ret->has_all)
		ret->all = (int64_t)pdet_page_i32(
			l, f->second, PDET_MEMBER_SECOND_LARGE_MAPCOUNT) + 1;
	ret->has_pages =
		pdet_page_has(l, PDET_MEMBER_SECOND_NR_PAGES_MAPPED) &&
		pdet_page_i32(l, f->second,
			      PDET_MEMBER_SECOND_NR_PAGES_MAPPED) &
			PAGES_MAPPED;
	return true;
}

static void set_mapcount(struct pdet_page_facts *ret, int64_t n, unsigned kind)
{
	if (n < 0) {
		ret->bad |= PDET_BAD_MAPCOUNT;
		return;
	}
	ret->has_mapcount = true;
	ret->mapcount = (uint64_t)n;
	ret->mapcount_kind = kind;
}

/*
 * A kernel may count mappings only for a large folio, not for each page
 * (NO_PAGE_MAPCOUNT, 6.15). It does not export that option. It is set if single
 * pages are mapped, but no page is counted as mapped.
 */
static void average(const struct large *n, struct pdet_page_facts *ret)
{
	const int64_t single = n->all - n->whole;

	if (!ret->has_order)
		return;
	set_mapcount(ret, PDET_MAX(((single + ((int64_t)1 << ret->order) / 2) >>
				    ret->order) + n->whole, 1),
		     PAGEDET_MAPCOUNT_AVERAGE);
}

static void count_page_of_large(const struct pdet_layout *l,
				const struct pdet_page_folio *f, int64_t own,
				struct pdet_page_facts *ret)
{
	struct large n;
	bool twice;
	int nr;

	if (!l->flags_named || f->hugetlb == PDET_DONT_KNOW ||
	    !count_large(l, f, &n))
		return;
	if (n.whole < 0 || (n.has_all && n.all < 0)) {
		ret->bad |= PDET_BAD_MAPCOUNT;
		return;
	}
	if (f->hugetlb == PDET_YES) {
		set_mapcount(ret, n.has_all ? n.all : n.whole,
			     PAGEDET_MAPCOUNT_EXACT);
		return;
	}
	/* Until 6.1 each page of a file counts all its mappings. An anonymous
	 * page mapped both ways counts one too many, which a flag shows. */
	nr = l->second[PDET_SECOND_DOUBLE_MAP];
	if (nr >= 0) {
		if (f->anon == PDET_DONT_KNOW)
			return;
		twice = pdet_page_u64(l, f->second, PDET_MEMBER_PAGE_FLAGS) >>
			nr & 1;
		if (f->anon == PDET_YES)
			own += n.whole - (twice ? 1 : 0);
		set_mapcount(ret, own, PAGEDET_MAPCOUNT_EXACT);
		return;
	}
	if (n.has_all && !own && n.all > n.whole && !n.has_pages)
		average(&n, ret);
	else
		set_mapcount(ret, own + n.whole, PAGEDET_MAPCOUNT_EXACT);
}

bool pdet_page_sums_pages(const struct pdet_layout *l,
			  const struct pdet_page_facts *f)
{
	return !pdet_page_has(l, PDET_MEMBER_SECOND_LARGE_MAPCOUNT) &&
	       !(f->flags & KPF(HUGE));
}

bool pdet_page_folio_maps(const struct pdet_layout *l,
			  const struct pdet_page_facts *f, const char *second,
			  int64_t own, uint64_t *ret)
{
	const struct pdet_page_folio folio = { .second = second };
	const int double_map = l->second[PDET_SECOND_DOUBLE_MAP];
	const int64_t pages = (int64_t)1 << f->order;
	struct large n;

	if (!l->flags_named || !(f->known & KPF(HUGE)) ||
	    !(f->known & KPF(ANON)) || !count_large(l, &folio, &n))
		return false;
	if (n.has_all)
		own = n.all;
	else
		own += n.whole;
	/* Until 6.1, as in count_page_of_large(). */
	if (double_map >= 0 && !(f->flags & KPF(HUGE))) {
		if (!(f->flags & KPF(ANON)))
			own -= n.whole * pages;
		else if (pdet_page_u64(l, second, PDET_MEMBER_PAGE_FLAGS) >>
				 double_map & 1)
			own -= pages;
	}
	if (n.whole < 0 || own < n.whole)
		return false;
	*ret = (uint64_t)own;
	return true;
}

/* A count below zero is an answer, and proves damage. The mapcount of a page of
 * a large folio is a sum with other counts, which would hide it. */
static void put_underflow(int32_t v, struct pdet_page_facts *ret)
{
	if (ret->large) {
		ret->bad |= PDET_BAD_MAPCOUNT;
		return;
	}
	ret->has_mapcount = true;
	ret->mapcount = (uint64_t)((int64_t)v + 1);
	ret->mapcount_kind = PAGEDET_MAPCOUNT_EXACT;
}

static void count_mappings(const struct pdet_layout *l,
			   const struct pdet_page_folio *f,
			   struct pdet_page_facts *ret)
{
	const int32_t v = pdet_page_i32(l, f->page, PDET_MEMBER_PAGE_MAPCOUNT);
	unsigned type;

	if (f->unmappable) {
		set_mapcount(ret, 0, PAGEDET_MAPCOUNT_EXACT);
		return;
	}
	switch (pdet_page_holds(l, (uint32_t)v, &type)) {
	case PDET_HOLDS_NONSENSE:
		ret->bad |= PDET_BAD_MAPCOUNT;
		return;
	case PDET_HOLDS_UNKNOWN:
		return;
	case PDET_HOLDS_COUNT:
		if (v < -1) {
			put_underflow(v, ret);
			return;
		}
		break;
	default:
		break;
	}
	if (ret->large)
		count_page_of_large(l, f, v < 0 ? 0 : (int64_t)v + 1, ret);
	else
		set_mapcount(ret, (int64_t)v + 1, PAGEDET_MAPCOUNT_EXACT);
}

/* Whether any page of the folio is mapped. */
static int is_mapped(const struct pdet_layout *l,
		     const struct pdet_page_folio *f,
		     const struct pdet_page_facts *ret)
{
	struct large n;

	if (f->unmappable)
		return PDET_NO;
	if (ret->bad & PDET_BAD_MAPCOUNT)
		return PDET_DONT_KNOW;
	if (!ret->large)
		return !ret->has_mapcount || ret->mapcount >> 63 ?
			       PDET_DONT_KNOW :
		       ret->mapcount ? PDET_YES : PDET_NO;
	if (count_large(l, f, &n)) {
		if (n.has_all)
			return n.all > 0 ? PDET_YES : PDET_NO;
		if (n.whole > 0)
			return PDET_YES;
		if (f->hugetlb == PDET_YES)
			return PDET_NO;
		if (pdet_page_has(l, PDET_MEMBER_SECOND_NR_PAGES_MAPPED))
			return n.has_pages ? PDET_YES : PDET_NO;
	}
	/* Until 6.1 only all pages of the folio together show this. */
	return ret->has_mapcount && ret->mapcount ? PDET_YES : PDET_DONT_KNOW;
}

/* --- pins --- */

static void count_pins(const struct pdet_layout *l,
		       const struct pdet_page_folio *f,
		       struct pdet_page_facts *ret)
{
	int32_t v;

	if (!ret->large && ret->refcount >> 63) {
		ret->bad |= PDET_BAD_PINCOUNT;
		return;
	}
	if (!ret->large) {
		ret->has_pincount = true;
		ret->pincount_estimated = true;
		ret->pincount = pdet_page_pins(ret->refcount);
		return;
	}
	if (!f->second || !pdet_page_has(l, PDET_MEMBER_SECOND_PINCOUNT))
		return;
	v = pdet_page_i32(l, f->second, PDET_MEMBER_SECOND_PINCOUNT);
	ret->has_pincount = v >= 0;
	if (v < 0)
		ret->bad |= PDET_BAD_PINCOUNT;
	else
		ret->pincount = (uint64_t)v;
}

/* --- all --- */

void pdet_page_count(const struct pdet_layout *l,
		     const struct pdet_page_folio *f,
		     struct pdet_page_facts *ret)
{
	const int32_t v = pdet_page_i32(l, f->head,
					PDET_MEMBER_PAGE_REFCOUNT);
	int mapped;

	ret->has_refcount = true;
	ret->refcount = (uint64_t)(int64_t)v;
	find_order(l, f, ret);
	count_mappings(l, f, ret);
	count_pins(l, f, ret);
	mapped = is_mapped(l, f, ret);
	if (mapped != PDET_DONT_KNOW)
		ret->known |= KPF(MMAP);
	if (mapped == PDET_YES)
		ret->flags |= KPF(MMAP);
}
