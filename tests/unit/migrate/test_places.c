/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* needs: procfs */
/*
 * Tests a list of files from the caller's callback. The callback may ask for
 * the progress of the query, whether it lists or counts pages.
 */
#include <pagedet.h>

#include "../unit.h"

static struct pagedet_iter *it;
static unsigned places;
static uint64_t files;

static int next(void *user, int error, const char *why,
		struct pagedet_place *ret)
{
	struct pagedet_coverage c = { .size = sizeof(c) };

	(void)user;
	(void)why;
	ck_assert_int_eq(error, 0);
	if (it) {
		ck_assert_int_eq(pagedet_coverage(it, &c), 0);
		files = c.files;
	}
	if (places == 3)
		return 0;
	places++;
	ret->path = "/proc/self/exe";
	return 1;
}

START_TEST(a_caller_may_ask_meanwhile)
{
	const uint32_t by = PAGEDET_FIELD_KIND;
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet *pd = pagedet_new();
	struct pagedet_page row;
	uint64_t rows = 0;
	int r;

	places = 0;
	files = 0;
	it = NULL;
	ck_assert_ptr_nonnull(pd);
	ck_assert_msg(!pagedet_open(pd, NULL), "%s", pagedet_error(pd));
	q.target = PAGEDET_TARGET_FILE;
	q.options = PAGEDET_Q_CHEAP;
	q.next_place = next;
	q.group_by = _i ? &by : NULL;
	q.n_group_by = (uint64_t)_i;
	r = pagedet_query(pd, &q, &it);
	ck_assert_msg(r == 0, "%s", pagedet_error(pd));
	while ((r = pagedet_next(it, &row, 1)) > 0)
		rows++;
	ck_assert_msg(r == 0, "%s", pagedet_error(pd));
	ck_assert_uint_gt(rows, 0);
	ck_assert_uint_eq(places, 3);
	/* Those before the end of the list. */
	ck_assert_uint_gt(files, 0);
	pagedet_iter_free(it);
	pagedet_free(pd);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("places");

	unit_loop(s, a_caller_may_ask_meanwhile, 2);
	return unit_main(s);
}
