/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Layouts of struct page in several kernel versions: VMCOREINFO, and what types
 * add. Offsets are those of Debian's kernels for x86-64.
 */
#ifndef TESTS_UNIT_PAGEKERNEL_H
#define TESTS_UNIT_PAGEKERNEL_H

#include "kernel/types/layout.h"
#include "structs.h"

/* Tests of each age leave 5.10 out, because it differs in many ways. */
enum pagekernel_age { AGE_6_1, AGE_6_12, AGE_6_18, AGE_7_1, AGES,
		      AGE_5_10 = AGES };

#define PAGEKERNEL_COMMON                                   \
	"SIZE(page)=64\nOFFSET(page.flags)=0\n"             \
	"OFFSET(page._refcount)=52\nOFFSET(page.mapping)=24\n" \
	"OFFSET(page.lru)=8\nOFFSET(page._mapcount)=48\n"   \
	"OFFSET(page.private)=40\nLENGTH(zone.free_area)=11\n"

static const char *const pagekernel_info[AGES + 1] = {
	[AGE_5_10] = PAGEKERNEL_COMMON
		"OFFSET(page.compound_head)=8\n"
		"OFFSET(page.compound_dtor)=16\n"
		"OFFSET(page.compound_order)=17\n"
		"NUMBER(PG_lru)=4\nNUMBER(PG_private)=13\n"
		"NUMBER(PG_swapcache)=10\nNUMBER(PG_swapbacked)=19\n"
		"NUMBER(PG_slab)=9\nNUMBER(PG_hwpoison)=23\n"
		"NUMBER(PG_head_mask)=65536\n"
		"NUMBER(PAGE_BUDDY_MAPCOUNT_VALUE)=-129\n"
		"NUMBER(PAGE_OFFLINE_MAPCOUNT_VALUE)=-257\n"
		"NUMBER(HUGETLB_PAGE_DTOR)=2\n",
	[AGE_6_1] = PAGEKERNEL_COMMON
		"OFFSET(page.compound_head)=8\n"
		"OFFSET(page.compound_dtor)=16\n"
		"OFFSET(page.compound_order)=17\n"
		"NUMBER(PG_lru)=4\nNUMBER(PG_private)=13\n"
		"NUMBER(PG_swapcache)=10\nNUMBER(PG_swapbacked)=19\n"
		"NUMBER(PG_slab)=9\nNUMBER(PG_hwpoison)=22\n"
		"NUMBER(PG_head_mask)=65536\n"
		"NUMBER(PAGE_BUDDY_MAPCOUNT_VALUE)=-129\n"
		"NUMBER(PAGE_OFFLINE_MAPCOUNT_VALUE)=-257\n"
		"NUMBER(HUGETLB_PAGE_DTOR)=2\n",
	[AGE_6_12] = PAGEKERNEL_COMMON
		"OFFSET(page.compound_head)=8\n"
		"NUMBER(PG_lru)=5\nNUMBER(PG_private)=14\n"
		"NUMBER(PG_swapcache)=10\nNUMBER(PG_swapbacked)=17\n"
		"NUMBER(PG_hwpoison)=21\nNUMBER(PG_head_mask)=64\n"
		"NUMBER(PAGE_BUDDY_MAPCOUNT_VALUE)=-268435456\n"
		"NUMBER(PAGE_OFFLINE_MAPCOUNT_VALUE)=-251658240\n"
		"NUMBER(PAGE_HUGETLB_MAPCOUNT_VALUE)=-201326592\n"
		"NUMBER(PAGE_SLAB_MAPCOUNT_VALUE)=-184549376\n",
	[AGE_6_18] = PAGEKERNEL_COMMON
		"OFFSET(page.compound_head)=8\n"
		"NUMBER(PG_lru)=5\nNUMBER(PG_private)=14\n"
		"NUMBER(PG_swapcache)=10\nNUMBER(PG_swapbacked)=17\n"
		"NUMBER(PG_hwpoison)=21\nNUMBER(PG_head_mask)=64\n"
		"NUMBER(PAGE_BUDDY_MAPCOUNT_VALUE)=-268435456\n"
		"NUMBER(PAGE_OFFLINE_MAPCOUNT_VALUE)=-251658240\n"
		"NUMBER(PAGE_HUGETLB_MAPCOUNT_VALUE)=-201326592\n"
		"NUMBER(PAGE_SLAB_MAPCOUNT_VALUE)=-184549376\n"
		"NUMBER(PAGE_UNACCEPTED_MAPCOUNT_VALUE)=-150994944\n",
	[AGE_7_1] = PAGEKERNEL_COMMON
		"OFFSET(page.compound_info)=8\n"
		"NUMBER(PG_lru)=5\nNUMBER(PG_private)=14\n"
		"NUMBER(PG_swapcache)=10\nNUMBER(PG_swapbacked)=17\n"
		"NUMBER(PG_hwpoison)=21\nNUMBER(PG_head_mask)=64\n"
		"NUMBER(PAGE_BUDDY_MAPCOUNT_VALUE)=-268435456\n"
		"NUMBER(PAGE_OFFLINE_MAPCOUNT_VALUE)=-251658240\n"
		"NUMBER(PAGE_HUGETLB_MAPCOUNT_VALUE)=-201326592\n"
		"NUMBER(PAGE_SLAB_MAPCOUNT_VALUE)=-184549376\n",
};

#define AT(name, offset) { name, offset, 0, 0, 0 }

static const struct structs_member pagekernel_page_5_10[] = {
	AT("flags", 0), AT("compound_head", 8), AT("compound_dtor", 16),
	AT("compound_order", 17), AT("compound_mapcount", 20),
	AT("compound_nr", 24), AT("mapping", 24), AT("slab_cache", 24),
	AT("index", 32), AT("private", 40), AT("_mapcount", 48),
	AT("_refcount", 52), AT("mem_cgroup", 56),
};
static const struct structs_member pagekernel_page_6_1[] = {
	AT("flags", 0), AT("compound_head", 8), AT("compound_dtor", 16),
	AT("compound_order", 17), AT("compound_mapcount", 20),
	AT("compound_pincount", 24), AT("compound_nr", 28), AT("mapping", 24),
	AT("index", 32), AT("private", 40), AT("_mapcount", 48),
	AT("_refcount", 52), AT("memcg_data", 56),
};
static const struct structs_member pagekernel_folio_6_1[] = {
	AT("_flags_1", 64), AT("_folio_dtor", 80), AT("_folio_order", 81),
	AT("_total_mapcount", 84), AT("_pincount", 88),
	AT("_folio_nr_pages", 92),
};
static const struct structs_member pagekernel_page_6_12[] = {
	AT("flags", 0), AT("compound_head", 8), AT("mapping", 24),
	AT("index", 32), AT("private", 40), AT("_mapcount", 48),
	AT("_refcount", 52), AT("memcg_data", 56),
};
static const struct structs_member pagekernel_folio_6_12[] = {
	AT("_flags_1", 64), AT("_large_mapcount", 80),
	AT("_entire_mapcount", 84), AT("_nr_pages_mapped", 88),
	AT("_pincount", 92), AT("_folio_nr_pages", 96),
};
static const struct structs_member pagekernel_page_6_18[] = {
	AT("flags", 0), AT("compound_head", 8), AT("mapping", 24),
	AT("__folio_index", 32), AT("private", 40), AT("_mapcount", 48),
	AT("_refcount", 52), AT("memcg_data", 56),
};
static const struct structs_member pagekernel_page_7_1[] = {
	AT("flags", 0), AT("compound_info", 8), AT("mapping", 24),
	AT("__folio_index", 32), AT("private", 40), AT("_mapcount", 48),
	AT("_refcount", 52), AT("memcg_data", 56),
};
static const struct structs_member pagekernel_folio_6_18[] = {
	AT("_flags_1", 64), AT("_large_mapcount", 80),
	AT("_nr_pages_mapped", 84), AT("_entire_mapcount", 88),
	AT("_pincount", 92), AT("_nr_pages", 120),
};
static const struct structs_member pagekernel_slab[] = {
	AT("slab_cache", 8),
};
static const struct structs_member pagekernel_slab_6_1[] = {
	AT("slab_cache", 24),
};

#undef AT

static const struct structs_constant pagekernel_flags_5_10[] = {
	{ "PG_locked", 0 }, { "PG_referenced", 1 }, { "PG_uptodate", 2 },
	{ "PG_dirty", 3 }, { "PG_lru", 4 }, { "PG_active", 5 },
	{ "PG_error", 8 }, { "PG_slab", 9 }, { "PG_owner_priv_1", 10 },
	{ "PG_arch_1", 11 }, { "PG_reserved", 12 }, { "PG_private", 13 },
	{ "PG_private_2", 14 }, { "PG_writeback", 15 }, { "PG_head", 16 },
	{ "PG_mappedtodisk", 17 }, { "PG_reclaim", 18 },
	{ "PG_swapbacked", 19 }, { "PG_unevictable", 20 },
	{ "PG_mlocked", 21 }, { "PG_uncached", 22 }, { "PG_hwpoison", 23 },
	{ "PG_swapcache", 10 }, { "PG_double_map", 6 },
};
static const struct structs_constant pagekernel_flags_6_1[] = {
	{ "PG_locked", 0 }, { "PG_referenced", 1 }, { "PG_uptodate", 2 },
	{ "PG_dirty", 3 }, { "PG_lru", 4 }, { "PG_active", 5 },
	{ "PG_error", 8 }, { "PG_slab", 9 }, { "PG_owner_priv_1", 10 },
	{ "PG_arch_1", 11 }, { "PG_reserved", 12 }, { "PG_private", 13 },
	{ "PG_private_2", 14 }, { "PG_writeback", 15 }, { "PG_head", 16 },
	{ "PG_mappedtodisk", 17 }, { "PG_reclaim", 18 },
	{ "PG_swapbacked", 19 }, { "PG_unevictable", 20 },
	{ "PG_mlocked", 21 }, { "PG_hwpoison", 22 }, { "PG_swapcache", 10 },
	{ "PG_anon_exclusive", 17 }, { "PG_double_map", 6 },
};
static const struct structs_constant pagekernel_flags_6_12[] = {
	{ "PG_locked", 0 }, { "PG_writeback", 1 }, { "PG_referenced", 2 },
	{ "PG_uptodate", 3 }, { "PG_dirty", 4 }, { "PG_lru", 5 },
	{ "PG_head", 6 }, { "PG_active", 8 }, { "PG_owner_priv_1", 10 },
	{ "PG_owner_2", 11 }, { "PG_arch_1", 12 }, { "PG_reserved", 13 },
	{ "PG_private", 14 }, { "PG_private_2", 15 }, { "PG_reclaim", 16 },
	{ "PG_swapbacked", 17 }, { "PG_unevictable", 18 },
	{ "PG_mlocked", 20 }, { "PG_hwpoison", 21 }, { "PG_idle", 22 },
	{ "PG_swapcache", 10 }, { "PG_mappedtodisk", 11 },
	{ "PG_anon_exclusive", 11 }, { "PG_large_rmappable", 9 },
};
static const struct structs_constant pagekernel_types_6_12[] = {
	{ "PGTY_buddy", 0xf0 }, { "PGTY_offline", 0xf1 },
	{ "PGTY_table", 0xf2 }, { "PGTY_guard", 0xf3 },
	{ "PGTY_hugetlb", 0xf4 }, { "PGTY_slab", 0xf5 },
	{ "PGTY_zsmalloc", 0xf6 }, { "PGTY_unaccepted", 0xf7 },
};

static inline void pagekernel_structs(struct structs *s,
				      enum pagekernel_age age)
{
#define ADD(name, size, m) structs_add(s, name, size, m, sizeof(m) / sizeof(*m))
	structs_init(s);
	switch (age) {
	case AGE_5_10:
		ADD("page", 64, pagekernel_page_5_10);
		break;
	case AGE_6_1:
		ADD("page", 64, pagekernel_page_6_1);
		ADD("folio", 128, pagekernel_folio_6_1);
		ADD("slab", 64, pagekernel_slab_6_1);
		break;
	case AGE_6_12:
		ADD("page", 64, pagekernel_page_6_12);
		ADD("folio", 256, pagekernel_folio_6_12);
		ADD("slab", 64, pagekernel_slab);
		break;
	default:
		if (age == AGE_6_18)
			ADD("page", 64, pagekernel_page_6_18);
		else
			ADD("page", 64, pagekernel_page_7_1);
		ADD("folio", 256, pagekernel_folio_6_18);
		ADD("slab", 64, pagekernel_slab);
	}
#undef ADD
#define ADD(name, c) structs_add_enum(s, name, c, sizeof(c) / sizeof(*c))
	if (age == AGE_5_10)
		ADD("pageflags", pagekernel_flags_5_10);
	else if (age == AGE_6_1)
		ADD("pageflags", pagekernel_flags_6_1);
	else
		ADD("pageflags", pagekernel_flags_6_12);
	if (age > AGE_6_1 && age != AGE_5_10)
		ADD("pagetype", pagekernel_types_6_12);
#undef ADD
}

/* The layout that is known with or without types. */
static inline void pagekernel_layout(struct pdet_layout *l,
				     enum pagekernel_age age, bool types)
{
	struct pdet_vmcoreinfo info;
	struct structs s;

	structs_info(&info, pagekernel_info[age]);
	pdet_layout_init(l, &info);
	pdet_vmcoreinfo_free(&info);
	if (!types)
		return;
	pagekernel_structs(&s, age);
	ck_assert(pdet_layout_add_types(l, structs_btf(&s)));
	structs_free(&s);
}

#endif
