/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests the mapping index with simulated tasks. Task T maps frame(T, V) at page
 * V, so every answer can be checked.
 */
#include <errno.h>
#include <unistd.h>

#include "query/mapindex.h"
#include "../fake.h"
#include "../unit.h"

#define PAGE 4096
#define TASKS 40
#define PAGES 3000		/* of each task, from address BASE on */
#define BASE ((uint64_t)0x10000000)
#define FRAMES 20000
#define SHARED_FRAME 77		/* mapped by all tasks, more than once */
#define RANGE 31000		/* consecutive frames */
/* The quarter of tasks with a range has it in half of its pages. */
#define SHARED_MAPPINGS \
	((uint64_t)(TASKS - 2) * PAGES / 10 - TASKS / 4 * PAGES / 2 / 10)

#define GONE 7			/* tasks by number */
#define DENIED 11
#define SLOW 20

struct world {
	struct pdet_backend backend;
	struct pdet_env env;
	int error;		/* the result of mappings() for SLOW */
	bool denies_all;
	bool no_denied;		/* DENIED is readable, too */
	uint64_t lost;		/* of the list of tasks */
	bool shares;		/* each two tasks have one address space */
};

struct task {
	struct pdet_task base;
	bool at_end;
};

static uint32_t pid_of(unsigned task)
{
	return 100 + 3 * task;
}

/* Whether @task shares the range of frames, at an address of its own. */
static bool in_range(unsigned task, unsigned page)
{
	return task % 4 == 1 && page >= PAGES / 2;
}

static uint64_t frame(unsigned task, unsigned page)
{
	if (in_range(task, page))
		return RANGE + 3 * task + page;
	if (page % 10 == 0)
		return SHARED_FRAME;
	return 1000 + (task * 7919 + page * 104729) % FRAMES;
}

/* Some differ in the middle of a range. */
static uint32_t pte(unsigned page)
{
	return PAGEDET_PTE(PAGEDET_PTE_PRESENT) |
	       (page % 100 == 13 ? PAGEDET_PTE(PAGEDET_PTE_EXCLUSIVE) : 0);
}

static unsigned number_of(uint32_t pid)
{
	return (pid - 100) / 3;
}

static int tasks(struct pdet_backend *b, struct pdet_env *env, uint32_t **ret,
		 size_t *n, uint64_t *lost)
{
	unsigned i;

	(void)env;
	*lost = ((struct world *)b)->lost;
	*ret = malloc(TASKS * sizeof(**ret));
	ck_assert_ptr_nonnull(*ret);
	for (i = 0; i < TASKS; i++)
		(*ret)[i] = pid_of(i);
	*n = TASKS;
	return 0;
}

static int task_open(struct pdet_session *s, uint32_t pid,
		     struct pdet_task **ret)
{
	struct world *w = (struct world *)s->backend;
	struct task *t;

	if (number_of(pid) == GONE)
		return pdet_fail(&s->env, ESRCH, "gone");
	if ((number_of(pid) == DENIED && !w->no_denied) || w->denies_all)
		return pdet_fail(&s->env, EACCES, "denied");
	t = calloc(1, sizeof(*t));
	ck_assert_ptr_nonnull(t);
	t->base.backend = s->backend;
	t->base.pid = t->base.thread = pid;
	t->base.space = w->shares ? number_of(pid) / 2 + 1 : 0;
	*ret = &t->base;
	return 0;
}

static void task_close(struct pdet_task *t)
{
	free(t);
}

static int vma_first(struct pdet_session *s, struct pdet_task *t)
{
	(void)s;
	((struct task *)t)->at_end = false;
	return 0;
}

static int vma_next(struct pdet_session *s, struct pdet_task *t,
		    struct pdet_vma *ret)
{
	(void)s;
	if (((struct task *)t)->at_end)
		return 0;
	((struct task *)t)->at_end = true;
	memset(ret, 0, sizeof(*ret));
	ret->start = BASE;
	ret->end = BASE + (uint64_t)PAGES * PAGE;
	return 1;
}

static int populated(struct pdet_session *s, struct pdet_task *t, uint64_t *at,
		     uint64_t end, struct pdet_range *ret, size_t max)
{
	(void)s;
	(void)t;
	ck_assert_uint_ge(max, 1);
	ret[0].first = *at;
	ret[0].last = end - 1;
	*at = end;
	return 1;
}

static int mappings(struct pdet_session *s, struct pdet_task *t,
		    uint64_t start, uint64_t end,
		    const struct pdet_pfnset *set, struct pdet_found_list *ret)
{
	const struct world *w = (struct world *)s->backend;
	const unsigned task = number_of(t->pid);
	struct pdet_found f = { .pfn = 0 };
	uint64_t at;
	unsigned page;

	ck_assert_ptr_null(set);
	if (task == SLOW && w->error)
		return pdet_fail(&s->env, w->error, "task %u: cannot be read",
				 t->pid);
	for (at = start; at < end; at += PAGE * (f.more + 1)) {
		page = (unsigned)((at - BASE) / PAGE);
		f.pfn = frame(task, page);
		f.vaddr = at;
		f.pte = f.pte_known = pte(page);
		for (f.more = 0; at + PAGE * (f.more + 1) < end; f.more++)
			if (frame(task, ++page) != f.pfn + f.more + 1 ||
			    pte(page) != f.pte)
				break;
		ck_assert(pdet_vec_push(ret, f));
	}
	return 0;
}

static const struct pdet_backend_ops ops = {
	.name = "index",
	.tasks = tasks,
	.prepare = fake_prepare,
	.session_new = fake_session_new,
	.session_free = fake_session_free,
	.task_open = task_open,
	.task_close = task_close,
	.vma_first = vma_first,
	.vma_next = vma_next,
	.populated = populated,
	.mappings = mappings,
};

static int make(struct world *w, struct pdet_mapindex_args *args,
		struct pdet_mapindex **ret)
{
	static char root[] = "";

	w->backend.ops = &ops;
	w->env.root = root;
	args->env = &w->env;
	args->backend = &w->backend;
	args->page_size = PAGE;
	return pdet_mapindex_new(args, ret);
}

/* All mappings of a frame, by task and address. */
static size_t truth(uint64_t pfn, struct pagedet_mapping *ret)
{
	unsigned task, page;
	size_t n = 0;

	for (task = 0; task < TASKS; task++)
		for (page = 0; page < PAGES; page++) {
			if (task == GONE || task == DENIED ||
			    frame(task, page) != pfn)
				continue;
			ret[n].pfn = pfn;
			ret[n].vaddr = BASE + (uint64_t)page * PAGE;
			ret[n].pid = pid_of(task);
			ret[n].pte = pte(page);
			n++;
		}
	return n;
}

static void ck_frame(const struct pdet_mapindex *ix, uint64_t pfn)
{
	const size_t most = (size_t)TASKS * PAGES;
	struct pagedet_mapping *want = calloc(most, sizeof(*want));
	struct pagedet_mapping *got = calloc(most, sizeof(*got));
	size_t n = truth(pfn, want);
	uint64_t unsure;

	ck_assert_uint_eq(pdet_mapindex_count(ix, pfn, &unsure), n);
	ck_assert_uint_eq(unsure, 0);
	ck_assert_uint_eq(pdet_mapindex_find(ix, pfn, got, most), n);
	ck_assert_mem_eq(got, want, n * sizeof(*got));
	free(want);
	free(got);
}

START_TEST(every_mapping_is_found)
{
	static const uint64_t pfns[] = { 0, 1, SHARED_FRAME, 999, 1000, 1001,
					 5000, 12345, 20998, 20999, 21000,
					 RANGE + 3 + PAGES / 2 - 1,
					 RANGE + 3 * 37 + PAGES - 1,
					 RANGE + 3 * 37 + PAGES,
					 UINT32_MAX, (uint64_t)1 << 39 };
	struct pdet_mapindex_args args = { .threads = (unsigned)_i };
	struct world w = { .error = 0 };
	struct pdet_mapindex_info info;
	struct pdet_mapindex *ix;
	size_t i;

	ck_assert_int_eq(make(&w, &args, &ix), 0);
	for (i = 0; i < PDET_COUNT(pfns); i++)
		ck_frame(ix, pfns[i]);
	for (i = 0; i < 30; i++)
		ck_frame(ix, RANGE + 2013 - 15 + i);
	pdet_mapindex_info(ix, &info);
	ck_assert_uint_eq(info.mappings, (uint64_t)(TASKS - 2) * PAGES);
	ck_assert_uint_eq(info.tasks, TASKS);
	ck_assert_uint_eq(info.tasks_gone, 1);
	ck_assert_uint_eq(info.tasks_denied, 1);
	ck_assert_uint_eq(info.n_unread, 1);
	ck_assert_uint_eq(info.unread[0], pid_of(DENIED));
	ck_assert_uint_le(info.bytes, info.mappings * 17);
	pdet_mapindex_free(ix);
}
END_TEST

START_TEST(the_first_ones_are_given_where_all_do_not_fit)
{
	struct pdet_mapindex_args args = { .threads = 2 };
	struct world w = { .error = 0 };
	struct pagedet_mapping some[3];
	struct pdet_mapindex *ix;

	ck_assert_int_eq(make(&w, &args, &ix), 0);
	ck_assert_uint_eq(pdet_mapindex_find(ix, SHARED_FRAME, some, 3),
			  SHARED_MAPPINGS);
	ck_assert_uint_eq(some[0].pid, pid_of(0));
	ck_assert_uint_eq(some[2].vaddr, BASE + 20 * PAGE);
	ck_assert_uint_eq(pdet_mapindex_find(ix, SHARED_FRAME, NULL, 0),
			  SHARED_MAPPINGS);
	pdet_mapindex_free(ix);
}
END_TEST

START_TEST(a_failure_has_the_words_of_who_failed)
{
	struct pdet_mapindex_args args = { .threads = (unsigned)_i };
	struct world w = { .error = EIO };
	struct pdet_mapindex *ix = NULL;

	ck_assert_int_eq(make(&w, &args, &ix), -EIO);
	ck_assert_str_eq(w.env.error, "task 160: cannot be read");
	ck_assert_ptr_null(ix);
}
END_TEST

/* An unreadable task is reported first, otherwise a possible omission. */
START_TEST(a_damaged_list_of_tasks_is_no_whole_one)
{
	struct pdet_mapindex_args args = { .threads = 2 };
	struct world w = { .lost = 1, .no_denied = _i };
	struct pdet_mapindex *ix;

	ck_assert_int_eq(make(&w, &args, &ix), 0);
	ck_assert_uint_eq(pdet_mapindex_partial(ix), _i ? PAGEDET_CORRUPT :
							   PAGEDET_NO_ACCESS);
	pdet_mapindex_free(ix);
	w.lost = 0;
	ck_assert_int_eq(make(&w, &args, &ix), 0);
	ck_assert_uint_eq(pdet_mapindex_partial(ix), _i ? 0 :
							   PAGEDET_NO_ACCESS);
	pdet_mapindex_free(ix);
}
END_TEST

/* A task with damaged tables does not affect the others. */
START_TEST(a_damaged_task_is_named)
{
	struct pdet_mapindex_args args = { .threads = (unsigned)_i };
	struct world w = { .error = EBADMSG };
	struct pdet_mapindex_info info;
	struct pdet_mapindex *ix;
	uint32_t i, named = 0;

	ck_assert_int_eq(make(&w, &args, &ix), 0);
	pdet_mapindex_info(ix, &info);
	ck_assert_uint_eq(info.mappings, (uint64_t)(TASKS - 3) * PAGES);
	ck_assert_uint_eq(info.tasks_denied, 1);
	ck_assert_uint_eq(info.tasks_damaged, 1);
	ck_assert_uint_eq(info.n_unread, 2);
	for (i = 0; i < 2; i++)
		named += info.unread[i] == pid_of(SLOW);
	ck_assert_uint_eq(named, 1);
	pdet_mapindex_free(ix);
}
END_TEST

START_TEST(an_index_of_nothing_because_nothing_may_be_read)
{
	struct pdet_mapindex_args args = { .threads = 2 };
	struct world w = { .denies_all = true };
	struct pdet_mapindex *ix = NULL;

	ck_assert_int_eq(make(&w, &args, &ix), -EACCES);
	ck_assert_str_eq(w.env.error,
			 "cannot find mappings: no task may be read");
	/* A caller with the privilege is not told to get it. */
	ck_assert_ptr_nonnull(strstr(w.env.advice, "CAP_SYS_PTRACE"));
	if (geteuid())
		ck_assert_str_eq(w.env.advice,
				 "needs CAP_SYS_ADMIN and CAP_SYS_PTRACE");
}
END_TEST

START_TEST(a_deadline_ends_it)
{
	struct pdet_mapindex_args args = { .threads = 2, .deadline_ns = 1 };
	struct world w = { .error = 0 };
	struct pdet_mapindex *ix = NULL;

	ck_assert_int_eq(make(&w, &args, &ix), -ETIMEDOUT);
	ck_assert_str_eq(w.env.error,
			 "cannot finish the mapping index: the deadline passed");
}
END_TEST

static int stop_at_once(void *user, const struct pagedet_progress *p)
{
	int *calls = user;

	ck_assert_uint_eq(p->total, TASKS);
	ck_assert_uint_le(p->done, TASKS);
	return ++*calls;
}

START_TEST(the_caller_ends_it)
{
	int calls = 0;
	struct pdet_mapindex_args args = {
		.threads = 1, .progress = stop_at_once,
		.progress_user = &calls, .progress_ns = 1
	};
	struct world w = { .error = 0 };
	struct pdet_mapindex *ix = NULL;

	ck_assert_int_eq(make(&w, &args, &ix), -ECANCELED);
	ck_assert_int_eq(calls, 1);
}
END_TEST

/* Every process is shown, but each address space counts once. */
START_TEST(shared_spaces)
{
	struct pdet_mapindex_args args = { .threads = 2 };
	struct world w = { .shares = true };
	struct pdet_mapindex *ix;
	uint64_t unsure, n;

	ck_assert_int_eq(make(&w, &args, &ix), 0);
	ck_assert_uint_eq(pdet_mapindex_find(ix, SHARED_FRAME, NULL, 0),
			  SHARED_MAPPINGS);
	/* Of each two one counts, and those of GONE and DENIED are alone. A
	 * quarter of the tasks has half as many of the mappings. */
	n = pdet_mapindex_count(ix, SHARED_FRAME, &unsure);
	ck_assert_uint_le(n, SHARED_MAPPINGS * 7 / 10);
	ck_assert_uint_ge(n, SHARED_MAPPINGS * 4 / 10);
	ck_assert_uint_eq(unsure, 0);
	pdet_mapindex_free(ix);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mapindex");

	/* 0 and 1 are one thread. */
	unit_loop(s, every_mapping_is_found, 5);
	unit_test(s, the_first_ones_are_given_where_all_do_not_fit);
	unit_loop(s, a_failure_has_the_words_of_who_failed, 4);
	unit_loop(s, a_damaged_list_of_tasks_is_no_whole_one, 2);
	unit_loop(s, a_damaged_task_is_named, 4);
	unit_test(s, an_index_of_nothing_because_nothing_may_be_read);
	unit_test(s, a_deadline_ends_it);
	unit_test(s, the_caller_ends_it);
	unit_test(s, shared_spaces);
	return unit_main(s);
}
