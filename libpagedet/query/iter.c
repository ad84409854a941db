/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Runs a query from its copy to its last batch: makes the plan and the walk,
 * starts the engine, and delivers lists, runs or groups.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/privilege.h"
#include "query/mapindex.h"
#include "query/order.h"
#include "query/query.h"
#include "query/run.h"
#include "query/stacks.h"
#include "snapshot/read.h"

#define DEFAULT_STRING_BYTES ((uint64_t)8 << 20)
#define DEFAULT_PROGRESS_NS 200000000

/*
 * Rows per batch. Large enough to make the cost of calls negligible, and small
 * enough that a thread's columns stay in its cache.
 */
#define MAX_ROWS 4096
/*
 * For this many pages of a file or task (256 MiB), the walk takes longer than
 * starting a source.
 */
#define LARGE 65536
#define MIN_ROWS 256
#define FEW_ROWS 16
#define BATCH_BYTES (512u << 10)
/*
 * Rows per batch if sources fold them. Few rows are then written, and each
 * batch compares equal pages only once.
 */
#define FOLD_ROWS 16384
/* Bytes per batch, if page bytes are read. */
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
	to->order = q->order;
	to->order_by = q->order_by;
	to->page_size = q->page_size;
	to->string_bytes = q->string_bytes ? q->string_bytes :
					     DEFAULT_STRING_BYTES;
	to->deadline_ns = q->deadline_ns ? it->first_ns + q->deadline_ns : 0;
	to->next_place = q->next_place;
	to->next_place_user = q->next_place_user;
	/* Callbacks run only on the calling thread. */
	to->threads = q->next_place ? 1 : PDET_MAX(q->threads, 1u);
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

/* The number of rows that a query about single places can have. */
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
		const uint64_t pages = it->q.items[i].count / unit;

		if (pages > MAX_ROWS || rows > MAX_ROWS)
			return UINT64_MAX;
		/* A range may begin and end inside a page. */
		rows += pages + 2;
	}
	return rows;
}

/*
 * Whether the query is for a few places, so that starting a source takes longer
 * than reading. One thread reads them as one batch. The allowed number of
 * threads must not matter here, because it would then decide which sources
 * answer.
 */
static bool is_lookup(const struct pdet_iter *it)
{
	switch (it->q.target) {
	case PAGEDET_TARGET_PFN:
	case PAGEDET_TARGET_PHYS:
	case PAGEDET_TARGET_VIRT:
		return few_rows(it) <= MAX_ROWS;
	default:
		return false;
	}
}

static unsigned workers(const struct pdet_iter *it)
{
	return is_lookup(it) ? 1 : it->q.threads;
}

/* Whether the plan would ask a bulk source first. */
static bool has_bulk(const struct pdet_plan_args *args)
{
	size_t i;

	for (i = 0; i < args->n_backends; i++)
		if (args->backends[i]->sources & args->sources &&
		    args->backends[i]->bulk >> args->target & 1)
			return true;
	return false;
}

/* Whether the query is so large that the start of a source does not count. */
static bool is_much(const struct pdet_iter *it,
		    const struct pdet_plan_args *args)
{
	const int walker = pdet_walker(it);
	struct pdet_backend *b = walker < 0 ? NULL : it->backends[walker];
	uint64_t pages = 0, i;

	if (!has_bulk(args))
		return false;
	switch (it->q.target) {
	case PAGEDET_TARGET_FILE:
		if (b && b->ops->file_size && it->q.path && !it->q.n_items)
			pages = b->ops->file_size(b, it->env, it->q.path);
		return pages >= LARGE;
	case PAGEDET_TARGET_TASK:
		/* The flags decide what some entries are. */
		if (pdet_plan_wants_entries(args))
			return false;
		for (i = 0; b && b->ops->task_size && i < it->q.n_items &&
			    pages < LARGE; i++)
			pages += b->ops->task_size(b, it->env,
						   it->q.items[i].pid);
		return pages >= LARGE;
	default:
		return few_rows(it) > MAX_ROWS;
	}
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
	if (pdet_is_of_trace(it->q.target) && it->text_only)
		p.sources = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_TRACE);
	p.target = it->q.target;
	p.cheap = it->q.options & PAGEDET_Q_CHEAP;
	p.few = is_single_page_target(it->q.target);
	p.lookup = is_lookup(it);
	p.single_source = it->q.options & PAGEDET_Q_SINGLE_SOURCE;
	p.text_only = it->text_only;
	p.heat = it->q.heat;
	p.kmap = it->q.kmap;
	p.live = args->live;
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
	if (pdet_sums_bytes(it))
		pdet_fields_add(&p.group, PAGEDET_FIELD_ALLOC_BYTES);
	if (it->q.options & PAGEDET_Q_RUNS)
		pdet_fields_add(&p.fields, PAGEDET_FIELD_PAGES);
	/* The output of groups has only their keys. */
	if (it->q.grouped) {
		p.cheap = false;
		memset(&p.fields, 0, sizeof(p.fields));
	}
	p.many = is_much(it, &p);
	it->plan_args = p;
	return pdet_plan_build(&p, &it->plan);
}

/*
 * Whether the groups need no facts about single pages. Files are then only
 * counted.
 */
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

/*
 * Whether neighbouring frames with the same answers may be counted as one row.
 * All fields in use must be the same for all of them.
 */
static bool may_fold(const struct pdet_iter *it)
{
	static const uint8_t same[] = {
		PAGEDET_FIELD_KIND, PAGEDET_FIELD_FLAGS,
		PAGEDET_FIELD_FLAGS_KNOWN, PAGEDET_FIELD_RAW_FLAGS,
		PAGEDET_FIELD_REFCOUNT, PAGEDET_FIELD_MAPCOUNT,
		PAGEDET_FIELD_MEMCG_INO, PAGEDET_FIELD_MEMCG_PATH,
		PAGEDET_FIELD_MEMCG_NAME, PAGEDET_FIELD_PAGES,
		/*
		 * These fields identify rows. Groups ignore them, and runs show
		 * those of their first row.
		 */
		PAGEDET_FIELD_PFN,
	};
	struct pdet_fields rest = it->plan.columns;
	uint64_t i;

	/*
	 * With a filter, sources fill some columns before it and the others
	 * after it. Rows must not change in between.
	 */
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

/* A query about one page must not pay for the columns of thousands of rows. */
static uint32_t batch_rows(const struct pdet_iter *it)
{
	uint64_t few = few_rows(it);
	uint32_t columns = 0, rows;
	unsigned f;

	if (few <= FEW_ROWS)
		return FEW_ROWS;
	if (it->fold)
		return FOLD_ROWS;
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
	case PAGEDET_TARGET_OBJECTS:
		return pdet_walk_objects(it, &it->walk);
	case PAGEDET_TARGET_EVENTS:
		return pdet_walk_events(it, &it->walk);
	default:
		return pdet_fail(it->env, EINVAL, "there is no target %u",
				 it->q.target);
	}
}

/* Whether the query uses backend @i. */
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

/* Whether the kind is the only key of the groups. */
static bool is_by_kind(const struct pdet_iter *it)
{
	uint64_t i;

	for (i = 0; i < it->q.n_group_by; i++)
		if (it->q.group_by[i] != PAGEDET_FIELD_KIND)
			return false;
	return true;
}

/* Whether it ends the query: it lacks memory or descriptors, or is over. */
static bool ends_query(int error)
{
	return pdet_is_shortage(error) || error == -ETIMEDOUT ||
	       error == -ECANCELED;
}

/*
 * The source that failed to start reads kernel memory. It would only have added
 * to what the other sources know, so their answers are still true. Returns 0,
 * or negative errno.
 */
static int do_without(struct pdet_iter *it, size_t i, int error)
{
	if (pdet_is_shortage(error) || error == -ETIMEDOUT ||
	    it->wants[i].walks || !it->backends[i]->dear ||
	    it->n_backends == 1)
		return error;
	it->asked[i] = false;
	if (pdet_plan_without(&it->plan, (unsigned)i, pdet_setup_reason(error),
			      it->env->error) < 0)
		return pdet_fail(it->env, ENOMEM, "no memory for the plan");
	pdet_clear(it->env);
	return 0;
}

/* What backend @i is for user stacks. NULL: nothing, or there is one. */
static struct pdet_stack_source *stack_source(struct pdet_iter *it, size_t i)
{
	const struct pdet_backend *b = it->backends[i];
	const bool stops = b->ops->stops_threads;
	struct pdet_stack_source *s = stops ? &it->user_stacks.stops :
					      &it->user_stacks.memory;

	return it->q.options & PAGEDET_Q_USER_STACKS && b->ops->user_regs &&
	       (!stops || it->q.options & PAGEDET_Q_STOP_THREADS) &&
	       b->sources & it->plan_args.sources && !s->has_backend ? s : NULL;
}

/* Adds what does without the kernel's memory to the reason. */
static void add_way_out(const struct pdet_iter *it,
			struct pdet_stack_source *s)
{
	const size_t len = strlen(s->words);
	size_t i;

	if (it->q.options & PAGEDET_Q_STOP_THREADS)
		return;
	for (i = 0; i < it->n_backends; i++)
		if (it->backends[i]->ops->stops_threads &&
		    it->backends[i]->sources & it->plan_args.sources)
			break;
	if (i < it->n_backends)
		snprintf(s->words + len, sizeof(s->words) - len, ", or --stop "
			 "for threads of the same user");
}

/* @r: why the backend cannot be asked. Rows need not know that. */
static void note_stack_source(const struct pdet_iter *it,
			      struct pdet_stack_source *s, size_t i, int r)
{
	s->has_backend = true;
	s->backend = i;
	s->error = r;
	memcpy(s->words, it->env->error, sizeof(s->words));
	memcpy(s->advice, it->env->advice, sizeof(s->advice));
	if (r == -EACCES)
		add_way_out(it, s);
}

static void free_user_stacks(struct pdet_user_stacks *u)
{
	if (u->stack)
		pdet_user_stack_free(u->stack);
	free(u->stack);
	pdet_perf_file_free(&u->perf);
	pdet_unwinder_free(u->unwinder);
}

static int prepare(struct pdet_iter *it)
{
	struct pdet_wants wants = {
		.fields = it->plan.columns,
		.target = it->q.target,
		.fold = it->fold && it->q.grouped,
		.kinds = it->fold && it->q.grouped && is_by_kind(it),
		.runs = it->fold && !it->q.grouped,
		.alone = workers(it) == 1,
		.deadline_ns = it->q.deadline_ns,
		.perturb = !(it->q.options & PAGEDET_Q_CHEAP) &&
			few_rows(it) <= FEW_ROWS &&
			pdet_fields_has(&it->plan.columns,
					PAGEDET_FIELD_NOTES),
	};
	const int walker = pdet_walker(it);
	struct pdet_stack_source *stacks;
	size_t i;
	int r;

	for (i = 0; i < it->n_backends; i++) {
		stacks = stack_source(it, i);
		wants.walks = walker == (int)i;
		wants.stacks = wants.walks &&
			       it->q.options & (PAGEDET_Q_TASK_STACKS |
						PAGEDET_Q_USER_STACKS);
		it->wants[i] = wants;
		it->wants[i].user_stacks = stacks;
		it->asked[i] = used(it, i);
		if (!it->asked[i] && !it->wants[i].user_stacks)
			continue;
		r = it->backends[i]->ops->prepare(it->backends[i], it->env,
						  &it->wants[i]);
		if (stacks)
			note_stack_source(it, stacks, i, r);
		if (r < 0)
			r = do_without(it, i, r);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Opens the session of a source that only stacks need. Rows are right without
 * it, and the caller's thread alone reads stacks. */
static int open_stack_source(struct pdet_iter *it, struct pdet_stack_source *s)
{
	int r;

	if (!s->has_backend || s->error || it->asked[s->backend])
		return 0;
	r = pdet_engine_session(&it->workers[0], it->env, s->backend);
	if (r == 0 || pdet_is_shortage(r)) {
		it->asked[s->backend] = r == 0;
		return r;
	}
	note_stack_source(it, s, s->backend, r);
	pdet_clear(it->env);
	return 0;
}

static int open_user_stacks(struct pdet_iter *it)
{
	int r = open_stack_source(it, &it->user_stacks.memory);

	return r < 0 ? r : open_stack_source(it, &it->user_stacks.stops);
}

/* Opens the sessions of all workers. Callbacks run on the caller's thread. */
static int open_sessions(struct pdet_iter *it, unsigned backend)
{
	struct pdet_env quiet = *it->env;
	unsigned i;
	int r = 0;

	quiet.log = NULL;
	for (i = 0; i < it->n_workers && r == 0; i++)
		if (!it->workers[i].session[backend])
			r = pdet_engine_session(&it->workers[i],
						i ? &quiet : it->env, backend);
	return r;
}

int pdet_iter_start(struct pdet_iter *it, unsigned backend)
{
	struct pdet_backend *b = it->backends[backend];
	int r = 0;

	if (!it->asked[backend]) {
		/* It was started for stacks, in vain. */
		if (it->wants[backend].user_stacks)
			return 0;
		r = b->ops->prepare(b, it->env, &it->wants[backend]);
	}
	/* If only stacks needed it, only the caller's thread has a session. */
	if (r == 0)
		r = open_sessions(it, backend);
	if (r == 0) {
		it->asked[backend] = true;
		return 1;
	}
	if (pdet_is_shortage(r))
		return r;
	/* The answers of other sources are still true. */
	pdet_clear(it->env);
	return 0;
}

int pdet_iter_later(struct pdet_iter *it)
{
	struct pdet_plan *plan = &it->plan;
	unsigned i, n = 0;
	int r;

	if (it->tried_later)
		return 0;
	it->tried_later = true;
	r = pdet_plan_later(&it->plan_args, plan);
	for (i = 0; i < plan->n_late && r >= 0; i++) {
		r = pdet_iter_start(it, plan->late[i].backend);
		if (r > 0)
			plan->late[n++] = plan->late[i];
	}
	plan->n_late = n;
	return PDET_MIN(r, 0);
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

/* Creates the groups or runs that the caller will see. */
static int make_output(struct pdet_iter *it)
{
	struct pdet_fields keys = { { 0, 0 } };
	uint64_t i;

	if (it->q.grouped) {
		for (i = 0; i < it->q.n_group_by; i++)
			pdet_fields_add(&keys, it->q.group_by[i]);
		pdet_fields_add(&keys, PAGEDET_FIELD_PAGES);
		if (pdet_sums_bytes(it))
			pdet_fields_add(&keys, PAGEDET_FIELD_ALLOC_BYTES);
		it->group = pdet_group_new(it->q.group_by, it->q.n_group_by,
					   it->q.string_bytes);
		if (it->group && pdet_sums_bytes(it))
			pdet_group_sum_bytes(it->group);
		if (it->group && it->q.order >= PAGEDET_ORDER_UP)
			pdet_group_order(it->group, it->q.order_by,
					 it->q.order == PAGEDET_ORDER_DOWN);
		return it->group && pdet_batch_init(&it->out, &keys, MAX_ROWS,
						    it->q.string_bytes) ?
			       0 : -ENOMEM;
	}
	if (it->q.order >= PAGEDET_ORDER_UP) {
		it->ordered = pdet_order_new(&it->plan.wanted, it->q.order_by,
					     it->q.order == PAGEDET_ORDER_DOWN,
					     (uint32_t)it->q.limit,
					     it->q.string_bytes);
		if (!it->ordered)
			return -ENOMEM;
	}
	if (it->q.options & PAGEDET_Q_RUNS) {
		it->run = pdet_run_new(&it->plan.wanted, it->rows_per_batch,
				       it->q.string_bytes, it->page_size);
		return it->run ? 0 : -ENOMEM;
	}
	return 0;
}

/* Whether the walk's own backend answers everything, and there is no filter. */
static bool may_glance(const struct pdet_iter *it)
{
	const struct pdet_plan *plan = &it->plan;

	return it->walk->ops->glance && it->n_workers == 1 &&
	       !it->filter && !it->q.grouped && !it->saved && !it->q.heat &&
	       !it->q.kmap &&
	       !(it->q.options & PAGEDET_Q_RUNS) &&
	       (!plan->n_steps ||
		(plan->n_steps == 1 &&
		 plan->steps[0].backend == it->walk->index));
}

/* Checks that rows or groups have the field that orders them. */
static int check_order(const struct pdet_iter *it)
{
	const uint32_t by = it->q.order_by;
	bool carried = pdet_fields_has(&it->plan.wanted, by);
	uint64_t i;

	if (it->q.order < PAGEDET_ORDER_UP)
		return 0;
	if (it->q.grouped)
		carried = by == PAGEDET_FIELD_PAGES ||
			  (pdet_sums_bytes(it) &&
			   by == PAGEDET_FIELD_ALLOC_BYTES);
	for (i = 0; i < it->q.n_group_by; i++)
		carried |= it->q.group_by[i] == by;
	if (carried)
		return 0;
	return pdet_fail(it->env, EINVAL,
			 "cannot sort by %s: %s do not have it",
			 pdet_field_info(by)->name,
			 it->q.grouped ? "groups" : "rows");
}

/* Checks whether the rows come from a file. */
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
	it->q.allocs = args->allocs;
	it->q.heat = args->heat;
	it->q.kmap = args->kmap;
	if (pdet_is_of_trace(it->q.target) && !it->text_only)
		r = pdet_objects_are_here(it, &it->text_only);
	if (r == 0)
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
	if (r == 0)
		r = check_order(it);
	if (r < 0)
		return r;
	it->count_only = is_count_only(it);
	it->fold = may_fold(it);
	if (it->count_only || it->fold)
		pdet_fields_add(&it->plan.columns, PAGEDET_FIELD_PAGES);
	if (it->q.options & PAGEDET_Q_TASK_STACKS)
		pdet_fields_add(&it->plan.columns, PAGEDET_FIELD_PID);
	/* The walk counts user mappings. */
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
	it->n_workers = it->walk->serial ? 1 : workers(it);
	it->may_glance = may_glance(it);
	r = pdet_engine_start(it);
	if (r == 0)
		r = open_user_stacks(it);
	if (r == 0)
		r = make_output(it);
	return r < 0 ? r : begin(it);
}

bool pdet_iter_is_alone(const struct pagedet_query *q)
{
	const unsigned source = q->target == PAGEDET_TARGET_LOG ?
				PAGEDET_SOURCE_LOG :
				pdet_is_of_trace(q->target) ?
				PAGEDET_SOURCE_TRACE : PAGEDET_SOURCE_NOBODY;

	return source && q->sources == PAGEDET_SOURCE_BIT(source);
}

/* Sets the error text for why the query stopped. */
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

/* A read on the caller's thread asks the right iterator whether to stop. */
struct asked {
	bool (*stop)(void *arg);
	void *arg;
};

static struct asked ask_iter(struct pdet_iter *it)
{
	const struct asked before = { it->env->stop, it->env->stop_arg };

	it->env->stop = pdet_iter_must_stop;
	it->env->stop_arg = it;
	return before;
}

static void ask_as_before(struct pdet_iter *it, struct asked before)
{
	it->env->stop = before.stop;
	it->env->stop_arg = before.arg;
}

/* If the call failed only because the query must stop, says so. */
static int set_up_in_time(struct pdet_iter *it,
			  const struct pdet_iter_args *args)
{
	const struct asked before = ask_iter(it);
	int r = set_up(it, args);

	ask_as_before(it, before);
	if (r < 0 && atomic_load(&it->stopped))
		return say_stopped(it, -atomic_load(&it->stopped));
	return r;
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
	it->live = args->live;
	it->text_only = pdet_iter_is_alone(args->query);
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
	r = set_up_in_time(it, args);
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
	pdet_order_free(it->ordered);
	pdet_batch_free(&it->out);
	pdet_strtab_free(&it->kept);
	pdet_text_free(&it->task_stack);
	free_user_stacks(&it->user_stacks);
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

/*
 * If no task may be read, or there is no list of tasks, each row gets the
 * reason, and other fields are still answered.
 */
static int without_index(struct pdet_iter *it, int error)
{
	const unsigned f = PAGEDET_FIELD_USER_MAPS;

	if (ends_query(error))
		return error;
	it->plan.why[f] = (uint8_t)pdet_live_reason(it->live,
						  pdet_setup_reason(error));
	free(it->plan.advice[f]);
	it->plan.advice[f] = strdup(*it->env->advice ? it->env->advice :
							it->env->error);
	if (!it->plan.advice[f])
		return -ENOMEM;
	pdet_clear(it->env);
	return 0;
}

/*
 * Tries another source for the index, after one that may not read all tasks.
 * Takes it if that may. Leaves the error text as it was. Returns 0, or an error
 * that ends the query.
 */
static int improve_index(struct pdet_iter *it, struct pdet_mapindex_args *args)
{
	const struct pdet_backend *first = args->backend;
	const struct pdet_env before = *it->env;
	struct pdet_mapindex *ix;
	size_t i;
	int r;

	for (i = 0; i < it->n_backends; i++) {
		args->backend = pdet_mapindex_backend(it->backends + i, 1,
						      it->plan_args.sources);
		if (!args->backend || args->backend == first)
			continue;
		r = pdet_mapindex_new(args, &ix);
		if (ends_query(r))
			return r;
		if (r < 0) {
			pdet_take_words(it->env, &before);
			continue;
		}
		if (!it->own_index || !pdet_mapindex_partial(ix)) {
			pdet_mapindex_free(it->own_index);
			it->own_index = ix;
			return 0;
		}
		pdet_mapindex_free(ix);
	}
	return 0;
}

/* Says what would help if a row lacks user_maps. */
static int advise_tasks(struct pdet_iter *it)
{
	char **advice = &it->plan.advice[PAGEDET_FIELD_USER_MAPS];

	pdet_advise_trace(it->env,
			  "needs the tasks' owner or CAP_SYS_PTRACE");
	free(*advice);
	*advice = strdup(it->env->advice);
	pdet_clear(it->env);
	return *advice ? 0 : -ENOMEM;
}

/* user_maps needs an index. If the caller has none, builds one. */
static int build_index(struct pdet_iter *it)
{
	struct pdet_mapindex_args args;
	bool denied;
	int r, lacks = 0;

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
	denied = r < 0 ? r == -EACCES :
		 pdet_mapindex_partial(it->own_index) == PAGEDET_NO_ACCESS;
	if (denied && !it->plan_args.single_source)
		lacks = improve_index(it, &args);
	if (lacks < 0)
		return lacks;
	if (!it->own_index)
		return without_index(it, r);
	pdet_clear(it->env);
	it->q.index = it->own_index;
	if (pdet_mapindex_partial(it->own_index) == PAGEDET_NO_ACCESS)
		return advise_tasks(it);
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
		/*
		 * The counts so far are still right: deliver them, and let the
		 * coverage say that they are incomplete.
		 */
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

/* Counts texts for which there was no memory. */
static void count_lost(struct pdet_iter *it, uint64_t lost)
{
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
			count_lost(it, pdet_run_lost(it->run));
			return 1;
		}
	}
	if (it->ended) {
		r = -atomic_load(&it->stopped);
		return r ? say_stopped(it, r) : 0;
	}
	it->ended = true;
	it->current = NULL;
	*ret = pdet_run_take(it->run, true);
	count_lost(it, pdet_run_lost(it->run));
	if ((*ret)->n)
		return 1;
	return r < 0 ? say_stopped(it, r) : 0;
}

/* Strings that must outlive their batch get their own ids. */
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

static int step_rows(struct pdet_iter *it, struct pdet_batch **ret)
{
	return it->run ? step_runs(it, ret) : pdet_engine_next(it, ret);
}

/* Reads the whole walk. Then delivers the first rows in order. */
static int step_ordered(struct pdet_iter *it, struct pdet_batch **ret)
{
	struct pdet_batch *b;
	int r = 0;

	while (!it->ordered_done && (r = step_rows(it, &b)) > 0)
		pdet_order_add(it->ordered, b);
	/* Rows from before a deadline or a cancel are delivered. */
	if (r < 0 && r != -ETIMEDOUT && r != -ECANCELED)
		return r;
	if (it->ordered_done) {
		r = -atomic_load(&it->stopped);
		return r ? say_stopped(it, r) : 0;
	}
	it->ordered_done = true;
	*ret = pdet_order_take(it->ordered, string_base(it));
	count_lost(it, pdet_order_lost(it->ordered));
	return (*ret)->n ? 1 : r;
}

static int step(struct pdet_iter *it, struct pdet_batch **ret)
{
	struct pdet_batch *b = NULL;
	int r;

	if (it->q.limit && it->rows >= it->q.limit) {
		/* If a walk was stopped, other rows might have come first. */
		r = it->ordered ? -atomic_load(&it->stopped) : 0;
		return r ? say_stopped(it, r) : 0;
	}
	if (it->stacks.list.n && !(it->q.options & PAGEDET_Q_KEEP_STRINGS))
		pdet_stacks_clear(&it->stacks);
	r = build_index(it);
	if (r < 0) {
		/*
		 * The stop was the answer, so another call gets the same
		 * answer.
		 */
		pdet_iter_stop(it, -r, it->env);
		return r;
	}
	if (it->q.grouped)
		r = step_groups(it, &b);
	else if (it->ordered)
		r = step_ordered(it, &b);
	else
		r = step_rows(it, &b);
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

int pdet_iter_step(struct pdet_iter *it, struct pdet_batch **ret)
{
	const struct asked before = ask_iter(it);
	int r = step(it, ret);

	ask_as_before(it, before);
	return r;
}

int pdet_iter_retarget(struct pdet_iter *it, const struct pagedet_item *items,
		       uint64_t n)
{
	struct pagedet_item *bigger;
	size_t i;
	int r;

	if (!it->walk->ops->retarget || it->q.grouped || it->by_tasks ||
	    it->ordered)
		return pdet_fail(it->env, EINVAL,
				 "this query cannot be retargeted");
	if (it->q.threads > 1)
		return pdet_fail(it->env, EINVAL,
				 "only a query with one thread can be "
				 "retargeted");
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
	it->current = NULL;
	if (it->run)
		pdet_run_drop(it->run);
	it->glance = it->may_glance && n == 1;
	it->slots[0].more = false;
	it->rows = 0;
	it->resume = 0;
	pdet_cover_clear(&it->cover);
	pdet_cover_clear(&it->workers[0].cover);
	for (i = 0; i < it->n_backends; i++)
		atomic_store_explicit(&it->places[i], 0, memory_order_relaxed);
	/*
	 * There is only one thread. A full barrier costs a tenth of a look-up.
	 */
	atomic_store_explicit(&it->stopped, 0, memory_order_relaxed);
	r = it->walk->ops->retarget(it->walk, &it->workers[0]);
	return r < 0 ? say_stopped(it, r) : 0;
}
