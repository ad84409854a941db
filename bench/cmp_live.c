/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The running kernel's memory, read through BPF. */
#include <stdio.h>
#include <stdlib.h>

#include "compare.h"

#define LOOKUPS 20000

/* argv: bare_bpf, and where the struct pages are, from memmap_of. */
int compare_bpf(int argc, char **argv)
{
	struct command page_types = { .argv = { command_page_types() } };
	struct command bare = { .argv = { NULL } };
	struct command pagedet = { .argv = {
		command_pagedet(), "scan", "--summary", "--json",
		"--threads", NULL
	} };
	struct trial t = {
		.peer = { "page-types", command_run, &page_types },
		.bound = { "every struct page read, whole process",
			   command_run, &bare },
		.library = { "pagedet scan --summary", command_run, &pagedet },
		.tight = true
	};
	char work[96];
	unsigned threads;
	char n[8];

	if (argc != 2)
		return 64;
	bare.argv[0] = argv[0];
	bare.argv[1] = n;
	bare.argv[2] = argv[1];
	pagedet.argv[5] = n;
	for (threads = 1; threads <= 2; threads++) {
		snprintf(n, sizeof(n), "%u", threads);
		snprintf(work, sizeof(work), "by default, through BPF: summary "
			 "by kind, whole process, %u thread%s", threads,
			 threads > 1 ? "s" : "");
		t.work = work;
		t.faster = threads > 1 ? 20 : 0;
		t.bound_most = 1.25;
		trial_run(&t);
	}
	return 0;
}

struct warm {
	struct drain drain;
	struct pagedet_iter *it;
	struct pagedet_item item;
	uint64_t first;
};

static uint64_t run_warm(void *arg)
{
	struct warm *w = arg;
	uint64_t start = probe_ns(), i, answered = 0;
	struct pagedet_page row;

	for (i = 0; i < LOOKUPS; i++) {
		w->item.first = w->first + i % 64;
		if (pagedet_iter_retarget(w->it, &w->item, 1) < 0)
			drain_die(&w->drain, "pagedet_iter_retarget");
		if (pagedet_next(w->it, &row, 1) != 1)
			drain_die(&w->drain, "pagedet_next");
		answered += PAGEDET_CELL_STATE(
			row.cell[PAGEDET_FIELD_REFCOUNT]) == PAGEDET_HAVE;
	}
	start = probe_ns() - start;
	compare_same("look-ups with refcount", answered, LOOKUPS);
	return start;
}

static void warm_page(const char *work, const char *file, uint32_t sources,
		      uint32_t flags, const char *pfn, double most_ns)
{
	struct warm w = { .first = strtoull(pfn, NULL, 0) };
	struct trial t = {
		.work = work,
		.library = { "pagedet_iter_retarget", run_warm, &w },
		.per = LOOKUPS, .most_ns = most_ns
	};

	drain_open_from(&w.drain, file, sources);
	drain_want(&w.drain, flags);
	drain_want(&w.drain, PAGEDET_FIELD_REFCOUNT);
	drain_want(&w.drain, PAGEDET_FIELD_MAPCOUNT);
	w.item.first = w.first;
	w.item.count = 1;
	w.drain.query.target = PAGEDET_TARGET_PFN;
	w.drain.query.items = &w.item;
	w.drain.query.n_items = 1;
	if (pagedet_query(w.drain.pd, &w.drain.query, &w.it) < 0)
		drain_die(&w.drain, "pagedet_query");
	trial_run(&t);
	pagedet_iter_free(w.it);
	drain_close(&w.drain);
}

int compare_bpf_page(int argc, char **argv)
{
	if (argc != 1)
		return 64;
	warm_page("one page through BPF, warm", NULL,
		  PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_BPF), PAGEDET_FIELD_FLAGS,
		  argv[0], 3000);
	return 0;
}

int compare_dump_page(int argc, char **argv)
{
	char work[96];

	if (argc != 3)
		return 64;
	snprintf(work, sizeof(work), "%s: one page by PFN, raw flags, warm",
		 argv[0]);
	warm_page(work, argv[1], 0, PAGEDET_FIELD_RAW_FLAGS, argv[2], 300);
	snprintf(work, sizeof(work), "%s: one page by PFN, flags, warm",
		 argv[0]);
	warm_page(work, argv[1], 0, PAGEDET_FIELD_FLAGS, argv[2], 0);
	return 0;
}
