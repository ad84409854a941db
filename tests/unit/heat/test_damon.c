/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests which threads of DAMON run, by files of sysfs. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "heat/heat.h"
#include "pagedet.h"
#include "../machine.h"

#define ADMIN "/sys/kernel/mm/damon/admin/kdamonds/"
#define MODULE "/sys/module/damon_reclaim/parameters/"
#define STAT "/sys/module/damon_stat/parameters/"

static struct machine machine;
static char *const root = machine.root;
static struct pdet_env env = { .root = machine.root };
static struct pdet_damons found;

static void put(const char *file, const char *text)
{
	char path[4096], *at;
	FILE *f;

	snprintf(path, sizeof(path), "%s%s", root, file);
	for (at = strchr(path + strlen(root) + 1, '/'); at;
	     at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(path, 0700);
		*at = '/';
	}
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fprintf(f, "%s\n", text);
	ck_assert_int_eq(fclose(f), 0);
}

/* As written @seconds after the machine started. */
static void put_at(const char *file, const char *text, unsigned seconds)
{
	const uint64_t ns = pdet_clock_ns(CLOCK_REALTIME) -
			    pdet_clock_ns(CLOCK_BOOTTIME) +
			    (uint64_t)seconds * 1000000000;
	const struct timespec at = { .tv_sec = (time_t)(ns / 1000000000),
				     .tv_nsec = (long)(ns % 1000000000) };
	const struct timespec times[] = { at, at };
	char path[4096];

	put(file, text);
	snprintf(path, sizeof(path), "%s%s", root, file);
	ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Where this process is said to be. */
static void put_namespace(const char *pid)
{
	char path[4096];

	put("/proc/self/ns/mnt", "");
	snprintf(path, sizeof(path), "%s/proc/self/ns/pid", root);
	unlink(path);
	ck_assert_int_eq(symlink(pid, path), 0);
}

/* The 22nd field is when it began. */
static void put_task(const char *pid, unsigned seconds)
{
	char file[64], text[256];

	snprintf(file, sizeof(file), "/proc/%s/stat", pid);
	snprintf(text, sizeof(text), "%s (a) 1 b) S 2 0 0 0 -1 2129984 0 0 0 0 "
		 "0 39873 0 0 20 0 1 0 %lu 0 0", pid,
		 seconds * (unsigned long)sysconf(_SC_CLK_TCK));
	put(file, text);
}

static void begin(void)
{
	ck_assert_ptr_nonnull(mkdtemp(unit_temp(root, sizeof(machine.root))));
	put(ADMIN "nr_kdamonds", "3");
	put(ADMIN "0/state", "on");
	put(ADMIN "0/pid", "77");
	put(ADMIN "0/contexts/nr_contexts", "1");
	put_at(ADMIN "0/contexts/0/operations", "paddr", 500);
	put(ADMIN "0/contexts/0/addr_unit", "16");
	put(ADMIN "0/contexts/0/monitoring_attrs/intervals/sample_us", "500");
	put(ADMIN "0/contexts/0/monitoring_attrs/intervals/aggr_us", "5000");
	put(ADMIN "1/state", "off");
	put(ADMIN "1/pid", "-1");
	put(ADMIN "1/contexts/nr_contexts", "1");
	put(ADMIN "1/contexts/0/operations", "paddr");
	put(ADMIN "2/state", "on");
	put(ADMIN "2/pid", "88");
	put(ADMIN "2/contexts/nr_contexts", "1");
	put_at(ADMIN "2/contexts/0/operations", "vaddr", 500);
	put(ADMIN "2/contexts/0/targets/nr_targets", "3");
	put_at(ADMIN "2/contexts/0/targets/0/pid_target", "500", 990);
	put_at(ADMIN "2/contexts/0/targets/1/pid_target", "600", 990);
	put_at(ADMIN "2/contexts/0/targets/2/pid_target", "700", 990);
	put_namespace("pid:[4026531836]");
	put_task("77", 1000);
	put_task("88", 1000);
	put_task("500", 990);
	put_task("600", 1010);
}

static void end(void)
{
	pdet_damons_free(&found);
	machine_free(&machine);
}

START_TEST(two_of_three_run)
{
	begin();
	ck_assert_int_eq(pdet_damons_find(&env, &found), 0);
	ck_assert_uint_eq(found.n, 2);
	ck_assert(!found.is_partial);
	ck_assert_uint_eq(found.data[0].thread, 77);
	ck_assert(found.data[0].is_physical);
	ck_assert_uint_eq(found.data[0].unit, 16);
	ck_assert_uint_eq(pdet_damon_checks(&found.data[0]), 10);
	ck_assert_uint_eq(found.data[1].thread, 88);
	ck_assert(!found.data[1].is_physical);
	ck_assert_uint_eq(found.data[1].unit, 1);
	ck_assert_uint_eq(found.data[1].targets.n, 3);
	ck_assert_uint_eq(pdet_damon_checks(&found.data[1]), 0);
	end();
}
END_TEST

/* A process that is younger than the thread, and one that has ended. */
START_TEST(numbers_of_other_processes)
{
	begin();
	ck_assert_int_eq(pdet_damons_find(&env, &found), 0);
	ck_assert_uint_eq(found.data[1].targets.data[0].pid, 500);
	ck_assert(found.data[1].targets.data[0].is_sure);
	ck_assert_uint_eq(found.data[1].targets.data[1].pid, 600);
	ck_assert(!found.data[1].targets.data[1].is_sure);
	ck_assert(!found.data[1].targets.data[2].is_sure);
	end();
}
END_TEST

/* Outside of the first pid namespace, they are those of others. */
START_TEST(another_namespace)
{
	begin();
	put_namespace("pid:[4026532000]");
	ck_assert_int_eq(pdet_damons_find(&env, &found), 0);
	ck_assert_uint_eq(found.n, 2);
	ck_assert(!found.data[1].targets.data[0].is_sure);
	end();
}
END_TEST

/* What is written while a thread runs is what the next one will monitor. */
START_TEST(written_later)
{
	static const struct {
		const char *file, *text;
	} cases[] = {
		{ ADMIN "2/contexts/0/targets/0/pid_target", "500" },
		{ ADMIN "0/contexts/0/operations", "paddr" },
		{ ADMIN "2/contexts/0/operations", "vaddr" },
	};

	begin();
	put_at(cases[_i].file, cases[_i].text, 1020);
	ck_assert_int_eq(pdet_damons_find(&env, &found), 0);
	ck_assert_uint_eq(found.n, _i ? 1 : 2);
	ck_assert_int_eq(found.is_partial, _i > 0);
	if (_i)
		ck_assert_uint_eq(found.data[0].thread, _i == 1 ? 88 : 77);
	else
		ck_assert(!found.data[1].targets.data[0].is_sure);
	end();
}
END_TEST

START_TEST(what_is_not_understood)
{
	begin();
	put(ADMIN "0/contexts/nr_contexts", "2");
	put(ADMIN "2/contexts/0/operations", "else");
	ck_assert_int_eq(pdet_damons_find(&env, &found), 0);
	ck_assert_uint_eq(found.n, 0);
	ck_assert(found.is_partial);
	put(ADMIN "0/contexts/nr_contexts", "1");
	put(ADMIN "0/contexts/0/addr_unit", "0");
	ck_assert_int_eq(pdet_damons_find(&env, &found), 0);
	ck_assert_uint_eq(found.n, 0);
	ck_assert(found.is_partial);
	put(ADMIN "0/state", "off");
	put(ADMIN "2/state", "off");
	ck_assert_int_eq(pdet_damons_find(&env, &found), 0);
	ck_assert(!found.is_partial);
	end();
}
END_TEST

/* More threads, or more processes, than are looked at. */
START_TEST(too_many)
{
	begin();
	put(_i ? ADMIN "nr_kdamonds" :
		 ADMIN "2/contexts/0/targets/nr_targets", "5000");
	ck_assert_int_eq(pdet_damons_find(&env, &found), 0);
	ck_assert_uint_eq(found.n, 2);
	ck_assert(found.is_partial);
	end();
}
END_TEST

/* It does not say which thread is its own. */
START_TEST(a_module_without_a_thread)
{
	begin();
	put(ADMIN "nr_kdamonds", "0");
	put(STAT "enabled", "N");
	ck_assert_int_eq(pdet_damons_find(&env, &found), 0);
	ck_assert(!found.is_partial);
	put(STAT "enabled", "Y");
	ck_assert_int_eq(pdet_damons_find(&env, &found), 0);
	ck_assert_uint_eq(found.n, 0);
	ck_assert(found.is_partial);
	end();
}
END_TEST

START_TEST(intervals_that_the_kernel_tunes)
{
	begin();
	put(ADMIN "0/contexts/0/monitoring_attrs/intervals/intervals_goal/"
	    "aggrs", "3");
	ck_assert_int_eq(pdet_damons_find(&env, &found), 0);
	ck_assert_uint_eq(pdet_damon_checks(&found.data[0]), 0);
	end();
}
END_TEST

START_TEST(a_module)
{
	begin();
	put(ADMIN "nr_kdamonds", "0");
	put(MODULE "enabled", "N");
	put(MODULE "kdamond_pid", "-1");
	put(MODULE "sample_interval", "5000");
	put(MODULE "aggr_interval", "100000");
	ck_assert_int_eq(pdet_damons_find(&env, &found), 0);
	ck_assert_uint_eq(found.n, 0);
	put(MODULE "enabled", "Y");
	put(MODULE "kdamond_pid", "99");
	ck_assert_int_eq(pdet_damons_find(&env, &found), 0);
	ck_assert_uint_eq(found.n, 1);
	ck_assert_uint_eq(found.data[0].thread, 99);
	ck_assert_uint_eq(pdet_damon_checks(&found.data[0]), 20);
	end();
}
END_TEST

START_TEST(nothing_runs)
{
	struct pdet_heat h;

	ck_assert_ptr_nonnull(mkdtemp(unit_temp(root, sizeof(machine.root))));
	ck_assert_int_eq(pdet_heat_begin(&h, &env), 0);
	ck_assert_uint_eq(h.state, PAGEDET_NO_KERNEL);
	ck_assert_ptr_nonnull(strstr(h.advice, "needs DAMON"));
	pdet_heat_end(&h);
	end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("damon");

	unit_test(s, two_of_three_run);
	unit_test(s, numbers_of_other_processes);
	unit_test(s, another_namespace);
	unit_loop(s, written_later, 3);
	unit_test(s, what_is_not_understood);
	unit_loop(s, too_many, 2);
	unit_test(s, intervals_that_the_kernel_tunes);
	unit_test(s, a_module);
	unit_test(s, a_module_without_a_thread);
	unit_test(s, nothing_runs);
	return unit_main(s);
}
