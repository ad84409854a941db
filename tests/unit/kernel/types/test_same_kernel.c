/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests VMCOREINFO and types that agree, and that do not. */
#include "base/env.h"
#include "kernel/types/layout.h"
#include "kernel/types/same_kernel.h"
#include "../../pagekernel.h"
#include "../../unit.h"

static bool agree(const char *text, struct pdet_types_difference *ret)
{
	struct pdet_vmcoreinfo info;
	struct structs s;
	bool same;

	structs_info(&info, text);
	pagekernel_structs(&s, AGE_6_12);
	same = pdet_types_agree(&info, structs_btf(&s), ret);
	structs_free(&s);
	pdet_vmcoreinfo_free(&info);
	return same;
}

START_TEST(the_same_kernel)
{
	struct pdet_types_difference d;

	ck_assert(agree(pagekernel_info[AGE_6_12], &d));
	ck_assert_uint_eq(d.n, 0);
}
END_TEST

START_TEST(what_differs_is_named)
{
	static const struct {
		const char *text, *name;
		int64_t info, types;
	} lines[] = {
		{ "SIZE(page)=56", "SIZE(page)", 56, 64 },
		{ "OFFSET(page._refcount)=48", "OFFSET(page._refcount)", 48,
		  52 },
		{ "NUMBER(PG_lru)=4", "NUMBER(PG_lru)", 4, 5 },
		{ "NUMBER(PG_lru)=-5", "NUMBER(PG_lru)", -5, 5 },
		{ "SIZE(page)=64\nSIZE(slab)=8", "SIZE(slab)", 8, 64 },
	};
	struct pdet_types_difference d;
	size_t i;

	for (i = 0; i < PDET_COUNT(lines); i++) {
		ck_assert(!agree(lines[i].text, &d));
		ck_assert_uint_eq(d.n, 1);
		ck_assert_str_eq(d.name, lines[i].name);
		ck_assert_int_eq((int64_t)d.info, lines[i].info);
		ck_assert_int_eq((int64_t)d.types, lines[i].types);
	}
	ck_assert(!agree("SIZE(page)=1\nSIZE(slab)=1\nOFFSET(page.flags)=1",
			 &d));
	ck_assert_uint_eq(d.n, 3);
	ck_assert_str_eq(d.name, "SIZE(page)");
}
END_TEST

/* Names that the types lack, numbers of other objects, invalid numbers. */
START_TEST(what_only_one_knows_is_no_difference)
{
	static const char *const lines[] = {
		"SIZE(nodemask_t)=128", "OFFSET(page.nowhere)=3",
		"OFFSET(nowhere.flags)=3", "NUMBER(PG_nowhere)=3",
		"NUMBER(locked)=3", "SYMBOL(page)=3", "SIZE(page)=",
		"SIZE(page)=x", "SIZE(=5", "SIZE()=5", "SIZE(page=5",
		"LENGTH(page.flags)=7", "",
	};
	struct pdet_types_difference d;
	size_t i;

	for (i = 0; i < PDET_COUNT(lines); i++)
		ck_assert_msg(agree(lines[i], &d), "%s: %s", lines[i], d.name);
}
END_TEST

/* --- what becomes of a layout --- */

static void doubt(const char *more, struct pdet_layout *l)
{
	struct pdet_vmcoreinfo info;
	struct structs s;
	char text[4096];

	/* The last line with a name counts. */
	snprintf(text, sizeof(text), "%s%s", pagekernel_info[AGE_6_12], more);
	structs_info(&info, text);
	pdet_layout_init(l, &info);
	pdet_vmcoreinfo_free(&info);
	pagekernel_structs(&s, AGE_6_12);
	if (*more)
		ck_assert(!pdet_layout_add_types(l, structs_btf(&s)));
	else
		structs_btf(&s);
	pdet_layout_doubt(l, s.btf);
	structs_free(&s);
}

START_TEST(what_differs_becomes_unknown)
{
	const uint64_t lru = PAGEDET_PF(PAGEDET_PF_LRU);
	struct pdet_layout l;

	doubt("", &l);
	ck_assert(l.pages);
	ck_assert(l.flags.known & lru);
	ck_assert(l.type.known[PDET_TYPE_BUDDY]);
	doubt("NUMBER(PG_lru)=4\n", &l);
	ck_assert(l.pages);
	ck_assert_int_eq(l.flag[PAGEDET_PF_LRU], -1);
	ck_assert(!(l.flags.known & lru));
	ck_assert(l.flags.known & PAGEDET_PF(PAGEDET_PF_SWAPBACKED));
	ck_assert(!(l.flags.numbers >> 4 & 1));
	doubt("NUMBER(PAGE_BUDDY_MAPCOUNT_VALUE)=-251658240\n", &l);
	ck_assert(l.pages);
	ck_assert(!l.type.known[PDET_TYPE_BUDDY]);
	ck_assert(!l.type.known[PDET_TYPE_SLAB]);
}
END_TEST

START_TEST(without_its_place_there_is_no_page)
{
	struct pdet_layout l;

	doubt("OFFSET(page._refcount)=48\n", &l);
	ck_assert(!l.pages);
	ck_assert_int_eq(l.member[PDET_MEMBER_PAGE_REFCOUNT], -1);
	ck_assert_int_eq(l.member[PDET_MEMBER_PAGE_FLAGS], 0);
	doubt("SIZE(page)=72\n", &l);
	ck_assert(!l.pages);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("same_kernel");

	unit_test(s, the_same_kernel);
	unit_test(s, what_differs_is_named);
	unit_test(s, what_only_one_knows_is_no_difference);
	unit_test(s, what_differs_becomes_unknown);
	unit_test(s, without_its_place_there_is_no_page);
	return unit_main(s);
}
