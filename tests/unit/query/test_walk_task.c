/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests simulated tasks that end while their entries are read. */
#include <errno.h>

#include "../fake.h"
#include "query/query.h"
#include "query/walk/user_stacks.h"
#include "../unit.h"

#define PAGE 4096
#define VMAS 49
#define VMA_PAGES 3000		/* more than the rows of a batch, in some
				 * VMAs */
#define F(name) PAGEDET_FIELD_##name

static char no_root[] = "";

struct world {
	struct pdet_backend backend;
	bool none;		/* they have ended before */
	bool ranges_end;	/* it ends before its ranges are known */
	atomic_uint entries_left; /* number of calls until it ends */
	atomic_uint open;	/* number of open tasks */
};

struct task {
	struct pdet_task task;
	unsigned vma;
};

static struct world *world_of(struct pdet_backend *b)
{
	return PDET_CONTAINER(b, struct world, backend);
}

static struct task *task_of(struct pdet_task *t)
{
	return PDET_CONTAINER(t, struct task, task);
}

static int fill(struct pdet_session *s, struct pdet_batch *b,
		const struct pdet_fields *want, unsigned source)
{
	unsigned field;

	(void)s;
	pdet_fields_for(field, want)
		pdet_put_none_run(b, 0, b->n, field, source);
	return 0;
}

static int task_open(struct pdet_session *s, uint32_t pid,
		     struct pdet_task **ret)
{
	struct task *t;

	if (world_of(s->backend)->none)
		return pdet_fail(&s->env, pid == 13 ? EACCES : ESRCH, "none");
	t = calloc(1, sizeof(*t));
	ck_assert_ptr_nonnull(t);
	t->task.backend = s->backend;
	t->task.pid = pid;
	t->task.named = true;
	atomic_fetch_add(&world_of(s->backend)->open, 1);
	*ret = &t->task;
	return 0;
}

static void task_close(struct pdet_task *t)
{
	atomic_fetch_sub(&world_of(t->backend)->open, 1);
	free(task_of(t));
}

static int space(struct pdet_session *s, struct pdet_task *t,
		 struct pdet_range *ret)
{
	(void)s;
	(void)t;
	ret->first = 0;
	ret->last = (uint64_t)VMAS * 2 * VMA_PAGES * PAGE - 1;
	return 1;
}

static int vma_first(struct pdet_session *s, struct pdet_task *t)
{
	(void)s;
	task_of(t)->vma = 0;
	return 0;
}

static int vma_next(struct pdet_session *s, struct pdet_task *t,
		    struct pdet_vma *ret)
{
	struct task *task = task_of(t);

	(void)s;
	if (task->vma == VMAS)
		return 0;
	memset(ret, 0, sizeof(*ret));
	ret->start = (uint64_t)task->vma++ * 2 * VMA_PAGES * PAGE;
	ret->end = ret->start + (uint64_t)VMA_PAGES * PAGE;
	return 1;
}

static int populated(struct pdet_session *s, struct pdet_task *t, uint64_t *at,
		     uint64_t end, struct pdet_range *ret, size_t max)
{
	(void)t;
	(void)max;
	if (world_of(s->backend)->ranges_end)
		return pdet_fail(&s->env, ESRCH, "ended");
	ret->first = *at;
	ret->last = end - 1;
	*at = end;
	return 1;
}

static int entries(struct pdet_session *s, struct pdet_task *t, uint64_t *at,
		   uint64_t end, bool all, struct pdet_batch *b)
{
	struct world *w = world_of(s->backend);
	uint32_t row;

	(void)t;
	(void)all;
	if (!atomic_load(&w->entries_left))
		return pdet_fail(&s->env, ESRCH, "ended");
	atomic_fetch_sub(&w->entries_left, 1);
	for (; *at < end && b->n < b->cap; *at += PAGE) {
		row = (uint32_t)pdet_batch_grow(b, 1);
		pdet_put(b, row, F(VADDR), *at, PAGEDET_SOURCE_PROCFS);
		pdet_put(b, row, F(PFN), *at / PAGE, PAGEDET_SOURCE_PROCFS);
	}
	return 0;
}

static int recheck(struct pdet_session *s, struct pdet_task *t,
		   struct pdet_batch *b, uint32_t first, uint32_t n)
{
	(void)s;
	(void)t;
	(void)b;
	(void)first;
	(void)n;
	return 0;
}

static const struct pdet_backend_ops ops = {
	.name = "tasks",
	.survey = fake_able,
	.prepare = fake_prepare,
	.session_new = fake_session_new,
	.session_free = fake_session_free,
	.fill = fill,
	.task_open = task_open,
	.task_close = task_close,
	.space = space,
	.vma_first = vma_first,
	.vma_next = vma_next,
	.populated = populated,
	.entries = entries,
	.recheck = recheck,
};

/* Walks @n tasks. Returns the counts. */
static struct pdet_cover walk(struct world *w, bool by_vma, size_t n,
			      unsigned threads)
{
	struct pagedet_item items[3] = {
		{ 0, PAGEDET_TO_END, 11, 0 }, { 0, PAGEDET_TO_END, 12, 0 },
		{ 0, PAGEDET_TO_END, 13, 0 },
	};
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pdet_backend *list[] = { &w->backend };
	struct pdet_env env = { .root = no_root };
	struct pdet_iter_args args = {
		.env = &env, .backends = list, .n_backends = 1,
		.sources = ~(uint32_t)0, .query = &q, .page_size = PAGE,
	};
	struct pdet_cover cover;
	struct pdet_iter *it;
	struct pdet_batch *b;
	int r;

	w->backend.ops = &ops;
	w->backend.sources = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_PROCFS);
	q.target = PAGEDET_TARGET_TASK;
	q.items = items;
	q.n_items = n;
	q.threads = threads;
	pdet_fields_add(&args.fields, F(VADDR));
	pdet_fields_add(&args.fields, F(PFN));
	if (by_vma)
		pdet_fields_add(&args.fields, F(VMA_START));
	r = pdet_iter_new(&args, &it);
	ck_assert_msg(r == 0, "%s", env.error);
	while ((r = pdet_iter_step(it, &b)) > 0)
		;
	ck_assert_msg(r == 0, "%s", env.error);
	pdet_iter_cover(it, &cover);
	pdet_iter_free(it);
	ck_assert_uint_eq(w->open, 0);
	return cover;
}

/* _i: by VMA, several tasks, several threads */
START_TEST(a_task_that_ends_is_one)
{
	const size_t n = _i & 2 ? 3 : 1;
	const unsigned threads = _i & 4 ? 3 : 1;
	struct world w = { .ranges_end = true };
	struct pdet_cover cover = walk(&w, _i & 1, n, threads);

	ck_assert_uint_eq(cover.tasks, n);
	ck_assert_uint_eq(cover.tasks_gone, n);
	w.ranges_end = false;
	cover = walk(&w, _i & 1, n, threads);
	ck_assert_uint_eq(cover.tasks_gone, n);
	/* It ends while entries are read; the others have ended completely. */
	atomic_store(&w.entries_left, 2);
	cover = walk(&w, _i & 1, n, threads);
	ck_assert_uint_eq(cover.tasks_gone, n);
	ck_assert_uint_gt(cover.visited, 0);
	atomic_store(&w.entries_left, 1u << 30);
	cover = walk(&w, _i & 1, n, threads);
	ck_assert_uint_eq(cover.tasks_gone, 0);
}
END_TEST

/* Several items for one task, and many parts of each. */
START_TEST(a_task_that_is_asked_for_by_addresses_is_one)
{
	const uint64_t n = (uint64_t)100000 * PAGE;
	struct pagedet_item items[] = {
		{ 0, n, 11, 0 }, { PAGE, n, 12, 0 }, { n, 1, 11, 0 },
		{ 0, n, 13, 0 }, { n, 1, 12, 0 },
	};
	struct world w = { .none = true };
	struct pdet_backend *list[] = { &w.backend };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pdet_env env = { .root = no_root };
	struct pdet_iter_args args = {
		.env = &env, .backends = list, .n_backends = 1,
		.sources = ~(uint32_t)0, .query = &q, .page_size = PAGE,
	};
	struct pdet_cover cover;
	struct pdet_iter *it;
	struct pdet_batch *b;
	int i;

	w.backend.ops = &ops;
	w.backend.sources = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_PROCFS);
	q.target = PAGEDET_TARGET_VIRT;
	q.items = items;
	q.n_items = PDET_COUNT(items);
	pdet_fields_add(&args.fields, F(VADDR));
	ck_assert_int_eq(pdet_iter_new(&args, &it), 0);
	/* Repeated from the start, they are counted again. */
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(pdet_iter_step(it, &b), 0);
		pdet_iter_cover(it, &cover);
		ck_assert_uint_eq(cover.tasks_gone, 2);
		ck_assert_uint_eq(cover.tasks_denied, 1);
		ck_assert_int_eq(pdet_iter_retarget(it, items,
						    PDET_COUNT(items)), 0);
	}
	pdet_iter_free(it);
}
END_TEST

/* --- a second source, which only user stacks need --- */

struct kernel {
	struct pdet_backend backend;
	bool broken;		/* it has no session */
	unsigned sessions;
};

static void knows_nothing(struct pdet_backend *b, struct pdet_env *env,
			  uint32_t target, unsigned field, unsigned source,
			  struct pdet_ability *ret)
{
	fake_able(b, env, target, field, source, ret);
	ret->reason = PAGEDET_NO_KERNEL;
}

static int session_new(struct pdet_backend *b, struct pdet_env *env,
		       const struct pdet_wants *wants,
		       struct pdet_session **ret)
{
	struct kernel *k = PDET_CONTAINER(b, struct kernel, backend);

	k->sessions++;
	return k->broken ? pdet_fail(env, EIO, "broken") :
	       fake_session_new(b, env, wants, ret);
}

static int kernel_task_open(struct pdet_session *s, uint32_t pid,
			    struct pdet_task **ret)
{
	struct task *t = calloc(1, sizeof(*t));

	ck_assert_ptr_nonnull(t);
	t->task.backend = s->backend;
	t->task.pid = pid;
	*ret = &t->task;
	return 0;
}

static void kernel_task_close(struct pdet_task *t)
{
	free(task_of(t));
}

static int no_user_code(struct pdet_session *s, struct pdet_task *t,
			struct pdet_user_regs *ret)
{
	(void)s;
	(void)t;
	(void)ret;
	return 0;
}

static const struct pdet_backend_ops kernel_ops = {
	.name = "kernel",
	.survey = knows_nothing,
	.prepare = fake_prepare,
	.session_new = session_new,
	.session_free = fake_session_free,
	.fill = fill,
	.task_open = kernel_task_open,
	.task_close = kernel_task_close,
	.user_regs = no_user_code,
};

/* Rows come without that source; the caller's thread alone asks it. */
START_TEST(a_source_of_stacks)
{
	struct world w = { .backend.ops = &ops, .entries_left = 1u << 30 };
	struct kernel k = { .backend.ops = &kernel_ops, .broken = _i };
	struct pagedet_item item = { 0, PAGEDET_TO_END, 11, 0 };
	struct pdet_backend *list[] = { &w.backend, &k.backend };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pdet_env env = { .root = no_root };
	struct pdet_iter_args args = {
		.env = &env, .backends = list, .n_backends = 2,
		.sources = ~(uint32_t)0, .query = &q, .page_size = PAGE,
	};
	const struct pagedet_frame *frames;
	struct pdet_iter *it;
	struct pdet_batch *b;

	w.backend.sources = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_PROCFS);
	k.backend.sources = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_KCORE);
	q.target = PAGEDET_TARGET_TASK;
	q.options = PAGEDET_Q_USER_STACKS;
	q.items = &item;
	q.n_items = 1;
	q.threads = 3;
	pdet_fields_add(&args.fields, F(VADDR));
	ck_assert_msg(pdet_iter_new(&args, &it) == 0, "%s", env.error);
	ck_assert_uint_eq(k.sessions, 1);
	ck_assert_int_eq(pdet_iter_step(it, &b), 1);
	ck_assert_int_eq(pdet_user_stack_get(it, 11, &frames),
			 _i ? -EIO : 0);
	if (_i)
		ck_assert_str_eq(env.error, "cannot read user stacks: broken");
	while (pdet_iter_step(it, &b) > 0)
		continue;
	pdet_iter_free(it);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("walk_task");

	unit_loop(s, a_task_that_ends_is_one, 8);
	unit_test(s, a_task_that_is_asked_for_by_addresses_is_one);
	unit_loop(s, a_source_of_stacks, 2);
	return unit_main(s);
}
