/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests what a struct page tells about its page in several kernel versions. */
#include "kernel/page/kpf.h"
#include "../../pages.h"

#define ANON_VMA (PAGES_POINTER | 1)
#define KSM_NODE (PAGES_POINTER | 3)
#define MEMORY (KPF(UPTODATE) | KPF(LRU) | KPF(SWAPBACKED))

struct pages {
	struct pdet_layout l;
	char page[3][PDET_PAGE_BYTES]; /* head, second and third page */
	struct pdet_page_facts f;
};

static void start(struct pages *p, int age)
{
	memset(p, 0, sizeof(*p));
	pagekernel_layout(&p->l, (enum pagekernel_age)age, true);
}

static void small(struct pages *p)
{
	pdet_page_decode(&p->l, p->page[0], p->page[0], NULL, &p->f);
	ck_assert_uint_eq(p->f.flags & ~p->f.known, 0);
}

static void large(struct pages *p, unsigned i)
{
	pdet_page_decode(&p->l, p->page[i], p->page[0], p->page[1], &p->f);
	ck_assert_uint_eq(p->f.flags & ~p->f.known, 0);
}

START_TEST(anonymous)
{
	struct pages p;

	start(&p, _i);
	pages_plain(&p.l, p.page[0], MEMORY | KPF(DIRTY), ANON_VMA, 3, 5);
	pages_set(&p.l, p.page[0], PDET_MEMBER_PAGE_INDEX, 0x7f1234567);
	pages_set(&p.l, p.page[0], PDET_MEMBER_PAGE_MEMCG_DATA, PAGES_POINTER);
	small(&p);
	ck_assert_uint_eq(p.f.flags, MEMORY | KPF(DIRTY) | KPF(ANON) |
				     KPF(MMAP));
	ck_assert_uint_eq(p.f.kind, PAGEDET_KIND_ANON);
	ck_assert_uint_eq(p.f.bad, 0);
	ck_assert(p.f.has_refcount && p.f.refcount == 5);
	ck_assert(p.f.has_mapcount && p.f.mapcount == 3);
	ck_assert_uint_eq(p.f.mapcount_kind, PAGEDET_MAPCOUNT_EXACT);
	ck_assert(p.f.has_order && !p.f.order && !p.f.large);
	ck_assert(p.f.has_index && p.f.index == 0x7f1234567);
	ck_assert(p.f.has_memcg && p.f.memcg_data == PAGES_POINTER);
	ck_assert(p.f.known & KPF(KSM));
	/* Exclusive; the same bit has other meanings elsewhere. */
	pages_plain(&p.l, p.page[0], MEMORY | KPF(ANON_EXCLUSIVE), ANON_VMA, 1,
		    1);
	small(&p);
	ck_assert_uint_eq(p.f.flags, MEMORY | KPF(ANON) | KPF(MMAP) |
				     KPF(ANON_EXCLUSIVE));
	pages_plain(&p.l, p.page[0], MEMORY, KSM_NODE, 2, 2);
	small(&p);
	ck_assert_uint_eq(p.f.flags, MEMORY | KPF(ANON) | KPF(KSM) | KPF(MMAP));
	/* pinned twice */
	pages_plain(&p.l, p.page[0], MEMORY, ANON_VMA, 1, 2 * 1024 + 1);
	small(&p);
	ck_assert(p.f.has_pincount && p.f.pincount == 2);
	ck_assert(p.f.pincount_estimated);
}
END_TEST

START_TEST(of_files)
{
	struct pages p;

	start(&p, _i);
	pages_plain(&p.l, p.page[0], KPF(UPTODATE) | KPF(LRU), PAGES_POINTER, 0,
		    1);
	small(&p);
	ck_assert_uint_eq(p.f.flags, KPF(UPTODATE) | KPF(LRU));
	ck_assert_uint_eq(p.f.kind, PAGEDET_KIND_FILE);
	ck_assert_uint_eq(p.f.mapping, PAGES_POINTER);
	ck_assert(p.f.known & KPF(MMAP) && p.f.known & KPF(ANON));
	pages_plain(&p.l, p.page[0], MEMORY, PAGES_POINTER, 0, 1);
	small(&p);
	ck_assert_uint_eq(p.f.kind, PAGEDET_KIND_SHMEM);
	/*
	 * The bit that is OWNER_2 in one kernel and MAPPEDTODISK in the other.
	 */
	pages_plain(&p.l, p.page[0], KPF(LRU) | KPF(MAPPEDTODISK),
		    PAGES_POINTER, 0, 1);
	small(&p);
	ck_assert(p.f.flags & (_i == AGE_6_1 ? KPF(MAPPEDTODISK) :
					       KPF(OWNER_2)));
	ck_assert(!(p.f.flags & KPF(ANON_EXCLUSIVE)));
}
END_TEST

START_TEST(typed)
{
	static const struct {
		unsigned type, kind;
		uint64_t flag;
	} types[] = {
		{ PDET_TYPE_OFFLINE, PAGEDET_KIND_OFFLINE, KPF(OFFLINE) },
		{ PDET_TYPE_TABLE, PAGEDET_KIND_PGTABLE, KPF(PGTABLE) },
	};
	struct pages p;
	unsigned i;

	start(&p, _i);
	for (i = 0; i < 2; i++) {
		pages_typed(&p.l, p.page[0], types[i].type, 1);
		small(&p);
		ck_assert_uint_eq(p.f.kind, types[i].kind);
		ck_assert_uint_eq(p.f.flags, types[i].flag);
		ck_assert(p.f.has_mapcount && !p.f.mapcount);
		ck_assert_uint_eq(p.f.bad, 0);
	}
	pages_typed(&p.l, p.page[0], PDET_TYPE_BUDDY, 0);
	pages_set(&p.l, p.page[0], PDET_MEMBER_PAGE_PRIVATE, 7);
	small(&p);
	ck_assert_uint_eq(p.f.kind, PAGEDET_KIND_FREE);
	ck_assert(p.f.has_order && p.f.order == 7);
	/* A slab by a flag or by its type; its mapping is not one. */
	if (_i == AGE_6_1)
		pages_plain(&p.l, p.page[0], KPF(SLAB), PAGES_POINTER | 1, 0,
			    1);
	else
		pages_typed(&p.l, p.page[0], PDET_TYPE_SLAB, 1);
	pages_set(&p.l, p.page[0], PDET_MEMBER_SLAB_CACHE, PAGES_POINTER);
	small(&p);
	ck_assert_uint_eq(p.f.flags, KPF(SLAB));
	ck_assert_uint_eq(p.f.kind, PAGEDET_KIND_SLAB);
	ck_assert(p.f.has_slab_cache && p.f.slab_cache == PAGES_POINTER);
	ck_assert(p.f.known & KPF(ANON) && p.f.known & KPF(MMAP));
	if (_i == AGE_6_1)
		return;
	pages_set(&p.l, p.page[0], PDET_MEMBER_SLAB_CACHE, 1234 << 3);
	small(&p);
	ck_assert_uint_eq(p.f.bad, PDET_BAD_SLAB);
	ck_assert(!p.f.has_slab_cache && p.f.has_refcount);
}
END_TEST

/* @clear: the clear bits of page_type */
static void typed_5_10(struct pages *p, bool types, uint32_t clear)
{
	const uint32_t word = ~clear;

	memset(p, 0, sizeof(*p));
	pagekernel_layout(&p->l, AGE_5_10, types);
	pages_plain(&p->l, p->page[0], 0, 0, 0, 1);
	memcpy(p->page[0] + 48, &word, sizeof(word));
	small(p);
	ck_assert_uint_eq(p->f.bad, 0);
	ck_assert(p->f.has_mapcount && !p->f.mapcount);
}

START_TEST(typed_before_5_11)
{
	struct pages p;

	typed_5_10(&p, true, 0x400);
	ck_assert_uint_eq(p.f.kind, PAGEDET_KIND_PGTABLE);
	/* A page table that is charged has two types. */
	typed_5_10(&p, true, 0x600);
	ck_assert_uint_eq(p.f.kind, PAGEDET_KIND_PGTABLE);
	ck_assert_uint_eq(p.f.flags, KPF(PGTABLE));
	typed_5_10(&p, true, 0x200);
	ck_assert_uint_eq(p.f.kind, PAGEDET_KIND_KERNEL);
	ck_assert(p.f.known & KPF(PGTABLE) && !p.f.flags);
	/* Without types any of these may be a page table. */
	typed_5_10(&p, false, 0x200);
	ck_assert_uint_eq(p.f.kind, PAGEDET_KIND_UNKNOWN);
	ck_assert(!(p.f.known & KPF(PGTABLE)));
	typed_5_10(&p, false, 0x600);
	ck_assert_uint_eq(p.f.kind, PAGEDET_KIND_UNKNOWN);
	ck_assert(!(p.f.known & KPF(PGTABLE)));
}
END_TEST

START_TEST(charged_before_5_11)
{
	struct pages p;

	memset(&p, 0, sizeof(p));
	pagekernel_layout(&p.l, AGE_5_10, true);
	pages_plain(&p.l, p.page[0], MEMORY, ANON_VMA, 1, 1);
	memcpy(p.page[0] + 56, &(uint64_t){ PAGES_POINTER }, 8);
	small(&p);
	ck_assert(p.f.has_memcg && p.f.memcg_data == PAGES_POINTER);
}
END_TEST

/*
 * A folio of 512 pages, mapped once as a whole; its third page also twice by
 * itself.
 */
START_TEST(large_anonymous)
{
	const uint64_t common = MEMORY | KPF(ANON) | KPF(MMAP) | KPF(THP);
	struct pages p;

	start(&p, _i);
	pages_plain(&p.l, p.page[0], MEMORY | KPF(COMPOUND_HEAD), ANON_VMA, 0,
		    4);
	pages_second(&p.l, p.page[1], PAGES_MAP, 9, 1, 3, 1, 1);
	pages_tail(&p.l, p.page[2], PAGES_MAP);
	pages_set(&p.l, p.page[2], PDET_MEMBER_PAGE_MAPCOUNT, 1);
	large(&p, 0);
	ck_assert_uint_eq(p.f.flags, common | KPF(COMPOUND_HEAD));
	ck_assert(p.f.large && p.f.has_order && p.f.order == 9);
	ck_assert(p.f.has_mapcount && p.f.mapcount == 1);
	ck_assert(p.f.has_pincount && p.f.pincount == 1);
	ck_assert(!p.f.pincount_estimated);
	ck_assert_uint_eq(p.f.refcount, 4);
	large(&p, 2);
	ck_assert_uint_eq(p.f.flags, common | KPF(COMPOUND_TAIL));
	ck_assert_uint_eq(p.f.mapcount, 3);
	ck_assert_uint_eq(p.f.refcount, 4);
	ck_assert_uint_eq(p.f.kind, PAGEDET_KIND_ANON);
	/* Poison belongs to the page. */
	pages_set(&p.l, p.page[2], PDET_MEMBER_PAGE_FLAGS,
		  pages_flags(&p.l, KPF(HWPOISON)));
	large(&p, 2);
	ck_assert(p.f.flags & KPF(HWPOISON));
	large(&p, 0);
	ck_assert(p.f.known & KPF(HWPOISON) && !(p.f.flags & KPF(HWPOISON)));
}
END_TEST

/* Until 6.1 a flag says that each page counts one too many. */
START_TEST(mapped_both_ways)
{
	struct pages p;
	uint64_t word;

	start(&p, AGE_6_1);
	pages_plain(&p.l, p.page[0], MEMORY | KPF(COMPOUND_HEAD), ANON_VMA, 0,
		    2);
	pages_second(&p.l, p.page[1], PAGES_MAP, 9, 1, 0, 0, 0);
	pages_tail(&p.l, p.page[2], PAGES_MAP);
	pages_set(&p.l, p.page[2], PDET_MEMBER_PAGE_MAPCOUNT, 1);
	word = pdet_page_u64(&p.l, p.page[1], PDET_MEMBER_PAGE_FLAGS) |
	       (uint64_t)1 << p.l.second[PDET_SECOND_DOUBLE_MAP];
	pages_set(&p.l, p.page[1], PDET_MEMBER_PAGE_FLAGS, word);
	large(&p, 2);
	ck_assert(p.f.has_mapcount);
	ck_assert_uint_eq(p.f.mapcount, 2);
	/* Pages of files count all mappings themselves. */
	pages_plain(&p.l, p.page[0], KPF(LRU) | KPF(COMPOUND_HEAD),
		    PAGES_POINTER, 0, 2);
	large(&p, 2);
	ck_assert_uint_eq(p.f.mapcount, 2);
}
END_TEST

/*
 * Counts entries that map a folio or one of its pages. @own is the sum of the
 * pages' own counts.
 */
static uint64_t folio_maps(struct pages *p, int64_t own)
{
	uint64_t n;

	large(p, 0);
	ck_assert(pdet_page_folio_maps(&p->l, &p->f, p->page[1], own, &n));
	return n;
}

/* Mapped once as a whole; its third page twice more by itself. */
START_TEST(folio_mapped)
{
	struct pages p;
	uint64_t word, n;

	start(&p, _i);
	pages_plain(&p.l, p.page[0], MEMORY | KPF(COMPOUND_HEAD), ANON_VMA, 0,
		    4);
	pages_second(&p.l, p.page[1], PAGES_MAP, 9, 1, 3, 1, 1);
	ck_assert_uint_eq(folio_maps(&p, 2), 3);
	/* Kernels that keep the sum need no other count. */
	ck_assert_int_eq(pdet_page_sums_pages(&p.l, &p.f),
			 !pdet_page_has(&p.l,
					PDET_MEMBER_SECOND_LARGE_MAPCOUNT));
	if (_i != AGE_6_1)
		return;
	/* Pages of files also count mappings of the whole folio. */
	pages_plain(&p.l, p.page[0], KPF(LRU) | KPF(COMPOUND_HEAD),
		    PAGES_POINTER, 0, 4);
	ck_assert_uint_eq(folio_maps(&p, 512 + 2), 3);
	/* A sum below the whole folio's count is damaged. */
	ck_assert(!pdet_page_folio_maps(&p.l, &p.f, p.page[1], 2, &n));
	/* Anonymous pages that are mapped both ways count one more. */
	pages_plain(&p.l, p.page[0], MEMORY | KPF(COMPOUND_HEAD), ANON_VMA, 0,
		    4);
	word = pdet_page_u64(&p.l, p.page[1], PDET_MEMBER_PAGE_FLAGS) |
	       (uint64_t)1 << p.l.second[PDET_SECOND_DOUBLE_MAP];
	pages_set(&p.l, p.page[1], PDET_MEMBER_PAGE_FLAGS, word);
	ck_assert_uint_eq(folio_maps(&p, 512 + 2), 3);
}
END_TEST

/* Kernels that count only per folio. */
START_TEST(average)
{
	struct pages p;

	start(&p, AGE_6_18);
	pages_plain(&p.l, p.page[0], MEMORY | KPF(COMPOUND_HEAD), ANON_VMA, 0,
		    20);
	pages_second(&p.l, p.page[1], PAGES_MAP, 2, 0, 12, 0, 0);
	pages_tail(&p.l, p.page[2], PAGES_MAP);
	large(&p, 2);
	ck_assert(p.f.has_mapcount && p.f.mapcount == 3);
	ck_assert_uint_eq(p.f.mapcount_kind, PAGEDET_MAPCOUNT_AVERAGE);
	ck_assert(p.f.flags & KPF(MMAP));
}
END_TEST

START_TEST(hugetlb)
{
	struct pages p;

	start(&p, _i);
	pages_plain(&p.l, p.page[0], KPF(UPTODATE) | KPF(COMPOUND_HEAD),
		    PAGES_POINTER, 0, 2);
	pages_second(&p.l, p.page[1], PAGES_MAP, 9, 2, 2, 0, 0);
	if (_i == AGE_6_1) {
		pages_set(&p.l, p.page[1], PDET_MEMBER_SECOND_DTOR, 2);
	} else {
		p.page[1][1] = 0;
		pages_set(&p.l, p.page[0], PDET_MEMBER_PAGE_MAPCOUNT,
			  0xf4000000u);
	}
	pages_tail(&p.l, p.page[2], PAGES_MAP);
	large(&p, 2);
	ck_assert_uint_eq(p.f.flags, KPF(UPTODATE) | KPF(COMPOUND_TAIL) |
				     KPF(HUGE) | KPF(MMAP));
	ck_assert_uint_eq(p.f.kind, PAGEDET_KIND_HUGETLB);
	ck_assert(p.f.has_mapcount && p.f.mapcount == 2);
	/* Poison is recorded in the head page. */
	pages_set(&p.l, p.page[0], PDET_MEMBER_PAGE_FLAGS,
		  pages_flags(&p.l, KPF(COMPOUND_HEAD) | KPF(HWPOISON)));
	large(&p, 2);
	ck_assert(p.f.flags & KPF(HWPOISON));
}
END_TEST

START_TEST(heads)
{
	const uint64_t addr = PAGES_MAP + 64 * 64;
	struct pages p;
	uint64_t head;

	start(&p, _i);
	pages_tail(&p.l, p.page[0], addr - 5 * 64);
	ck_assert_int_eq(pdet_page_is(&p.l, p.page[0], NULL, addr, &head),
			 PDET_PAGE_TAIL);
	ck_assert_uint_eq(head, addr - 5 * 64);
	/* After it, itself, between two pages, outside of kernel memory. */
	pages_tail(&p.l, p.page[0], addr + 64);
	ck_assert_int_eq(pdet_page_is(&p.l, p.page[0], NULL, addr, &head),
			 PDET_PAGE_DAMAGED);
	pages_tail(&p.l, p.page[0], addr);
	ck_assert_int_eq(pdet_page_is(&p.l, p.page[0], NULL, addr, &head),
			 PDET_PAGE_DAMAGED);
	pages_tail(&p.l, p.page[0], addr - 24);
	ck_assert_int_eq(pdet_page_is(&p.l, p.page[0], NULL, addr, &head),
			 PDET_PAGE_DAMAGED);
	pages_tail(&p.l, p.page[0], 0x1000);
	ck_assert_int_eq(pdet_page_is(&p.l, p.page[0], NULL, addr, &head),
			 PDET_PAGE_DAMAGED);
	pages_plain(&p.l, p.page[0], 0, 0, 0, 1);
	ck_assert_int_eq(pdet_page_is(&p.l, p.page[0], NULL, addr, &head),
			 PDET_PAGE_PLAIN);
	/*
	 * A page of an optimised hugetlb folio: what looks like a head page is
	 * the first struct page, mapped again.
	 */
	pages_plain(&p.l, p.page[0], KPF(COMPOUND_HEAD), 0, 0, 1);
	pages_tail(&p.l, p.page[1], addr - 64 * 64);
	ck_assert_int_eq(pdet_page_is(&p.l, p.page[0], p.page[1], addr, &head),
			 PDET_PAGE_TAIL);
	ck_assert_uint_eq(head, addr - 64 * 64);
	pages_tail(&p.l, p.page[1], addr);
	ck_assert_int_eq(pdet_page_is(&p.l, p.page[0], p.page[1], addr, &head),
			 PDET_PAGE_PLAIN);
	memset(p.page[0], 0, 64);
	ck_assert_int_eq(pdet_page_is(&p.l, p.page[0], NULL, addr, &head),
			 PDET_PAGE_UNINIT);
	memset(p.page[0], 0xff, 64);
	ck_assert_int_eq(pdet_page_is(&p.l, p.page[0], NULL, addr, &head),
			 PDET_PAGE_UNINIT);
	memset(p.page[0], 0x5a, 64);
	ck_assert_int_eq(pdet_page_is(&p.l, p.page[0], NULL, addr, &head),
			 PDET_PAGE_DAMAGED);
}
END_TEST

/* Since 7.1 a mask of the page's own address may be set. */
START_TEST(masks)
{
	const uint64_t head = PAGES_MAP + (512ull << 9);
	struct pages p;
	uint64_t got;
	unsigned i;

	start(&p, AGE_7_1);
	for (i = 1; i < 512; i++) {
		pages_tail(&p.l, p.page[0], ~(512ull * 64 - 1));
		ck_assert_int_eq(pdet_page_is(&p.l, p.page[0], NULL,
					      head + i * 64ull, &got),
				 PDET_PAGE_TAIL);
		ck_assert_uint_eq(got, head);
	}
}
END_TEST

/* A count that was lowered too often, until it would look like a type. */
START_TEST(below_zero)
{
	static const struct {
		unsigned age;
		int32_t least;	/* of _mapcount */
	} forms[] = {
		{ AGE_6_1, -128 }, { AGE_6_12, -(1 << 24) },
	};
	const int32_t least = forms[_i].least;
	struct pages p;

	start(&p, forms[_i].age);
	pages_plain(&p.l, p.page[0], MEMORY, ANON_VMA, -1, 1);
	small(&p);
	ck_assert_uint_eq(p.f.bad, 0);
	ck_assert(p.f.has_mapcount && (int64_t)p.f.mapcount == -1);
	ck_assert_uint_eq(p.f.mapcount_kind, PAGEDET_MAPCOUNT_EXACT);
	ck_assert(p.f.flags & KPF(ANON) && !(p.f.known & KPF(MMAP)));
	pages_plain(&p.l, p.page[0], MEMORY, ANON_VMA, least + 1, 1);
	small(&p);
	ck_assert((int64_t)p.f.mapcount == least + 1 && !p.f.bad);
	pages_plain(&p.l, p.page[0], MEMORY, ANON_VMA, least, 1);
	small(&p);
	ck_assert(!p.f.has_mapcount || !p.f.mapcount);
	/* The count of a page is one part of those of its folio. */
	pages_plain(&p.l, p.page[0], MEMORY | KPF(COMPOUND_HEAD), ANON_VMA, -1,
		    4);
	pages_second(&p.l, p.page[1], PAGES_MAP, 2, 1, 1, 0, 0);
	large(&p, 0);
	ck_assert_uint_eq(p.f.bad, PDET_BAD_MAPCOUNT);
	ck_assert(!p.f.has_mapcount && p.f.has_refcount);
}
END_TEST

/* A contradiction affects nothing else. */
START_TEST(damage)
{
	struct pages p;

	start(&p, AGE_6_12);
	pages_plain(&p.l, p.page[0], MEMORY, 0xdead000000000100 | 1, 1, 7);
	pages_set(&p.l, p.page[0], PDET_MEMBER_PAGE_MEMCG_DATA,
		  0x4141414141414140);
	small(&p);
	ck_assert_uint_eq(p.f.bad, PDET_BAD_MAPPING | PDET_BAD_MEMCG);
	ck_assert(!p.f.has_mapping && !p.f.has_memcg && !p.f.has_index);
	ck_assert(p.f.has_refcount && p.f.refcount == 7);
	ck_assert(p.f.has_mapcount && p.f.mapcount == 1);
	ck_assert(!(p.f.known & KPF(ANON)) && p.f.flags & KPF(LRU));
	pages_plain(&p.l, p.page[0], MEMORY, ANON_VMA, 1, -3);
	small(&p);
	ck_assert_uint_eq(p.f.bad, PDET_BAD_PINCOUNT);
	ck_assert(!p.f.has_pincount && p.f.has_mapcount);
	ck_assert(p.f.has_refcount && (int64_t)p.f.refcount == -3);
	ck_assert(!(p.f.known & KPF(BUDDY)));
	pages_plain(&p.l, p.page[0], MEMORY, ANON_VMA, INT32_MIN + 8, 1);
	small(&p);
	ck_assert_uint_eq(p.f.bad, PDET_BAD_TYPE | PDET_BAD_MAPCOUNT);
	ck_assert(!p.f.has_mapcount && p.f.has_refcount);
	/* Folios with an invalid second page, and an invalid head. */
	pages_plain(&p.l, p.page[0], MEMORY | KPF(COMPOUND_HEAD), ANON_VMA, 0,
		    4);
	pages_plain(&p.l, p.page[1], 0, 0, 0, 1);
	large(&p, 0);
	ck_assert_uint_eq(p.f.bad, PDET_BAD_FOLIO);
	ck_assert(!p.f.has_order && !p.f.has_mapcount && p.f.has_refcount);
	pages_plain(&p.l, p.page[0], MEMORY, ANON_VMA, 1, 4);
	pages_tail(&p.l, p.page[2], PAGES_MAP);
	large(&p, 2);
	ck_assert_uint_eq(p.f.bad, PDET_BAD_FOLIO);
	ck_assert(!p.f.has_refcount && p.f.flags == KPF(COMPOUND_TAIL));
	/* A free block that claims to be a folio without a second page. */
	pages_typed(&p.l, p.page[0], PDET_TYPE_BUDDY, 0);
	pages_set(&p.l, p.page[0], PDET_MEMBER_PAGE_FLAGS,
		  pages_flags(&p.l, KPF(COMPOUND_HEAD)));
	pages_set(&p.l, p.page[0], PDET_MEMBER_PAGE_PRIVATE, 3);
	small(&p);
	ck_assert_uint_eq(p.f.bad, PDET_BAD_FOLIO);
	ck_assert(!p.f.has_order);
	/* An impossible order. */
	pages_plain(&p.l, p.page[0], MEMORY | KPF(COMPOUND_HEAD), ANON_VMA, 0,
		    4);
	pages_second(&p.l, p.page[1], PAGES_MAP, 9, 1, 1, 0, 0);
	p.page[1][0] = 77;
	large(&p, 0);
	ck_assert_uint_eq(p.f.bad, PDET_BAD_ORDER);
	ck_assert(!p.f.has_order && p.f.has_mapcount);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("page");

	unit_loop(s, anonymous, AGES);
	unit_loop(s, of_files, AGES);
	unit_loop(s, typed, AGES);
	unit_test(s, typed_before_5_11);
	unit_test(s, charged_before_5_11);
	unit_loop(s, large_anonymous, AGES);
	unit_test(s, mapped_both_ways);
	unit_loop(s, folio_mapped, AGES);
	unit_test(s, average);
	unit_loop(s, hugetlb, AGES);
	unit_loop(s, heads, AGES);
	unit_test(s, masks);
	unit_loop(s, below_zero, 2);
	unit_test(s, damage);
	return unit_main(s);
}
