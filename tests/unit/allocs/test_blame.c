/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests who holds a block, on pages and objects that were made up. */
#include <errno.h>

#include "allocs/blame.h"
#include "base/env.h"
#include "pagedet.h"
#include "../unit.h"

#define SHIFT 4u		/* 16 pages a block */
#define FIRST 160u
#define BLOCKS 4u

static struct pdet_blame b;

static void begin(void)
{
	ck_assert_int_eq(pdet_blame_begin(&b, FIRST, BLOCKS, SHIFT), 0);
}

static void end(void)
{
	ck_assert_int_eq(pdet_blame_end(&b, 10), 0);
}

static void object(uint64_t head, unsigned order, uint32_t group,
		   uint64_t bytes)
{
	ck_assert_int_eq(pdet_blame_object(&b, head, order, group, bytes), 0);
}

static void pages(uint64_t pfn, unsigned order, uint32_t group)
{
	ck_assert_int_eq(pdet_blame_pages(&b, pfn, order, group, 4096), 0);
}

static const struct pdet_blame_share *share(uint32_t block, uint32_t group)
{
	const struct pdet_blame_block *of = &b.blocks[block];
	uint32_t i;

	for (i = 0; i < of->n_shares; i++)
		if (b.shares.data[of->first_share + i].group == group)
			return &b.shares.data[of->first_share + i];
	return NULL;
}

START_TEST(pages_by_what_holds_them)
{
	static const unsigned movable[] = {
		PAGEDET_KIND_ANON, PAGEDET_KIND_FILE, PAGEDET_KIND_SHMEM,
		PAGEDET_KIND_HUGETLB, PAGEDET_KIND_ZSMALLOC,
	}, held[] = {
		PAGEDET_KIND_UNKNOWN, PAGEDET_KIND_SLAB, PAGEDET_KIND_PGTABLE,
		PAGEDET_KIND_ZERO, PAGEDET_KIND_RESERVED, PAGEDET_KIND_KERNEL,
	}, absent[] = {
		PAGEDET_KIND_HOLE, PAGEDET_KIND_UNINIT, PAGEDET_KIND_OFFLINE,
		PAGEDET_KIND_DEVICE,
	};
	size_t i;

	begin();
	for (i = 0; i < PDET_COUNT(movable); i++)
		pdet_blame_run(&b, FIRST + i, 1, movable[i]);
	for (i = 0; i < PDET_COUNT(held); i++)
		pdet_blame_run(&b, FIRST + 16 + i, 1, held[i]);
	for (i = 0; i < PDET_COUNT(absent); i++)
		pdet_blame_run(&b, FIRST + 32 + i, 1, absent[i]);
	/* Runs begin before the blocks, and end behind them. */
	pdet_blame_run(&b, FIRST - 10, 12, PAGEDET_KIND_FREE);
	pdet_blame_run(&b, FIRST + 63, UINT64_MAX - FIRST - 63,
		       PAGEDET_KIND_FREE);
	pdet_blame_run(&b, 0, FIRST, PAGEDET_KIND_SLAB);
	pdet_blame_run(&b, FIRST + 64, 5, PAGEDET_KIND_SLAB);
	end();
	ck_assert_uint_eq(b.blocks[0].movable, 5);
	ck_assert_uint_eq(b.blocks[0].free, 2);
	ck_assert_uint_eq(b.blocks[0].held, 0);
	ck_assert_uint_eq(b.blocks[1].held, 6);
	ck_assert_uint_eq(b.blocks[2].held + b.blocks[2].free +
			  b.blocks[2].movable, 0);
	ck_assert_uint_eq(b.blocks[3].free, 1);
	ck_assert_uint_eq(b.shares.n, 0);
	pdet_blame_free(&b);
}
END_TEST

START_TEST(all_objects_hold_the_whole_slab)
{
	begin();
	pdet_blame_run(&b, FIRST, 8, PAGEDET_KIND_SLAB);
	object(FIRST, 2, 7, 100);
	object(FIRST, 2, 9, 100);
	object(FIRST, 2, 7, 100);
	object(FIRST + 4, 2, 9, 50);
	end();
	ck_assert_uint_eq(b.blocks[0].held, 8);
	ck_assert_uint_eq(b.blocks[0].explained, 8);
	ck_assert_uint_eq(b.blocks[0].n_shares, 2);
	ck_assert_uint_eq(share(0, 7)->pages, 4);
	ck_assert_uint_eq(share(0, 7)->alone, 0);
	ck_assert_uint_eq(share(0, 7)->objects, 2);
	ck_assert_uint_eq(share(0, 7)->bytes, 200);
	ck_assert_uint_eq(share(0, 9)->pages, 8);
	ck_assert_uint_eq(share(0, 9)->alone, 4);
	ck_assert_uint_eq(share(0, 9)->objects, 2);
	ck_assert_uint_eq(b.n_holders, 2);
	ck_assert_uint_eq(b.holders[0].group, 9);
	ck_assert_uint_eq(b.holders[0].pages_alone, 4);
	ck_assert_uint_eq(b.holders[0].blocks_alone, 0);
	ck_assert_uint_eq(b.n_order, 1);
	/* The one with most pages comes first. */
	ck_assert_uint_eq(b.shares.data[b.blocks[0].first_share].group, 9);
	pdet_blame_free(&b);
}
END_TEST

/* The pages of a slab have an event of their own. */
START_TEST(objects_explain_better_than_pages)
{
	begin();
	pdet_blame_run(&b, FIRST + 16, 4, PAGEDET_KIND_SLAB);
	pdet_blame_run(&b, FIRST + 20, 2, PAGEDET_KIND_PGTABLE);
	object(FIRST + 16, 1, 1, 64);
	pages(FIRST + 16, 1, 2);
	pages(FIRST + 18, 1, 2);
	pages(FIRST + 20, 0, 3);
	end();
	ck_assert_uint_eq(b.blocks[1].explained, 5);
	ck_assert_uint_eq(share(1, 1)->pages, 2);
	ck_assert_uint_eq(share(1, 2)->pages, 2);
	ck_assert_uint_eq(share(1, 2)->objects, 1);
	ck_assert_uint_eq(share(1, 3)->pages, 1);
	ck_assert_ptr_null(share(0, 1));
	pdet_blame_free(&b);
}
END_TEST

/* What was moved there, or has been freed meanwhile, is not held by anybody. */
START_TEST(only_held_pages_are_explained)
{
	begin();
	pdet_blame_run(&b, FIRST, 16, PAGEDET_KIND_ANON);
	pages(FIRST, 4, 1);
	object(FIRST + 17, 0, 1, 64);
	end();
	ck_assert_uint_eq(b.blocks[0].explained + b.blocks[1].explained, 0);
	ck_assert_uint_eq(b.shares.n, 0);
	pdet_blame_free(&b);
}
END_TEST

START_TEST(a_count_of_zero_does_not_hold)
{
	begin();
	pdet_blame_run(&b, FIRST, 3, PAGEDET_KIND_UNKNOWN);
	pdet_blame_uncounted(&b, FIRST + 1);
	pdet_blame_uncounted(&b, FIRST + 1);
	pdet_blame_uncounted(&b, FIRST + 5);
	pdet_blame_uncounted(&b, FIRST - 1);
	pages(FIRST, 1, 1);
	end();
	ck_assert_uint_eq(b.blocks[0].held, 2);
	ck_assert_uint_eq(b.blocks[0].perhaps_free, 1);
	ck_assert_uint_eq(b.blocks[0].explained, 1);
	pdet_blame_free(&b);
}
END_TEST

START_TEST(too_many_blocks)
{
	ck_assert_int_eq(pdet_blame_begin(&b, 0, UINT64_MAX >> 9, 9), -ENOMEM);
	pdet_blame_free(&b);
	ck_assert_int_eq(pdet_blame_begin(&b, 0, (uint64_t)1 << 27, 9),
			 -ENOMEM);
	pdet_blame_free(&b);
}
END_TEST

START_TEST(large_ones_are_in_several_blocks)
{
	begin();
	pdet_blame_run(&b, FIRST, 64, PAGEDET_KIND_UNKNOWN);
	/* 32 pages, of which the first 8 are before the blocks */
	object(FIRST - 8, 5, 1, 32 * 4096);
	pages(FIRST + 32, 5, 2);
	/* damaged */
	pages(FIRST + 48, 200, 3);
	pages(UINT64_MAX, 31, 3);
	pages(0, 0, 3);
	end();
	ck_assert_uint_eq(share(0, 1)->pages, 16);
	ck_assert_uint_eq(share(1, 1)->pages, 8);
	ck_assert_uint_eq(share(0, 1)->objects + share(1, 1)->objects, 0);
	ck_assert_uint_eq(share(2, 2)->pages, 16);
	ck_assert_uint_eq(share(3, 2)->pages, 16);
	ck_assert_uint_eq(share(2, 2)->objects, 1);
	ck_assert_uint_eq(share(3, 2)->objects, 0);
	ck_assert_ptr_null(share(3, 3));
	/* Two blocks are of group 2 alone; half of the second is not of 1. */
	ck_assert_uint_eq(b.n_holders, 2);
	ck_assert_uint_eq(b.holders[0].group, 2);
	ck_assert_uint_eq(b.holders[0].blocks_alone, 2);
	ck_assert_uint_eq(b.holders[1].blocks, 2);
	ck_assert_uint_eq(b.holders[1].blocks_alone, 1);
	ck_assert_uint_eq(b.n_order, 4);
	ck_assert_uint_eq(b.order[3], 1);
	pdet_blame_free(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("blame");

	unit_test(s, pages_by_what_holds_them);
	unit_test(s, all_objects_hold_the_whole_slab);
	unit_test(s, objects_explain_better_than_pages);
	unit_test(s, only_held_pages_are_explained);
	unit_test(s, a_count_of_zero_does_not_hold);
	unit_test(s, too_many_blocks);
	unit_test(s, large_ones_are_in_several_blocks);
	return unit_main(s);
}
