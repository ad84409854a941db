/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The rules about single pages: each has a scenario that fires it and one, a
 * little different, that does not.
 */
#include "explain.h"

START_TEST(why_not_free)
{
	static const struct {
		uint32_t kind;
		const char *name;
	} kinds[] = {
		{ PAGEDET_KIND_FREE, "page-free" },
		{ PAGEDET_KIND_HOLE, "no-page" },
		{ PAGEDET_KIND_UNTOUCHED, "no-page" },
		{ PAGEDET_KIND_OFFLINE, "offline" },
		{ PAGEDET_KIND_RESERVED, "reserved" },
		{ PAGEDET_KIND_ZERO, "zero-page" },
		{ PAGEDET_KIND_PGTABLE, "page-table" },
		{ PAGEDET_KIND_SLAB, "slab" },
		{ PAGEDET_KIND_HUGETLB, "hugetlb" },
		{ PAGEDET_KIND_ZSMALLOC, "zsmalloc" },
		{ PAGEDET_KIND_DEVICE, "device-memory" },
	};
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		setup();
		set_kind(kinds[i].kind);
		EXPECT(NOT_FREE, kinds[i].name, CERTAIN);
		/* a page that moved meanwhile is another one */
		SET(&here, NOTES, notes, PAGEDET_NOTE(PAGEDET_NOTE_TORN));
		EXPECT(NOT_FREE, kinds[i].name, MEDIUM);
	}
	setup();
	EXPECT(NOT_FREE, "use-unknown", NONE);
	ck_assert(names_unknown("what kind"));
	set_kind(PAGEDET_KIND_UNKNOWN);
	EXPECT(NOT_FREE, "use-unknown", NONE);
	ck_assert(names_unknown("its references"));
	set_mapcount(&here, 0);
	SET(&here, REFCOUNT, refcount, 1);
	EXPECT(NOT_FREE, "kernel-memory", MEDIUM);
	ck_assert(names_unknown("who allocated it"));
	set_kind(PAGEDET_KIND_KERNEL);
	EXPECT(NOT_FREE, "kernel-memory", HIGH);
}
END_TEST

START_TEST(why_not_free_of_user_memory)
{
	user_page(PAGEDET_KIND_ANON, F(ANON) | F(LRU));
	EXPECT(NOT_FREE, "anon-unmapped", MEDIUM);
	set_flags(&here, F(ANON) | F(LRU) | F(SWAPCACHE));
	EXPECT(NOT_FREE, "swap-cache", HIGH);
	set_mapcount(&here, 1);
	EXPECT(NOT_FREE, "mapped", CERTAIN);
	/* an average is no count */
	SET(&here, MAPCOUNT_KIND, mapcount_kind, PAGEDET_MAPCOUNT_AVERAGE);
	EXPECT(NOT_FREE, "mapped", HIGH);
	ck_assert(names_unknown("this very page"));
	set_flags(&here, F(HWPOISON));
	EXPECT(NOT_FREE, "set-aside-as-poisoned", CERTAIN);

	user_page(PAGEDET_KIND_FILE, F(LRU));
	EXPECT(NOT_FREE, "page-cache", HIGH);
	SET(&here, INODE, inode, 12);
	EXPECT(NOT_FREE, "page-cache", CERTAIN);
	set_mapcount(&here, 1);
	EXPECT(NOT_FREE, "mapped", CERTAIN);
}
END_TEST

START_TEST(why_not_migratable)
{
	user_page(PAGEDET_KIND_ANON, F(ANON) | F(LRU));
	set_mapcount(&here, 1);
	/* /proc has neither references nor pins */
	EXPECT(NOT_MIGRATABLE, "movable-unknown", NONE);
	ck_assert(names_unknown("references and pins"));
	counted(1, 1);
	EXPECT(NOT_MIGRATABLE, "movable", HIGH);
	counted(3, 1);
	EXPECT(NOT_MIGRATABLE, "referenced", MEDIUM);
	ck_assert_uint_eq(fact("references_expected",
			       PAGEDET_SIDE_HERE)->value, 1);
	counted(1025, 1);
	EXPECT(NOT_MIGRATABLE, "pinned-stays", HIGH);
	counted(1, 1);
	set_flags(&here, F(ANON) | F(LRU) | F(WRITEBACK));
	EXPECT(NOT_MIGRATABLE, "busy", HIGH);
	set_flags(&here, F(ANON));
	EXPECT(NOT_MIGRATABLE, "off-list", MEDIUM);
	set_flags(&here, F(HWPOISON));
	EXPECT(NOT_MIGRATABLE, "poisoned-stays", CERTAIN);
	user_page(PAGEDET_KIND_SLAB, F(SLAB));
	EXPECT(NOT_MIGRATABLE, "kernel-stays", CERTAIN);
	user_page(PAGEDET_KIND_KERNEL, 0);
	EXPECT(NOT_MIGRATABLE, "kernel-stays", MEDIUM);
	user_page(PAGEDET_KIND_FREE, F(BUDDY));
	EXPECT(NOT_MIGRATABLE, "nothing-to-move", CERTAIN);
}
END_TEST

START_TEST(whether_pinned)
{
	user_page(PAGEDET_KIND_ANON, F(ANON) | F(LRU));
	set_mapcount(&here, 1);
	EXPECT(PINNED, "pin-unknown", NONE);
	counted(1, 1);
	EXPECT(PINNED, "not-pinned", CERTAIN);
	counted(2, 1);
	EXPECT(PINNED, "held", MEDIUM);
	counted(1025, 1);
	EXPECT(PINNED, "pinned", HIGH);
	ck_assert(names_unknown("1024"));
	/* so many mappings explain as many references */
	counted(1025, 1025);
	EXPECT(PINNED, "pin-unknown", NONE);
	SET(&here, PINCOUNT, pincount, 2);
	SET(&here, NOTES, notes, PAGEDET_NOTE(PAGEDET_NOTE_ESTIMATED));
	SET(&here, ORDER, order, 9);
	EXPECT(PINNED, "pinned", LOW);
	SET(&here, NOTES, notes, 0);
	EXPECT(PINNED, "pinned", CERTAIN);
	/* whoever says so: of a small folio it is guessed */
	SET(&here, ORDER, order, 0);
	EXPECT(PINNED, "pin-unknown", NONE);
	counted(2049, 1);
	EXPECT(PINNED, "pinned", HIGH);
	SET(&here, ORDER, order, 9);
	SET(&here, PINCOUNT, pincount, 0);
	EXPECT(PINNED, "not-pinned", CERTAIN);
	user_page(PAGEDET_KIND_FREE, F(BUDDY));
	EXPECT(PINNED, "nothing-to-pin", CERTAIN);
}
END_TEST

START_TEST(why_unreclaimable)
{
	user_page(PAGEDET_KIND_ANON, F(ANON) | F(LRU) | F(SWAPBACKED));
	set_mapcount(&here, 1);
	EXPECT(UNRECLAIMABLE, "reclaimable", MEDIUM);
	ck_assert(names_unknown("swap space"));
	e.no_swap = PAGEDET_YES;
	EXPECT(UNRECLAIMABLE, "no-swap", HIGH);
	/* freed by its task already (MADV_FREE): it needs no swap */
	set_flags(&here, F(ANON) | F(LRU));
	EXPECT(UNRECLAIMABLE, "reclaimable", MEDIUM);
	set_flags(&here, F(ANON) | F(LRU) | F(ACTIVE));
	EXPECT(UNRECLAIMABLE, "in-use", LOW);
	set_flags(&here, F(ANON) | F(LRU) | F(UNEVICTABLE));
	EXPECT(UNRECLAIMABLE, "unevictable", CERTAIN);
	set_flags(&here, F(ANON) | F(LRU) | F(UNEVICTABLE) | F(MLOCKED));
	EXPECT(UNRECLAIMABLE, "mlocked", CERTAIN);
	set_flags(&here, F(ANON));
	EXPECT(UNRECLAIMABLE, "off-list-kept", MEDIUM);
	set_flags(&here, F(HWPOISON));
	EXPECT(UNRECLAIMABLE, "poisoned-kept", CERTAIN);
	set_flags(&here, F(ANON) | F(LRU));
	counted(2000, 1);
	EXPECT(UNRECLAIMABLE, "pinned-kept", HIGH);
	counted(3, 1);
	EXPECT(UNRECLAIMABLE, "held-kept", MEDIUM);
	user_page(PAGEDET_KIND_FILE, F(LRU) | F(DIRTY));
	EXPECT(UNRECLAIMABLE, "to-be-written", HIGH);
	set_flags(&here, F(LRU));
	EXPECT(UNRECLAIMABLE, "reclaimable", MEDIUM);
	user_page(PAGEDET_KIND_SLAB, F(SLAB));
	EXPECT(UNRECLAIMABLE, "not-on-lru", CERTAIN);
	user_page(PAGEDET_KIND_FREE, F(BUDDY));
	EXPECT(UNRECLAIMABLE, "nothing-to-reclaim", CERTAIN);
	setup();
	EXPECT(UNRECLAIMABLE, "reclaim-unknown", NONE);
}
END_TEST

START_TEST(why_unaccounted)
{
	user_page(PAGEDET_KIND_KERNEL, 0);
	EXPECT(UNACCOUNTED, "charge-unknown", NONE);
	here.cell[PAGEDET_FIELD_MEMCG_INO] = PAGEDET_NONE;
	EXPECT(UNACCOUNTED, "not-charged", LOW);
	strcpy(e.texts + 1, "GFP_KERNEL|__GFP_ZERO");
	SET(&here, GFP, gfp, 1);
	EXPECT(UNACCOUNTED, "not-asked-for", HIGH);
	strcpy(e.texts + 1, "GFP_KERNEL_ACCOUNT|__GFP_ZERO");
	EXPECT(UNACCOUNTED, "not-charged", LOW);
	SET(&here, MEMCG_INO, memcg_ino, 42);
	EXPECT(UNACCOUNTED, "charged", CERTAIN);
	user_page(PAGEDET_KIND_SLAB, F(SLAB));
	EXPECT(UNACCOUNTED, "charged-by-object", HIGH);
	user_page(PAGEDET_KIND_HUGETLB, F(HUGE));
	EXPECT(UNACCOUNTED, "charged-as-hugetlb", MEDIUM);
	user_page(PAGEDET_KIND_FREE, F(BUDDY));
	EXPECT(UNACCOUNTED, "nobodys", CERTAIN);
}
END_TEST

START_TEST(whether_poisoned)
{
	user_page(PAGEDET_KIND_ANON, F(HWPOISON));
	EXPECT(POISONED, "hwpoison", CERTAIN);
	ck_assert_str_eq(found[0].likely, "");
	e.counters_here = PAGEDET_YES;
	EXPECT(POISONED, "hwpoison", CERTAIN);
	ck_assert_str_ne(found[0].likely, "");
	set_flags(&here, 0);
	EXPECT(POISONED, "not-poisoned", CERTAIN);
	here.flags_known = 0;
	EXPECT(POISONED, "poison-unknown", NONE);
}
END_TEST

START_TEST(whether_leaked)
{
	user_page(PAGEDET_KIND_KERNEL, 0);
	EXPECT(LEAKED, "leak-unknown", NONE);
	ck_assert(names_unknown("page_owner"));
	SET(&here, ALLOC_PID, alloc_pid, 123);
	EXPECT(LEAKED, "leak-suspected", LOW);
	e.alloc_task = PAGEDET_NO;
	EXPECT(LEAKED, "leak-suspected", MEDIUM);
	ck_assert_str_ne(found[0].likely, "");
	set_mapcount(&here, 1);
	EXPECT(LEAKED, "has-a-user", CERTAIN);
	user_page(PAGEDET_KIND_FILE, F(LRU));
	EXPECT(LEAKED, "has-a-user", HIGH);
	user_page(PAGEDET_KIND_FREE, F(BUDDY));
	EXPECT(LEAKED, "nothing-leaked", CERTAIN);
	setup();
	set_kind(PAGEDET_KIND_HOLE);
	EXPECT(LEAKED, "no-page-leaked", CERTAIN);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("explain_page");

	unit_test(s, why_not_free);
	unit_test(s, why_not_free_of_user_memory);
	unit_test(s, why_not_migratable);
	unit_test(s, whether_pinned);
	unit_test(s, why_unreclaimable);
	unit_test(s, why_unaccounted);
	unit_test(s, whether_poisoned);
	unit_test(s, whether_leaked);
	return unit_main(s);
}
