/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests which pieces are watched, in which turns, and how often they hit. */
#include <errno.h>

#include "../unit.h"
#include "breakpoint/slots.h"

#define BASE 0xffff888100000000u

static struct pdet_env env;

static void is(const struct pdet_bp_plan *p, size_t i, uint64_t at,
	       uint32_t bytes)
{
	ck_assert_uint_lt(i, p->n);
	ck_assert_uint_eq(p->data[i].address, BASE + at);
	ck_assert_uint_eq(p->data[i].bytes, bytes);
}

START_TEST(words)
{
	struct pdet_bp_plan p = { .n = 0 };

	ck_assert_int_eq(pdet_bp_plan_add(&p, &env, BASE, 24, 0), 0);
	ck_assert_int_eq(pdet_bp_plan_add(&p, &env, BASE + 64, 8, 1), 0);
	ck_assert_uint_eq(p.n, 4);
	is(&p, 0, 0, 8);
	is(&p, 2, 16, 8);
	is(&p, 3, 64, 8);
	ck_assert_uint_eq(p.data[2].object, 0);
	ck_assert_uint_eq(p.data[3].object, 1);
	pdet_bp_plan_free(&p);
}
END_TEST

/* No byte beside the range is watched. */
START_TEST(ends)
{
	struct pdet_bp_plan p = { .n = 0 };

	ck_assert_int_eq(pdet_bp_plan_add(&p, &env, BASE + 3, 16, 0), 0);
	ck_assert_uint_eq(p.n, 5);
	is(&p, 0, 3, 1);
	is(&p, 1, 4, 4);
	is(&p, 2, 8, 8);
	is(&p, 3, 16, 2);
	is(&p, 4, 18, 1);
	pdet_bp_plan_free(&p);
}
END_TEST

START_TEST(refused)
{
	static const struct {
		uint64_t address, bytes;
	} bad[] = {
		{ 0x1000, 8 }, { BASE, 0 }, { UINT64_MAX - 7, 9 },
		{ BASE, PDET_BP_MOST_BYTES + 1 }, { BASE, UINT64_MAX },
	};
	struct pdet_bp_plan p = { .n = 0 };

	ck_assert_int_eq(pdet_bp_plan_add(&p, &env, bad[_i].address,
					  bad[_i].bytes, 0), -EINVAL);
	ck_assert_uint_eq(p.n, 0);
	ck_assert_uint_ne(env.error[0], 0);
	pdet_bp_plan_free(&p);
}
END_TEST

START_TEST(most)
{
	struct pdet_bp_plan p = { .n = 0 };

	ck_assert_int_eq(pdet_bp_plan_add(&p, &env, UINT64_MAX - 7, 8, 0), 0);
	ck_assert_int_eq(pdet_bp_plan_add(&p, &env, BASE,
					  PDET_BP_MOST_BYTES - 8, 0), 0);
	ck_assert_int_eq(pdet_bp_plan_add(&p, &env, BASE, 1, 0), -EINVAL);
	ck_assert_uint_eq(p.n, PDET_BP_MOST_BYTES / 8);
	pdet_bp_plan_free(&p);
}
END_TEST

START_TEST(turns)
{
	static const struct {
		size_t slots, each, together, turns;
	} share[] = {
		{ 4, 2, 2, 12 }, { 4, 1, 4, 6 }, { 5, 2, 2, 12 },
		{ 2, 2, 1, 23 }, { 1, 2, 0, 0 }, { 46, 2, 23, 1 },
		{ 64, 2, 23, 1 },
	};
	struct pdet_bp_plan p = { .n = 0 };
	bool ok;

	ck_assert_int_eq(pdet_bp_plan_add(&p, &env, BASE, 184, 0), 0);
	ok = pdet_bp_plan_share(&p, share[_i].slots, share[_i].each);
	ck_assert_int_eq(ok, share[_i].together > 0);
	ck_assert_uint_eq(p.together, share[_i].together);
	if (ok)
		ck_assert_uint_eq(pdet_bp_plan_turns(&p), share[_i].turns);
	pdet_bp_plan_free(&p);
}
END_TEST

START_TEST(rate)
{
	uint64_t spare = 0;
	unsigned i, sum = 0;

	/* All of it at the begin, and never more. */
	ck_assert_uint_eq(pdet_bp_slots_grant(1000, 0, 1000000000, &spare),
			  1000);
	ck_assert_uint_eq(pdet_bp_slots_grant(1000, 1000, 9000000000, &spare),
			  0);
	ck_assert_uint_eq(pdet_bp_slots_grant(1000, 400, UINT64_MAX, &spare),
			  600);
	ck_assert_uint_eq(spare, 0);
	/* What is too short for a hit is not lost. */
	for (i = 0; i < 1000; i++)
		sum += (unsigned)pdet_bp_slots_grant(3, 0, 1000000, &spare);
	ck_assert_uint_ge(sum, 2);
	ck_assert_uint_le(sum, 3);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("plan");

	unit_test(s, words);
	unit_test(s, ends);
	unit_loop(s, refused, 5);
	unit_test(s, most);
	unit_loop(s, turns, 7);
	unit_test(s, rate);
	return unit_main(s);
}
