/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* needs: procfs */
/* Tests the threads of a captured tree, some of which are missing. */
#include <errno.h>
#include <fcntl.h>
#include <pagedet.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "../machine.h"

#define SMALL "tests/golden/cli-machine.scenario"
#define STAT "14 (second) S 1 13 13 0 -1 64 0 0 0 0 0 0 0 0 20 0 2 0 61 0 0\n"

static struct machine machine;
static struct pagedet *pd;

static void set_up(void)
{
	struct pagedet_options o = PAGEDET_OPTIONS_INIT;

	machine_new(&machine, SMALL);
	o.root = machine.root;
	pd = pagedet_new();
	ck_assert_ptr_nonnull(pd);
	ck_assert_msg(pagedet_open(pd, &o) == 0, "%s", pagedet_error(pd));
}

static void tear_down(void)
{
	pagedet_free(pd);
	machine_free(&machine);
}

static const char *name(const char *file)
{
	static char path[1024];

	snprintf(path, sizeof(path), "%s/proc/%s", machine.root, file);
	return path;
}

static void write_file(const char *file, const char *text)
{
	FILE *f = fopen(name(file), "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

/* Process 12 has one thread, and 13 has @threads. */
static void ck_tasks(uint32_t options, int threads, uint64_t lost)
{
	struct pagedet_task tasks[8];
	uint64_t got = 99;
	int i, n = pagedet_tasks(pd, options, tasks, 8, &got);

	ck_assert_msg(n >= 0, "%s", pagedet_error(pd));
	ck_assert_int_eq(n, 1 + threads);
	ck_assert_uint_eq(tasks[0].pid, 12);
	for (i = 0; i < threads; i++) {
		ck_assert_uint_eq(tasks[1 + i].tgid, 13);
		ck_assert_uint_eq(tasks[1 + i].pid, 13 + (uint32_t)i);
	}
	ck_assert_uint_eq(got, lost);
}

START_TEST(threads_are_listed)
{
	ck_assert_int_eq(mkdir(name("13/task/14"), 0755), 0);
	write_file("13/task/14/stat", STAT);
	ck_tasks(0, 2, 0);
	ck_tasks(PAGEDET_TASKS_PROCESSES, 1, 0);
	/* A thread whose file is missing in the copy. */
	ck_assert_int_eq(unlink(name("13/task/14/stat")), 0);
	ck_tasks(0, 1, 1);
}
END_TEST

START_TEST(without_a_list_of_threads_some_may_be_missing)
{
	ck_assert_int_eq(unlink(name("13/task/13/stat")), 0);
	ck_assert_int_eq(unlink(name("13/task/13/status")), 0);
	ck_assert_int_eq(unlink(name("13/task/13/comm")), 0);
	ck_assert_int_eq(rmdir(name("13/task/13")), 0);
	ck_assert_int_eq(rmdir(name("13/task")), 0);
	ck_tasks(0, 1, 1);
	/* This does not matter for a list of processes. */
	ck_tasks(PAGEDET_TASKS_PROCESSES, 1, 0);
	write_file("13/task", "is a file\n");
	ck_tasks(0, 1, 1);
}
END_TEST

START_TEST(a_list_of_threads_that_may_not_be_read)
{
	const bool root = geteuid() == 0;

	ck_assert_int_eq(chmod(machine.root, 0755), 0);
	ck_assert_int_eq(chmod(name("13/task"), 0), 0);
	if (root)
		ck_assert_int_eq(seteuid(65534), 0);
	if (root && faccessat(AT_FDCWD, machine.root, X_OK, AT_EACCESS)) {
		ck_assert_int_eq(seteuid(0), 0);
		unit_skip("others may not enter the folder of the test");
	}
	ck_tasks(0, 1, 1);
	if (root)
		ck_assert_int_eq(seteuid(0), 0);
	ck_assert_int_eq(chmod(name("13/task"), 0755), 0);
}
END_TEST

static int wait_no_more(void *user)
{
	++*(unsigned *)user;
	return 1;
}

static int count_record(void *user, const struct pagedet_log_record *record)
{
	(void)record;
	++*(unsigned *)user;
	return 0;
}

START_TEST(nobody_waits)
{
	struct pagedet_task tasks[8];
	unsigned asked = 0, records = 0;
	uint64_t lost, addr;

	pagedet_set_stop(pd, wait_no_more, &asked);
	ck_assert_int_eq(pagedet_tasks(pd, 0, tasks, 8, &lost), -ECANCELED);
	ck_assert_uint_ge(asked, 1);
	ck_assert_int_eq(pagedet_kernel_log(pd, count_record, &records, &lost),
			 -ECANCELED);
	ck_assert_int_eq(pagedet_symbol(pd, "linux_banner", &addr),
			 -ECANCELED);
	ck_assert_str_ne(pagedet_error(pd), "");
	ck_assert_uint_eq(records, 0);
	pagedet_set_stop(pd, NULL, NULL);
	ck_tasks(0, 1, 0);
}
END_TEST

static void add_test(Suite *s, const char *what, const TTest *test)
{
	TCase *tc = tcase_create(what);

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, test);
	suite_add_tcase(s, tc);
}

#define ADD(name) add_test(s, #name, name)

int main(void)
{
	Suite *s = suite_create("list_tasks");

	ADD(threads_are_listed);
	ADD(without_a_list_of_threads_some_may_be_missing);
	ADD(a_list_of_threads_that_may_not_be_read);
	ADD(nobody_waits);
	return unit_main(s);
}
