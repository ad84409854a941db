/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Shared by all unit tests. libcheck runs each test in its own process; this
 * prints the results as TAP. A test that is not possible here calls
 * unit_skip(), which libcheck does not have.
 */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define UNIT_SKIP "SKIP: "

#define unit_skip(...) ck_abort_msg(UNIT_SKIP __VA_ARGS__)

/* In a chroot whose root is a plain directory, no mount of /tmp is listed.
 * @why: why a file there is not used. */
static inline void unit_needs_mount(const char *why)
{
	if (strstr(why, "may be on a network filesystem"))
		unit_skip("%s", why);
}

/* Each test is its own test case, so that results show its name. */
static inline void unit_add_loop(Suite *suite, const char *name,
				 const TTest *test, int n)
{
	TCase *tc = tcase_create(name);

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, test, 0, n);
	suite_add_tcase(suite, tc);
}

#define unit_test(suite, name) unit_add_loop(suite, #name, name, 1)
/* Runs the same test for _i = 0 .. n - 1. */
#define unit_loop(suite, name, n) unit_add_loop(suite, #name, name, n)

/* A message may have several lines; each becomes a TAP comment. */
static inline void unit_comment(const char *text)
{
	printf("# ");
	for (; *text; text++)
		printf(*text == '\n' ? "\n# " : "%c", *text);
	printf("\n");
}

/* Runs everything. Returns the exit status of the program. */
static inline int unit_main(Suite *suite)
{
	SRunner *sr = srunner_create(suite);
	TestResult **results;
	int i, n, failed = 0;

	srunner_run_all(sr, CK_SILENT);
	n = srunner_ntests_run(sr);
	results = srunner_results(sr);
	printf("1..%d\n", n);
	for (i = 0; i < n; i++) {
		TestResult *r = results[i];
		const char *msg = tr_msg(r) ? tr_msg(r) : "";
		const char *skip = strstr(msg, UNIT_SKIP);

		if (tr_rtype(r) == CK_PASS) {
			printf("ok %d - %s\n", i + 1, tr_tcname(r));
		} else if (tr_rtype(r) == CK_FAILURE && skip) {
			printf("ok %d - %s # SKIP %s\n", i + 1, tr_tcname(r),
			       skip + strlen(UNIT_SKIP));
		} else {
			printf("not ok %d - %s\n", i + 1, tr_tcname(r));
			printf("# %s:%d:\n", tr_lfile(r), tr_lno(r));
			unit_comment(msg);
			failed++;
		}
	}
	free(results);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* The path of a file in the source tree, which "make check" gives. */
static inline const char *unit_source(char *path, size_t size,
				      const char *name)
{
	const char *top = getenv("top_srcdir");

	snprintf(path, size, "%s/%s", top && *top ? top : ".", name);
	return path;
}

/* What mkdtemp() and mkstemp() take, below TMPDIR. */
static inline char *unit_temp(char *path, size_t size)
{
	const char *folder = getenv("TMPDIR");

	snprintf(path, size, "%s/pagedet-test.XXXXXX",
		 folder && *folder ? folder : "/tmp");
	return path;
}

/* Numbers without a pattern, always the same (xorshift64). */
static inline uint64_t unit_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Waits until @is_there, for a minute. Instead of a sleep: how long something
 * takes depends on the machine. */
static inline void unit_wait(bool (*is_there)(void))
{
	const struct timespec pause = { 0, 10000000 };
	const time_t end = time(NULL) + 60;

	while (!is_there()) {
		ck_assert_msg(time(NULL) <= end, "a minute was not enough");
		nanosleep(&pause, NULL);
	}
}

/*
 * Copies data to memory of exactly its size. valgrind and the address sanitizer
 * then notice a read past its end.
 */
static inline char *unit_exact(const void *data, size_t len)
{
	char *copy = malloc(len ? len : 1);

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, data, len);
	return copy;
}

#endif
