/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * probe - what this machine allows: raw bounds, one after the other, without
 * the library. "median (min-max)" of 7 runs after one that is not counted.
 *
 *   probe scan FILES BYTES THREADS [hist]   FILES: flags,count,cgroup
 *   probe task PID
 *   probe lookup PID ADDR LEN
 *   probe revmap [PID...]                   none: every process
 *   probe file PATH
 *   probe first-pfn PID ADDR                the pfn behind an address
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe.h"

#define RUNS 7
#define LOOKUPS 20000
#define COLD_LOOKUPS 2000

typedef void step_fn(void *arg);

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* @per: how many units of work one call does; the time of one is printed. */
static void step(const char *name, step_fn *fn, void *arg, double per,
		 const char *unit)
{
	double scale = unit[0] == 'm' ? 1e6 : 1e3, time[RUNS];
	uint64_t start;
	unsigned i;

	fn(arg);
	for (i = 0; i < RUNS; i++) {
		start = probe_ns();
		fn(arg);
		time[i] = (double)(probe_ns() - start) / scale / per;
	}
	qsort(time, RUNS, sizeof(*time), by_value);
	printf("%-44s %10.3f (%.3f-%.3f) %s\n", name, time[RUNS / 2], time[0],
	       time[RUNS - 1], unit);
	fflush(stdout);
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t value = strtoull(text, &end, 0);

	if (end == text || *end)
		probe_die("not a number: %s", text);
	return value;
}

/* --- scan --- */

static void step_scan(void *arg)
{
	probe_scan(arg);
}

static int run_scan(int argc, char **argv)
{
	struct probe_scan s = { .buf = 65536 };
	unsigned files = 0;

	if (argc < 3 || argc > 4)
		return 64;
	if (strstr(argv[0], "flags"))
		files |= PROBE_FLAGS;
	if (strstr(argv[0], "count"))
		files |= PROBE_COUNT;
	if (strstr(argv[0], "cgroup"))
		files |= PROBE_CGROUP;
	s.buf = number(argv[1]);
	s.threads = (unsigned)number(argv[2]);
	s.hist = argc == 4 && !strcmp(argv[3], "hist");
	if (!files || s.buf < 8 || s.buf % 8 || !s.threads ||
	    (argc == 4 && !s.hist))
		return 64;
	probe_kpage_open(&s.kpage, files);
	printf("max_pfn %llu\n", (unsigned long long)s.kpage.max_pfn);
	step("scan", step_scan, &s, 1, "ms");
	probe_kpage_close(&s.kpage);
	return 0;
}

/* --- task --- */

static void step_maps(void *arg)
{
	probe_task_maps(arg);
}

static void step_maps_raw(void *arg)
{
	probe_task_maps_raw(arg);
}

static void step_maps_query(void *arg)
{
	probe_task_maps_query(arg);
}

static void step_pagemap(void *arg)
{
	probe_task_pagemap(arg);
}

static void step_pagemap_scan(void *arg)
{
	probe_task_scan(arg);
}

static void step_scan_all(void *arg)
{
	probe_task_scan_all(arg);
}

static void step_found(void *arg)
{
	probe_task_scan(arg);
	probe_task_found(arg);
}

static void step_each(void *arg)
{
	struct probe_task *t = arg;

	probe_each(&t->kpage, t->pfn, t->pfns);
}

static void step_runs(void *arg)
{
	struct probe_task *t = arg;

	probe_runs(&t->kpage, t->pfn, t->pfns, 0, t->buf, PROBE_WORDS);
}

static void step_total(void *arg)
{
	probe_task_total(arg);
}

/* Reading 2 GB of pagemap for an empty terabyte is what PAGEMAP_SCAN avoids. */
#define PAGEMAP_MOST ((uint64_t)64 << 30)

static int run_task(int argc, char **argv)
{
	struct probe_task t;
	uint64_t bytes = 0;
	size_t i;

	if (argc != 1)
		return 64;
	probe_task_open(&t, (int)number(argv[0]), PROBE_FLAGS);
	step("maps, read and parsed", step_maps, &t, 1, "ms");
	step("maps, read", step_maps_raw, &t, 1, "ms");
	step("maps by PROCMAP_QUERY", step_maps_query, &t, 1, "ms");
	for (i = 0; i < t.vmas; i++)
		bytes += t.vma[i].end - t.vma[i].start;
	if (bytes <= PAGEMAP_MOST)
		step("pagemap of all VMAs", step_pagemap, &t, 1, "ms");
	else
		printf("pagemap of all VMAs: not run, %llu GiB of VMAs\n",
		       (unsigned long long)(bytes >> 30));
	step("PAGEMAP_SCAN, present", step_pagemap_scan, &t, 1, "ms");
	step("PAGEMAP_SCAN, all categories", step_scan_all, &t, 1, "ms");
	step("PAGEMAP_SCAN, then pagemap", step_found, &t, 1, "ms");
	printf("%zu VMAs, %zu present pages\n", t.vmas, t.pfns);
	step("kpageflags, one read a page", step_each, &t, 1, "ms");
	step("kpageflags, runs in address order", step_runs, &t, 1, "ms");
	step("total: flags of all pages", step_total, &t, 1, "ms");
	probe_kpage_close(&t.kpage);
	probe_kpage_open(&t.kpage, PROBE_FLAGS | PROBE_COUNT | PROBE_CGROUP);
	step("total: flags, count and cgroup", step_total, &t, 1, "ms");
	probe_task_close(&t);
	return 0;
}

/* --- lookup --- */

struct lookup_arg {
	struct probe_lookup lookup;
	unsigned steps;
	int pid;
};

static void step_lookup(void *arg)
{
	struct lookup_arg *l = arg;

	probe_lookup(&l->lookup, l->steps, LOOKUPS);
}

static void step_cold(void *arg)
{
	struct lookup_arg *l = arg;

	probe_lookup_cold(&l->lookup, l->pid, COLD_LOOKUPS);
}

static int run_lookup(int argc, char **argv)
{
	static const struct {
		const char *name;
		unsigned steps;
	} way[] = {
		{ "VMA, pagemap, flags, count, cgroup", PROBE_STEP_FIVE },
		{ "the same, pagemap read again", PROBE_STEP_SIX },
		{ "without VMA", PROBE_STEP_FIVE & ~PROBE_STEP_VMA },
		{ "PROCMAP_QUERY", PROBE_STEP_VMA },
		{ "pagemap", PROBE_STEP_PAGEMAP },
		{ "pagemap and flags", PROBE_STEP_PAGEMAP | PROBE_STEP_FLAGS },
		{ "pagemap and count", PROBE_STEP_PAGEMAP | PROBE_STEP_COUNT },
		{ "pagemap and cgroup",
		  PROBE_STEP_PAGEMAP | PROBE_STEP_CGROUP },
	};
	struct lookup_arg l;
	size_t i;

	if (argc != 3)
		return 64;
	l.pid = (int)number(argv[0]);
	probe_lookup_open(&l.lookup, l.pid, number(argv[1]), number(argv[2]));
	if (!l.lookup.pages)
		return 64;
	for (i = 0; i < PROBE_COUNT_OF(way); i++) {
		l.steps = way[i].steps;
		step(way[i].name, step_lookup, &l, LOOKUPS, "us");
	}
	step("all five, opened and closed each time", step_cold, &l,
	     COLD_LOOKUPS, "us");
	probe_lookup_close(&l.lookup);
	return 0;
}

/* --- revmap --- */

static void step_revmap(void *arg)
{
	probe_revmap(arg);
}

static int run_revmap(int argc, char **argv)
{
	struct probe_revmap r = { .pfn = UINT64_MAX };
	char name[64];
	unsigned way;
	int i;

	if (argc) {
		r.pid = calloc((size_t)argc, sizeof(*r.pid));
		if (!r.pid)
			probe_die("no memory");
		for (i = 0; i < argc; i++)
			r.pid[i] = (int)number(argv[i]);
		r.pids = (size_t)argc;
	}
	for (way = 0; way < 8; way++) {
		r.threads = way & 1 ? 2 : 1;
		r.collect = way & 2;
		r.scan = way & 4;
		snprintf(name, sizeof(name), "%s, %s, %u thread%s",
			 r.scan ? "PAGEMAP_SCAN" : "maps",
			 r.collect ? "all mappings" : "one pfn", r.threads,
			 r.threads > 1 ? "s" : "");
		step(name, step_revmap, &r, 1, "ms");
	}
	printf("%zu processes, %llu present entries\n", r.pids,
	       (unsigned long long)r.present);
	free(r.pid);
	return 0;
}

/* --- file --- */

struct file_arg {
	struct probe_cache cache;
	struct probe_kpage kpage;
};

static void step_stat(void *arg)
{
	probe_cache_stat(&((struct file_arg *)arg)->cache);
}

static void step_mincore(void *arg)
{
	probe_cache_mincore(&((struct file_arg *)arg)->cache);
}

static void step_pfns(void *arg)
{
	probe_cache_pfns(&((struct file_arg *)arg)->cache);
}

static void step_flags(void *arg)
{
	struct file_arg *f = arg;

	probe_cache_flags(&f->cache, &f->kpage);
}

static int run_file(int argc, char **argv)
{
	struct file_arg f;

	if (argc != 1)
		return 64;
	probe_cache_open(&f.cache, argv[0]);
	probe_kpage_open(&f.kpage, PROBE_FLAGS);
	printf("%llu pages, %llu cached\n", (unsigned long long)f.cache.pages,
	       (unsigned long long)probe_cache_stat(&f.cache));
	step("cachestat", step_stat, &f, 1, "ms");
	step("mincore", step_mincore, &f, 1, "ms");
	step("mincore, touch, pagemap: pfns", step_pfns, &f, 1, "ms");
	step("the same and kpageflags", step_flags, &f, 1, "ms");
	printf("%zu pfns\n", f.cache.pfns);
	probe_kpage_close(&f.kpage);
	probe_cache_close(&f.cache);
	return 0;
}

static int run_first_pfn(int argc, char **argv)
{
	const uint64_t pfn_mask = ((uint64_t)1 << 55) - 1;
	uint64_t entry;
	int fd;

	if (argc != 2)
		return 64;
	fd = probe_open_pid((int)number(argv[0]), "pagemap");
	if (probe_read(fd, &entry, 8, number(argv[1]) / 4096 * 8) != 8 ||
	    !(entry >> 63))
		probe_die("no page at %s of process %s", argv[1], argv[0]);
	printf("%llu\n", (unsigned long long)(entry & pfn_mask));
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} command[] = {
		{ "scan", run_scan }, { "task", run_task },
		{ "lookup", run_lookup }, { "revmap", run_revmap },
		{ "file", run_file }, { "first-pfn", run_first_pfn },
	};
	int status = 64;
	size_t i;

	for (i = 0; argc > 1 && i < PROBE_COUNT_OF(command); i++)
		if (!strcmp(argv[1], command[i].name))
			status = command[i].run(argc - 2, argv + 2);
	if (status == 64)
		fprintf(stderr, "usage: probe scan FILES BYTES THREADS [hist] |"
			" task PID | lookup PID ADDR LEN | revmap [PID...] |"
			" file PATH | first-pfn PID ADDR\n");
	return status;
}
