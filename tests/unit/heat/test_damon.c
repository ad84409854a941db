/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests which threads of DAMON run, by sysfs, and what each monitors. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Where this process is said to be. */
static void put_namespace(const char *pid)
{
	char path[4096];

	put("/proc/self/ns/mnt", "");
	snprintf(path, sizeof(path), "%s/proc/self/ns/pid", root);
	unlink(path);
	ck_assert_int_eq(symlink(pid, path), 0);
}

/* What the kernel's memory says of threads 77 and 88. */
static struct pdet_damon_context memory[2];
static uint32_t pids[3];
static int memory_error;

static int tell(struct pdet_backend *b, struct pdet_env *e, uint32_t thread,
		struct pdet_damon_context *ret)
{
	const struct pdet_damon_context *c = &memory[thread == 88];
	size_t i;

	(void)b;
	if (memory_error || (thread != 77 && thread != 88))
		return pdet_fail(e, memory_error ? memory_error : ENOENT,
				 "cannot read memory");
	*ret = *c;
	memset(&ret->targets, 0, sizeof(ret->targets));
	for (i = 0; !c->is_physical && i < PDET_COUNT(pids); i++)
		ck_assert(pdet_vec_push(&ret->targets, pids[i]));
	return 0;
}

static const struct pdet_backend_ops no_ops, ops = { .damon = tell };
static struct pdet_backend procfs = { .ops = &no_ops };
static struct pdet_backend kernel = { .ops = &ops };
static struct pdet_backend *const backends[] = { &procfs, &kernel };

static void begin(void)
{
	ck_assert_ptr_nonnull(mkdtemp(unit_temp(root, sizeof(machine.root))));
	put(ADMIN "nr_kdamonds", "3");
	put(ADMIN "0/state", "on");
	put(ADMIN "0/pid", "77");
	put(ADMIN "1/state", "off");
	put(ADMIN "1/pid", "-1");
	put(ADMIN "2/state", "on");
	put(ADMIN "2/pid", "88");
	put_namespace("pid:[4026531836]");
	memory[0] = (struct pdet_damon_context){
		.is_physical = true, .unit = 16, .sample_us = 500,
		.interval_us = 5000
	};
	memory[1] = (struct pdet_damon_context){ .unit = 1 };
	pids[0] = 500;
	pids[1] = 600;
	pids[2] = 0;
	memory_error = 0;
}

static void look(void)
{
	ck_assert_int_eq(pdet_damons_find(&env, &found), 0);
	ck_assert_int_eq(pdet_damons_read(&found, &env, backends, 2), 0);
}

static void end(void)
{
	pdet_damons_free(&found);
	machine_free(&machine);
}

START_TEST(two_of_three_run)
{
	begin();
	look();
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

/* These files are for the next start, and may be new in any case: sysfs gives
 * them a time when they are looked at first. */
START_TEST(files_do_not_say_what_is_monitored)
{
	begin();
	put(ADMIN "0/contexts/nr_contexts", "1");
	put(ADMIN "0/contexts/0/operations", "vaddr");
	put(ADMIN "0/contexts/0/addr_unit", "1");
	put(ADMIN "0/contexts/0/monitoring_attrs/intervals/sample_us", "1");
	put(ADMIN "2/contexts/0/targets/nr_targets", "1");
	put(ADMIN "2/contexts/0/targets/0/pid_target", "700");
	look();
	ck_assert_uint_eq(found.n, 2);
	ck_assert(!found.is_partial);
	ck_assert(found.data[0].is_physical);
	ck_assert_uint_eq(found.data[0].unit, 16);
	ck_assert_uint_eq(pdet_damon_checks(&found.data[0]), 10);
	ck_assert_uint_eq(found.data[1].targets.n, 3);
	ck_assert_uint_eq(found.data[1].targets.data[0].pid, 500);
	end();
}
END_TEST

START_TEST(a_process_that_has_ended)
{
	begin();
	look();
	ck_assert_uint_eq(found.data[1].targets.data[0].pid, 500);
	ck_assert(found.data[1].targets.data[0].is_sure);
	ck_assert(found.data[1].targets.data[1].is_sure);
	ck_assert(!found.data[1].targets.data[2].is_sure);
	end();
}
END_TEST

/* Outside of the first pid namespace, they are those of others. */
START_TEST(another_namespace)
{
	begin();
	put_namespace("pid:[4026532000]");
	look();
	ck_assert_uint_eq(found.n, 2);
	ck_assert(found.data[0].is_physical);
	ck_assert(!found.data[1].targets.data[0].is_sure);
	end();
}
END_TEST

/* It may not be read, or no source knows it. */
START_TEST(memory_says_nothing)
{
	struct pdet_heat h;

	begin();
	memory_error = EACCES;
	ck_assert_int_eq(pdet_heat_begin(&h, &env), 0);
	ck_assert_uint_eq(h.state, PAGEDET_HAVE);
	ck_assert_int_eq(pdet_heat_learn(&h, &env, backends, _i ? 1 : 2), 0);
	ck_assert_uint_eq(h.state, PAGEDET_UNSUPPORTED);
	ck_assert_uint_eq(h.damons.n, 0);
	ck_assert(h.damons.is_partial);
	ck_assert_ptr_nonnull(strstr(h.advice, "DAMON runs, but what it "
				     "monitors is not known"));
	ck_assert_ptr_nonnull(strstr(h.advice, _i ? "no source is open" :
				     "cannot read memory"));
	ck_assert_str_eq(env.error, "");
	pdet_heat_end(&h);
	end();
}
END_TEST

/* One of two threads, whose pid is not that of a thread of DAMON. */
START_TEST(memory_says_nothing_of_one)
{
	begin();
	put(ADMIN "0/pid", "79");
	look();
	ck_assert_uint_eq(found.n, 1);
	ck_assert_uint_eq(found.data[0].thread, 88);
	ck_assert(found.is_partial);
	end();
}
END_TEST

/* Thread 77 tells physical memory, 88 two processes; then it is asked again. */
static void tell_once(struct pdet_heat *h)
{
	static const struct pdet_heat_event events[] = {
		{ .thread = 77, .target = 0, .regions = 1, .start = 0,
		  .end = 4096, .accesses = 3, .ns = 1 },
		{ .thread = 88, .target = 0, .regions = 1, .start = 0,
		  .end = 4096, .ns = 1 },
		{ .thread = 88, .target = 1, .regions = 1, .start = 0,
		  .end = 4096, .ns = 1 },
	};
	size_t i;

	ck_assert_int_eq(pdet_heat_begin(h, &env), 0);
	ck_assert_int_eq(pdet_heat_learn(h, &env, backends, 2), 0);
	for (i = 0; i < PDET_COUNT(events); i++)
		ck_assert(pdet_heat_add(h, &events[i]));
	ck_assert(pdet_heat_digest(h, true));
	ck_assert_uint_eq(h->monitors.n, 3);
}

static void expect_known(const struct pdet_heat *h, bool physical, bool first,
			 bool second)
{
	ck_assert_int_eq(h->monitors.data[0].is_known, physical);
	ck_assert_int_eq(h->monitors.data[1].is_known, first);
	ck_assert_int_eq(h->monitors.data[2].is_known, second);
}

/* What is committed while they are listened to. */
START_TEST(changed_meanwhile)
{
	struct pdet_heat h;

	begin();
	tell_once(&h);
	pdet_heat_recheck(&h, &env, backends, 2);
	expect_known(&h, true, true, true);
	ck_assert_uint_eq(h.monitors.data[0].checks, 10);
	memory[0].sample_us = 1000;
	pids[1] = 0;		/* ended */
	pdet_heat_recheck(&h, &env, backends, 2);
	expect_known(&h, true, true, false);
	ck_assert_uint_eq(h.monitors.data[0].checks, 0);
	memory[0].unit = 4096;
	memory[1].is_physical = true;
	pdet_heat_recheck(&h, &env, backends, 2);
	expect_known(&h, false, false, false);
	pdet_heat_end(&h);
	end();
}
END_TEST

START_TEST(ended_meanwhile)
{
	struct pdet_heat h;

	begin();
	tell_once(&h);
	memory_error = ENOENT;
	pdet_heat_recheck(&h, &env, backends, 2);
	expect_known(&h, false, false, false);
	pdet_heat_end(&h);
	end();
}
END_TEST

/* More threads than are looked at. */
START_TEST(too_many)
{
	begin();
	put(ADMIN "nr_kdamonds", "5000");
	look();
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
	memory[0].is_tuned = true;
	look();
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
	/* Memory knows better, if it can be read. */
	ck_assert_int_eq(pdet_damons_read(&found, &env, backends, 2), 0);
	ck_assert_uint_eq(found.n, 1);
	ck_assert_uint_eq(pdet_damon_checks(&found.data[0]), 20);
	put(MODULE "kdamond_pid", "77");
	pdet_damons_free(&found);
	look();
	ck_assert_uint_eq(pdet_damon_checks(&found.data[0]), 10);
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
	unit_test(s, files_do_not_say_what_is_monitored);
	unit_test(s, a_process_that_has_ended);
	unit_test(s, another_namespace);
	unit_loop(s, memory_says_nothing, 2);
	unit_test(s, memory_says_nothing_of_one);
	unit_test(s, changed_meanwhile);
	unit_test(s, ended_meanwhile);
	unit_test(s, too_many);
	unit_test(s, intervals_that_the_kernel_tunes);
	unit_test(s, a_module);
	unit_test(s, a_module_without_a_thread);
	unit_test(s, nothing_runs);
	return unit_main(s);
}
