/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests which addresses of a cache are drawn, and what is said of one. */
#include "../unit.h"
#include "breakpoint/draw.h"

#define DIRECT 0xffff888000000000u
#define PAGE 4096u

static uint64_t pfns[] = { 7, 8, 100, 5000 };

static struct pdet_bp_draw begin(uint64_t seed)
{
	struct pdet_bp_draw d = { .direct = DIRECT, .page_size = PAGE,
				  .state = seed };

	d.pfns.data = pfns;
	d.pfns.n = 4;
	return d;
}

/* A seed repeats a choice, and another one is another choice. */
START_TEST(repeats)
{
	struct pdet_bp_draw a = begin(42), b = begin(42), c = begin(43);
	unsigned i, same = 0;

	for (i = 0; i < 100; i++) {
		const uint64_t x = pdet_bp_draw(&a);

		ck_assert_uint_eq(x, pdet_bp_draw(&b));
		same += x == pdet_bp_draw(&c);
	}
	ck_assert_uint_lt(same, 5);
}
END_TEST

/* All pages, and all parts of them, have about the same chance. */
START_TEST(fair)
{
	struct pdet_bp_draw d = begin(1);
	unsigned pages[4] = { 0 }, parts[4] = { 0 };
	unsigned i, j;

	for (i = 0; i < 4000; i++) {
		const uint64_t at = pdet_bp_draw(&d) - DIRECT;

		for (j = 0; j < 4 && pfns[j] != at / PAGE; j++)
			;
		ck_assert_uint_lt(j, 4);
		pages[j]++;
		parts[at % PAGE / (PAGE / 4)]++;
	}
	for (j = 0; j < 4; j++) {
		ck_assert_uint_gt(pages[j], 850);
		ck_assert_uint_lt(pages[j], 1150);
		ck_assert_uint_gt(parts[j], 850);
		ck_assert_uint_lt(parts[j], 1150);
	}
}
END_TEST

START_TEST(said)
{
	static const struct {
		const char *text, *cache;
		int64_t within;
	} good[] = {
		{ "object 3 of 21 in filp +0x10", "filp", 16 },
		{ "object 3 of 21 in filp +0x10, free", "filp", 16 },
		{ "object 3 of 21 in filp +0x0, perhaps free", "filp", 0 },
		{ "object 0 of 1 in kmalloc-8k -0x40", "kmalloc-8k", -64 },
		{ "object 0 of 9 in a b +0x1 +0x8", "a b +0x1", 8 },
		{ "object 0 of 9 in in in +0x7fffffffffffffff", "in in",
		  INT64_MAX },
	};
	struct pdet_bp_said s;

	ck_assert(pdet_bp_said(good[_i].text, strlen(good[_i].text), &s));
	ck_assert_uint_eq(s.len, strlen(good[_i].cache));
	ck_assert_mem_eq(s.cache, good[_i].cache, s.len);
	ck_assert_int_eq(s.within, good[_i].within);
}
END_TEST

START_TEST(not_said)
{
	static const char *const bad[] = {
		"", "object ", "object 3 of 21", "init_task+0x10",
		"struct page of pfn 3 in +0x10", "object 3 of 21 in ",
		"object 3 of 21 in filp", "object 3 of 21 in  +0x",
		"object 3 of 21 in filp +0x", "object 3 of 21 in filp +0xz",
		"object 3 of 21 in +0x10",
		"object 3 of 21 in f +0xffffffffffffffff",
	};
	struct pdet_bp_said s;

	ck_assert(!pdet_bp_said(bad[_i], strlen(bad[_i]), &s));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("draw");

	unit_test(s, repeats);
	unit_test(s, fair);
	unit_loop(s, said, 6);
	unit_loop(s, not_said, 12);
	return unit_main(s);
}
