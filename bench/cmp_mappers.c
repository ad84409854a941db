/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Who maps a page: one sweep, and the index of all mappings. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

static uint64_t run_revmap(void *arg)
{
	struct probe_revmap *r = arg;
	uint64_t start = probe_ns();

	probe_revmap(r);
	return probe_ns() - start;
}

/* The peer's way: a shell loop over the processes. */
static char *peer_script(int pids, char **pid)
{
	static const char end[] = "; do \"$PAGE_TYPES\" -p $p -L -N |"
		" grep -i \"\t$HEX\t\"; done; true";
	size_t size = sizeof(end) + 16, len;
	char *script;
	int i;

	for (i = 0; i < pids; i++)
		size += strlen(pid[i]) + 1;
	script = malloc(size);
	if (!script)
		probe_die("no memory");
	len = (size_t)sprintf(script, "for p in");
	for (i = 0; i < pids; i++)
		len += (size_t)sprintf(script + len, " %s", pid[i]);
	memcpy(script + len, end, sizeof(end));
	return script;
}

int compare_mappers(int argc, char **argv)
{
	struct command peer = { .argv = { "/bin/sh", "-c" } };
	struct pagedet_item item = { .count = 1 };
	struct probe_revmap raw = { .pid = NULL };
	struct drain lib;
	struct trial t = {
		.peer = { "loop of page-types -p PID -L -N and grep",
			  command_run, &peer },
		.bound = { "raw maps and pagemap, all processes", run_revmap,
			   &raw },
		.library = { "pagedet_query", drain_run, &lib },
		.faster = 20, .bound_most = 1.1, .tight = true
	};
	char *script, hex[32], work[64];

	if (argc < 2)
		return 64;
	item.first = strtoull(argv[0], NULL, 0);
	snprintf(hex, sizeof(hex), "%llx", (unsigned long long)item.first);
	setenv("HEX", hex, 1);
	script = peer_script(argc - 1, argv + 1);
	peer.argv[2] = script;
	raw.pfn = item.first;
	drain_open(&lib);
	drain_want(&lib, PAGEDET_FIELD_PID);
	drain_want(&lib, PAGEDET_FIELD_VADDR);
	drain_want(&lib, PAGEDET_FIELD_PTE);
	lib.query.target = PAGEDET_TARGET_MAPPERS;
	lib.query.items = &item;
	lib.query.n_items = 1;
	t.work = work;
	for (raw.threads = 1; raw.threads <= 2; raw.threads++) {
		lib.query.threads = raw.threads;
		snprintf(work, sizeof(work), "one pfn, %d processes, %u"
			 " thread%s", argc - 1, raw.threads,
			 raw.threads > 1 ? "s" : "");
		trial_run(&t);
		compare_same("mappings of the pfn", lib.rows, raw.found);
	}
	drain_close(&lib);
	free(script);
	return 0;
}

struct build {
	struct drain drain;
	uint32_t threads;
	struct pagedet_index_info info;
};

static uint64_t run_build(void *arg)
{
	struct build *b = arg;
	struct pagedet_index_options options = PAGEDET_INDEX_OPTIONS_INIT;
	struct pagedet_index *index;
	uint64_t start = probe_ns();

	options.threads = b->threads;
	if (pagedet_index_new(b->drain.pd, &options, &index) < 0)
		drain_die(&b->drain, "pagedet_index_new");
	start = probe_ns() - start;
	b->info.size = sizeof(b->info);
	if (pagedet_index_info(index, &b->info) < 0)
		drain_die(&b->drain, "pagedet_index_info");
	pagedet_index_free(index);
	return start;
}

int compare_index(int argc, char **argv)
{
	struct probe_revmap raw = { .pfn = UINT64_MAX };
	struct build lib;
	char work[64];
	struct trial t = {
		.work = work,
		.bound = { "one raw pass", run_revmap, &raw },
		.library = { "pagedet_index_new", run_build, &lib },
		.bound_most = 2
	};

	(void)argv;
	if (argc)
		return 64;
	drain_open(&lib.drain);
	for (raw.threads = 1; raw.threads <= 2; raw.threads++) {
		lib.threads = raw.threads;
		snprintf(work, sizeof(work), "index of all mappings, %u"
			 " thread%s", raw.threads, raw.threads > 1 ? "s" : "");
		trial_run(&t);
		compare_same("mappings", lib.info.mappings, raw.present);
	}
	snprintf(work, sizeof(work), "index of %llu mappings, memory of one",
		 (unsigned long long)lib.info.mappings);
	trial_value(work, (double)lib.info.bytes / (double)lib.info.mappings,
		    "bytes", 32);
	drain_close(&lib.drain);
	return 0;
}
