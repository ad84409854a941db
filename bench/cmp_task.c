/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* All pages of a task. */
#include <stdio.h>
#include <stdlib.h>

#include "compare.h"

static uint64_t run_total(void *arg)
{
	uint64_t start = probe_ns();

	probe_task_total(arg);
	return probe_ns() - start;
}

/* The library's columns against the raw calls; @pid is opened in @raw. */
static void in_process(const char *name, struct probe_task *raw,
		       double most)
{
	struct pagedet_item item = {
		.count = PAGEDET_TO_END, .pid = (uint32_t)raw->pid
	};
	struct drain lib;
	char work[96];
	struct trial t = {
		.work = work,
		.bound = { "PAGEMAP_SCAN, pagemap, sort, kpageflags",
			   run_total, raw },
		.library = { "pagedet_query", drain_run, &lib },
		.bound_most = most,
		.tight = most > 0
	};

	snprintf(work, sizeof(work), "%s, vaddr, pfn, flags as columns", name);
	drain_open(&lib);
	drain_want(&lib, PAGEDET_FIELD_VADDR);
	drain_want(&lib, PAGEDET_FIELD_PFN);
	drain_want(&lib, PAGEDET_FIELD_FLAGS);
	lib.query.target = PAGEDET_TARGET_TASK;
	lib.query.items = &item;
	lib.query.n_items = 1;
	trial_run(&t);
	compare_same("pages of the task", lib.rows, raw->pfns);
	drain_close(&lib);
}

/* How many pages page-types says the task has; it says so in its last line. */
static uint64_t peer_pages(const char *pid)
{
	char script[128], line[256];
	unsigned long long pages = 0;
	FILE *out;

	snprintf(script, sizeof(script), "\"$PAGE_TYPES\" -p %s 2>/dev/null",
		 pid);
	out = popen(script, "r");
	if (!out)
		probe_die("cannot start page-types");
	while (fgets(line, sizeof(line), out))
		sscanf(line, " total %llu", &pages);
	pclose(out);
	return pages;
}

/*
 * page-types stops at more VMAs than its table has room for, with status 0.
 * Then there is no time to compare with; what counts is that the library
 * counts them all.
 */
static void where_peer_stops(const char *work, struct command *pagedet,
			     uint64_t peer, const struct probe_task *raw)
{
	char peer_text[96], text[96];
	uint64_t ns;

	pagedet->may_fail = true;
	ns = command_run(pagedet);
	snprintf(peer_text, sizeof(peer_text),
		 "page-types -p: stops after %llu of %zu pages",
		 (unsigned long long)peer, raw->pfns);
	snprintf(text, sizeof(text), "pagedet task: %.1f ms, status %d",
		 (double)ns / 1e6, pagedet->status);
	trial_says(work, peer_text, text, pagedet->status == 0);
}

int compare_task(int argc, char **argv)
{
	const char *name = argv[0], *pid = argv[1];
	struct command page_types = {
		.argv = { command_page_types(), "-p", pid }
	};
	struct command pagedet = { .argv = {
		command_pagedet(), "task", pid, "--by", "flags", "--json"
	} };
	struct probe_task raw;
	uint64_t peer;
	char work[96];
	struct trial t = {
		.work = work,
		.peer = { "page-types -p", command_run, &page_types },
		.bound = { "raw calls, in process", run_total, &raw },
		.library = { "pagedet task", command_run, &pagedet }
	};

	if (argc < 2 || argc > 4)
		return 64;
	t.faster = argc > 2 ? atof(argv[2]) : 0;
	snprintf(work, sizeof(work), "%s, flags, summary, whole process",
		 name);
	probe_task_open(&raw, atoi(pid), PROBE_FLAGS);
	in_process(name, &raw, argc > 3 ? atof(argv[3]) : 0);
	peer = peer_pages(pid);
	if (peer < raw.pfns / 2)
		where_peer_stops(work, &pagedet, peer, &raw);
	else
		trial_run(&t);
	probe_task_close(&raw);
	return 0;
}
