/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Building and asking the mapping index. An entry is two words:
 *
 *   key    pfn << 24 | number of the task
 *   place  page number of the address << 16 | low 16 bits of pte
 *
 * so that sorting by key sorts by frame, then task. Threads collect entries
 * of whole tasks; one radix sort puts them in order.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "query/mapindex.h"
#include "query/sweep.h"

#define TASK_BITS 24
#define PTE_BITS 16
#define DEFAULT_PROGRESS_NS 200000000

struct entry {
	uint64_t key;
	uint64_t place;
};

struct entries {
	struct entry *data;
	size_t n, cap;
};

struct pdet_mapindex {
	struct entry *entry;
	size_t n;
	uint64_t page_size;
	uint32_t *pids;		/* by task number */
	size_t n_pids;
	struct pdet_mapindex_info info;
	struct {
		uint32_t *data;
		size_t n, cap;
	} unread;
};

struct builder {
	const struct pdet_mapindex_args *args;
	struct pdet_mapindex *ix;
	struct pdet_wants wants;
	atomic_size_t next;	/* task */
	atomic_int error;	/* positive errno of the first failure */
	pthread_mutex_t lock;
	uint64_t started_ns, told_ns; /* CLOCK_MONOTONIC */
};

struct part {
	struct builder *b;
	struct pdet_session *session;
	struct entries entries;
	struct pdet_found_list found;
	pthread_t thread;
	bool started;
	bool caller;		/* runs on the caller's thread */
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Tells the caller how far it is; on the caller's thread. */
static bool cancelled_by_caller(struct builder *b)
{
	struct pagedet_progress p = { .size = sizeof(p) };
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (now - b->told_ns < (b->args->progress_ns ? b->args->progress_ns :
						       DEFAULT_PROGRESS_NS))
		return false;
	b->told_ns = now;
	p.done = PDET_MIN(atomic_load(&b->next), b->ix->n_pids);
	p.total = b->ix->n_pids;
	p.elapsed_ns = now - b->started_ns;
	return b->args->progress(b->args->progress_user, &p);
}

static bool must_stop(struct builder *b, bool caller)
{
	int none = 0;

	if (caller && b->args->progress && cancelled_by_caller(b))
		atomic_compare_exchange_strong(&b->error, &none, ECANCELED);
	none = 0;
	if (b->args->deadline_ns &&
	    clock_ns(CLOCK_MONOTONIC) >= b->args->deadline_ns)
		atomic_compare_exchange_strong(&b->error, &none, ETIMEDOUT);
	if (b->args->stop && *b->args->stop)
		atomic_compare_exchange_strong(&b->error, &none, ECANCELED);
	return atomic_load(&b->error);
}

/* A task that could not be read is data. */
static void note_unread(struct builder *b, uint32_t pid, int error)
{
	pthread_mutex_lock(&b->lock);
	if (error == -ESRCH) {
		b->ix->info.tasks_gone++;
	} else {
		b->ix->info.tasks_denied++;
		if (!pdet_vec_push(&b->ix->unread, pid))
			atomic_store(&b->error, ENOMEM);
	}
	pthread_mutex_unlock(&b->lock);
}

static int collect(struct part *p, size_t task)
{
	struct builder *b = p->b;
	const struct pdet_backend_ops *ops = b->args->backend->ops;
	struct pdet_task *t;
	size_t i;
	int r;

	r = ops->task_open(p->session, b->ix->pids[task], &t);
	if (r == 0) {
		p->found.n = 0;
		r = pdet_sweep_task(p->session, t, NULL, b->args->page_size,
				    NULL, &p->found);
		ops->task_close(t);
	}
	if (r == -ESRCH || r == -EACCES) {
		note_unread(b, b->ix->pids[task], r);
		return 0;
	}
	if (r < 0)
		return r;
	for (i = 0; i < p->found.n; i++) {
		const struct pdet_found *f = &p->found.data[i];
		struct entry e = {
			f->pfn << TASK_BITS | task,
			f->vaddr / b->args->page_size << PTE_BITS |
				(f->pte & ((1u << PTE_BITS) - 1)),
		};

		if (!pdet_vec_push(&p->entries, e))
			return -ENOMEM;
	}
	return 0;
}

static void *collect_all(void *arg)
{
	struct part *p = arg;
	struct builder *b = p->b;
	size_t task;
	int r, none = 0;

	while (!must_stop(b, p->caller)) {
		task = atomic_fetch_add(&b->next, 1);
		if (task >= b->ix->n_pids)
			break;
		r = collect(p, task);
		if (r < 0)
			atomic_compare_exchange_strong(&b->error, &none, -r);
	}
	return NULL;
}

/*
 * LSD radix sort by key from bit @shift on, digits of 12 bits that differ
 * anywhere. Stable: what is in order already below that bit stays so.
 */
static struct entry *sort(struct entry *a, struct entry *tmp, size_t n,
			  unsigned shift)
{
	uint64_t all_or = 0, all_and = ~(uint64_t)0;
	size_t count[4096], i, sum, c;
	struct entry *swap;

	for (i = 0; i < n; i++) {
		all_or |= a[i].key;
		all_and &= a[i].key;
	}
	for (; shift < 64; shift += 12) {
		if (!((all_or ^ all_and) >> shift & 4095))
			continue;
		memset(count, 0, sizeof(count));
		for (i = 0; i < n; i++)
			count[a[i].key >> shift & 4095]++;
		for (i = 0, sum = 0; i < 4096; i++) {
			c = count[i];
			count[i] = sum;
			sum += c;
		}
		for (i = 0; i < n; i++)
			tmp[count[a[i].key >> shift & 4095]++] = a[i];
		swap = a;
		a = tmp;
		tmp = swap;
	}
	return a;
}

/* Joins the parts into one sorted array. */
static int join(struct pdet_mapindex *ix, struct part *parts, unsigned n)
{
	struct entry *all, *tmp, *sorted;
	size_t total = 0, at = 0;
	unsigned i;

	for (i = 0; i < n; i++)
		total += parts[i].entries.n;
	all = malloc((total + 1) * sizeof(*all));
	if (!all)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		if (parts[i].entries.n)
			memcpy(all + at, parts[i].entries.data,
			       parts[i].entries.n * sizeof(*all));
		at += parts[i].entries.n;
		pdet_vec_free(&parts[i].entries);
	}
	tmp = malloc((total + 1) * sizeof(*tmp));
	if (!tmp) {
		free(all);
		return -ENOMEM;
	}
	/* One thread collects task after task, in order. */
	sorted = sort(all, tmp, total, n == 1 ? TASK_BITS : 0);
	free(sorted == all ? tmp : all);
	ix->entry = sorted;
	ix->n = total;
	return 0;
}

static int start_parts(struct builder *b, struct part *parts, unsigned n)
{
	const struct pdet_mapindex_args *args = b->args;
	struct pdet_env env = *args->env;
	sigset_t all, before;
	unsigned i;
	int r;

	for (i = 0; i < n; i++) {
		parts[i].b = b;
		parts[i].caller = i == 0;
		if (i)
			env.log = NULL;
		r = args->backend->ops->session_new(args->backend, &env,
						    &b->wants,
						    &parts[i].session);
		if (r < 0)
			return r;
	}
	sigfillset(&all);
	if (n > 1 && pthread_sigmask(SIG_SETMASK, &all, &before) == 0) {
		for (i = 1; i < n; i++)
			parts[i].started =
				pthread_create(&parts[i].thread, NULL,
					       collect_all, &parts[i]) == 0;
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	collect_all(&parts[0]);
	return 0;
}

static int build(struct builder *b, struct part *parts, unsigned n)
{
	const struct pdet_mapindex_args *args = b->args;
	struct pdet_mapindex *ix = b->ix;
	unsigned i;
	int r;

	r = args->backend->ops->tasks(args->backend, args->env, &ix->pids,
				      &ix->n_pids);
	if (r < 0)
		return r;
	if (ix->n_pids >= (size_t)1 << TASK_BITS)
		return pdet_fail(args->env, EOVERFLOW, "too many tasks");
	r = args->backend->ops->prepare(args->backend, args->env, &b->wants);
	if (r < 0)
		return r;
	ix->info.first_ns = clock_ns(CLOCK_REALTIME);
	r = start_parts(b, parts, n);
	for (i = 0; i < n; i++)
		if (parts[i].started)
			pthread_join(parts[i].thread, NULL);
	ix->info.last_ns = clock_ns(CLOCK_REALTIME);
	if (r == 0)
		r = -atomic_load(&b->error);
	if (r == -ECANCELED)
		return pdet_fail(args->env, ECANCELED,
				 "cannot finish the mapping index: it was cancelled");
	if (r == -ETIMEDOUT)
		return pdet_fail(args->env, ETIMEDOUT,
				 "cannot finish the mapping index: the deadline passed");
	if (r < 0)
		return r;
	if (join(ix, parts, n) < 0)
		return pdet_fail(args->env, ENOMEM,
				 "no memory for the mapping index");
	if (ix->n || !ix->info.tasks_denied)
		return 0;
	r = pdet_fail(args->env, EACCES,
		      "cannot see who maps what: no task may be read");
	pdet_advise(args->env, "needs CAP_SYS_ADMIN and CAP_SYS_PTRACE");
	return r;
}

struct pdet_backend *pdet_mapindex_backend(struct pdet_backend *const *list,
					   size_t n, uint32_t sources)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (list[i]->ops->mappings && list[i]->sources & sources)
			return list[i];
	return NULL;
}

int pdet_mapindex_new(const struct pdet_mapindex_args *args,
		      struct pdet_mapindex **ret)
{
	unsigned n = PDET_MAX(args->threads, 1u), i;
	struct pdet_mapindex *ix = calloc(1, sizeof(*ix));
	struct part *parts = calloc(n, sizeof(*parts));
	struct builder b = { .args = args, .ix = ix };
	int r = -ENOMEM;

	atomic_init(&b.next, 0);
	atomic_init(&b.error, 0);
	b.wants.target = PAGEDET_TARGET_MAPPERS;
	b.started_ns = b.told_ns = clock_ns(CLOCK_MONOTONIC);
	if (ix && parts && pthread_mutex_init(&b.lock, NULL) == 0) {
		ix->page_size = args->page_size;
		r = build(&b, parts, n);
		pthread_mutex_destroy(&b.lock);
	}
	for (i = 0; parts && i < n; i++) {
		pdet_vec_free(&parts[i].entries);
		pdet_vec_free(&parts[i].found);
		if (parts[i].session)
			args->backend->ops->session_free(parts[i].session);
	}
	free(parts);
	if (r < 0) {
		pdet_mapindex_free(ix);
		return r;
	}
	ix->info.tasks = ix->n_pids;
	*ret = ix;
	return 0;
}

void pdet_mapindex_free(struct pdet_mapindex *ix)
{
	if (!ix)
		return;
	free(ix->entry);
	free(ix->pids);
	pdet_vec_free(&ix->unread);
	free(ix);
}

/* The first entry of @pfn or of a later frame. */
static size_t lower_bound(const struct pdet_mapindex *ix, uint64_t pfn)
{
	size_t low = 0, high = ix->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (ix->entry[mid].key >> TASK_BITS < pfn)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

uint64_t pdet_mapindex_count(const struct pdet_mapindex *ix, uint64_t pfn)
{
	return lower_bound(ix, pfn + 1) - lower_bound(ix, pfn);
}

uint64_t pdet_mapindex_find(const struct pdet_mapindex *ix, uint64_t pfn,
			    struct pagedet_mapping *ret, uint64_t n)
{
	size_t first = lower_bound(ix, pfn), i;

	for (i = first; i < ix->n && ix->entry[i].key >> TASK_BITS == pfn;
	     i++) {
		const struct entry *e = &ix->entry[i];

		if (i - first >= n)
			continue;
		ret[i - first].pfn = pfn;
		ret[i - first].pid =
			ix->pids[e->key & ((1u << TASK_BITS) - 1)];
		ret[i - first].vaddr =
			(e->place >> PTE_BITS) * ix->page_size;
		ret[i - first].pte = e->place & ((1u << PTE_BITS) - 1);
	}
	return i - first;
}

void pdet_mapindex_info(const struct pdet_mapindex *ix,
			struct pdet_mapindex_info *ret)
{
	*ret = ix->info;
	ret->mappings = ix->n;
	ret->bytes = sizeof(*ix) + ix->n * sizeof(*ix->entry) +
		     ix->n_pids * sizeof(*ix->pids) +
		     ix->unread.cap * sizeof(*ix->unread.data);
	ret->unread = ix->unread.data;
	ret->n_unread = ix->unread.n;
}
