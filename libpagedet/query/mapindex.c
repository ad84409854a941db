/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Builds the mapping index and looks up pages in it. Each thread collects the
 * entries of whole tasks in blocks. Then all entries are sorted by frame.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "backend/spaces.h"
#include "base/clock.h"
#include "base/large.h"
#include "base/privilege.h"
#include "base/team.h"
#include "query/mapindex.h"
#include "query/mapindex_sort.h"
#include "query/sweep.h"

#define TASK_BITS PDET_MAPPING_TASK_BITS
#define PTE_BITS 16
#define RUN_MASK (((uint64_t)1 << PDET_MAPPING_RUN_BITS) - 1)
#define PLACE_BITS (PTE_BITS + PDET_MAPPING_RUN_BITS)
#define DEFAULT_PROGRESS_NS 200000000
#define BLOCK_ENTRIES (PDET_HUGE_PAGE / sizeof(struct pdet_mapping))

/* The entries of one task within a block. */
struct piece {
	size_t task;
	size_t number;		/* index within its part */
	struct pdet_mapping_chunk chunk;
};

struct pieces {
	struct piece *data;
	size_t n, cap;
};

struct pdet_mapindex {
	struct pdet_mapping *entry;
	size_t n;
	uint64_t mappings;	/* mappings that the entries stand for */
	uint64_t page_size;
	uint32_t *pids;		/* by task number */
	uint8_t *space;		/* the same: enum pdet_space_is */
	size_t n_pids;
	uint64_t lost;		/* tasks missing from the list */
	unsigned blind;		/* PDET_BLIND_* */
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
	struct part *parts;
	unsigned n_parts;
	atomic_size_t next;	/* next task */
	atomic_int error;	/* positive errno of the first failure */
	const struct part *failed; /* the part that failed first, with its error
				    * text */
	pthread_mutex_t lock;
	struct pdet_spaces spaces;
	uint64_t started_ns, told_ns; /* CLOCK_MONOTONIC */
};

/* Mappings that one thread has collected. */
struct part {
	struct builder *b;
	bool caller;		/* it runs on the caller's thread */
	struct pdet_session *session;
	struct {
		struct pdet_mapping **data;
		size_t n, cap;
	} blocks;
	size_t used;		/* entries of the last block */
	struct pieces pieces;
	struct pdet_found_list found;
	uint64_t mappings;	/* mappings that its entries stand for */
	unsigned blind;		/* PDET_BLIND_* */
};

/* Reports progress; on the caller's thread. */
static bool cancelled_by_caller(struct builder *b)
{
	struct pagedet_progress p = { .size = sizeof(p) };
	uint64_t now = pdet_clock_ns(CLOCK_MONOTONIC);

	if (now - b->told_ns < (b->args->progress_ns ? b->args->progress_ns :
						       DEFAULT_PROGRESS_NS))
		return false;
	b->told_ns = now;
	p.done = PDET_MIN(atomic_load(&b->next), b->ix->n_pids);
	p.total = b->ix->n_pids;
	p.elapsed_ns = now - b->started_ns;
	return b->args->progress(b->args->progress_user, &p);
}

static bool must_stop(void *part)
{
	const struct part *p = part;
	struct builder *b = p->b;
	int none = 0;

	if (p->caller && b->args->progress && cancelled_by_caller(b))
		atomic_compare_exchange_strong(&b->error, &none, ECANCELED);
	none = 0;
	if (b->args->deadline_ns &&
	    pdet_clock_ns(CLOCK_MONOTONIC) >= b->args->deadline_ns)
		atomic_compare_exchange_strong(&b->error, &none, ETIMEDOUT);
	if (b->args->stop && *b->args->stop)
		atomic_compare_exchange_strong(&b->error, &none, ECANCELED);
	return atomic_load_explicit(&b->error, memory_order_relaxed);
}

/* As cancelled_by_caller(), for the time when there are no parts yet. */
static bool nobody_waits(void *builder)
{
	struct part p = { .b = builder, .caller = true };

	return must_stop(&p);
}

/* A task that could not be read is a result, not an error. */
static void note_unread(struct part *p, uint32_t pid, int error)
{
	struct builder *b = p->b;

	if (pdet_is_zombie(p->session, pid, error))
		return;
	pthread_mutex_lock(&b->lock);
	if (error == -ESRCH) {
		b->ix->info.tasks_gone++;
	} else {
		b->ix->info.tasks_denied += error == -EACCES;
		b->ix->info.tasks_damaged += error != -EACCES;
		if (!pdet_vec_push(&b->ix->unread, pid))
			atomic_store(&b->error, ENOMEM);
	}
	pthread_mutex_unlock(&b->lock);
}

/*
 * Makes room at the end of the last block. Returns the number of entries that
 * fit, or 0 without memory.
 */
static size_t room(struct part *p)
{
	struct pdet_mapping *block;

	if (p->blocks.n && p->used < BLOCK_ENTRIES)
		return BLOCK_ENTRIES - p->used;
	block = pdet_large_alloc(BLOCK_ENTRIES * sizeof(*block));
	if (!block)
		return 0;
	if (!pdet_vec_push(&p->blocks, block)) {
		free(block);
		return 0;
	}
	p->used = 0;
	return BLOCK_ENTRIES;
}

/* The position in the areas found in a task. */
struct cursor {
	const struct pdet_found *f, *end;
	uint64_t done;		/* pages of f that are done */
};

/*
 * Makes at most @space entries, each for frames of one block. Returns their
 * number.
 */
static size_t make_entries(struct cursor *c, size_t task, unsigned shift,
			   struct pdet_mapping *to, size_t space)
{
	size_t n;

	for (n = 0; n < space && c->f < c->end; n++) {
		const uint64_t pfn = c->f->pfn + c->done;
		const uint64_t left = c->f->more + 1 - c->done;
		const uint64_t run = PDET_MIN(left, RUN_MASK + 1 -
						    (pfn & RUN_MASK));

		to[n].key = pfn << TASK_BITS | task;
		to[n].place = ((c->f->vaddr >> shift) + c->done) << PLACE_BITS |
			      (run - 1) << PTE_BITS |
			      (c->f->pte & (((uint64_t)1 << PTE_BITS) - 1));
		c->done += run;
		if (run == left) {
			c->f++;
			c->done = 0;
		}
	}
	return n;
}

static int keep(struct part *p, size_t task)
{
	const unsigned shift =
		(unsigned)__builtin_ctzll(p->b->args->page_size);
	struct cursor c = { p->found.data, p->found.data + p->found.n, 0 };
	size_t i;

	for (i = 0; i < p->found.n; i++)
		p->mappings += p->found.data[i].more + 1;
	while (c.f < c.end) {
		struct piece piece = { .task = task, .number = p->pieces.n };
		const size_t space = room(p);
		struct pdet_mapping *to;

		if (!space)
			return -ENOMEM;
		to = p->blocks.data[p->blocks.n - 1] + p->used;
		piece.chunk.data = to;
		piece.chunk.n = make_entries(&c, task, shift, to, space);
		for (i = 0; i < piece.chunk.n; i++)
			piece.chunk.bits |= to[i].key;
		p->used += piece.chunk.n;
		if (!pdet_vec_push(&p->pieces, piece))
			return -ENOMEM;
	}
	return 0;
}

/* Returns 0 or -ENOMEM. */
static int note_space(struct part *p, size_t task, const struct pdet_task *t)
{
	struct builder *b = p->b;
	int is;

	if (!p->found.n)
		return 0;
	pthread_mutex_lock(&b->lock);
	is = pdet_spaces_add(&b->spaces, p->session, t);
	pthread_mutex_unlock(&b->lock);
	b->ix->space[task] = (uint8_t)PDET_MAX(is, 0);
	return PDET_MIN(is, 0);
}

static int collect(struct part *p, size_t task)
{
	struct builder *b = p->b;
	const struct pdet_backend_ops *ops = b->args->backend->ops;
	const uint32_t pid = b->ix->pids[task];
	struct pdet_task *t;
	int r;

	p->found.n = 0;
	r = ops->task_open(p->session, pid, &t);
	if (r == 0) {
		r = pdet_sweep_task(p->session, t, NULL, b->args->page_size,
				    must_stop, p, &p->blind, &p->found);
		if ((r == 0 || r == -EBADMSG) && note_space(p, task, t) < 0)
			r = -ENOMEM;
		ops->task_close(t);
	}
	if (r == -ESRCH || r == -EACCES || r == -EBADMSG) {
		note_unread(p, pid, r);
		/* If a part of the task is damaged, the rest is still true. */
		if (r != -EBADMSG)
			return 0;
		r = 0;
	}
	return r ? PDET_MIN(r, 0) : keep(p, task);
}

static void collect_all(void *arg, unsigned who)
{
	struct builder *b = arg;
	struct part *p = &b->parts[who];
	size_t task;
	int r, none = 0;

	while (!must_stop(p)) {
		task = atomic_fetch_add(&b->next, 1);
		if (task >= b->ix->n_pids)
			break;
		r = collect(p, task);
		if (r < 0 &&
		    atomic_compare_exchange_strong(&b->error, &none, -r))
			b->failed = p;
	}
}

static int by_task(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Lists the pieces of all parts in the order of the tasks. */
static int gather(struct builder *b, struct pdet_mapping_chunk **ret,
		  size_t *n_ret)
{
	struct pieces all = { NULL, 0, 0 };
	struct pdet_mapping_chunk *chunks;
	size_t i;
	unsigned who;
	bool ok = true;

	for (who = 0; who < b->n_parts; who++)
		for (i = 0; i < b->parts[who].pieces.n && ok; i++)
			ok = pdet_vec_push(&all, b->parts[who].pieces.data[i]);
	chunks = ok ? calloc(all.n + 1, sizeof(*chunks)) : NULL;
	if (chunks && all.n)
		qsort(all.data, all.n, sizeof(*all.data), by_task);
	for (i = 0; chunks && i < all.n; i++)
		chunks[i] = all.data[i].chunk;
	*ret = chunks;
	*n_ret = all.n;
	pdet_vec_free(&all);
	return chunks ? 0 : -ENOMEM;
}

static int put_in_order(struct builder *b)
{
	struct pdet_mapping_chunk *chunks;
	unsigned who;
	size_t n;
	int r;

	for (who = 0; who < b->n_parts; who++) {
		b->ix->mappings += b->parts[who].mappings;
		b->ix->blind |= b->parts[who].blind;
	}
	r = gather(b, &chunks, &n);
	if (r < 0)
		return r;
	r = pdet_mapping_sort(chunks, n, b->n_parts, &b->ix->entry,
			      &b->ix->n);
	free(chunks);
	return r;
}

static int new_parts(struct builder *b)
{
	const struct pdet_mapindex_args *args = b->args;
	struct pdet_env env = *args->env;
	unsigned i;
	int r;

	b->parts = calloc(b->n_parts, sizeof(*b->parts));
	if (!b->parts)
		return -ENOMEM;
	for (i = 0; i < b->n_parts; i++) {
		b->parts[i].b = b;
		b->parts[i].caller = i == 0;
		if (i)
			env.log = NULL;
		r = args->backend->ops->session_new(args->backend, &env,
						    &b->wants,
						    &b->parts[i].session);
		if (r < 0) {
			pdet_take_words(args->env, &env);
			return r;
		}
		b->parts[i].session->stop = must_stop;
		b->parts[i].session->stop_arg = &b->parts[i];
	}
	return 0;
}

static void free_parts(struct builder *b)
{
	struct part *p;
	unsigned i;

	for (i = 0; b->parts && i < b->n_parts; i++) {
		p = &b->parts[i];
		while (p->blocks.n)
			free(p->blocks.data[--p->blocks.n]);
		pdet_vec_free(&p->blocks);
		pdet_vec_free(&p->pieces);
		pdet_vec_free(&p->found);
		if (p->session)
			b->args->backend->ops->session_free(p->session);
	}
	free(b->parts);
}

/* Sets the error text for what ended the work. */
static int explain(struct builder *b, int r)
{
	struct pdet_env *env = b->args->env;

	switch (r) {
	case -ECANCELED:
		return pdet_fail(env, ECANCELED,
				 "cannot finish the mapping index: it was cancelled");
	case -ETIMEDOUT:
		return pdet_fail(env, ETIMEDOUT,
				 "cannot finish the mapping index: the deadline passed");
	}
	if (!b->failed)
		return r;
	return pdet_fail(env, -r, "%s", b->failed->session->env.error);
}

static int run(struct builder *b)
{
	int r = new_parts(b);

	if (r < 0)
		return r;
	b->ix->info.first_ns = pdet_clock_ns(CLOCK_REALTIME);
	pdet_team_run(b->n_parts, collect_all, b);
	b->ix->info.last_ns = pdet_clock_ns(CLOCK_REALTIME);
	r = -atomic_load(&b->error);
	return r < 0 ? r : put_in_order(b);
}

/* If the call failed only because the query must stop, says so. */
static int in_time(struct builder *b, int r)
{
	const int stopped = atomic_load(&b->error);

	return stopped ? explain(b, -stopped) : r;
}

static int build(struct builder *b)
{
	const struct pdet_mapindex_args *args = b->args;
	struct pdet_mapindex *ix = b->ix;
	int r;

	r = args->backend->ops->tasks(args->backend, args->env, &ix->pids,
				      &ix->n_pids, &ix->lost);
	if (r < 0)
		return in_time(b, r);
	if (ix->n_pids >= (size_t)1 << TASK_BITS)
		return pdet_fail(args->env, EOVERFLOW, "too many tasks");
	r = args->backend->ops->prepare(args->backend, args->env, &b->wants);
	if (r < 0)
		return in_time(b, r);
	ix->space = calloc(ix->n_pids + 1, sizeof(*ix->space));
	if (!ix->space)
		return -ENOMEM;
	r = run(b);
	if (r < 0)
		return explain(b, r);
	if (ix->n || !(ix->info.tasks_denied + ix->info.tasks_damaged))
		return 0;
	if (ix->info.tasks_damaged)
		return pdet_fail(args->env, EBADMSG, "cannot see who maps "
				 "what: the areas (VMAs) or page tables of "
				 "tasks are damaged or not in the dump");
	r = pdet_fail(args->env, EACCES,
		      "cannot find mappings: no task may be read");
	pdet_advise_trace(args->env, "needs CAP_SYS_ADMIN and CAP_SYS_PTRACE");
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
	struct pdet_mapindex *ix = calloc(1, sizeof(*ix));
	struct builder b = { .args = args, .ix = ix };
	bool (*stop)(void *arg) = args->env->stop;
	void *const stop_arg = args->env->stop_arg;
	int r = -ENOMEM;

	b.n_parts = PDET_MAX(args->threads, 1u);
	b.wants.target = PAGEDET_TARGET_MAPPERS;
	b.wants.walks = true;
	b.started_ns = b.told_ns = pdet_clock_ns(CLOCK_MONOTONIC);
	if (ix && pthread_mutex_init(&b.lock, NULL) == 0) {
		ix->page_size = args->page_size;
		args->env->stop = nobody_waits;
		args->env->stop_arg = &b;
		r = build(&b);
		args->env->stop = stop;
		args->env->stop_arg = stop_arg;
		pthread_mutex_destroy(&b.lock);
	}
	free_parts(&b);
	pdet_spaces_free(&b.spaces);
	if (r == -ENOMEM)
		pdet_fail(args->env, ENOMEM, "no memory for the mapping index");
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
	free(ix->space);
	pdet_vec_free(&ix->unread);
	free(ix);
}

/*
 * The first entry of @block, or of a later one. A block holds the frames that
 * callers look up together.
 */
static size_t lower_bound(const struct pdet_mapindex *ix, uint64_t block)
{
	size_t low = 0, high = ix->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (ix->entry[mid].key >> PDET_MAPPING_BLOCK_SHIFT < block)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

unsigned pdet_mapindex_partial(const struct pdet_mapindex *ix)
{
	if (ix->info.tasks_denied)
		return PAGEDET_NO_ACCESS;
	return ix->info.tasks_damaged || ix->lost ? PAGEDET_CORRUPT : 0;
}

unsigned pdet_mapindex_blind(const struct pdet_mapindex *ix)
{
	return ix->blind;
}

/* The position of a search. */
struct search {
	const struct pdet_mapindex *ix;
	uint64_t pfn, block;
	size_t at;		/* the next entry */
	uint64_t nth;		/* the page of the last one */
};

static struct search begin_search(const struct pdet_mapindex *ix, uint64_t pfn)
{
	const uint64_t block = pfn >> PDET_MAPPING_RUN_BITS;

	return (struct search){ ix, pfn, block, lower_bound(ix, block), 0 };
}

/* Returns the next entry with a mapping of the page; NULL: there is none. */
static const struct pdet_mapping *next_entry(struct search *s)
{
	const struct pdet_mapping *e;

	for (; s->at < s->ix->n; s->at++) {
		e = &s->ix->entry[s->at];
		if (e->key >> PDET_MAPPING_BLOCK_SHIFT != s->block)
			return NULL;
		s->nth = s->pfn - (e->key >> TASK_BITS);
		/* If the entry's first frame is after it, this is large. */
		if (s->nth <= (e->place >> PTE_BITS & RUN_MASK)) {
			s->at++;
			return e;
		}
	}
	return NULL;
}

static size_t task_of(const struct pdet_mapping *e)
{
	return e->key & ((1u << TASK_BITS) - 1);
}

uint64_t pdet_mapindex_count(const struct pdet_mapindex *ix, uint64_t pfn,
			     uint64_t *unsure)
{
	struct search s = begin_search(ix, pfn);
	const struct pdet_mapping *e;
	uint64_t n = 0;

	*unsure = 0;
	while ((e = next_entry(&s))) {
		n += ix->space[task_of(e)] == PDET_SPACE_NEW;
		*unsure += ix->space[task_of(e)] == PDET_SPACE_UNSURE;
	}
	return n;
}

uint64_t pdet_mapindex_find(const struct pdet_mapindex *ix, uint64_t pfn,
			    struct pagedet_mapping *ret, uint64_t n)
{
	struct search s = begin_search(ix, pfn);
	const struct pdet_mapping *e;
	uint64_t found = 0;

	while ((e = next_entry(&s))) {
		if (found++ >= n)
			continue;
		ret->pfn = pfn;
		ret->pid = ix->pids[task_of(e)];
		ret->vaddr = ((e->place >> PLACE_BITS) + s.nth) * ix->page_size;
		ret->pte = e->place & ((1u << PTE_BITS) - 1);
		ret++;
	}
	return found;
}

void pdet_mapindex_info(const struct pdet_mapindex *ix,
			struct pdet_mapindex_info *ret)
{
	*ret = ix->info;
	ret->mappings = ix->mappings;
	ret->bytes = sizeof(*ix) + ix->n * sizeof(*ix->entry) +
		     ix->n_pids * (sizeof(*ix->pids) + sizeof(*ix->space)) +
		     ix->unread.cap * sizeof(*ix->unread.data);
	ret->unread = ix->unread.data;
	ret->n_unread = ix->unread.n;
}
