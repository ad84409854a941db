/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Cached pages of a file, and how much memory a command needs. */
#include <stdio.h>
#include <stdlib.h>

#include "compare.h"

struct raw {
	struct probe_cache cache;
	struct probe_kpage kpage;
};

static uint64_t run_flags(void *arg)
{
	struct raw *r = arg;
	uint64_t start = probe_ns();

	probe_cache_flags(&r->cache, &r->kpage);
	return probe_ns() - start;
}

static uint64_t run_stat(void *arg)
{
	struct raw *r = arg;
	uint64_t start = probe_ns();

	probe_cache_stat(&r->cache);
	return probe_ns() - start;
}

static void raw_open(struct raw *r, const char *path)
{
	probe_cache_open(&r->cache, path);
	probe_kpage_open(&r->kpage, PROBE_FLAGS);
}

static void raw_close(struct raw *r)
{
	probe_kpage_close(&r->kpage);
	probe_cache_close(&r->cache);
}

static void in_process(const char *name, struct raw *raw, const char *path,
		       double most)
{
	struct drain lib;
	char work[96];
	struct trial t = {
		.work = work,
		.bound = { "mincore, touch, pagemap, kpageflags", run_flags,
			   raw },
		.library = { "pagedet_query", drain_run, &lib },
		.bound_most = most,
		.tight = most > 0
	};

	snprintf(work, sizeof(work), "%s, index, pfn, flags as columns",
		 name);
	drain_open(&lib);
	drain_want(&lib, PAGEDET_FIELD_INDEX);
	drain_want(&lib, PAGEDET_FIELD_PFN);
	drain_want(&lib, PAGEDET_FIELD_FLAGS);
	lib.query.target = PAGEDET_TARGET_FILE;
	lib.query.path = path;
	trial_run(&t);
	compare_same("cached pages", lib.rows, raw->cache.pfns);
	drain_close(&lib);
}

int compare_file(int argc, char **argv)
{
	struct command page_types = { .argv = {
		command_page_types(), "-f", argv[1]
	} };
	struct command pagedet = { .argv = {
		command_pagedet(), "file", argv[1], "--by", "flags", "--json"
	} };
	struct raw raw;
	char work[96];
	struct trial t = {
		.work = work,
		.peer = { "page-types -f", command_run, &page_types },
		.bound = { "raw calls, in process", run_flags, &raw },
		.library = { "pagedet file", command_run, &pagedet }
	};

	if (argc < 2 || argc > 4)
		return 64;
	t.faster = argc > 2 ? atof(argv[2]) : 0;
	snprintf(work, sizeof(work), "%s, flags, summary, whole process",
		 argv[0]);
	raw_open(&raw, argv[1]);
	in_process(argv[0], &raw, argv[1], argc > 3 ? atof(argv[3]) : 0);
	trial_run(&t);
	raw_close(&raw);
	return 0;
}

int compare_count(int argc, char **argv)
{
	struct command fincore = { .argv = { command_fincore(), argv[0] } };
	struct command pagedet = { .argv = {
		command_pagedet(), "file", argv[0], "--summary"
	} };
	struct raw raw;
	struct trial t = {
		.work = "number of cached pages, whole process",
		.peer = { "fincore", command_run, &fincore },
		.bound = { "cachestat, in process", run_stat, &raw },
		.library = { "pagedet file --summary", command_run, &pagedet },
		.faster = 12
	};

	if (argc != 1)
		return 64;
	raw_open(&raw, argv[0]);
	trial_run(&t);
	raw_close(&raw);
	return 0;
}

int compare_rss(int argc, char **argv)
{
	struct command pagedet = { .argv = { command_pagedet() } };
	int i;

	if (argc < 2 || argc > COMMAND_ARGS)
		return 64;
	for (i = 1; i < argc; i++)
		pagedet.argv[i] = argv[i];
	command_run(&pagedet);
	trial_value(argv[0], (double)pagedet.rss_kib / 1024, "MiB", 16);
	return 0;
}
