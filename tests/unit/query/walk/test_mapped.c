/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests pages of files found through mappings, with simulated tasks: memory
 * grows with pages and not with mappings, it is bounded, and unreadable tasks
 * are handled. tests/cli/mapped.sh has the rest.
 */
#include <errno.h>

#include "query/walk/mapped.h"
#include "../../unit.h"

#define PAGE ((uint64_t)4096)
#define PFN(index) (1000 + (index))

/* Pages of a file that one task maps. */
struct fake_task {
	struct pdet_task task;
	uint64_t inode;		/* of the file */
	uint64_t first, pages;	/* of the file */
	int open_fails;		/* errno */
	int maps_fails;
	int entries_fails;	/* after the first batch */
	bool hidden;		/* frame numbers are hidden */
	bool maps_read, entries_read;
};

static char no_root[] = "", path[] = "/f";
static struct fake_task tasks[64];
static uint32_t n_tasks;

static int fake_tasks(struct pdet_backend *b, struct pdet_env *env,
		      uint32_t **ret, size_t *n, uint64_t *lost)
{
	uint32_t i;

	(void)b;
	(void)env;
	*ret = malloc(sizeof(**ret) * n_tasks);
	for (i = 0; i < n_tasks; i++)
		(*ret)[i] = i;
	*n = n_tasks;
	*lost = 0;
	return 0;
}

static int fake_open(struct pdet_session *s, uint32_t pid,
		     struct pdet_task **ret)
{
	if (tasks[pid].open_fails)
		return pdet_fail(&s->env, tasks[pid].open_fails, "no");
	tasks[pid].maps_read = tasks[pid].entries_read = false;
	*ret = &tasks[pid].task;
	return 0;
}

static void fake_close(struct pdet_task *t)
{
	(void)t;
}

static int fake_vma_first(struct pdet_session *s, struct pdet_task *t)
{
	(void)s;
	(void)t;
	return 0;
}

static int fake_vma_next(struct pdet_session *s, struct pdet_task *base,
			 struct pdet_vma *ret)
{
	struct fake_task *t = PDET_CONTAINER(base, struct fake_task, task);

	if (t->maps_read)
		return t->maps_fails ? pdet_fail(&s->env, t->maps_fails, "no") :
				       0;
	t->maps_read = true;
	memset(ret, 0, sizeof(*ret));
	ret->start = PAGE;
	ret->end = ret->start + t->pages * PAGE;
	ret->offset = t->first * PAGE;
	ret->dev = (uint64_t)8 << 32 | 1;
	ret->inode = t->inode;
	ret->name = path;
	ret->name_len = strlen(path);
	return 1;
}

static int fake_populated(struct pdet_session *s, struct pdet_task *t,
			  uint64_t *at, uint64_t end, struct pdet_range *ret,
			  size_t max)
{
	(void)s;
	(void)t;
	(void)max;
	ret->first = *at;
	ret->last = end - 1;
	*at = end;
	return 1;
}

static int fake_entries(struct pdet_session *s, struct pdet_task *base,
			uint64_t *at, uint64_t end, bool all,
			struct pdet_batch *b)
{
	struct fake_task *t = PDET_CONTAINER(base, struct fake_task, task);
	uint32_t row;

	(void)all;
	if (t->entries_read && t->entries_fails)
		return pdet_fail(&s->env, t->entries_fails, "no");
	t->entries_read = true;
	for (; *at < end && b->n < b->cap; *at += PAGE) {
		row = (uint32_t)pdet_batch_grow(b, 1);
		pdet_put(b, row, PAGEDET_FIELD_VADDR, *at, 1);
		pdet_put(b, row, PAGEDET_FIELD_PTE,
			 PAGEDET_PTE(PAGEDET_PTE_PRESENT) |
			 PAGEDET_PTE(PAGEDET_PTE_FILE), 1);
		if (t->hidden)
			pdet_put_lost(b, row, PAGEDET_FIELD_PFN,
				      PAGEDET_NO_ACCESS, 1);
		else
			pdet_put(b, row, PAGEDET_FIELD_PFN,
				 PFN(t->first + *at / PAGE - 1), 1);
	}
	return 0;
}

static const struct pdet_backend_ops ops = {
	.tasks = fake_tasks,
	.task_open = fake_open,
	.task_close = fake_close,
	.vma_first = fake_vma_first,
	.vma_next = fake_vma_next,
	.populated = fake_populated,
	.entries = fake_entries,
};

/* A query about /f. */
struct ask {
	struct pdet_backend backend;
	struct pdet_session session;
	struct pdet_iter it;
	struct pdet_worker worker;
	struct pdet_walk walk;
	struct pdet_mapped mapped;
};

static struct ask asked;

static void add_task(uint64_t first, uint64_t pages)
{
	ck_assert_uint_lt(n_tasks, 64);
	tasks[n_tasks++] = (struct fake_task){
		.inode = 12, .first = first, .pages = pages
	};
}

/* Finds the files, then collects their pages. */
static int collect_of(uint32_t target, char *what, uint64_t first,
		      uint64_t end, uint64_t max)
{
	struct ask *a = &asked;
	int r;

	memset(a, 0, sizeof(*a));
	a->backend.ops = &ops;
	a->session.backend = &a->backend;
	a->session.env.root = no_root;
	a->it.page_size = PAGE;
	a->it.q.target = target;
	a->it.q.path = what;
	a->worker.it = &a->it;
	a->worker.session[0] = &a->session;
	a->it.workers = &a->worker;
	a->walk.it = &a->it;
	a->walk.backend = &a->backend;
	a->mapped.first = first;
	a->mapped.end = end;
	a->mapped.max_pages = max;
	r = pdet_mapped_find(&a->mapped, &a->walk, &a->worker);
	return r < 0 ? r : pdet_mapped_collect(&a->mapped, &a->walk,
					       &a->worker);
}

static int collect(uint64_t first, uint64_t end, uint64_t max)
{
	return collect_of(PAGEDET_TARGET_FILE, path, first, end, max);
}

/* All pages from @first on, each once. */
static void expect_pages(uint64_t first, uint64_t n)
{
	const struct pdet_mapped_file *f = &asked.mapped.files.data[0];
	uint64_t i;

	ck_assert_uint_eq(asked.mapped.files.n, 1);
	ck_assert_uint_eq(f->pages.n, n);
	ck_assert_uint_eq(f->sorted, n);
	for (i = 0; i < n; i++) {
		ck_assert_uint_eq(f->pages.data[i].index, first + i);
		ck_assert_uint_eq(f->pages.data[i].pfn, PFN(first + i));
	}
}

START_TEST(memory_is_for_pages_not_mappings)
{
	enum { PAGES = 100000 };
	uint64_t i;

	/*
	 * 3.3 million mappings: the same pages repeatedly, in parts from the
	 * end to the beginning, and in halves.
	 */
	for (i = 0; i < 20; i++)
		add_task(0, PAGES);
	for (i = 0; i < 10; i++)
		add_task(PAGES - (i + 1) * PAGES / 10, PAGES / 10);
	for (i = 0; i < 20; i++)
		add_task(i % 2 * PAGES / 2, PAGES / 2);
	for (i = 0; i < 2; i++)
		add_task(i * PAGES, PAGES);
	ck_assert_int_eq(collect(0, UINT64_MAX, 2 * PAGES), 0);
	expect_pages(0, 2 * PAGES);
	ck_assert_uint_le(asked.mapped.files.data[0].pages.cap, 4 * PAGES);
	ck_assert_uint_eq(asked.worker.cover.tasks, 52);
	pdet_mapped_free(&asked.mapped);
}
END_TEST

START_TEST(scattered_parts_come_together)
{
	enum { PARTS = 60, PAGES = 5000 };
	uint64_t i;

	/* In random order, each overlapping the next one. */
	for (i = 0; i < PARTS; i++)
		add_task(i * 37 % PARTS * PAGES, PAGES + 100);
	ck_assert_int_eq(collect(0, UINT64_MAX, UINT64_MAX), 0);
	expect_pages(0, PARTS * PAGES + 100);
	pdet_mapped_free(&asked.mapped);
}
END_TEST

START_TEST(only_what_is_asked_is_kept)
{
	add_task(0, 1000);
	add_task(150, 1000);
	add_task(500, 10);
	ck_assert_int_eq(collect(100, 200, 100), 0);
	expect_pages(100, 100);
	pdet_mapped_free(&asked.mapped);
	/* Past the end of everything mapped. */
	ck_assert_int_eq(collect(1150, UINT64_MAX, 100), 0);
	expect_pages(0, 0);
	pdet_mapped_free(&asked.mapped);
	ck_assert_int_eq(collect(1149, 1151, 100), 0);
	expect_pages(1149, 1);
	pdet_mapped_free(&asked.mapped);
}
END_TEST

START_TEST(the_bound_is_said)
{
	add_task(0, 1000);
	add_task(0, 1000);
	ck_assert_int_eq(collect(0, UINT64_MAX, 1000), 0);
	pdet_mapped_free(&asked.mapped);
	ck_assert_int_eq(collect(0, UINT64_MAX, 999), -ENOMEM);
	ck_assert_ptr_nonnull(strstr(asked.session.env.error,
				     "of /f: there are more than 999"));
	ck_assert_ptr_nonnull(strstr(asked.session.env.advice, "a part"));
	pdet_mapped_free(&asked.mapped);
	/* Long before all were read. */
	add_task(0, 1 << 17);
	add_task(0, (uint64_t)1 << 40);
	ck_assert_int_eq(collect(0, UINT64_MAX, 1 << 17), -ENOMEM);
	ck_assert_uint_le(asked.mapped.files.data[0].pages.cap, 1 << 19);
	pdet_mapped_free(&asked.mapped);
}
END_TEST

START_TEST(the_bound_is_for_all_files)
{
	char root[] = "/";
	uint64_t i;

	/* Each file is mapped by two tasks. */
	for (i = 0; i < 40; i++) {
		add_task(0, 1000);
		tasks[i].inode = 12 + i / 2;
	}
	ck_assert_int_eq(collect_of(PAGEDET_TARGET_TREE, root, 0, UINT64_MAX,
				    20000), 0);
	ck_assert_uint_eq(asked.mapped.files.n, 20);
	for (i = 0; i < 20; i++)
		ck_assert_uint_eq(asked.mapped.files.data[i].pages.n, 1000);
	pdet_mapped_free(&asked.mapped);
	ck_assert_int_eq(collect_of(PAGEDET_TARGET_TREE, root, 0, UINT64_MAX,
				    19999), -ENOMEM);
	ck_assert_ptr_nonnull(strstr(asked.session.env.error,
				     "of the files: there are more than 19999"));
	pdet_mapped_free(&asked.mapped);
}
END_TEST

START_TEST(tasks_that_cannot_be_read_are_counted)
{
	const struct pdet_cover *cover = &asked.worker.cover;
	int i;

	for (i = 0; i < 6; i++)
		add_task(0, 10);
	tasks[0].open_fails = ESRCH;
	tasks[1].open_fails = EACCES;
	tasks[2].maps_fails = EIO;
	tasks[3].entries_fails = ESRCH;
	tasks[3].pages = 100000;
	tasks[4].entries_fails = EIO;
	tasks[4].pages = 100000;
	ck_assert_int_eq(collect(0, UINT64_MAX, UINT64_MAX), 0);
	/* Pages of ended tasks, read before, are right. */
	ck_assert_uint_eq(asked.mapped.files.data[0].pages.n, 4096);
	ck_assert_uint_eq(cover->tasks, 3);
	ck_assert_uint_eq(cover->tasks_gone, 2);
	ck_assert_uint_eq(cover->tasks_denied, 1);
	ck_assert_uint_eq(cover->tasks_damaged, 2);
	ck_assert_str_eq(asked.session.env.error, "");
	pdet_mapped_free(&asked.mapped);
	tasks[5].open_fails = ENOMEM;
	ck_assert_int_eq(collect(0, UINT64_MAX, UINT64_MAX), -ENOMEM);
	pdet_mapped_free(&asked.mapped);
}
END_TEST

START_TEST(nobody_can_be_read)
{
	add_task(0, 10);
	tasks[0].open_fails = EACCES;
	ck_assert_int_eq(collect(0, UINT64_MAX, UINT64_MAX), -ENODATA);
	ck_assert_ptr_nonnull(strstr(asked.session.env.error,
				     "no task that could be read maps it"));
	pdet_mapped_free(&asked.mapped);
	n_tasks = 0;
	ck_assert_int_eq(collect(0, UINT64_MAX, UINT64_MAX), -ENODATA);
	ck_assert_ptr_nonnull(strstr(asked.session.env.error,
				     "no task maps it"));
	pdet_mapped_free(&asked.mapped);
}
END_TEST

START_TEST(it_can_be_stopped)
{
	add_task(0, (uint64_t)1 << 36);
	ck_assert_int_eq(collect(0, 0, UINT64_MAX), 0);
	asked.mapped.end = UINT64_MAX;
	pdet_iter_stop(&asked.it, ECANCELED, NULL);
	ck_assert_int_eq(pdet_mapped_collect(&asked.mapped, &asked.walk,
					     &asked.worker), -ECANCELED);
	pdet_mapped_free(&asked.mapped);
}
END_TEST

START_TEST(what_one_hides_another_shows)
{
	const struct pdet_mapped_page *p;

	add_task(0, 3);
	add_task(2, 3);
	add_task(0, 4);
	tasks[0].hidden = tasks[2].hidden = true;
	ck_assert_int_eq(collect(0, UINT64_MAX, UINT64_MAX), 0);
	ck_assert_uint_eq(asked.mapped.files.data[0].pages.n, 5);
	p = asked.mapped.files.data[0].pages.data;
	ck_assert_uint_eq(p[0].pfn, 0);
	ck_assert_uint_eq(p[1].pfn, 0);
	ck_assert_uint_eq(p[2].pfn, PFN(2));
	ck_assert_uint_eq(p[3].pfn, PFN(3));
	ck_assert_uint_eq(p[4].pfn, PFN(4));
	pdet_mapped_free(&asked.mapped);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mapped");

	unit_test(s, memory_is_for_pages_not_mappings);
	unit_test(s, scattered_parts_come_together);
	unit_test(s, only_what_is_asked_is_kept);
	unit_test(s, the_bound_is_said);
	unit_test(s, the_bound_is_for_all_files);
	unit_test(s, tasks_that_cannot_be_read_are_counted);
	unit_test(s, nobody_can_be_read);
	unit_test(s, it_can_be_stopped);
	unit_test(s, what_one_hides_another_shows);
	return unit_main(s);
}
