/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* needs: procfs */
/*
 * Tests the memory usage in a captured tree. It has no smaps_rollup, like
 * kernels before 4.14. Page tables are walked; if they are missing too, only
 * status has data.
 */
#include <fcntl.h>
#include <pagedet.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "../machine.h"

#define SMALL "tests/golden/cli-machine.scenario"
#define PAGE 4096

static struct machine machine;
static struct pagedet *pd;
static struct pagedet_usages *usages;
static struct pagedet_usage row;
static struct pagedet_usage_info info;

static void open_tree(void)
{
	struct pagedet_options o = PAGEDET_OPTIONS_INIT;

	o.root = machine.root;
	pd = pagedet_new();
	ck_assert_ptr_nonnull(pd);
	ck_assert_msg(pagedet_open(pd, &o) == 0, "%s", pagedet_error(pd));
}

static void set_up(void)
{
	machine_new(&machine, SMALL);
	open_tree();
	usages = NULL;
	row.size = sizeof(row);
	info.size = sizeof(info);
}

static void tear_down(void)
{
	pagedet_usage_free(usages);
	pagedet_free(pd);
	machine_free(&machine);
}

static const char *name(uint32_t pid, const char *file)
{
	static char path[1024];

	snprintf(path, sizeof(path), "%s/proc/%u/%s", machine.root, pid, file);
	return path;
}

static void write_file(uint32_t pid, const char *file, const char *text)
{
	FILE *f = fopen(name(pid, file), "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

static void ask(const uint32_t *pids, size_t n)
{
	struct pagedet_usage_options o = PAGEDET_USAGE_OPTIONS_INIT;

	o.pids = pids;
	o.n_pids = n;
	ck_assert_msg(pagedet_usage(pd, &o, &usages) == 0, "%s",
		      pagedet_error(pd));
	ck_assert_int_eq(pagedet_usage_info(usages, &info), 0);
}

static void ck_sum(unsigned sum, uint64_t bytes)
{
	ck_assert_uint_eq(row.state[sum], PAGEDET_HAVE);
	ck_assert_uint_eq(row.value[sum], bytes);
}

#define STATUS "Name:\tother\nVmRSS:\t   8 kB\nVmSwap:\t   4 kB\n"

static void ck_status_alone(uint32_t why)
{
	static const uint32_t other[] = { 13 };

	ask(other, 1);
	ck_assert_int_eq(pagedet_usage_next(usages, &row), 1);
	ck_assert_uint_eq(row.pid, 13);
	ck_assert_uint_eq(row.source, PAGEDET_SOURCE_PROCFS);
	ck_assert_ptr_nonnull(row.comm);
	ck_assert_str_eq(row.comm, "other");
	ck_sum(PAGEDET_SUM_RSS, 8192);
	ck_sum(PAGEDET_SUM_SWAP, 4096);
	ck_assert_uint_eq(row.state[PAGEDET_SUM_PSS], why);
	ck_assert_uint_eq(row.state[PAGEDET_SUM_USS], why);
	ck_assert_uint_eq(row.state[PAGEDET_SUM_HUGETLB], why);
	ck_assert_uint_eq(row.estimated, 1u << PAGEDET_SUM_RSS |
					 1u << PAGEDET_SUM_SWAP);
	ck_assert_int_eq(pagedet_usage_next(usages, &row), 0);
	ck_assert_uint_eq(info.processes, 1);
	ck_assert_uint_eq(info.without_memory, 0);
	ck_assert_uint_eq(info.gone, 0);
	ck_assert_uint_eq(info.denied, why == PAGEDET_NO_ACCESS);
	ck_assert_uint_eq(info.complete, why != PAGEDET_NO_ACCESS);
}

/* _i: which files are missing */
START_TEST(status_is_all_there_is)
{
	write_file(13, "status", STATUS);
	switch (_i) {
	case 0:
		ck_assert_int_eq(truncate(name(13, "pagemap"), 0), 0);
		break;
	case 1:
		ck_assert_int_eq(unlink(name(13, "maps")), 0);
		break;
	default:
		ck_assert_int_eq(unlink(name(13, "pagemap")), 0);
		break;
	}
	ck_status_alone(PAGEDET_UNSUPPORTED);
}
END_TEST

/* A kernel without smaps_rollup, and a process of another user. */
START_TEST(page_tables_may_not_be_read)
{
	const bool root = geteuid() == 0;

	write_file(13, "status", STATUS);
	ck_assert_int_eq(chmod(name(13, "pagemap"), 0), 0);
	ck_assert_int_eq(chmod(machine.root, 0755), 0);
	if (root)
		ck_assert_int_eq(seteuid(65534), 0);
	if (root && faccessat(AT_FDCWD, machine.root, X_OK, AT_EACCESS)) {
		ck_assert_int_eq(seteuid(0), 0);
		unit_skip("others may not enter the folder of the test");
	}
	ck_status_alone(PAGEDET_NO_ACCESS);
	if (root)
		ck_assert_int_eq(seteuid(0), 0);
}
END_TEST

START_TEST(page_tables_know_more_than_status)
{
	static const uint32_t other[] = { 13 };

	write_file(13, "status", STATUS);
	ask(other, 1);
	ck_assert_int_eq(pagedet_usage_next(usages, &row), 1);
	ck_assert_str_eq(row.comm, "other");
	ck_sum(PAGEDET_SUM_RSS, 2 * PAGE);
	ck_sum(PAGEDET_SUM_SWAP, 0);
	ck_sum(PAGEDET_SUM_PSS, PAGE);
	ck_sum(PAGEDET_SUM_USS, 0);
	ck_assert_uint_eq(info.processes, 1);
	ck_assert_uint_eq(info.complete, 1);
}
END_TEST

START_TEST(who_has_nothing_has_no_row)
{
	static const uint32_t pids[] = { 13, 99 };

	write_file(13, "status", "Name:\tkthread\n");
	ask(pids, 2);
	ck_assert_int_eq(pagedet_usage_next(usages, &row), 0);
	ck_assert_uint_eq(info.processes, 0);
	ck_assert_uint_eq(info.without_memory, 1);
	ck_assert_uint_eq(info.gone, 1);
	ck_assert_uint_eq(info.complete, 1);
}
END_TEST

static void add_test(Suite *s, const char *what, const TTest *test, int n)
{
	TCase *tc = tcase_create(what);

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_loop_test(tc, test, 0, n);
	suite_add_tcase(s, tc);
}

#define ADD(name, n) add_test(s, #name, name, n)

int main(void)
{
	Suite *s = suite_create("usage_tree");

	ADD(status_is_all_there_is, 3);
	ADD(page_tables_may_not_be_read, 1);
	ADD(page_tables_know_more_than_status, 1);
	ADD(who_has_nothing_has_no_row, 1);
	return unit_main(s);
}
