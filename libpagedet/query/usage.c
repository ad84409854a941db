/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Measures the memory usage of processes. First several threads read what the
 * kernel has counted. Then the other processes are walked, one after the other.
 */
#include <errno.h>
#include <stdlib.h>

#include "backend/usage_spaces.h"
#include "base/clock.h"
#include "base/privilege.h"
#include "base/sort.h"
#include "base/team.h"
#include "query/usage.h"
#include "query/usage_walk.h"

#define DEFAULT_PROGRESS_NS 200000000

struct usage {
	const struct pdet_usages_args *args;
	struct pdet_backend *backend;
	uint32_t *pids;
	size_t n;
	uint64_t lost;		/* processes missing from the list */
	struct pdet_usage *rows; /* one per pid */
	int *found;		/* for each row: 1, 0 or negative errno */
	size_t walked;		/* row of the process being walked */
	atomic_size_t next;
	atomic_int stopped;	/* positive errno */
	uint64_t started_ns, told_ns; /* CLOCK_MONOTONIC */
};

/*
 * Chooses among the allowed backends: the one with the kernel's counts, or else
 * the first that knows tasks.
 */
static struct pdet_backend *find_backend(const struct pdet_usages_args *args)
{
	const uint32_t sources = args->options->sources ?
		args->options->sources : args->sources;
	struct pdet_backend *found = NULL;
	size_t i;

	for (i = 0; i < args->n_backends; i++) {
		struct pdet_backend *b = args->backends[i];

		if (!b->ops->tasks || !b->ops->entries ||
		    !(b->sources & sources))
			continue;
		if (b->ops->usage)
			return b;
		found = found ? found : b;
	}
	return found;
}

/* Reports progress. Only on the caller's thread. */
static void tell(struct usage *u, uint64_t now, size_t done)
{
	const struct pagedet_usage_options *o = u->args->options;
	struct pagedet_progress p = { .size = sizeof(p) };
	int none = 0;

	if (!o->progress ||
	    now - u->told_ns < (o->progress_ns ? o->progress_ns :
						 DEFAULT_PROGRESS_NS))
		return;
	u->told_ns = now;
	p.done = done;
	p.total = u->n;
	p.elapsed_ns = now - u->started_ns;
	if (o->progress(o->progress_user, &p))
		atomic_compare_exchange_strong(&u->stopped, &none, ECANCELED);
}

static bool must_stop(struct usage *u, bool caller, size_t done)
{
	const uint64_t limit = u->args->options->deadline_ns;
	const uint64_t now = pdet_clock_ns(CLOCK_MONOTONIC);
	int none = 0;

	if (limit && now - u->started_ns >= limit)
		atomic_compare_exchange_strong(&u->stopped, &none, ETIMEDOUT);
	if (caller)
		tell(u, now, done);
	return atomic_load(&u->stopped);
}

static bool nobody_waits(void *usage)
{
	return must_stop(usage, true, 0);
}

static int list_all(struct usage *u)
{
	struct pdet_env *env = u->args->env;
	bool (*stop)(void *arg) = env->stop;
	void *const stop_arg = env->stop_arg;
	int r;

	env->stop = nobody_waits;
	env->stop_arg = u;
	r = u->backend->ops->tasks(u->backend, env, &u->pids, &u->n, &u->lost);
	env->stop = stop;
	env->stop_arg = stop_arg;
	if (r < 0 && atomic_load(&u->stopped))
		return pdet_fail(env, atomic_load(&u->stopped),
				 "the list of processes is not complete");
	return r;
}

/* Sorts pids ascending, and drops repeated ones. */
static int list_pids(struct usage *u)
{
	const struct pagedet_usage_options *o = u->args->options;
	size_t i;

	if (!o->pids)
		return list_all(u);
	u->pids = calloc(o->n_pids + 1, sizeof(*u->pids));
	if (!u->pids)
		return -ENOMEM;
	for (i = 0; i < o->n_pids; i++)
		u->pids[i] = o->pids[i];
	u->n = pdet_sort_once_u32(u->pids, o->n_pids);
	return 0;
}

static void count_some(void *arg, unsigned who)
{
	struct usage *u = arg;
	struct pdet_env env = *u->args->env;
	size_t i;

	env.log = NULL;
	for (;;) {
		i = atomic_fetch_add(&u->next, 1);
		if (i >= u->n || must_stop(u, who == 0, i))
			return;
		u->found[i] = u->backend->ops->usage(u->backend, &env,
						     u->pids[i], &u->rows[i]);
	}
}

/* Progress within one process. */
static int on_walk(void *arg, const struct pagedet_progress *now)
{
	struct usage *u = arg;

	(void)now;
	return must_stop(u, true, u->walked);
}

/* Walks the processes that are still -ENOTSUP. */
static int walk_rest(struct usage *u)
{
	const struct pdet_usages_args *args = u->args;
	struct pdet_usage_walk w = {
		.args = {
			.env = args->env, .backends = args->backends,
			.n_backends = args->n_backends,
			.sources = args->options->sources ?
				args->options->sources : args->sources,
			.page_size = args->page_size,
		},
	};
	size_t i;
	int r = 0;

	w.query.size = sizeof(w.query);
	w.query.row_size = sizeof(struct pagedet_page);
	if (args->options->progress) {
		w.query.progress = on_walk;
		w.query.progress_user = u;
		w.query.progress_ns = args->options->progress_ns;
	}
	if (args->options->deadline_ns) {
		const uint64_t gone = pdet_clock_ns(CLOCK_MONOTONIC) -
				      u->started_ns;

		w.query.deadline_ns = gone < args->options->deadline_ns ?
			args->options->deadline_ns - gone : 1;
	}
	pdet_usage_walk_init(&w);
	for (i = 0; i < u->n && !must_stop(u, true, i); i++) {
		if (u->found[i] != -ENOTSUP)
			continue;
		u->walked = i;
		r = pdet_usage_walk_next(&w, u->pids[i], &u->rows[i]);
		/* What another source calls a space cannot be compared. */
		if (w.it && w.it->walk->backend != u->backend)
			u->rows[i].space = u->rows[i].space_key = 0;
		if (r == -ETIMEDOUT || r == -ECANCELED)
			atomic_store(&u->stopped, -r);
		else
			u->found[i] = r;
		/*
		 * If an error does not concern a single process, it ends the
		 * call.
		 */
		if (r < 0 && r != -ESRCH && r != -EACCES && r != -EBADMSG &&
		    !atomic_load(&u->stopped))
			break;
		r = 0;
	}
	pdet_usage_walk_end(&w);
	return r;
}

static bool is_live(struct usage *u)
{
	struct pdet_kernel_info info = { .live = true };

	if (u->backend->ops->info)
		u->backend->ops->info(u->backend, u->args->env, &info);
	return info.live;
}

/*
 * Decides the result of a process whose RSS was counted, but whose page tables
 * were empty. In a captured tree, files may be missing, and processes do not
 * end.
 */
static int judge(struct usage *u, size_t i)
{
	struct pdet_usage *row = &u->rows[i];
	const int found = u->found[i];
	unsigned sum;

	if (row->row.state[PAGEDET_SUM_RSS] != PAGEDET_HAVE)
		return found;
	if (found == 0 || (found == -ESRCH && !is_live(u)))
		return 1;
	/* Page tables would be needed for the sums that have no count. */
	for (sum = 0; found == -EACCES && sum <= PAGEDET_SUM_HUGETLB; sum++)
		if (row->row.state[sum] == PAGEDET_UNSUPPORTED)
			row->row.state[sum] = PAGEDET_NO_ACCESS;
	return found;
}

/* Moves the rows of processes with any known value together. */
static int sum_up(struct usage *u, struct pdet_usages *ret)
{
	struct pagedet_usage_info *info = &ret->info;
	const size_t done = PDET_MIN(atomic_load(&u->next), u->n);
	size_t i;

	info->stopped = (uint32_t)atomic_load(&u->stopped);
	for (i = 0; i < done; i++) {
		struct pdet_usage *row = &u->rows[i];
		const int found = judge(u, i);
		const bool known = row->row.state[PAGEDET_SUM_RSS] ==
				   PAGEDET_HAVE;

		if (found == -ENOTSUP && info->stopped)
			continue;
		info->without_memory += found == 0;
		info->gone += found == -ESRCH;
		info->damaged += found == -EBADMSG;
		info->denied += found == -EACCES ||
			(found > 0 && row->row.state[PAGEDET_SUM_PSS] ==
			 PAGEDET_NO_ACCESS);
		if (found < 0 && found != -ESRCH && found != -EACCES &&
		    found != -EBADMSG)
			return pdet_fail(u->args->env, -found,
					 "cannot read the memory use of "
					 "process %u",
					 u->pids[i]);
		if (!known || found == -ESRCH)
			continue;
		row->row.pid = u->pids[i];
		if (found == -EBADMSG)
			row->row.estimated =
				(1u << (PAGEDET_SUM_HUGETLB + 1)) - 1;
		ret->rows[ret->n++] = *row;
	}
	info->processes = ret->n;
	info->complete = !info->stopped && !info->denied && !info->damaged &&
			 !u->lost;
	return 0;
}

/*
 * Adds advice if some processes may not be read. It is a failure if nothing is
 * known about any process, although processes exist.
 */
static int tell_denied(struct usage *u, const struct pdet_usages *ret)
{
	if (!ret->info.denied)
		return 0;
	if (!ret->n)
		pdet_fail(u->args->env, EACCES,
			  "cannot see what processes use: no process may be "
			  "read");
	pdet_advise_trace(u->args->env,
			  "needs the task's owner or CAP_SYS_PTRACE");
	return ret->n ? 0 : -EACCES;
}

static int ask(struct usage *u, struct pdet_usages *ret)
{
	size_t i;
	int r = list_pids(u);

	if (r < 0)
		return r;
	u->rows = calloc(u->n + 1, sizeof(*u->rows));
	u->found = calloc(u->n + 1, sizeof(*u->found));
	if (!u->rows || !u->found)
		return -ENOMEM;
	ret->rows = u->rows;
	for (i = 0; i < u->n; i++)
		u->found[i] = -ENOTSUP;
	if (u->backend->ops->usage)
		pdet_team_run(PDET_MAX(u->args->options->threads, 1u),
			      count_some, u);
	else
		atomic_store(&u->next, u->n);
	r = walk_rest(u);
	if (r < 0)
		return r;
	r = sum_up(u, ret);
	if (r == 0)
		r = pdet_usage_spaces(u->backend, u->args->env, ret->rows,
				      ret->n);
	return r < 0 ? r : tell_denied(u, ret);
}

int pdet_usages_new(const struct pdet_usages_args *args,
		    struct pdet_usages **ret)
{
	struct usage u = { .args = args };
	struct pdet_usages *usages;
	int r;

	u.backend = find_backend(args);
	if (!u.backend)
		return pdet_fail(args->env, ENOTSUP,
				 "no source here shows what processes use");
	usages = calloc(1, sizeof(*usages));
	if (!usages)
		return pdet_fail(args->env, ENOMEM, "no memory");
	u.started_ns = u.told_ns = pdet_clock_ns(CLOCK_MONOTONIC);
	r = ask(&u, usages);
	free(u.pids);
	free(u.found);
	if (r < 0) {
		usages->rows = u.rows;
		pdet_usages_free(usages);
		return r == -ENOMEM ? pdet_fail(args->env, ENOMEM,
						"no memory") : r;
	}
	*ret = usages;
	return 0;
}

void pdet_usages_free(struct pdet_usages *u)
{
	if (!u)
		return;
	free(u->rows);
	free(u);
}
