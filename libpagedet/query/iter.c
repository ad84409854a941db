/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A question from its copy to its last batch: makes the plan and the walk,
 * starts the engine, and hands out listings, runs or groups.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "query/mapindex.h"
#include "query/query.h"
#include "query/run.h"
#include "schema/snapshot_read.h"

#define DEFAULT_STRING_BYTES ((uint64_t)8 << 20)
#define DEFAULT_PROGRESS_NS 200000000

/* Rows of a batch: enough that calls do not matter, few enough that a thread's
 * columns stay in its cache. */
#define MAX_ROWS 4096
#define MIN_ROWS 256
#define FEW_ROWS 16
#define BATCH_BYTES (512u << 10)
/* The same for bytes of their pages, where those are read. */
#define PAGE_BYTES (1u << 20)

static bool is_single_page_target(uint32_t target)
{
	switch (target) {
	case PAGEDET_TARGET_PFN:
	case PAGEDET_TARGET_PHYS:
	case PAGEDET_TARGET_VIRT:
	case PAGEDET_TARGET_KADDR:
	case PAGEDET_TARGET_MAPPERS:
	case PAGEDET_TARGET_LOG:
		return true;
	default:
		return false;
	}
}

static int copy_question(struct pdet_iter *it, const struct pagedet_query *q)
{
	struct pdet_question *to = &it->q;

	to->target = q->target;
	to->options = q->options;
	to->limit = q->limit;
	to->string_bytes = q->string_bytes ? q->string_bytes :
					     DEFAULT_STRING_BYTES;
	to->deadline_ns = q->deadline_ns ? it->first_ns + q->deadline_ns : 0;
	to->threads = PDET_MAX(q->threads, 1u);
	to->progress = q->progress;
	to->progress_user = q->progress_user;
	to->progress_ns = q->progress_ns ? q->progress_ns :
					   DEFAULT_PROGRESS_NS;
	to->n_group_by = q->n_group_by;
	to->grouped = q->options & PAGEDET_Q_GROUP || q->n_group_by;
	if (q->path) {
		to->path = strdup(q->path);
		if (!to->path)
			return -ENOMEM;
	}
	if (q->where) {
		to->where = strdup(q->where);
		if (!to->where)
			return -ENOMEM;
	}
	if (to->n_group_by) {
		to->group_by = malloc(to->n_group_by * sizeof(uint32_t));
		if (!to->group_by)
			return -ENOMEM;
		memcpy(to->group_by, q->group_by,
		       to->n_group_by * sizeof(uint32_t));
	}
	to->items_cap = PDET_MAX(q->n_items, (uint64_t)1);
	to->items = calloc(to->items_cap, sizeof(*to->items));
	if (!to->items)
		return -ENOMEM;
	if (q->n_items)
		memcpy(to->items, q->items, q->n_items * sizeof(*to->items));
	to->n_items = q->n_items;
	return 0;
}

static int make_plan(struct pdet_iter *it, const struct pdet_iter_args *args)
{
	struct pdet_plan_args p;
	uint64_t i;

	memset(&p, 0, sizeof(p));
	p.env = it->env;
	p.backends = it->backends;
	p.n_backends = it->n_backends;
	p.sources = args->sources;
	p.target = it->q.target;
	p.cheap = it->q.options & PAGEDET_Q_CHEAP;
	p.few = is_single_page_target(it->q.target);
	p.single_source = it->q.options & PAGEDET_Q_SINGLE_SOURCE;
	p.text_only = it->text_only;
	p.holes = it->q.options & PAGEDET_Q_HOLES;
	p.counts = it->q.index ||
		   pdet_mapindex_backend(it->backends, it->n_backends,
					 ~(uint32_t)0);
	if (it->saved)
		p.saved = &pdet_snapshot_about(it->saved)->fields;
	p.fields = args->fields;
	if (it->filter)
		p.filter = pdet_filter_fields(it->filter);
	if (it->q.target == PAGEDET_TARGET_CGROUP)
		pdet_fields_add(&p.filter, PAGEDET_FIELD_MEMCG_INO);
	for (i = 0; i < it->q.n_group_by; i++)
		pdet_fields_add(&p.group, it->q.group_by[i]);
	if (it->q.options & PAGEDET_Q_RUNS)
		pdet_fields_add(&p.fields, PAGEDET_FIELD_PAGES);
	/* Groups are shown by their keys and nothing else. */
	if (it->q.grouped) {
		p.cheap = false;
		memset(&p.fields, 0, sizeof(p.fields));
	}
	return pdet_plan_build(&p, &it->plan);
}

/* Whether groups need nothing of a single page: then files only count. */
static bool is_count_only(const struct pdet_iter *it)
{
	uint64_t i;

	if (!it->q.grouped || it->filter)
		return false;
	switch (it->q.target) {
	case PAGEDET_TARGET_FILE:
	case PAGEDET_TARGET_TREE:
	case PAGEDET_TARGET_MOUNT:
	case PAGEDET_TARGET_BLOCK:
		break;
	default:
		return false;
	}
	for (i = 0; i < it->q.n_group_by; i++)
		switch (it->q.group_by[i]) {
		case PAGEDET_FIELD_KIND:
		case PAGEDET_FIELD_DEV:
		case PAGEDET_FIELD_INODE:
		case PAGEDET_FIELD_PATH:
			break;
		default:
			return false;
		}
	return true;
}

/* Whether neighbouring frames with the same answers may be counted as one row:
 * all that is looked at is the same for all of them. */
static bool may_fold(const struct pdet_iter *it)
{
	static const uint8_t same[] = {
		PAGEDET_FIELD_KIND, PAGEDET_FIELD_FLAGS,
		PAGEDET_FIELD_FLAGS_KNOWN, PAGEDET_FIELD_RAW_FLAGS,
		PAGEDET_FIELD_REFCOUNT, PAGEDET_FIELD_MAPCOUNT,
		PAGEDET_FIELD_MEMCG_INO, PAGEDET_FIELD_MEMCG_PATH,
		PAGEDET_FIELD_MEMCG_NAME, PAGEDET_FIELD_PAGES,
		/* identifies rows: looked at by nobody in groups, and that
		 * of the first one in runs */
		PAGEDET_FIELD_PFN,
	};
	struct pdet_fields rest = it->plan.columns;
	uint64_t i;

	/* With a filter sources are asked twice, for one part of the columns
	 * and the other: rows must stay what they were. */
	if (!(it->q.grouped || it->q.options & PAGEDET_Q_RUNS) ||
	    it->q.target != PAGEDET_TARGET_SCAN || it->filter)
		return false;
	for (i = 0; i < PDET_COUNT(same); i++)
		pdet_fields_remove(&rest, same[i]);
	for (i = 0; i < it->q.n_group_by; i++)
		if (it->q.group_by[i] == PAGEDET_FIELD_PFN)
			return false;
	return pdet_fields_empty(&rest);
}

/* How many rows a question about single places can have. */
static uint64_t few_rows(const struct pdet_iter *it)
{
	uint64_t rows = 0, unit, i;

	switch (it->q.target) {
	case PAGEDET_TARGET_PFN:
	case PAGEDET_TARGET_KADDR:
		unit = 1;
		break;
	case PAGEDET_TARGET_PHYS:
	case PAGEDET_TARGET_VIRT:
		unit = it->page_size;
		break;
	default:
		return UINT64_MAX;
	}
	for (i = 0; i < it->q.n_items; i++) {
		/* a range may begin and end inside a page */
		uint64_t pages = it->q.items[i].count / unit + 2;

		if (pages > MAX_ROWS || rows > MAX_ROWS)
			return UINT64_MAX;
		rows += pages;
	}
	return rows;
}

/* A question about one page should not pay for columns of thousands. */
static uint32_t batch_rows(const struct pdet_iter *it)
{
	uint64_t few = few_rows(it);
	uint32_t columns = 0, rows;
	unsigned f;

	if (few <= FEW_ROWS)
		return FEW_ROWS;

	pdet_fields_for(f, &it->plan.columns)
		columns++;
	if (pdet_fields_has(&it->plan.columns, PAGEDET_FIELD_CONTENT))
		return PDET_MAX(PAGE_BYTES / (uint32_t)it->page_size,
				(uint32_t)FEW_ROWS);
	rows = BATCH_BYTES / (columns * 10);
	return PDET_MIN(PDET_MAX(rows, (uint32_t)MIN_ROWS),
			(uint32_t)MAX_ROWS);
}

static int make_walk(struct pdet_iter *it)
{
	switch (it->q.target) {
	case PAGEDET_TARGET_SCAN:
		if (it->saved)
			return pdet_walk_saved(it, &it->walk);
		return pdet_walk_pfn(it, &it->walk);
	case PAGEDET_TARGET_PFN:
	case PAGEDET_TARGET_PHYS:
	case PAGEDET_TARGET_CGROUP:
		return pdet_walk_pfn(it, &it->walk);
	case PAGEDET_TARGET_VIRT:
		return pdet_walk_virt(it, &it->walk);
	case PAGEDET_TARGET_TASK:
		return pdet_walk_task(it, &it->walk);
	case PAGEDET_TARGET_FILE:
	case PAGEDET_TARGET_TREE:
	case PAGEDET_TARGET_MOUNT:
	case PAGEDET_TARGET_BLOCK:
		return pdet_walk_file(it, &it->walk);
	case PAGEDET_TARGET_MAPPERS:
		return pdet_walk_mappers(it, &it->walk);
	case PAGEDET_TARGET_KADDR:
		return pdet_walk_kaddr(it, &it->walk);
	case PAGEDET_TARGET_LOG:
		return pdet_walk_log(it, &it->walk);
	default:
		return pdet_fail(it->env, EINVAL, "there is no target %u",
				 it->q.target);
	}
}

/* What the query wants of one backend; whether it wants anything. */
static bool used(const struct pdet_iter *it, size_t i)
{
	unsigned step;

	if (it->wants[i].walks)
		return true;
	for (step = 0; step < it->plan.n_steps; step++)
		if (it->plan.steps[step].backend == i)
			return true;
	return false;
}

/* Whether groups are told apart by nothing but the kind. */
static bool is_by_kind(const struct pdet_iter *it)
{
	uint64_t i;

	for (i = 0; i < it->q.n_group_by; i++)
		if (it->q.group_by[i] != PAGEDET_FIELD_KIND)
			return false;
	return true;
}

static int prepare(struct pdet_iter *it)
{
	struct pdet_wants wants = {
		.fields = it->plan.columns,
		.target = it->q.target,
		.fold = it->fold && it->q.grouped,
		.kinds = it->fold && it->q.grouped && is_by_kind(it),
		.runs = it->fold && !it->q.grouped,
		.alone = it->q.threads == 1,
		.deadline_ns = it->q.deadline_ns,
		.perturb = !(it->q.options & PAGEDET_Q_CHEAP) &&
			few_rows(it) <= FEW_ROWS &&
			pdet_fields_has(&it->plan.columns,
					PAGEDET_FIELD_NOTES),
	};
	const int walker = pdet_walker(it);
	size_t i;
	int r;

	for (i = 0; i < it->n_backends; i++) {
		wants.walks = walker == (int)i;
		wants.stacks = wants.walks &&
			       it->q.options & PAGEDET_Q_TASK_STACKS;
		it->wants[i] = wants;
		it->asked[i] = used(it, i);
		if (!it->asked[i])
			continue;
		r = it->backends[i]->ops->prepare(it->backends[i], it->env,
						  &it->wants[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

static int begin(struct pdet_iter *it)
{
	struct pdet_worker *k = &it->workers[0];
	int r;

	if (!it->walk->ops->begin)
		return 0;
	r = it->walk->ops->begin(it->walk, k);
	if (r < 0 && pdet_session_of(k, it->walk)->env.error[0]) {
		struct pdet_env *env = &pdet_session_of(k, it->walk)->env;

		memcpy(it->env->error, env->error, sizeof(env->error));
		memcpy(it->env->advice, env->advice, sizeof(env->advice));
	}
	return r;
}

/* What the caller sees of groups and runs. */
static int make_output(struct pdet_iter *it)
{
	struct pdet_fields keys = { { 0, 0 } };
	uint64_t i;

	if (it->q.grouped) {
		for (i = 0; i < it->q.n_group_by; i++)
			pdet_fields_add(&keys, it->q.group_by[i]);
		pdet_fields_add(&keys, PAGEDET_FIELD_PAGES);
		it->group = pdet_group_new(it->q.group_by, it->q.n_group_by,
					   it->q.string_bytes);
		return it->group && pdet_batch_init(&it->out, &keys, MAX_ROWS,
						    it->q.string_bytes) ?
			       0 : -ENOMEM;
	}
	if (it->q.options & PAGEDET_Q_RUNS) {
		it->run = pdet_run_new(&it->plan.wanted, it->rows_per_batch,
				       it->q.string_bytes, it->page_size);
		return it->run ? 0 : -ENOMEM;
	}
	return 0;
}

/* Whether all comes from the walk's own backend, without a filter. */
static bool may_glance(const struct pdet_iter *it)
{
	const struct pdet_plan *plan = &it->plan;

	return it->walk->ops->glance && it->n_workers == 1 &&
	       !it->filter && !it->q.grouped && !it->saved &&
	       !(it->q.options & PAGEDET_Q_RUNS) &&
	       (!plan->n_steps ||
		(plan->n_steps == 1 &&
		 plan->steps[0].backend == it->walk->index));
}

/* Whether rows are those of a file. */
static void find_saved(struct pdet_iter *it)
{
	const int i = pdet_walker(it);

	it->rows_of = it->q.target;
	if (i < 0 || !it->backends[i]->ops->saved ||
	    it->q.target == PAGEDET_TARGET_LOG)
		return;
	it->saved = it->backends[i]->ops->saved(it->backends[i]);
	if (it->q.target == PAGEDET_TARGET_SCAN)
		it->rows_of = pdet_snapshot_about(it->saved)->target;
}

static int set_up(struct pdet_iter *it, const struct pdet_iter_args *args)
{
	int r;

	r = copy_question(it, args->query);
	if (r < 0)
		return r;
	it->q.index = args->index;
	r = pdet_cgroup_by_tasks(it);
	if (r < 0)
		return r;
	if (args->query->where) {
		r = pdet_filter_new(it->env, args->query->where, &it->filter);
		if (r < 0)
			return r;
	}
	find_saved(it);
	r = make_plan(it, args);
	if (r < 0)
		return r;
	it->count_only = is_count_only(it);
	it->fold = may_fold(it);
	if (it->count_only || it->fold)
		pdet_fields_add(&it->plan.columns, PAGEDET_FIELD_PAGES);
	if (it->q.options & PAGEDET_Q_TASK_STACKS)
		pdet_fields_add(&it->plan.columns, PAGEDET_FIELD_PID);
	/* Those of users are counted. */
	if (it->q.target == PAGEDET_TARGET_MAPPERS)
		pdet_fields_add(&it->plan.columns, PAGEDET_FIELD_MAP);
	it->rows_per_batch = batch_rows(it);
	r = prepare(it);
	if (r < 0)
		return r;
	r = make_walk(it);
	if (r < 0)
		return r;
	it->walk->partial |= it->by_tasks;
	it->n_workers = it->walk->serial ? 1 : it->q.threads;
	it->may_glance = may_glance(it);
	r = pdet_engine_start(it);
	if (r == 0)
		r = make_output(it);
	return r < 0 ? r : begin(it);
}

int pdet_iter_new(const struct pdet_iter_args *args, struct pdet_iter **ret)
{
	struct pdet_iter *it = calloc(1, sizeof(*it));
	int r;

	if (!it)
		return pdet_fail(args->env, ENOMEM, "no memory");
	it->env = args->env;
	it->backends = args->backends;
	it->n_backends = args->n_backends;
	it->first_ns = pdet_clock_ns(CLOCK_MONOTONIC);
	it->page_size = args->page_size;
	it->text_only = args->query->target == PAGEDET_TARGET_LOG &&
		args->query->sources == PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_LOG);
	atomic_init(&it->stopped, 0);
	atomic_init(&it->next_string, PDET_STRING_STRIDE);
	atomic_init(&it->done, 0);
	pdet_strtab_init(&it->kept, (uint64_t)1 << 62, SIZE_MAX / 2);
	if (pthread_mutex_init(&it->lock, NULL) ||
	    pthread_cond_init(&it->work, NULL) ||
	    pthread_cond_init(&it->ready, NULL)) {
		free(it);
		return pdet_fail(args->env, ENOMEM, "no memory");
	}
	r = set_up(it, args);
	if (r < 0) {
		if (r == -ENOMEM && !args->env->error[0])
			pdet_fail(args->env, ENOMEM, "no memory");
		pdet_iter_free(it);
		return r;
	}
	*ret = it;
	return 0;
}

void pdet_iter_free(struct pdet_iter *it)
{
	if (!it)
		return;
	pdet_engine_stop(it);
	if (it->walk)
		it->walk->ops->free(it->walk);
	pdet_mapindex_free(it->own_index);
	pdet_filter_free(it->filter);
	pdet_plan_free(&it->plan);
	pdet_group_free(it->group);
	pdet_run_free(it->run);
	pdet_batch_free(&it->out);
	pdet_strtab_free(&it->kept);
	pdet_text_free(&it->task_stack);
	pdet_stacks_clear(&it->stacks);
	pthread_cond_destroy(&it->work);
	pthread_cond_destroy(&it->ready);
	pthread_mutex_destroy(&it->lock);
	free(it->q.items);
	free(it->q.path);
	free(it->q.where);
	free(it->q.group_by);
	free(it);
}

/* The words for why it stopped. */
static int say_stopped(struct pdet_iter *it, int r)
{
	switch (r) {
	case -ETIMEDOUT:
		return pdet_fail(it->env, ETIMEDOUT, "the deadline passed");
	case -ECANCELED:
		return pdet_fail(it->env, ECANCELED, "the query was cancelled");
	default:
		break;
	}
	if (it->error[0]) {
		memcpy(it->env->error, it->error, sizeof(it->error));
		memcpy(it->env->advice, it->advice, sizeof(it->advice));
	} else if (r == -ENOMEM) {
		pdet_fail(it->env, ENOMEM, "no memory");
	}
	return r;
}

/* user_maps without an index of the caller's needs one of our own. */
static int build_index(struct pdet_iter *it)
{
	struct pdet_mapindex_args args;
	int r;

	if (it->q.index || it->own_index || it->text_only ||
	    atomic_load(&it->stopped) ||
	    !pdet_fields_has(&it->plan.columns, PAGEDET_FIELD_USER_MAPS) ||
	    it->plan.why[PAGEDET_FIELD_USER_MAPS] != PAGEDET_HAVE)
		return 0;
	memset(&args, 0, sizeof(args));
	args.env = it->env;
	args.page_size = it->page_size;
	args.threads = it->q.threads;
	args.deadline_ns = it->q.deadline_ns;
	args.stop = (const volatile int *)&it->stopped;
	args.backend = pdet_mapindex_backend(it->backends, it->n_backends,
					     ~(uint32_t)0);
	if (!args.backend)
		return 0;
	r = pdet_mapindex_new(&args, &it->own_index);
	/* Nobody may be looked at: then the field says so in every row. */
	if (r == -EACCES) {
		it->plan.why[PAGEDET_FIELD_USER_MAPS] = PAGEDET_NO_ACCESS;
		return 0;
	}
	if (r < 0)
		return r;
	it->q.index = it->own_index;
	return 0;
}

static uint64_t string_base(struct pdet_iter *it)
{
	return atomic_fetch_add_explicit(&it->next_string, PDET_STRING_STRIDE,
					 memory_order_relaxed);
}

static int step_groups(struct pdet_iter *it, struct pdet_batch **ret)
{
	size_t n, i;
	int r;

	if (!it->grouped_done) {
		it->grouped_done = true;
		r = pdet_engine_group(it);
		/* What was counted is still right: it is handed out, and the
		 * coverage says that it is not all. */
		if (r < 0 && r != -ETIMEDOUT && r != -ECANCELED)
			it->group_error = r;
	}
	if (it->group_error)
		return say_stopped(it, it->group_error);
	n = PDET_MIN(pdet_group_count(it->group) - it->group_at,
		     (size_t)it->out.cap);
	if (!n) {
		r = -atomic_load(&it->stopped);
		return r ? say_stopped(it, r) : 0;
	}
	pdet_batch_clear(&it->out, string_base(it));
	pdet_batch_grow(&it->out, (uint32_t)n);
	for (i = 0; i < n; i++)
		pdet_group_get(it->group, it->group_at + i, &it->out,
			       (uint32_t)i);
	it->group_at += n;
	*ret = &it->out;
	return 1;
}

/* Texts for which runs had no memory. */
static void count_lost_texts(struct pdet_iter *it)
{
	uint64_t lost = pdet_run_lost(it->run);

	if (!lost)
		return;
	pthread_mutex_lock(&it->lock);
	it->cover.lost[PAGEDET_NO_MEMORY] += lost;
	it->cover.any_lost = true;
	pthread_mutex_unlock(&it->lock);
}

static int step_runs(struct pdet_iter *it, struct pdet_batch **ret)
{
	int r = 1;

	for (;;) {
		if (!it->current || it->cursor == it->current->n) {
			it->current = NULL;
			r = it->ended ? 0 : pdet_engine_next(it, &it->current);
			it->cursor = 0;
			if (r <= 0)
				break;
		}
		if (pdet_run_fold(it->run, it->current, &it->cursor,
				  string_base(it))) {
			*ret = pdet_run_take(it->run, false);
			count_lost_texts(it);
			return 1;
		}
	}
	if (it->ended)
		return 0;
	it->ended = true;
	it->current = NULL;
	*ret = pdet_run_take(it->run, true);
	count_lost_texts(it);
	if ((*ret)->n)
		return 1;
	return r < 0 ? say_stopped(it, r) : 0;
}

/* Strings that must outlive their batch get ids of their own. */
static int keep_strings(struct pdet_iter *it, struct pdet_batch *b)
{
	unsigned f;
	uint32_t row;

	pdet_fields_for(f, &b->have) {
		unsigned type = pdet_field_info(f)->type;

		if (type != PAGEDET_TYPE_STRING && type != PAGEDET_TYPE_LIST)
			continue;
		for (row = 0; row < b->n; row++) {
			const char *text;
			size_t len;

			if (pdet_batch_state(b, row, f) != PAGEDET_HAVE)
				continue;
			text = pdet_strtab_get(&b->strings, b->value[f][row],
					       &len);
			if (!text)
				continue;
			b->value[f][row] = pdet_strtab_add(&it->kept, text,
							   len);
			if (!b->value[f][row])
				return -ENOMEM;
		}
	}
	return 0;
}

void pdet_iter_any_runs(struct pdet_iter *it)
{
	if (!it->run || it->current || it->ended)
		return;
	pdet_run_free(it->run);
	it->run = NULL;
}

int pdet_iter_step(struct pdet_iter *it, struct pdet_batch **ret)
{
	struct pdet_batch *b = NULL;
	int r;

	if (it->q.limit && it->rows >= it->q.limit)
		return 0;
	if (it->stacks.list.n && !(it->q.options & PAGEDET_Q_KEEP_STRINGS))
		pdet_stacks_clear(&it->stacks);
	r = build_index(it);
	if (r < 0) {
		/* That was the answer: asking again gives the same. */
		pdet_iter_stop(it, -r, it->env);
		return r;
	}
	if (it->q.grouped)
		r = step_groups(it, &b);
	else if (it->run)
		r = step_runs(it, &b);
	else
		r = pdet_engine_next(it, &b);
	if (r < 0 && !it->q.grouped && !it->run)
		return say_stopped(it, r);
	if (r <= 0)
		return r;
	if (it->q.limit && b->n > it->q.limit - it->rows)
		pdet_batch_cut(b, (uint32_t)(it->q.limit - it->rows));
	it->rows += b->n;
	if (it->q.options & PAGEDET_Q_KEEP_STRINGS) {
		r = keep_strings(it, b);
		if (r < 0)
			return say_stopped(it, r);
	}
	*ret = b;
	return 1;
}

int pdet_iter_retarget(struct pdet_iter *it, const struct pagedet_item *items,
		       uint64_t n)
{
	struct pagedet_item *bigger;
	size_t i;
	int r;

	if (!it->walk->ops->retarget || it->q.grouped || it->by_tasks)
		return pdet_fail(it->env, EINVAL,
				 "this query cannot be asked about other places");
	if (it->n_workers > 1)
		return pdet_fail(it->env, EINVAL,
				 "only a query with one thread can be asked about other places");
	if (n > it->q.items_cap) {
		bigger = realloc(it->q.items, n * sizeof(*bigger));
		if (!bigger)
			return pdet_fail(it->env, ENOMEM, "no memory");
		it->q.items = bigger;
		it->q.items_cap = n;
	}
	if (n == 1)
		it->q.items[0] = items[0];
	else
		memcpy(it->q.items, items, n * sizeof(*items));
	it->q.n_items = n;
	it->walk_ended = false;
	it->ended = false;
	it->glance = it->may_glance && n == 1;
	it->slots[0].more = false;
	it->rows = 0;
	it->resume = 0;
	pdet_cover_clear(&it->cover);
	pdet_cover_clear(&it->workers[0].cover);
	for (i = 0; i < it->n_backends; i++)
		atomic_store_explicit(&it->places[i], 0, memory_order_relaxed);
	/* One thread; the full barrier costs a tenth of a look-up. */
	atomic_store_explicit(&it->stopped, 0, memory_order_relaxed);
	r = it->walk->ops->retarget(it->walk, &it->workers[0]);
	return r < 0 ? say_stopped(it, r) : 0;
}
