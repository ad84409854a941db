/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * DAMON's sysfs files, since Linux 5.18, and the parameters of its modules say
 * which threads run. A thread that neither of them names is not known. What is
 * in these files is for the next start or commit, and their times do not say
 * whether it is newer than the thread: sysfs sets them when a file is looked at
 * first. So a thread of sysfs monitors what the kernel's memory says.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/namespace.h"
#include "base/text/text.h"
#include "base/vec.h"
#include "heat/damon.h"

#define ADMIN "/sys/kernel/mm/damon/admin/kdamonds/"
#define MOST 64u		/* threads */

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

static int leave_out(struct pdet_damons *ret)
{
	ret->is_partial = true;
	return 0;
}

/* One of sysfs. */
static int add_one(const struct pdet_env *env, unsigned i,
		   struct pdet_damons *ret)
{
	struct place p = { .env = env };
	struct pdet_damon d = { .thread = 0 };

	snprintf(p.dir, sizeof(p.dir), ADMIN "%u/", i);
	d.thread = (uint32_t)read_number(&p, "pid", 0);
	if (!d.thread || !is_word(&p, "state", "on"))
		return 0;
	return pdet_vec_push(ret, d) ? 0 : -ENOMEM;
}

/* One of a module, which monitors physical memory. */
static int add_module(const struct pdet_env *env, const char *name,
		      struct pdet_damons *ret)
{
	struct place p = { .env = env };
	struct pdet_damon d = { .is_physical = true,
				.is_module = true };
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

/* --- what the kernel's memory says --- */

static int ask(struct pdet_env *env, struct pdet_backend *const *backends,
	       size_t n, uint32_t thread, struct pdet_damon_context *ret)
{
	size_t i;
	int r = 1;

	for (i = 0; r && r != -ENOMEM && i < n; i++)
		if (backends[i]->ops->damon)
			r = backends[i]->ops->damon(backends[i], env, thread,
						    ret);
	return r <= 0 ? r :
	       pdet_fail(env, ENOTSUP, "it takes the kernel's memory, of "
			 "which no source is open");
}

/* In another pid namespace the numbers of processes are those of others. */
static int take_targets(const struct pdet_env *env,
			const struct pdet_damon_context *c,
			struct pdet_damon *d)
{
	const bool here = pdet_first_namespace(env->root,
					       PDET_NAMESPACE_PID) == 1;
	struct pdet_damon_target t;
	size_t i;

	for (i = 0; i < c->targets.n; i++) {
		t.pid = c->targets.data[i];
		t.is_sure = here && t.pid;
		if (!pdet_vec_push(&d->targets, t))
			return -ENOMEM;
	}
	return 0;
}

int pdet_damon_read(struct pdet_damon *d, struct pdet_env *env,
		    struct pdet_backend *const *backends, size_t n)
{
	struct pdet_damon_context c = { .unit = 0 };
	int r = ask(env, backends, n, d->thread, &c);

	if (r < 0)
		return r;
	d->is_physical = c.is_physical;
	d->is_tuned = c.is_tuned;
	d->unit = c.unit;
	d->sample_us = c.sample_us;
	d->interval_us = c.interval_us;
	r = take_targets(env, &c, d);
	pdet_vec_free(&c.targets);
	d->is_read = r == 0;
	return d->is_read ? 0 : pdet_fail(env, ENOMEM, "no memory");
}

int pdet_damons_read(struct pdet_damons *d, struct pdet_env *env,
		     struct pdet_backend *const *backends, size_t n)
{
	size_t i, kept = 0;
	int r = 0;

	for (i = 0; i < d->n; i++) {
		struct pdet_damon *one = &d->data[i];

		if (r != -ENOMEM)
			r = pdet_damon_read(one, env, backends, n);
		if (one->is_read || one->is_module) {
			d->data[kept++] = *one;
			continue;
		}
		d->is_partial = true;
		pdet_vec_free(&one->targets);
	}
	d->n = kept;
	return r == -ENOMEM ? r : 0;
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
