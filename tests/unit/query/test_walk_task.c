/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests simulated tasks that end while their entries are read, and which source
 * of user stacks is asked. */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../fake.h"
#include "../perf_map.h"
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
static struct pdet_cover walk_items(struct world *w, bool by_vma,
				    const struct pagedet_item *items, size_t n,
				    unsigned threads)
{
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

static struct pdet_cover walk(struct world *w, bool by_vma, size_t n,
			      unsigned threads)
{
	static const struct pagedet_item items[3] = {
		{ 0, PAGEDET_TO_END, 11, 0 }, { 0, PAGEDET_TO_END, 12, 0 },
		{ 0, PAGEDET_TO_END, 13, 0 },
	};

	return walk_items(w, by_vma, items, n, threads);
}

/* Pages of a task that is named twice are in the answer again, unless the
 * addresses are other ones. */
START_TEST(a_task_that_is_named_twice)
{
	const uint64_t n = (uint64_t)VMA_PAGES * PAGE;
	const struct pagedet_item same[] = {
		{ 0, n, 11, 0 }, { 0, n, 12, 0 }, { 0, n, 11, 0 },
		{ 0, n, 11, 0 },
	}, parts[] = {
		{ 0, n, 11, 0 }, { 2 * n, n, 11, 0 },
	};
	struct world w = { .ranges_end = false };

	atomic_store(&w.entries_left, 1u << 30);
	ck_assert_uint_eq(walk_items(&w, true, same, PDET_COUNT(same),
				     1).tasks_again, 2);
	ck_assert_uint_eq(walk_items(&w, true, parts, PDET_COUNT(parts),
				     1).tasks_again, 0);
}
END_TEST

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

/* --- two sources of user stacks: only one of them stops threads --- */

struct stacks {
	struct pdet_backend backend;
	bool absent;
	bool broken;		/* it has no session */
	int error;		/* of user_regs(); 0: it has registers */
	const char *words, *advice;
	bool no_code;		/* the thread has none */
	bool runs;		/* it runs between two calls */
	bool stops;		/* the thread was stopped */
	const char *removes;	/* a file that goes away meanwhile */
	uint64_t ip;		/* 0: in some_regs() */
	const char *appends;	/* a file that gets a line meanwhile */
	unsigned lines;		/* so many times */
	unsigned asked;
};

static struct stacks *stacks_of(struct pdet_backend *b)
{
	return PDET_CONTAINER(b, struct stacks, backend);
}

static int stacks_session_new(struct pdet_backend *b, struct pdet_env *env,
			      const struct pdet_wants *wants,
			      struct pdet_session **ret)
{
	const struct stacks *k = stacks_of(b);
	int r;

	if (!k->broken)
		return fake_session_new(b, env, wants, ret);
	r = pdet_fail(env, EIO, "broken");
	if (k->advice)
		pdet_advise(env, "%s", k->advice);
	return r;
}

/* A compiler replaces the function there, and the thread enters it. */
static void replace_code(struct stacks *k)
{
	FILE *f = fopen(k->appends, "a");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_gt(fprintf(f, "%llx 10 f%u\n", (unsigned long long)k->ip,
				 k->asked), 0);
	ck_assert_int_eq(fclose(f), 0);
}

/* The registers are in this function, and the rest of the stack is lost. */
static int some_regs(struct pdet_session *s, struct pdet_task *t,
		     struct pdet_user_regs *ret)
{
	struct stacks *k = stacks_of(s->backend);
	int r;

	(void)t;
	k->asked++;
	ret->stopped = k->stops;
	if (k->removes)
		unlink(k->removes);
	if (k->appends && k->asked <= k->lines)
		replace_code(k);
	if (k->error) {
		r = pdet_fail(&s->env, k->error, "%s", k->words);
		if (k->advice)
			pdet_advise(&s->env, "%s", k->advice);
		return r;
	}
	memset(ret->reg, 0, sizeof(ret->reg));
	ret->reg[PDET_USER_IP] = k->ip ? k->ip :
				 (uint64_t)(uintptr_t)some_regs;
	ret->switches = k->runs ? k->asked : 0;
	return !k->no_code;
}

static int no_page(struct pdet_session *s, struct pdet_task *t, uint64_t addr,
		   void *buf)
{
	(void)s;
	(void)t;
	(void)addr;
	(void)buf;
	return -ENXIO;
}

static int same(struct pdet_session *s, struct pdet_task *t)
{
	(void)s;
	(void)t;
	return 0;
}

#define STACKS_OPS \
	.survey = knows_nothing, \
	.prepare = fake_prepare, \
	.session_new = stacks_session_new, \
	.session_free = fake_session_free, \
	.fill = fill, \
	.task_open = kernel_task_open, \
	.task_close = kernel_task_close, \
	.task_same = same, \
	.user_regs = some_regs, \
	.user_page = no_page

static const struct pdet_backend_ops memory_ops = { .name = "memory",
						    STACKS_OPS };
static const struct pdet_backend_ops stops_ops = { .name = "stops", STACKS_OPS,
						   .stops_threads = true };

/* Asks for the stack of this thread. */
struct asking {
	struct world w;
	struct stacks memory, stops;
	struct pdet_backend *list[3];
	struct pdet_env env;
	struct pdet_iter *it;
	const struct pagedet_frame *first; /* NULL: there is none */
};

static void ask(struct asking *a, const struct stacks *memory,
		const struct stacks *stops, uint32_t options, bool live)
{
	struct pagedet_item item = { 0, PAGEDET_TO_END, 11, 0 };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pdet_iter_args args = {
		.env = &a->env, .backends = a->list,
		.sources = ~(uint32_t)0, .query = &q, .page_size = PAGE,
		.live = live,
	};

	memset(a, 0, sizeof(*a));
	a->env.root = no_root;
	a->w.backend.ops = &ops;
	a->memory = *memory;
	a->memory.backend.ops = &memory_ops;
	a->stops = *stops;
	a->stops.backend.ops = &stops_ops;
	a->w.backend.sources = a->stops.backend.sources =
		PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_PROCFS);
	a->memory.backend.sources = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_KCORE);
	a->list[args.n_backends++] = &a->w.backend;
	if (!memory->absent)
		a->list[args.n_backends++] = &a->memory.backend;
	if (!stops->absent)
		a->list[args.n_backends++] = &a->stops.backend;
	q.target = PAGEDET_TARGET_TASK;
	q.options = PAGEDET_Q_USER_STACKS | options;
	q.items = &item;
	q.n_items = 1;
	pdet_fields_add(&args.fields, F(VADDR));
	ck_assert_msg(pdet_iter_new(&args, &a->it) == 0, "%s", a->env.error);
}

static int get_stack(struct asking *a)
{
	const struct pagedet_frame *frames;
	int r = pdet_user_stack_get(a->it, (uint32_t)getpid(), &frames);

	a->first = r > 0 ? frames : NULL;

	if (r == -ENOSYS && strstr(a->env.error, "libunwind"))
		unit_skip("libunwind is missing");
	if (r > 0 && !a->memory.ip)
		ck_assert_uint_eq(frames[0].address,
				  (uint64_t)(uintptr_t)some_regs);
	if (r > 0 && !a->it->user_stacks.perf.has_map)
		unit_needs_mount(a->it->user_stacks.perf.why);
	return r;
}

#define RUNS { .error = EAGAIN, .words = "it runs", .advice = "wait" }
#define DENIED { .error = EACCES, .words = "no access", .advice = "be root" }

static const struct {
	struct stacks memory, stops;
	bool may_not, dump;	/* the option is missing; not live */
	int error;		/* that is given; 0: there is a stack */
	unsigned asked;		/* how often the second one is asked */
	const char *words, *advice;
} both[] = {
	/* Memory tells. */
	{ .stops = DENIED },
	{ .memory = { .no_code = true } },
	{ { .error = ESRCH, .words = "gone" }, .error = ESRCH,
	  .words = "gone" },
	{ { .error = ENOSYS, .words = "32 bit" }, .error = ENOSYS,
	  .words = "32 bit" },
	{ RUNS, .may_not = true, .error = EAGAIN, .words = "it runs",
	  .advice = "wait" },
	{ { .error = EBADMSG, .words = "bad" }, .dump = true, .error = EBADMSG,
	  .words = "bad" },
	{ { .error = EBADMSG, .words = "bad" }, { .absent = true },
	  .dump = true, .error = EBADMSG, .words = "bad" },
	/* The thread is stopped. */
	{ RUNS, { .stops = true }, .asked = 2 },
	{ { .runs = true }, { .stops = true }, .asked = 2 },
	{ DENIED, { .stops = true }, .asked = 2 },
	{ { .error = ENOTSUP, .words = "pids" }, { .stops = true },
	  .asked = 2 },
	{ { .error = ENODATA, .words = "types" }, { .stops = true },
	  .asked = 2 },
	{ { .error = EBADMSG, .words = "bad" }, { .stops = true }, .asked = 2 },
	{ { .error = EIO, .words = "bad" }, { .stops = true }, .asked = 2 },
	{ { .absent = true }, { .stops = true }, .asked = 2 },
	{ { .broken = true }, { .stops = true }, .asked = 2 },
	/* Neither tells. */
	{ RUNS, DENIED, .asked = 1, .error = EACCES,
	  .words = "no access; without a stop: it runs", .advice = "be root" },
	{ { .broken = true, .advice = "repair" },
	  { .error = EAGAIN, .words = "it waits" }, .asked = 1,
	  .error = EAGAIN, .words = "it waits; without a stop: broken",
	  .advice = "repair" },
	{ { .absent = true }, { .error = EAGAIN, .words = "it waits" },
	  .asked = 1, .error = EAGAIN,
	  .words = "it waits; without a stop: no source that is open here "
		   "reads kernel memory" },
	{ RUNS, { .error = ENOTSUP, .words = "pids", .advice = "move" },
	  .asked = 1, .error = EAGAIN,
	  .words = "pids; without a stop: it runs", .advice = "wait" },
	{ RUNS, { .absent = true }, .error = EAGAIN,
	  .words = "no source that is open here stops threads; without a "
		   "stop: it runs", .advice = "wait" },
	{ RUNS, { .broken = true }, .error = EIO,
	  .words = "broken; without a stop: it runs", .advice = "wait" },
	{ RUNS, { .error = ESRCH, .words = "gone" }, .asked = 1,
	  .error = ESRCH, .words = "gone" },
	{ DENIED, { .error = ENOSYS, .words = "32 bit", .stops = true },
	  .asked = 1, .error = ENOSYS, .words = "32 bit" },
	{ DENIED, { .error = EAGAIN, .words = "let go", .stops = true },
	  .asked = 1, .error = EAGAIN,
	  .words = "let go; without a stop: no access", .advice = "be root" },
	{ { .absent = true }, { .absent = true }, .error = ENOTSUP,
	  .words = "cannot read user stacks: no source that is open here "
		   "stops threads; without a stop: no source that is open "
		   "here reads kernel memory" },
	{ { .absent = true }, { .absent = true }, .may_not = true,
	  .error = ENOTSUP, .words = "cannot read user stacks: no source that "
				     "is open here reads kernel memory" },
};

START_TEST(memory_comes_first)
{
	struct asking a;
	int r;

	ask(&a, &both[_i].memory, &both[_i].stops,
	    both[_i].may_not ? 0 : PAGEDET_Q_STOP_THREADS, !both[_i].dump);
	r = get_stack(&a);
	if (both[_i].error) {
		ck_assert_int_eq(r, -both[_i].error);
		ck_assert_str_eq(a.env.error, both[_i].words);
		ck_assert_str_eq(a.env.advice, both[_i].advice ?
				 both[_i].advice : "");
	} else if (both[_i].memory.no_code) {
		ck_assert_int_eq(r, 0);
	} else {
		ck_assert_msg(r > 0, "%d: %s", r, a.env.error);
	}
	ck_assert_uint_eq(a.stops.asked, both[_i].asked);
	ck_assert_int_eq(a.it->user_stacks.stopped, both[_i].stops.stops);
	pdet_iter_free(a.it);
}
END_TEST

/* What is said of one thread is not said of the next one. */
START_TEST(each_thread_is_stopped_or_not)
{
	static const struct stacks runs = RUNS, stops = { .stops = true };
	struct asking a;

	ask(&a, &runs, &stops, PAGEDET_Q_STOP_THREADS, true);
	ck_assert_int_gt(get_stack(&a), 0);
	ck_assert(a.it->user_stacks.stopped);
	a.memory.error = 0;
	ck_assert_int_gt(get_stack(&a), 0);
	ck_assert(!a.it->user_stacks.stopped);
	pdet_iter_free(a.it);
}
END_TEST

/* Reading it takes as long as it is large. */
START_TEST(the_map_file_is_read_before_a_stop)
{
	static const struct stacks absent = { .absent = true };
	const struct stacks stops = { .stops = true, .removes = map_path };
	struct asking a;

	make_map(16, 16, "f0");
	ask(&a, &absent, &stops, PAGEDET_Q_STOP_THREADS | PAGEDET_Q_PERF_MAP,
	    true);
	ck_assert_int_gt(get_stack(&a), 0);
	ck_assert_msg(a.it->user_stacks.perf.has_map, "%s",
		      a.it->user_stacks.perf.why);
	ck_assert_int_eq(access(map_path, F_OK), -1);
	/* Once for a process: it is gone, and not missed. */
	ck_assert_int_gt(get_stack(&a), 0);
	ck_assert(a.it->user_stacks.perf.has_map);
	pdet_iter_free(a.it);
}
END_TEST

/* No frame gets the name of a function that was there before. */
START_TEST(the_map_file_changes)
{
	static const struct {
		unsigned times;
		const char *function;
	} cases[] = { { 0, "f0" }, { 1, "f1" }, { 5, "f5" }, { 7, NULL } };
	const struct stacks absent = { .absent = true };
	struct stacks memory = { .appends = map_path,
				 .lines = cases[_i].times };
	struct asking a;
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		unit_skip("memory that is written and run is not allowed");
	memory.ip = (uint64_t)(uintptr_t)page;
	make_map(memory.ip, 16, "f0");
	ask(&a, &memory, &absent, PAGEDET_Q_PERF_MAP, true);
	ck_assert_int_gt(get_stack(&a), 0);
	ck_assert_uint_eq(a.first->type, PAGEDET_FRAME_JIT);
	if (cases[_i].function) {
		ck_assert_msg(a.first->function, "%s", a.first->why);
		ck_assert_str_eq(a.first->function, cases[_i].function);
	} else {
		ck_assert_ptr_null(a.first->function);
		ck_assert_ptr_nonnull(strstr(a.first->why, "is not used: it "
					     "changed while the stack was "
					     "read"));
	}
	/* The next thread has its own chance. */
	ck_assert_int_gt(get_stack(&a), 0);
	ck_assert_ptr_nonnull(a.first->function);
	pdet_iter_free(a.it);
	remove_map();
	munmap(page, PAGE);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("walk_task");

	unit_loop(s, a_task_that_ends_is_one, 8);
	unit_test(s, a_task_that_is_named_twice);
	unit_test(s, a_task_that_is_asked_for_by_addresses_is_one);
	unit_loop(s, a_source_of_stacks, 2);
	unit_loop(s, memory_comes_first, PDET_COUNT(both));
	unit_test(s, each_thread_is_stopped_or_not);
	unit_test(s, the_map_file_is_read_before_a_stop);
	unit_loop(s, the_map_file_changes, 4);
	return unit_main(s);
}
