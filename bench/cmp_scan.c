/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* All of memory: counted by flags, and written one record a page. */
#include <stdio.h>
#include <unistd.h>

#include "compare.h"

static uint64_t run_scan(void *arg)
{
	uint64_t start = probe_ns();

	probe_scan(arg);
	return probe_ns() - start;
}

/* Pages of RAM that there must be at least. */
static uint64_t ram_pages(void)
{
	return (uint64_t)sysconf(_SC_PHYS_PAGES);
}

static void in_process(unsigned threads)
{
	uint32_t by = PAGEDET_FIELD_FLAGS;
	struct probe_scan raw = { .buf = 65536, .threads = threads };
	struct command page_types = { .argv = { command_page_types() } };
	struct drain lib;
	char work[64], name[64];
	struct trial t = {
		.work = work,
		.peer = { "page-types", command_run, &page_types },
		.bound = { name, run_scan, &raw },
		.library = { "pagedet_query", drain_run, &lib },
		.bound_most = 1.05, .tight = true
	};

	snprintf(work, sizeof(work), "flags, summary, %u thread%s", threads,
		 threads > 1 ? "s" : "");
	snprintf(name, sizeof(name), "raw reads, %u thread%s", threads,
		 threads > 1 ? "s" : "");
	if (threads > 1)
		t.faster = 2.0;
	probe_kpage_open(&raw.kpage, PROBE_FLAGS);
	drain_open(&lib);
	drain_want(&lib, PAGEDET_FIELD_FLAGS);
	drain_want(&lib, PAGEDET_FIELD_PAGES);
	lib.query.target = PAGEDET_TARGET_SCAN;
	lib.query.group_by = &by;
	lib.query.n_group_by = 1;
	lib.query.threads = threads;
	trial_run(&t);
	if (lib.pages < ram_pages() || lib.pages > raw.kpage.max_pfn)
		probe_die("the library counted %llu pages",
			  (unsigned long long)lib.pages);
	drain_close(&lib);
	probe_kpage_close(&raw.kpage);
}

int compare_scan(int argc, char **argv)
{
	struct command page_types = { .argv = { command_page_types() } };
	struct command pagedet = { .argv = {
		command_pagedet(), "scan", "--by", "flags", "--json",
		"--threads", "2"
	} };
	struct probe_scan raw = { .buf = 65536, .threads = 2, .hist = true };
	struct trial t = {
		.work = "flags, summary, whole process, 2 threads",
		.peer = { "page-types", command_run, &page_types },
		.bound = { "raw reads and histogram, in process", run_scan,
			   &raw },
		.library = { "pagedet", command_run, &pagedet },
		.faster = 2.0
	};

	(void)argv;
	if (argc)
		return 64;
	in_process(1);
	in_process(2);
	probe_kpage_open(&raw.kpage, PROBE_FLAGS);
	trial_run(&t);
	probe_kpage_close(&raw.kpage);
	return 0;
}

/* A record for every page, or it was not the same work. */
static void check_lines(const char *path)
{
	FILE *file = fopen(path, "r");
	char buf[65536];
	uint64_t lines = 0;
	size_t n, i;

	if (!file)
		probe_die("the library wrote no %s", path);
	while ((n = fread(buf, 1, sizeof(buf), file)))
		for (i = 0; i < n; i++)
			lines += buf[i] == '\n';
	fclose(file);
	if (lines < ram_pages())
		probe_die("the library wrote %llu records of %llu pages",
			  (unsigned long long)lines,
			  (unsigned long long)ram_pages());
}

int compare_lines(int argc, char **argv)
{
	struct command page_types = { .argv = {
		command_page_types(), "-L", "-N", "-C", "-M"
	} };
	struct command pagedet = { .argv = {
		command_pagedet(), "scan", "--fields",
		"pfn,flags,mapcount,memcg_ino", "--json", "--threads", "2",
		"-o"
	} };
	struct probe_scan raw = { .buf = 65536, .threads = 2 };
	struct trial t = {
		.work = "flags, count, cgroup of each page as JSON lines,"
			" 2 threads",
		.peer = { "page-types -L -N -C -M > FILE", command_run,
			  &page_types },
		.bound = { "raw reads of the three files, nothing written",
			   run_scan, &raw },
		.library = { "pagedet -o FILE", command_run, &pagedet },
		.faster = 3.5
	};

	if (argc != 1)
		return 64;
	page_types.out = argv[0];
	page_types.made = argv[0];
	pagedet.argv[8] = argv[0];
	pagedet.made = argv[0];
	probe_kpage_open(&raw.kpage, PROBE_FLAGS | PROBE_COUNT | PROBE_CGROUP);
	trial_run(&t);
	probe_kpage_close(&raw.kpage);
	command_run(&pagedet);
	check_lines(argv[0]);
	unlink(argv[0]);
	return 0;
}
