/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Parts of the example migration_agent that need no machine. */
#include <sys/socket.h>
#include <unistd.h>

#include "../../examples/migration_agent/agent.h"
#include "unit.h"

/* What was asked before, and was given up, is not what is asked now. */
START_TEST(late_answers_are_passed_over)
{
	static const char says[] =
		"{\"return\": \"late\", \"id\": 1}\n"
		"{\"event\": \"RESUME\"}\n"
		"{\"error\": {\"desc\": \"late as well\"}, \"id\": 1}\n"
		"{\"return\": \"now\", \"id\": 2}\n"
		"{\"error\": {\"desc\": \"no\"}, \"id\": 3}\n";
	struct qmp q = { .fd = -1, .asked = 1 };
	json_t *answer;
	int fd[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	ck_assert_int_eq(write(fd[1], says, strlen(says)),
			 (int)strlen(says));
	q.fd = fd[0];
	answer = qmp_ask(&q, "query-status", NULL);
	ck_assert_str_eq(json_string_value(answer), "now");
	ck_assert(q.resumed && !q.gone);
	json_decref(answer);
	ck_assert_ptr_null(qmp_ask(&q, "stop", NULL));
	ck_assert_str_eq(q.error, "stop: no");
	close(fd[1]);
	ck_assert_ptr_null(qmp_ask(&q, "stop", NULL));
	ck_assert(q.gone);
	qmp_close(&q);
}
END_TEST

START_TEST(versions_of_pages)
{
	struct versions v;

	ck_assert_int_eq(versions_new(&v, 8), 0);
	versions_sort(&v);
	ck_assert(!versions_have(&v, 1, 10));
	versions_sent(&v, 5, 50, 1, true, false);
	versions_sent(&v, 1, 10, 1, true, false);
	versions_sent(&v, 1, 11, 2, true, false);
	/* came late, through a slower channel */
	versions_sent(&v, 1, 9, 1, true, false);
	versions_seen(&v, 3, 30, 1);
	versions_seen(&v, 3, UINT64_MAX, 1);
	versions_seen(&v, 0, 10, 1);
	versions_sort(&v);
	ck_assert(versions_have(&v, 1, 10));
	ck_assert(versions_have(&v, 1, 9));
	ck_assert(versions_have(&v, 3, 30));
	ck_assert(versions_have(&v, 3, UINT64_MAX));
	ck_assert(versions_have(&v, 0, 10));
	/* what was sent last is no earlier one */
	ck_assert(!versions_have(&v, 1, 11));
	ck_assert(!versions_have(&v, 5, 50));
	ck_assert(!versions_have(&v, 3, 10));
	versions_free(&v);
}
END_TEST

START_TEST(places_of_contents)
{
	struct places p;
	uint64_t page;

	ck_assert_int_eq(places_new(&p, 4), 0);
	places_ask(&p, 70);
	places_ask(&p, 7);
	places_ask(&p, 70);
	places_ask(&p, UINT64_MAX);
	places_ask(&p, 8);	/* there is no room for it */
	places_sort(&p);
	for (page = 0; page < 100; page++)
		places_seen(&p, page, page / 2);
	places_seen(&p, 100, 70);
	ck_assert_uint_eq(places_find(&p, 7)->n, 2);
	ck_assert_uint_eq(places_find(&p, 7)->last, 15);
	ck_assert_uint_eq(places_find(&p, 70)->n, 1);
	ck_assert_uint_eq(places_find(&p, 70)->last, 100);
	ck_assert_uint_eq(places_find(&p, UINT64_MAX)->n, 0);
	ck_assert_ptr_null(places_find(&p, 8));
	places_free(&p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("migration_agent");

	unit_test(s, late_answers_are_passed_over);
	unit_test(s, versions_of_pages);
	unit_test(s, places_of_contents);
	return unit_main(s);
}
