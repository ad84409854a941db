/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * DAMON's sysfs files, since Linux 5.18, and the parameters of its modules. A
 * thread that neither of them names is not known. These files have what the
 * next start will use, and what runs only if they are older than the thread.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/namespace.h"
#include "base/text/text.h"
#include "base/vec.h"
#include "heat/damon.h"
#include "kernel/text/stat.h"

#define ADMIN "/sys/kernel/mm/damon/admin/kdamonds/"
#define MOST 64u		/* threads */
#define MOST_TARGETS 4096u

struct place {
	const struct pdet_env *env;
	char dir[160];		/* below the root, with a slash at its end */
};

static void read_word(const struct place *p, const char *name, char *ret,
		      size_t size)
{
	char path[256];

	snprintf(path, sizeof(path), "%s%s", p->dir, name);
	pdet_read_line(p->env, path, ret, size);
}

static bool is_denied(const struct pdet_env *env, const char *path)
{
	const int fd = pdet_open(env, "%s", path);

	if (fd >= 0)
		close(fd);
	return fd == -EACCES;
}

static bool is_word(const struct place *p, const char *name, const char *word)
{
	char text[32];

	read_word(p, name, text, sizeof(text));
	return !strcmp(text, word);
}

/* @otherwise if there is not such a file, or it is not a number. */
static uint64_t read_number(const struct place *p, const char *name,
			    uint64_t otherwise)
{
	char text[32];
	struct pdet_scan s;
	uint64_t n;

	read_word(p, name, text, sizeof(text));
	s = (struct pdet_scan){ text, text + strlen(text) };
	return pdet_scan_dec(&s, &n) && s.at == s.end ? n : otherwise;
}

/* When a task began, in clock ticks since boot. 0: not known. */
static uint64_t begin_of(const struct pdet_env *env, uint32_t pid)
{
	uint64_t n;

	return pdet_stat_number(env, pid, PDET_STAT_START, &n) == 0 ? n : 0;
}

/* In another pid namespace the numbers of threads are those of others. */
static uint64_t begin_of_thread(const struct pdet_env *env, uint32_t thread)
{
	return pdet_first_namespace(env->root, PDET_NAMESPACE_PID) == 0 ?
	       0 : begin_of(env, thread);
}

/*
 * Whether a file of sysfs was written after the thread began, or that is not
 * known. The kernel keeps the time when it was last opened to be truncated, as
 * a shell does; if it never was, the time when it was looked at first.
 */
static bool is_newer(const struct place *p, const char *name, uint64_t begin)
{
	const uint64_t second = 1000000000;
	const uint64_t tick = second / (uint64_t)sysconf(_SC_CLK_TCK);
	const uint64_t boot = pdet_clock_ns(CLOCK_REALTIME) -
			      pdet_clock_ns(CLOCK_BOOTTIME);
	char path[512];
	struct stat st;

	if (pdet_path(p->env, path, sizeof(path), "%s%s", p->dir, name) < 0 ||
	    stat(path, &st) < 0)
		return true;
	/* The tick in which it began has not ended then. */
	return (uint64_t)st.st_mtim.tv_sec * second +
	       (uint64_t)st.st_mtim.tv_nsec >
	       boot + (begin + 1) * tick;
}

/* A process that is younger than the thread may have the number of one that
 * has ended, whose memory DAMON then still means. */
static bool is_sure(const struct place *context, const char *name, uint32_t pid,
		    uint64_t begin)
{
	const uint64_t process = begin_of(context->env, pid);

	return begin && process && process <= begin &&
	       !is_newer(context, name, begin);
}

static int add_targets(const struct place *context, uint64_t begin,
		       struct pdet_damon *d, struct pdet_damons *ret)
{
	const uint64_t n = read_number(context, "targets/nr_targets", 0);
	struct pdet_damon_target t;
	char name[64];
	uint64_t i;

	ret->is_partial |= n > MOST_TARGETS;
	for (i = 0; i < n && i < MOST_TARGETS; i++) {
		snprintf(name, sizeof(name), "targets/%llu/pid_target",
			 (unsigned long long)i);
		t.pid = (uint32_t)read_number(context, name, 0);
		t.is_sure = t.pid && is_sure(context, name, t.pid, begin);
		if (!pdet_vec_push(&d->targets, t))
			return -ENOMEM;
	}
	return 0;
}

/* Whether the operations are among those that are known. */
static bool read_context(const struct place *p, struct pdet_damon *d)
{
	d->is_physical = is_word(p, "operations", "paddr");
	d->unit = d->is_physical ? read_number(p, "addr_unit", 1) : 1;
	d->sample_us = read_number(p, "monitoring_attrs/intervals/sample_us",
				   0);
	d->interval_us = read_number(p, "monitoring_attrs/intervals/aggr_us",
				     0);
	d->is_tuned = read_number(p, "monitoring_attrs/intervals/"
				  "intervals_goal/aggrs", 0);
	return d->unit && (d->is_physical ||
			   is_word(p, "operations", "vaddr") ||
			   is_word(p, "operations", "fvaddr"));
}

static int leave_out(struct pdet_damons *ret)
{
	ret->is_partial = true;
	return 0;
}

/* One of sysfs. Its events do not tell the context: there must be one. */
static int add_one(const struct pdet_env *env, unsigned i,
		   struct pdet_damons *ret)
{
	struct place p = { .env = env };
	struct pdet_damon d = { .thread = 0 };
	uint64_t begin;
	int r = 0;

	snprintf(p.dir, sizeof(p.dir), ADMIN "%u/", i);
	d.thread = (uint32_t)read_number(&p, "pid", 0);
	if (!d.thread || !is_word(&p, "state", "on"))
		return 0;
	if (read_number(&p, "contexts/nr_contexts", 0) != 1)
		return leave_out(ret);
	snprintf(p.dir, sizeof(p.dir), ADMIN "%u/contexts/0/", i);
	begin = begin_of_thread(env, d.thread);
	if (!read_context(&p, &d) ||
	    (begin && is_newer(&p, "operations", begin)))
		return leave_out(ret);
	if (!d.is_physical)
		r = add_targets(&p, begin, &d, ret);
	if (r == 0 && pdet_vec_push(ret, d))
		return 0;
	pdet_vec_free(&d.targets);
	return -ENOMEM;
}

/* One of a module, which monitors physical memory. */
static int add_module(const struct pdet_env *env, const char *name,
		      struct pdet_damons *ret)
{
	struct place p = { .env = env };
	struct pdet_damon d = { .is_physical = true };
	char enabled[sizeof(p.dir) + 8], pid[32];

	snprintf(p.dir, sizeof(p.dir), "/sys/module/%s/parameters/", name);
	snprintf(enabled, sizeof(enabled), "%senabled", p.dir);
	ret->is_denied |= is_denied(env, enabled);
	if (!is_word(&p, "enabled", "Y"))
		return 0;
	/* It is -1 if there is not a thread. Not all modules have it. */
	read_word(&p, "kdamond_pid", pid, sizeof(pid));
	d.thread = (uint32_t)read_number(&p, "kdamond_pid", 0);
	if (!d.thread)
		return *pid ? 0 : leave_out(ret);
	d.unit = read_number(&p, "addr_unit", 1);
	d.sample_us = read_number(&p, "sample_interval", 0);
	d.interval_us = read_number(&p, "aggr_interval", 0);
	d.is_tuned = is_word(&p, "autotune_monitoring_intervals", "Y");
	if (!d.unit)
		return leave_out(ret);
	return pdet_vec_push(ret, d) ? 0 : -ENOMEM;
}

int pdet_damons_find(const struct pdet_env *env, struct pdet_damons *ret)
{
	static const char *const modules[] = {
		"damon_reclaim", "damon_lru_sort", "damon_stat"
	};
	const struct place p = { .env = env, .dir = ADMIN };
	const uint64_t n = read_number(&p, "nr_kdamonds", 0);
	size_t i;
	int r = 0;

	memset(ret, 0, sizeof(*ret));
	ret->is_denied = is_denied(env, ADMIN "nr_kdamonds");
	ret->is_partial = n > MOST;
	for (i = 0; r == 0 && i < n && i < MOST; i++)
		r = add_one(env, (unsigned)i, ret);
	for (i = 0; r == 0 && i < PDET_COUNT(modules); i++)
		r = add_module(env, modules[i], ret);
	return r;
}

void pdet_damons_free(struct pdet_damons *d)
{
	size_t i;

	for (i = 0; i < d->n; i++)
		pdet_vec_free(&d->data[i].targets);
	pdet_vec_free(d);
}

uint64_t pdet_damon_checks(const struct pdet_damon *d)
{
	return d->is_tuned || !d->sample_us ? 0 :
	       d->interval_us / d->sample_us;
}
