/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* All pages of one process: maps, PAGEMAP_SCAN, pagemap, kpage words. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"
#include "probe_uapi.h"

#define PRESENT ((uint64_t)1 << 63)
#define PFN_MASK (((uint64_t)1 << 55) - 1)
#define REGIONS 65536
#define JOIN_PAGES 64
#define BRIDGE_PFNS 8
/* PAGEMAP_SCAN refuses an end past the last user address. */
#define TASK_END 0x7ffffffff000u

void probe_task_open(struct probe_task *t, int pid, unsigned files)
{
	memset(t, 0, sizeof(*t));
	t->pid = pid;
	t->maps = probe_open_pid(pid, "maps");
	t->pagemap = probe_open_pid(pid, "pagemap");
	probe_kpage_open(&t->kpage, files);
	t->vma = probe_map(PROBE_RANGES * sizeof(*t->vma));
	t->found = probe_map(PROBE_RANGES * sizeof(*t->found));
	t->pfn = probe_map(PROBE_PFNS * sizeof(*t->pfn));
	t->spare = probe_map(PROBE_PFNS * sizeof(*t->spare));
	t->buf = probe_map(PROBE_WORDS * sizeof(*t->buf));
}

void probe_task_close(struct probe_task *t)
{
	close(t->maps);
	close(t->pagemap);
	probe_kpage_close(&t->kpage);
	probe_unmap(t->vma, PROBE_RANGES * sizeof(*t->vma));
	probe_unmap(t->found, PROBE_RANGES * sizeof(*t->found));
	probe_unmap(t->pfn, PROBE_PFNS * sizeof(*t->pfn));
	probe_unmap(t->spare, PROBE_PFNS * sizeof(*t->spare));
	probe_unmap(t->buf, PROBE_WORDS * sizeof(*t->buf));
}

void probe_task_maps(struct probe_task *t)
{
	FILE *file = fdopen(dup(t->maps), "r");
	char *line = NULL, *dash;
	size_t size = 0;

	if (!file)
		probe_die("cannot open maps of %d: %s", t->pid,
			  strerror(errno));
	rewind(file);
	t->vmas = 0;
	while (getline(&line, &size, file) > 0) {
		if (t->vmas == PROBE_RANGES)
			probe_die("more than %u VMAs", PROBE_RANGES);
		t->vma[t->vmas].start = strtoull(line, &dash, 16);
		t->vma[t->vmas].end = strtoull(dash + 1, NULL, 16);
		/* vsyscall lies outside of what pagemap can show */
		if (t->vma[t->vmas].end <= TASK_END)
			t->vmas++;
	}
	free(line);
	fclose(file);
}

void probe_task_maps_raw(struct probe_task *t)
{
	if (lseek(t->maps, 0, SEEK_SET) < 0)
		probe_die("cannot rewind maps: %s", strerror(errno));
	while (read(t->maps, t->buf, PROBE_WORDS * 8) > 0)
		;
}

void probe_task_maps_query(struct probe_task *t)
{
	struct uapi_procmap_query q = {
		.size = sizeof(q), .query_flags = UAPI_COVERING_OR_NEXT
	};

	while (!ioctl(t->maps, UAPI_PROCMAP_QUERY, &q))
		q.query_addr = q.vma_end;
	if (errno != ENOENT)
		probe_die("PROCMAP_QUERY: %s", strerror(errno));
}

/* Appends the pfns of present pages of [start, end). */
static void read_range(struct probe_task *t, uint64_t start, uint64_t end)
{
	uint64_t at = start / 4096, last = end / 4096, want;
	size_t n, i;

	while (at < last) {
		want = last - at < PROBE_WORDS ? last - at : PROBE_WORDS;
		n = probe_read(t->pagemap, t->buf, want * 8, at * 8) / 8;
		if (!n)
			probe_die("process %d is gone", t->pid);
		if (t->pfns + n > PROBE_PFNS)
			probe_die("more than %u pages", PROBE_PFNS);
		for (i = 0; i < n; i++)
			if (t->buf[i] & PRESENT)
				t->pfn[t->pfns++] = t->buf[i] & PFN_MASK;
		at += n;
	}
}

void probe_task_pagemap(struct probe_task *t)
{
	size_t i;

	t->pfns = 0;
	for (i = 0; i < t->vmas; i++)
		read_range(t, t->vma[i].start, t->vma[i].end);
}

/* Ranges with pages, those that lie closely together as one. */
static void add_regions(struct probe_task *t,
			const struct uapi_scan_region *r, size_t n)
{
	struct probe_range *last;
	size_t i;

	for (i = 0; i < n; i++) {
		last = t->founds ? &t->found[t->founds - 1] : NULL;
		if (last && r[i].start - last->end <= JOIN_PAGES * 4096) {
			last->end = r[i].end;
			continue;
		}
		if (t->founds == PROBE_RANGES)
			probe_die("more than %u ranges", PROBE_RANGES);
		t->found[t->founds].start = r[i].start;
		t->found[t->founds++].end = r[i].end;
	}
}

static void scan(struct probe_task *t, uint64_t any_of, uint64_t return_mask)
{
	struct uapi_scan_region *regions;
	struct uapi_scan_arg arg = {
		.size = sizeof(arg), .end = TASK_END, .vec_len = REGIONS,
		.any_of = any_of, .return_mask = return_mask
	};
	int n = REGIONS;

	regions = probe_map(REGIONS * sizeof(*regions));
	arg.vec = (uint64_t)(uintptr_t)regions;
	t->founds = 0;
	/* Room left means that all was walked, whatever walk_end says: after
	 * more than 512 regions it may lie before the last one of them (seen
	 * on 6.18). */
	while (n == REGIONS && arg.start < arg.end) {
		n = ioctl(t->pagemap, UAPI_PAGEMAP_SCAN, &arg);
		if (n < 0)
			probe_die("PAGEMAP_SCAN: %s", strerror(errno));
		add_regions(t, regions, (size_t)n);
		arg.start = arg.walk_end;
	}
	probe_unmap(regions, REGIONS * sizeof(*regions));
}

void probe_task_scan(struct probe_task *t)
{
	scan(t, UAPI_PAGE_IS_PRESENT, UAPI_PAGE_IS_PRESENT);
}

void probe_task_scan_all(struct probe_task *t)
{
	scan(t, UAPI_PAGE_IS_PRESENT | UAPI_PAGE_IS_SWAPPED,
	     UAPI_PAGE_IS_ANY);
}

void probe_task_found(struct probe_task *t)
{
	size_t i;

	t->pfns = 0;
	for (i = 0; i < t->founds; i++)
		read_range(t, t->found[i].start, t->found[i].end);
}

void probe_task_total(struct probe_task *t)
{
	probe_task_scan(t);
	probe_task_found(t);
	probe_sort(t->pfn, t->spare, t->pfns);
	probe_runs(&t->kpage, t->pfn, t->pfns, BRIDGE_PFNS, t->buf,
		   PROBE_WORDS);
}
