/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests which turns of a word count. */
#include "../unit.h"
#include "breakpoint/watch.h"

/* A turn that took no time is none, also after one that did. */
START_TEST(each)
{
	struct pdet_bp_turns t = { .windows = 0 };

	pdet_bp_turns_end(&t, false);
	ck_assert_uint_eq(t.windows, 0);
	pdet_bp_turns_add(&t, 5, 0, true);
	pdet_bp_turns_add(&t, 0, 0, false);
	pdet_bp_turns_end(&t, false);
	ck_assert_uint_eq(t.windows, 1);
	pdet_bp_turns_add(&t, 0, 0, false);
	pdet_bp_turns_end(&t, false);
	ck_assert_uint_eq(t.windows, 1);
	pdet_bp_turns_add(&t, 7, 0, true);
	pdet_bp_turns_end(&t, false);
	ck_assert_uint_eq(t.windows, 2);
	ck_assert_uint_eq(t.ns, 12);
	ck_assert_uint_eq(t.limited, 2);
}
END_TEST

/* One processor had a hit before another one watched: the word has a row. */
START_TEST(hits)
{
	struct pdet_bp_turns t = { .windows = 0 };

	pdet_bp_turns_add(&t, 0, 2, false);
	pdet_bp_turns_end(&t, false);
	ck_assert_uint_eq(t.windows, 1);
	ck_assert_uint_eq(t.ns, 0);
	pdet_bp_turns_end(&t, false);
	ck_assert_uint_eq(t.windows, 1);
}
END_TEST

START_TEST(sleeps)
{
	struct pdet_bp_turns t = { .windows = 0 };

	pdet_bp_turns_add(&t, 0, 0, false);
	pdet_bp_turns_end(&t, true);
	ck_assert_uint_eq(t.windows, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("turns");

	unit_test(s, each);
	unit_test(s, hits);
	unit_test(s, sleeps);
	return unit_main(s);
}
