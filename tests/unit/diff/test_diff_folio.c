/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A change of a whole large folio is one change, which counts its pages. */
#define SAVED_ROWS 8192
#include "../differing.h"

#define HUGE 512
#define AT(i) (0x200000 + (uint64_t)(i) * 4096)

static void begin_task(void)
{
	clean();
	saved_new(&was, PAGEDET_TARGET_TASK, F(PID), F(VADDR), F(PFN), F(KIND),
		  F(PTE), F(PTE_KNOWN), F(ORDER), F(HEAD_PFN), -1);
	saved_new(&now, PAGEDET_TARGET_TASK, F(PID), F(VADDR), F(PFN), F(KIND),
		  F(PTE), F(PTE_KNOWN), F(ORDER), F(HEAD_PFN), -1);
}

/* Maps a page of the folio that begins at @head. */
static void maps(struct saved *s, uint64_t vaddr, uint64_t pfn, uint64_t head,
		 uint64_t order)
{
	const uint32_t row = saved_row(s);

	saved_set(s, row, F(PID), s->item.pid);
	saved_set(s, row, F(VADDR), vaddr);
	saved_set(s, row, F(PFN), pfn);
	saved_set(s, row, F(KIND), ANON);
	saved_set(s, row, F(PTE), 1);
	saved_set(s, row, F(PTE_KNOWN), 0xff);
	saved_set(s, row, F(ORDER), order);
	saved_set(s, row, F(HEAD_PFN), head);
}

static void maps_huge(struct saved *s, uint64_t vaddr, uint64_t head)
{
	uint64_t i;

	for (i = 0; i < HUGE; i++)
		maps(s, vaddr + i * 4096, head + i, head, 9);
}

/* Maps small pages at random frames; none at index @hole. */
static void maps_small(struct saved *s, uint64_t hole)
{
	uint64_t i;

	for (i = 0; i < HUGE; i++)
		if (i != hole)
			maps(s, AT(i), 7000 + i * 2, 7000 + i * 2, 0);
}

/* Change @i is @changes of @pages pages, the first of them at @vaddr. */
static void is_change(int i, uint32_t changes, uint64_t pages, uint64_t vaddr)
{
	ck_assert_int_lt(i, n);
	ck_assert_uint_eq(change[i].changes, changes);
	ck_assert_uint_eq(change[i].pages, pages);
	ck_assert_uint_eq(after[i].vaddr, vaddr);
}

START_TEST(collapse)
{
	begin_task();
	maps_small(&was, NONE);
	maps_huge(&now, AT(0), 0x1000);
	compare();
	ck_assert_int_eq(n, 1);
	is_change(0, BIT(MIGRATED) | BIT(MERGED), HUGE, AT(0));
	ck_assert_uint_eq(before[0].pfn, 7000);
	ck_assert_uint_eq(after[0].pfn, 0x1000);
	ck_assert_uint_eq(totals.first[PAGEDET_CHANGE_MIGRATED], HUGE);
	ck_assert_uint_eq(totals.changes[PAGEDET_CHANGE_MERGED], HUGE);
	ck_assert_uint_eq(totals.events[PAGEDET_CHANGE_MIGRATED], 1);
	clean();
}
END_TEST

/* khugepaged fills in an absent page, which was not migrated. */
START_TEST(collapse_of_a_part)
{
	begin_task();
	maps_small(&was, 100);
	maps_huge(&now, AT(0), 0x1000);
	compare();
	ck_assert_int_eq(n, 3);
	is_change(0, BIT(MIGRATED) | BIT(MERGED), 100, AT(0));
	is_change(1, BIT(MIGRATED) | BIT(MERGED), 411, AT(101));
	is_change(2, BIT(APPEARED), 1, AT(100));
	clean();
}
END_TEST

START_TEST(split)
{
	uint64_t i;

	begin_task();
	maps_huge(&was, AT(0), 0x1000);
	maps_huge(&was, AT(HUGE), 0x1200);
	for (i = 0; i < 2 * HUGE; i++)
		maps(&now, AT(i), 0x1000 + i, 0x1000 + i, 0);
	compare();
	/* two neighbouring huge pages */
	ck_assert_int_eq(n, 2);
	is_change(0, BIT(SPLIT), HUGE, AT(0));
	is_change(1, BIT(SPLIT), HUGE, AT(HUGE));
	ck_assert_uint_eq(totals.events[PAGEDET_CHANGE_SPLIT], 2);
	ck_assert_uint_eq(totals.first[PAGEDET_CHANGE_SPLIT], 2 * HUGE);
	clean();
}
END_TEST

/* One frame at many addresses, such as the zero page, is not a large folio. */
START_TEST(one_frame_often)
{
	uint64_t i;

	begin_task();
	for (i = 0; i < 8; i++)
		maps(&now, AT(i), 0x1000, 0x1000, 0);
	compare();
	ck_assert_int_eq(n, 8);
	ck_assert_uint_eq(totals.events[PAGEDET_CHANGE_APPEARED], 8);
	clean();
}
END_TEST

/* Changes are delivered in steps of a few thousand. */
START_TEST(folio_between_steps)
{
	uint64_t singles, i;

	for (singles = 4090; singles < 4100; singles++) {
		begin_task();
		for (i = 0; i < singles; i++) {
			maps(&was, 4096 * i, 0x100000 + i, 0x100000 + i, 0);
			maps(&now, 4096 * i, 0x200000 + i, 0x200000 + i, 0);
		}
		for (i = 0; i < HUGE; i++)
			maps(&was, 4096 * (singles + i), 7000 + i * 2,
			     7000 + i * 2, 0);
		maps_huge(&now, 4096 * singles, 0x1000);
		compare();
		ck_assert_int_eq(n, (int)singles + 1);
		is_change(n - 1, BIT(MIGRATED) | BIT(MERGED), HUGE,
			  4096 * singles);
		ck_assert_uint_eq(after[n - 1].pfn, 0x1000);
	}
	clean();
}
END_TEST

/* --- frames --- */

/* @tails: rows have flags. Otherwise they have an order. */
static void frames(struct saved *s, uint64_t kind, unsigned order, bool tails)
{
	uint64_t i;

	for (i = 0; i < HUGE; i++) {
		const uint32_t row = page(s, 0x1000 + i, kind);
		const unsigned bit = i ? PAGEDET_PF_COMPOUND_TAIL :
					 PAGEDET_PF_COMPOUND_HEAD;

		if (tails)
			saved_lost(s, row, F(ORDER));
		else
			saved_set(s, row, F(ORDER), order);
		if (tails && order)
			saved_set(s, row, F(FLAGS), 0x10 | PAGEDET_PF(bit));
		saved_set(s, row, F(FLAGS_KNOWN),
			  PAGEDET_PF(PAGEDET_PF_COMPOUND_HEAD) |
			  PAGEDET_PF(PAGEDET_PF_COMPOUND_TAIL) | 0xff);
	}
}

static void one(uint32_t called)
{
	compare();
	ck_assert_int_eq(n, 1);
	ck_assert_uint_eq(change[0].change, called);
	ck_assert_uint_eq(change[0].pages, HUGE);
	ck_assert_uint_eq(totals.first[called], HUGE);
	ck_assert_uint_eq(totals.events[called], 1);
}

START_TEST(by_frame)
{
	bool tails;

	for (tails = false;; tails = true) {
		begin(NONE, NONE);
		frames(&was, ANON, 9, tails);
		frames(&now, ANON, 0, tails);
		one(PAGEDET_CHANGE_SPLIT);
		begin(NONE, NONE);
		frames(&was, ANON, 0, tails);
		frames(&now, ANON, 9, tails);
		one(PAGEDET_CHANGE_MERGED);
		begin(NONE, NONE);
		frames(&was, FREE, 0, tails);
		frames(&now, ANON, 9, tails);
		one(PAGEDET_CHANGE_APPEARED);
		begin(NONE, NONE);
		frames(&was, ANON, 9, tails);
		frames(&now, FREE, 0, tails);
		one(PAGEDET_CHANGE_GONE);
		if (tails)
			break;
	}
	clean();
}
END_TEST

/* Free blocks also have an order, but these pages were freed one by one. */
START_TEST(freed_one_by_one)
{
	begin(NONE, NONE);
	frames(&was, ANON, 0, false);
	frames(&now, FREE, 9, false);
	compare();
	ck_assert_int_eq(n, HUGE);
	ck_assert_uint_eq(totals.events[PAGEDET_CHANGE_GONE], HUGE);
	clean();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("diff_folio");

	unit_test(s, collapse);
	unit_test(s, collapse_of_a_part);
	unit_test(s, split);
	unit_test(s, one_frame_often);
	unit_test(s, folio_between_steps);
	unit_test(s, by_frame);
	unit_test(s, freed_one_by_one);
	return unit_main(s);
}
