/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* needs: procfs */
/*
 * Tests that a task has the same pages with and without its VMAs, whether they
 * are close to each other or far apart.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pagedet.h>

#include "../../unit.h"

#define AREAS 3000		/* areas of one page, one page apart */
#define FAR 40			/* pages, a gigabyte apart */
#define MOST 8192
#define GIB ((size_t)1 << 30)

static struct pagedet *pd;
static size_t page;

struct rows {
	uint64_t vaddr[MOST];
	uint64_t n;
};

static char *reserve(size_t size)
{
	char *at = mmap(NULL, size, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		unit_skip("there is no room");
	madvise(at, size, MADV_NOHUGEPAGE);
	return at;
}

static void write_page(char *at)
{
	ck_assert_int_eq(mprotect(at, page, PROT_READ | PROT_WRITE), 0);
	*(volatile char *)at = 1;
}

static void start(void)
{
	struct pagedet_options o = PAGEDET_OPTIONS_INIT;

	page = (size_t)sysconf(_SC_PAGESIZE);
	pd = pagedet_new();
	ck_assert_ptr_nonnull(pd);
	ck_assert_msg(pagedet_open(pd, &o) == 0, "%s", pagedet_error(pd));
}

static struct pagedet_iter *ask(uint32_t pid, uint64_t from, uint64_t size,
				const char *fields, unsigned threads)
{
	struct pagedet_item item = { from, size, pid, 0 };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_iter *it;

	q.target = PAGEDET_TARGET_TASK;
	q.items = &item;
	q.n_items = 1;
	q.threads = threads;
	ck_assert_int_eq(pagedet_fields_parse(pd, fields, &q), 0);
	ck_assert_msg(pagedet_query(pd, &q, &it) == 0, "%s",
		      pagedet_error(pd));
	return it;
}

static void read_rows(struct pagedet_iter *it, struct rows *ret)
{
	struct pagedet_page row;
	int64_t n;

	while ((n = pagedet_next(it, &row, 1)) == 1) {
		ck_assert_uint_lt(ret->n, MOST);
		ret->vaddr[ret->n++] = row.vaddr;
	}
	ck_assert_msg(n == 0, "%s", pagedet_error(pd));
}

/* Exactly the pages at @at, @step bytes apart, are found. */
static void ck_pages(const char *at, size_t size, size_t step,
		     const char *fields, unsigned threads)
{
	struct rows *rows = calloc(1, sizeof(*rows));
	struct pagedet_iter *it;
	uint64_t i;

	ck_assert_ptr_nonnull(rows);
	it = ask((uint32_t)getpid(), (uintptr_t)at, size, fields, threads);
	read_rows(it, rows);
	pagedet_iter_free(it);
	ck_assert_uint_eq(rows->n, size / step);
	for (i = 0; i < rows->n; i++)
		ck_assert_uint_eq(rows->vaddr[i], (uintptr_t)at + i * step);
	free(rows);
}

START_TEST(pages_of_many_areas)
{
	size_t step, size;
	char *at;
	int i;

	start();
	step = 2 * page;
	size = AREAS * step;
	at = reserve(size + page);
	for (i = 0; i < AREAS; i++)
		write_page(at + (size_t)i * step);
	ck_pages(at, size, step, "vaddr", 1);
	ck_pages(at, size, step, "vaddr", 2);
	ck_pages(at, size, step, "vaddr,vma_start", 1);
	/* A part whose first and last pages are absent. */
	ck_pages(at + 10 * step, 5 * step, step, "vaddr", 1);
	pagedet_free(pd);
}
END_TEST

START_TEST(pages_that_are_far_apart)
{
	char *at;
	size_t i;

	start();
	at = reserve(FAR * GIB);
	for (i = 0; i < FAR; i++)
		write_page(at + i * GIB);
	ck_pages(at, FAR * GIB, GIB, "vaddr", 1);
	ck_pages(at, FAR * GIB, GIB, "vaddr,vma_start", 1);
	pagedet_free(pd);
}
END_TEST

/* A few close pages, a hole, and a few again. */
START_TEST(islands)
{
	struct rows *rows = calloc(1, sizeof(*rows));
	const size_t island = 600;
	struct pagedet_iter *it;
	char *at;
	size_t i;

	ck_assert_ptr_nonnull(rows);
	start();
	at = reserve(4 * GIB);
	for (i = 0; i < island; i++) {
		write_page(at + i * page);
		write_page(at + 3 * GIB + i * 3 * page);
	}
	it = ask((uint32_t)getpid(), (uintptr_t)at, 4 * GIB, "vaddr", 1);
	read_rows(it, rows);
	pagedet_iter_free(it);
	ck_assert_uint_eq(rows->n, 2 * island);
	for (i = 0; i < island; i++) {
		ck_assert_uint_eq(rows->vaddr[i], (uintptr_t)at + i * page);
		ck_assert_uint_eq(rows->vaddr[island + i],
				  (uintptr_t)at + 3 * GIB + i * 3 * page);
	}
	free(rows);
	pagedet_free(pd);
}
END_TEST

/* All addresses, without knowing where they end. */
static pid_t sleeper;

/* Then it touches no page any more. */
static bool is_asleep(void)
{
	char path[64], text[512], *state;
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)sleeper);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	state = strrchr(text, ')');
	return state && !strncmp(state, ") S", 3);
}

START_TEST(all_that_a_task_has)
{
	struct rows *rows[2];
	struct pagedet_iter *it;
	pid_t child;
	int i;

	start();
	child = fork();
	if (!child)
		for (;;)
			pause();
	ck_assert_int_gt(child, 0);
	sleeper = child;
	unit_wait(is_asleep);
	for (i = 0; i < 2; i++) {
		rows[i] = calloc(1, sizeof(*rows[i]));
		ck_assert_ptr_nonnull(rows[i]);
		it = ask((uint32_t)child, 0, PAGEDET_TO_END,
			 i ? "vaddr,vma_start" : "vaddr", 1);
		read_rows(it, rows[i]);
		pagedet_iter_free(it);
	}
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	ck_assert_uint_gt(rows[0]->n, 10);
	ck_assert_uint_eq(rows[0]->n, rows[1]->n);
	ck_assert_mem_eq(rows[0]->vaddr, rows[1]->vaddr, rows[0]->n * 8);
	free(rows[0]);
	free(rows[1]);
	pagedet_free(pd);
}
END_TEST

/* Pages read so far stay right, and the end of the task is reported. */
START_TEST(a_task_that_ends_meanwhile)
{
	struct pagedet_coverage cover = { .size = sizeof(cover) };
	struct pagedet_iter *it;
	struct pagedet_page row;
	pid_t child;
	int64_t n;
	char *at;
	size_t i;

	start();
	at = reserve(16 * AREAS * page);
	for (i = 0; i < 16 * AREAS; i += 2)
		write_page(at + i * page);
	child = fork();
	if (!child)
		for (;;)
			pause();
	ck_assert_int_gt(child, 0);
	it = ask((uint32_t)child, 0, PAGEDET_TO_END, "vaddr", 1);
	ck_assert_int_eq(pagedet_next(it, &row, 1), 1);
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	while ((n = pagedet_next(it, &row, 1)) == 1)
		;
	ck_assert_msg(n == 0, "%s", pagedet_error(pd));
	ck_assert_int_eq(pagedet_coverage(it, &cover), 0);
	ck_assert_uint_ge(cover.tasks_gone, 1);
	pagedet_iter_free(it);
	pagedet_free(pd);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("procfs_populated");

	unit_test(s, pages_of_many_areas);
	unit_test(s, pages_that_are_far_apart);
	unit_test(s, islands);
	unit_test(s, all_that_a_task_has);
	unit_test(s, a_task_that_ends_meanwhile);
	return unit_main(s);
}
