/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests parts of the example migration_agent that need no machine. */
#include <sys/socket.h>
#include <unistd.h>

#include "../../../examples/migration_agent/agent.h"
#include "../unit.h"

/* A late answer to an abandoned command is not that to the current one. */
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

/* One page with a cause, and others that are equal. */
static void one_differs(char *text, size_t size, uint64_t pages)
{
	struct pagedet_finding f = { .verdict = PAGEDET_VERDICT_CAUSE };
	struct difference d = { .finding = &f };
	struct agent a = { .pages = pages, .n_different = 1,
			   .n_differences = 1, .differences = &d };

	a.vm[SOURCE].frozen = a.vm[DESTINATION].frozen = PAGEDET_YES;
	report_verdict(&a, text, size);
}

START_TEST(verdict_is_grammatical)
{
	char text[256];

	one_differs(text, sizeof(text), 32832);
	ck_assert_str_eq(text, "Different: 1 of 32832 pages differs, and each "
			 "is explained below.");
	one_differs(text, sizeof(text), 1);
	ck_assert_str_eq(text, "Different: 1 of 1 page differs, and each is "
			 "explained below.");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("migration_agent");

	unit_test(s, late_answers_are_passed_over);
	unit_test(s, verdict_is_grammatical);
	return unit_main(s);
}
