/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests layouts of several kernel versions: each is read by its own names. */
#include "kernel/page/kpf.h"
#include "../../pagekernel.h"

static const struct {
	int32_t index, order, nr_pages, entire, large, mapped, pins, memcg;
	int32_t cache;
	int lru, head, owner_2, slab, rmappable, double_map, dtor;
} want[AGES] = {
	[AGE_6_1] = { 32, 17, 28, 20, -1, -1, 24, 56, 24,
		      4, 16, -1, 9, -1, 6, 2 },
	[AGE_6_12] = { 32, -1, 32, 20, 16, 24, 28, 56, 8,
		       5, 6, 11, -1, 9, -1, -1 },
	[AGE_6_18] = { 32, -1, 56, 24, 16, 20, 28, 56, 8,
		       5, 6, 11, -1, 9, -1, -1 },
	[AGE_7_1] = { 32, -1, 56, 24, 16, 20, 28, 56, 8,
		      5, 6, 11, -1, 9, -1, -1 },
};

START_TEST(with_types)
{
	struct pdet_layout l;

	pagekernel_layout(&l, (enum pagekernel_age)_i, true);
	ck_assert(l.pages && l.flags_named);
	ck_assert_uint_eq(l.size[PDET_SIZE_PAGE], 64);
	ck_assert_int_eq(l.member[PDET_MEMBER_PAGE_FLAGS], 0);
	ck_assert_int_eq(l.member[PDET_MEMBER_PAGE_COMPOUND_HEAD], 8);
	ck_assert_int_eq(l.member[PDET_MEMBER_PAGE_INDEX], want[_i].index);
	ck_assert_int_eq(l.member[PDET_MEMBER_PAGE_MEMCG_DATA], want[_i].memcg);
	ck_assert_int_eq(l.member[PDET_MEMBER_SLAB_CACHE], want[_i].cache);
	ck_assert_int_eq(l.member[PDET_MEMBER_SECOND_ORDER], want[_i].order);
	ck_assert_int_eq(l.member[PDET_MEMBER_SECOND_FLAGS_1], 0);
	ck_assert_int_eq(l.member[PDET_MEMBER_SECOND_NR_PAGES],
			 want[_i].nr_pages);
	ck_assert_int_eq(l.member[PDET_MEMBER_SECOND_ENTIRE_MAPCOUNT],
			 want[_i].entire);
	ck_assert_int_eq(l.member[PDET_MEMBER_SECOND_LARGE_MAPCOUNT],
			 want[_i].large);
	ck_assert_int_eq(l.member[PDET_MEMBER_SECOND_NR_PAGES_MAPPED],
			 want[_i].mapped);
	ck_assert_int_eq(l.member[PDET_MEMBER_SECOND_PINCOUNT], want[_i].pins);
	ck_assert_int_eq(l.flag[PAGEDET_PF_LRU], want[_i].lru);
	ck_assert_int_eq(l.flag[PAGEDET_PF_COMPOUND_HEAD], want[_i].head);
	ck_assert_int_eq(l.flag[PAGEDET_PF_OWNER_2], want[_i].owner_2);
	ck_assert_int_eq(l.flag[PAGEDET_PF_SLAB], want[_i].slab);
	ck_assert_int_eq(l.second[PDET_SECOND_LARGE_RMAPPABLE],
			 want[_i].rmappable);
	ck_assert_int_eq(l.second[PDET_SECOND_DOUBLE_MAP], want[_i].double_map);
	ck_assert_int_eq(l.hugetlb_dtor, want[_i].dtor);
	ck_assert_uint_eq(l.free_orders, 11);
	/* Flags that the types lack are never set, except for silent ones. */
	ck_assert(l.flags.known & KPF(UNCACHED));
	ck_assert(!(l.flags.known & KPF(ERROR)) == (_i != AGE_6_1));
}
END_TEST

START_TEST(without_types)
{
	struct pdet_layout l;

	pagekernel_layout(&l, (enum pagekernel_age)_i, false);
	ck_assert(l.pages && !l.flags_named);
	ck_assert_int_eq(l.member[PDET_MEMBER_PAGE_INDEX], -1);
	ck_assert_int_eq(l.member[PDET_MEMBER_PAGE_MEMCG_DATA], -1);
	ck_assert_int_eq(l.flag[PAGEDET_PF_LRU], want[_i].lru);
	/* It was not said which bit that is. */
	ck_assert_int_eq(l.flag[PAGEDET_PF_DIRTY], -1);
	ck_assert(!(l.flags.known & KPF(DIRTY)));
	ck_assert(l.flags.known & KPF(LRU));
	ck_assert(l.type.known[PDET_TYPE_BUDDY]);
	ck_assert(l.type.known[PDET_TYPE_SLAB] == (_i != AGE_6_1));
}
END_TEST

START_TEST(types_of_pages)
{
	struct pdet_layout l;

	pagekernel_layout(&l, AGE_6_1, true);
	ck_assert_int_eq(l.type.form, PDET_TYPE_FORM_BITS);
	ck_assert_uint_eq(l.type.is[7], PDET_TYPE_BUDDY);
	ck_assert_uint_eq(l.type.is[8], PDET_TYPE_OFFLINE);
	ck_assert_uint_eq(l.type.is[9], PDET_TYPE_TABLE);
	ck_assert_uint_eq(l.type.is[11], PDET_TYPES);
	pagekernel_layout(&l, AGE_6_12, true);
	ck_assert_int_eq(l.type.form, PDET_TYPE_FORM_BYTE);
	ck_assert_uint_eq(l.type.is[0], PDET_TYPE_BUDDY);
	ck_assert_uint_eq(l.type.is[5], PDET_TYPE_SLAB);
	ck_assert_uint_eq(l.type.is[7], PDET_TYPE_UNACCEPTED);
	ck_assert_uint_eq(l.type.is[8], PDET_TYPES);
}
END_TEST

/* 5.11 took a bit away, and moved the ones after it. */
START_TEST(types_of_pages_5_10)
{
	struct pdet_layout l;

	pagekernel_layout(&l, AGE_5_10, true);
	ck_assert_uint_eq(l.type.is[7], PDET_TYPE_BUDDY);
	ck_assert_uint_eq(l.type.is[8], PDET_TYPE_OFFLINE);
	ck_assert_uint_eq(l.type.is[9], PDET_TYPE_KMEMCG);
	ck_assert_uint_eq(l.type.is[10], PDET_TYPE_TABLE);
	ck_assert_uint_eq(l.type.is[11], PDET_TYPE_GUARD);
	ck_assert_int_eq(l.member[PDET_MEMBER_PAGE_MEMCG_DATA], 56);
	ck_assert_int_eq(l.member[PDET_MEMBER_SLAB_CACHE], 24);
	/* VMCOREINFO is the same as that of later kernels. */
	pagekernel_layout(&l, AGE_5_10, false);
	ck_assert_uint_eq(l.type.is[8], PDET_TYPE_OFFLINE);
	ck_assert_uint_eq(l.type.is[9], PDET_TYPES);
	ck_assert(!l.type.known[PDET_TYPE_TABLE]);
	pagekernel_layout(&l, AGE_6_1, false);
	ck_assert(!l.type.known[PDET_TYPE_TABLE]);
}
END_TEST

START_TEST(other_kernel)
{
	struct pdet_layout l, before;
	struct structs s;

	/* 6.12's pages with 6.1's types, and the reverse. */
	pagekernel_layout(&l, AGE_6_12, false);
	before = l;
	pagekernel_structs(&s, AGE_6_1);
	ck_assert(!pdet_layout_add_types(&l, structs_btf(&s)));
	ck_assert_mem_eq(&l, &before, sizeof(l));
	structs_free(&s);
	pagekernel_layout(&l, AGE_6_1, false);
	pagekernel_structs(&s, AGE_6_12);
	ck_assert(!pdet_layout_add_types(&l, structs_btf(&s)));
	structs_free(&s);
}
END_TEST

/* Impossible numbers are rejected. */
START_TEST(bad_info)
{
	static const char *const texts[] = {
		"SIZE(page)=0\n", "SIZE(page)=4096\n", "SIZE(page)=63\n",
		"OFFSET(page.flags)=60\n", "OFFSET(page._refcount)=64\n",
		"OFFSET(page.compound_head)=99999999999\n",
		"NUMBER(PG_head_mask)=0\n",
	};
	struct pdet_vmcoreinfo info;
	struct pdet_layout l;
	char text[2048];

	/* The last line of a key counts. */
	snprintf(text, sizeof(text), "%s%s", pagekernel_info[AGE_6_12],
		 texts[_i]);
	structs_info(&info, text);
	pdet_layout_init(&l, &info);
	ck_assert(!l.pages);
	pdet_vmcoreinfo_free(&info);
}
END_TEST

/* Numbers of free lists that no kernel has, none among them. */
START_TEST(bad_orders)
{
	static const char *const texts[] = { "0", "25", "-1", "65536" };
	struct pdet_vmcoreinfo info;
	struct pdet_layout l;
	char text[2048];

	snprintf(text, sizeof(text), "%sLENGTH(zone.free_area)=%s\n",
		 pagekernel_info[AGE_6_12], texts[_i]);
	structs_info(&info, text);
	pdet_layout_init(&l, &info);
	ck_assert_uint_eq(l.free_orders, 11);
	pdet_vmcoreinfo_free(&info);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("layout");

	unit_loop(s, with_types, AGES);
	unit_loop(s, without_types, AGES);
	unit_test(s, types_of_pages);
	unit_test(s, types_of_pages_5_10);
	unit_test(s, other_kernel);
	unit_loop(s, bad_info, 7);
	unit_loop(s, bad_orders, 4);
	return unit_main(s);
}
