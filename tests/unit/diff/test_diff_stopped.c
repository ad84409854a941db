/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests comparisons that do not finish: cancelled, out of time, or with a
 * damaged side. Results so far are right, nothing is reported that needs the
 * rest, and the failure always has an error text.
 */
#include <errno.h>

#include "../differing.h"

/* More than one batch, so that the rest is not read with the first one. */
#define MANY 1000

/* The page of frame 5 is now in 6; the frames behind are unchanged. */
static void moved(uint64_t kind)
{
	uint64_t pfn;

	begin(NONE, NONE);
	two(&was, 5, kind, 77, "mixed");
	two(&now, 6, kind, 77, "mixed");
	for (pfn = 7; pfn < MANY; pfn++) {
		page(&was, pfn, PAGEDET_KIND_SLAB);
		page(&now, pfn, PAGEDET_KIND_SLAB);
	}
}

static int stop_after_some(void *user, const struct pagedet_progress *p)
{
	(void)user;
	return p->rows != 0;
}

/* Repeats the query, but cancels it after some rows. */
static void cancel_later(struct saved *s)
{
	struct pagedet_query q = PAGEDET_QUERY_INIT;

	saved_ask(s, NULL);
	pagedet_iter_free(s->it);
	q.target = PAGEDET_TARGET_SCAN;
	q.options = PAGEDET_Q_CHEAP;
	q.progress = stop_after_some;
	q.progress_ns = 1;
	ck_assert_int_eq(pagedet_query(s->pd, &q, &s->it), 0);
}

/* Rows from the second batch on are not in the order of frames. */
static void damage(struct saved *s)
{
	s->b.value[F(PFN)][MANY / 2] = 1;
}

static void check_stopped(int code, const char *words)
{
	unsigned again;

	ck_assert_uint_eq(totals.complete, 0);
	for (again = 0; again < 2; again++) {
		ck_assert_msg(strstr(pagedet_error(was.pd), words),
			      "\"%s\" lacks %s", pagedet_error(was.pd), words);
		ck_assert_int_eq(pagedet_diff_next(diff, change + n,
						   before + n, after + n, 1),
				 -code);
	}
}

static void is_apart(void)
{
	ck_assert_int_eq(n, 2);
	ck_assert_uint_eq(change[0].changes, BIT(GONE));
	ck_assert_uint_eq(before[0].pfn, 5);
	ck_assert_uint_eq(change[1].changes, BIT(APPEARED));
	ck_assert_uint_eq(after[1].pfn, 6);
	ck_assert_uint_eq(totals.ambiguous, 2);
	ck_assert_uint_eq(totals.first[PAGEDET_CHANGE_MOVED], 0);
}

/* A third page with these bytes may be in the unread part. */
START_TEST(no_bytes_tell_where_a_page_is)
{
	moved(ANON);
	compare();
	ck_assert_int_eq(n, 1);
	ck_assert_uint_eq(change[0].changes, BIT(MOVED));

	moved(ANON);
	cancel_later(_i ? &was : &now);
	compare_with(NULL, -ECANCELED);
	is_apart();
	ck_assert_uint_lt(totals.rows[!_i], MANY / 2);
	check_stopped(ECANCELED, "cancelled");

	moved(ANON);
	damage(_i ? &was : &now);
	compare_with(NULL, -EBADMSG);
	is_apart();
	check_stopped(EBADMSG, "not in the order of frames");
	clean();
}
END_TEST

/* A page of a file is in one frame at a time. */
START_TEST(a_file_tells_where_its_page_is)
{
	moved(FILE_KIND);
	cancel_later(_i ? &was : &now);
	compare_with(NULL, -ECANCELED);
	ck_assert_int_eq(n, 1);
	ck_assert_uint_eq(change[0].changes, BIT(MIGRATED));
	ck_assert_uint_eq(before[0].pfn, 5);
	ck_assert_uint_eq(after[0].pfn, 6);
	ck_assert_uint_eq(totals.ambiguous, 0);
	check_stopped(ECANCELED, "cancelled");
	clean();
}
END_TEST

/* Unread places are neither gone nor unchanged. */
START_TEST(the_rest_is_not_counted)
{
	begin(NONE, NONE);
	moved(ANON);
	cancel_later(&now);
	compare_with(NULL, -ECANCELED);
	ck_assert_uint_le(totals.compared, totals.rows[1]);
	ck_assert_uint_eq(totals.same + totals.undecided + 2, totals.compared);
	ck_assert_uint_eq(totals.unmatched, 0);
	clean();
}
END_TEST

START_TEST(no_time_at_all)
{
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct saved *const s = _i ? &was : &now;

	moved(ANON);
	saved_ask(s, NULL);
	pagedet_iter_free(s->it);
	q.target = PAGEDET_TARGET_SCAN;
	q.options = PAGEDET_Q_CHEAP;
	q.deadline_ns = 1;
	ck_assert_int_eq(pagedet_query(s->pd, &q, &s->it), 0);
	compare_with(NULL, -ETIMEDOUT);
	ck_assert_int_eq(n, 0);
	check_stopped(ETIMEDOUT, "deadline");
	clean();
}
END_TEST

/* Rows that need sorting are all read at the beginning. */
START_TEST(rows_that_are_to_be_sorted)
{
	struct saved *const sides[] = { &was, &now };
	uint64_t i;
	uint32_t row;

	clean();
	for (i = 0; i < 2; i++) {
		saved_new(sides[i], PAGEDET_TARGET_TASK, F(PID), F(VADDR),
			  F(PFN), F(KIND), -1);
		row = saved_row(sides[i]);
		saved_set(sides[i], row, F(PID), 7);
		saved_set(sides[i], row, F(VADDR), 0x1000 * i);
		saved_set(sides[i], row, F(PFN), 5);
		saved_set(sides[i], row, F(KIND), ANON);
		saved_ask(sides[i], NULL);
	}
	pagedet_cancel(sides[_i]->it);
	compare_with(NULL, -ECANCELED);
	ck_assert_ptr_null(diff);
	ck_assert_ptr_nonnull(strstr(pagedet_error(was.pd), "cancelled"));
	clean();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("diff_stopped");

	unit_loop(s, no_bytes_tell_where_a_page_is, 2);
	unit_loop(s, a_file_tells_where_its_page_is, 2);
	unit_test(s, the_rest_is_not_counted);
	unit_loop(s, no_time_at_all, 2);
	unit_loop(s, rows_that_are_to_be_sorted, 2);
	return unit_main(s);
}
