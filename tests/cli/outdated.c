/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Asks for user_maps of a page of its own with an index that is older than the
 * kernel's count: a child that maps the page has ended, or was made, since.
 * Prints both counts, and whether the row has the note for this.
 *
 *   outdated ended|made
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pagedet.h>

static struct pagedet *pd;

static void fail(const char *what)
{
	fprintf(stderr, "outdated: %s: %s\n", what, pagedet_error(pd));
	exit(1);
}

/* A child that maps the page. */
static pid_t new_child(volatile char *page)
{
	const pid_t child = fork();

	if (child) {
		while (!page[1])
			usleep(1000);
		return child;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	page[1] = 1;
	for (;;)
		pause();
}

static void want(struct pagedet_query *q, unsigned field)
{
	q->fields[field / 64] |= 1ull << field % 64;
}

static uint64_t pfn_of(const volatile char *page)
{
	const struct pagedet_item item = { (uintptr_t)page, 1,
					   (uint32_t)getpid(), 0 };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_iter *it;
	struct pagedet_page row;

	q.target = PAGEDET_TARGET_VIRT;
	q.items = &item;
	q.n_items = 1;
	want(&q, PAGEDET_FIELD_PFN);
	if (pagedet_query(pd, &q, &it) || pagedet_next(it, &row, 1) != 1)
		fail("no row");
	if ((row.cell[PAGEDET_FIELD_PFN] & 0xff) != PAGEDET_HAVE)
		fail("page frame numbers are hidden");
	pagedet_iter_free(it);
	return row.pfn;
}

/* @note: the one to print, with its name. */
static void ask(uint64_t pfn, struct pagedet_index *index, unsigned note,
		const char *name)
{
	const struct pagedet_item item = { pfn, 1, 0, 0 };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_iter *it;
	struct pagedet_page row;

	q.target = PAGEDET_TARGET_PFN;
	q.items = &item;
	q.n_items = 1;
	q.index = index;
	want(&q, PAGEDET_FIELD_USER_MAPS);
	want(&q, PAGEDET_FIELD_MAPCOUNT);
	want(&q, PAGEDET_FIELD_NOTES);
	if (pagedet_query(pd, &q, &it) || pagedet_next(it, &row, 1) != 1)
		fail("no row");
	printf("user_maps %" PRIu64 " mapcount %" PRIu64 " %s\n",
	       row.user_maps, row.mapcount,
	       row.notes & PAGEDET_NOTE(note) ? name : "nothing noted");
	pagedet_iter_free(it);
}

int main(int argc, char **argv)
{
	volatile char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const int ended = argc == 2 && !strcmp(argv[1], "ended");
	struct pagedet_index *index;
	pid_t child = 0;

	pd = pagedet_new();
	if (page == MAP_FAILED || !pd || pagedet_open(pd, NULL))
		fail("cannot begin");
	*page = 1;
	if (ended)
		child = new_child(page);
	if (pagedet_index_new(pd, NULL, &index))
		fail("no index");
	if (ended) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	} else {
		child = new_child(page);
	}
	if (ended)
		ask(pfn_of(page), index, PAGEDET_NOTE_TORN, "torn");
	else
		ask(pfn_of(page), index, PAGEDET_NOTE_PARTIAL, "partial");
	if (!ended)
		kill(child, SIGKILL);
	pagedet_index_free(index);
	pagedet_free(pd);
	return 0;
}
