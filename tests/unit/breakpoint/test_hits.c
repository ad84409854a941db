/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests how hits become reads and writes: a write hits two breakpoints. */
#include "../unit.h"
#include "breakpoint/hits.h"

static struct pdet_bp_hits hits;
static struct pdet_bp_half half;

/* Each letter is a hit: 'a' of any access, 'w' of a write. */
static void feed(const char *text, uint64_t ip, uint32_t tid)
{
	const struct pdet_bp_sample s = { .ip = ip, .tid = tid };

	for (; *text; text++)
		pdet_bp_hits_add(&hits, &half, 0, *text == 'w' ?
				 PDET_BP_WRITE : PDET_BP_ANY, &s);
}

static void is(size_t at, uint64_t reads, uint64_t writes)
{
	ck_assert_uint_lt(at, hits.sums.n);
	ck_assert_uint_eq(hits.sums.data[at].reads, reads);
	ck_assert_uint_eq(hits.sums.data[at].writes, writes);
}

START_TEST(one_instruction)
{
	static const struct {
		const char *text;
		uint64_t reads, writes;
	} cases[] = {
		{ "a", 1, 0 }, { "aaa", 3, 0 }, { "aw", 0, 1 },
		{ "wa", 0, 1 }, { "awaw", 0, 2 }, { "wawa", 0, 2 },
		/* a loop that copies from and to the word */
		{ "aaw", 1, 1 }, { "awa", 1, 1 },
		/* the other half was cut */
		{ "w", 0, 1 }, { "ww", 0, 2 }, { "waw", 0, 2 },
	};

	pdet_bp_hits_init(&hits);
	feed(cases[_i].text, 16, 1);
	pdet_bp_hits_end(&hits, &half, 0);
	ck_assert_uint_eq(hits.sums.n, 1);
	is(0, cases[_i].reads, cases[_i].writes);
	pdet_bp_hits_end(&hits, &half, 0);
	is(0, cases[_i].reads, cases[_i].writes);
	pdet_bp_hits_free(&hits);
}
END_TEST

/* Halves of different instructions or threads are not one access. */
START_TEST(several)
{
	pdet_bp_hits_init(&hits);
	feed("a", 16, 1);
	feed("w", 32, 1);
	feed("a", 32, 2);
	pdet_bp_hits_end(&hits, &half, 0);
	ck_assert_uint_eq(hits.sums.n, 3);
	is(0, 1, 0);
	is(1, 0, 1);
	is(2, 1, 0);
	ck_assert_uint_eq(pdet_groups_value(&hits.by, 1)[PDET_BP_IP], 32);
	ck_assert_uint_eq(pdet_groups_value(&hits.by, 2)[PDET_BP_TID], 2);
	pdet_bp_hits_free(&hits);
}
END_TEST

START_TEST(pieces)
{
	const struct pdet_bp_sample s = { .ip = 16, .tid = 1 };

	pdet_bp_hits_init(&hits);
	pdet_bp_hits_count(&hits, 3, PDET_BP_ANY, &s);
	pdet_bp_hits_count(&hits, 4, PDET_BP_WRITE, &s);
	pdet_bp_hits_count(&hits, 3, PDET_BP_ANY, &s);
	ck_assert_uint_eq(hits.sums.n, 2);
	is(0, 2, 0);
	is(1, 0, 1);
	ck_assert_uint_eq(pdet_groups_value(&hits.by, 1)[PDET_BP_PIECE], 4);
	ck_assert_uint_eq(hits.dropped, 0);
	pdet_bp_hits_free(&hits);
}
END_TEST

/* A kind that is there is counted further; only others are too many. */
START_TEST(most)
{
	const struct pdet_bp_hit one = { 1, 2 };
	uint64_t i;

	pdet_bp_hits_init(&hits);
	for (i = 0; i < PDET_BP_MOST_HITS; i++)
		pdet_bp_hits_sum(&hits, i % 8, i / 8, 1, &one);
	ck_assert_uint_eq(hits.sums.n, PDET_BP_MOST_HITS);
	ck_assert_uint_eq(hits.dropped, 0);
	pdet_bp_hits_sum(&hits, 3, 100, 1, &one);
	is(803, 2, 4);
	ck_assert_uint_eq(hits.dropped, 0);
	pdet_bp_hits_sum(&hits, 3, 100, 2, &one);
	ck_assert_uint_eq(hits.dropped, 3);
	ck_assert_uint_eq(hits.sums.n, PDET_BP_MOST_HITS);
	ck_assert_uint_eq(hits.by.n, PDET_BP_MOST_HITS);
	pdet_bp_hits_sum(&hits, 7, PDET_BP_MOST_HITS / 8 - 1, 1, &one);
	is(PDET_BP_MOST_HITS - 1, 2, 4);
	ck_assert_uint_eq(hits.dropped, 3);
	ck_assert(!hits.no_memory);
	pdet_bp_hits_free(&hits);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hits");

	unit_loop(s, one_instruction, 11);
	unit_test(s, several);
	unit_test(s, pieces);
	unit_test(s, most);
	return unit_main(s);
}
