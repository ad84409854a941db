/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Who maps a page: one pass over the page tables of many processes. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"
#include "probe_uapi.h"

#define PRESENT ((uint64_t)1 << 63)
#define PFN_MASK (((uint64_t)1 << 55) - 1)
#define TASK_END 0x7ffffffff000u
#define MAPS_SIZE 65536
/* Reservations are walked by PAGEMAP_SCAN: an address sanitizer's are 16 TiB,
 * 32 GiB of pagemap. */
#define RESERVATION ((uint64_t)1 << 30)
#define REGIONS 512		/* with more walk_end cannot be relied on */
#define TUPLES (1u << 22)
#define JOIN (64 * 4096)

struct sweep {
	struct probe_revmap *r;
	_Atomic size_t next;
	_Atomic uint64_t present, found;
	int home;
};

struct worker {
	struct sweep *sweep;
	unsigned n;
	pthread_t thread;
	int pid, maps, pagemap;
	uint64_t *buf;		/* PROBE_WORDS */
	char *text;		/* MAPS_SIZE + 1 */
	struct uapi_scan_region *regions;
	struct probe_tuple *tuple;
	size_t tuples;
	uint64_t present, found;
};

static void list_pids(struct probe_revmap *r)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	size_t cap = 0;
	int pid;

	if (!dir)
		probe_die("cannot open /proc: %s", strerror(errno));
	r->pid = NULL;
	r->pids = 0;
	while ((entry = readdir(dir))) {
		pid = atoi(entry->d_name);
		if (pid <= 0)
			continue;
		if (r->pids == cap) {
			cap = cap ? cap * 2 : 256;
			r->pid = realloc(r->pid, cap * sizeof(*r->pid));
			if (!r->pid)
				probe_die("no memory");
		}
		r->pid[r->pids++] = pid;
	}
	closedir(dir);
}

static void take_entry(struct worker *w, uint64_t vpn, uint64_t entry)
{
	const struct probe_revmap *r = w->sweep->r;
	uint64_t pfn = entry & PFN_MASK;

	if (!(entry & PRESENT))
		return;
	w->present++;
	if (!r->collect) {
		w->found += pfn == r->pfn;
		return;
	}
	if (w->tuples == TUPLES)
		probe_die("more than %u mappings", TUPLES);
	w->tuple[w->tuples].pfn = pfn;
	w->tuple[w->tuples].vaddr = vpn * 4096;
	w->tuple[w->tuples++].pid = (uint32_t)w->pid;
}

static void take_range(struct worker *w, uint64_t start, uint64_t end)
{
	uint64_t at = start / 4096, last = end / 4096, want;
	size_t n, i;

	for (; at < last; at += n) {
		want = last - at < PROBE_WORDS ? last - at : PROBE_WORDS;
		n = probe_read(w->pagemap, w->buf, want * 8, at * 8) / 8;
		if (!n)
			return;
		for (i = 0; i < n; i++)
			take_entry(w, at + i, w->buf[i]);
	}
}

static void take_scan(struct worker *w, uint64_t start, uint64_t end)
{
	struct uapi_scan_arg arg = {
		.size = sizeof(arg), .start = start, .end = end,
		.vec = (uint64_t)(uintptr_t)w->regions, .vec_len = REGIONS,
		.any_of = UAPI_PAGE_IS_PRESENT,
		.return_mask = UAPI_PAGE_IS_PRESENT
	};
	struct uapi_scan_region *r = w->regions;
	int n, i, first;

	while (arg.start < arg.end) {
		n = ioctl(w->pagemap, UAPI_PAGEMAP_SCAN, &arg);
		if (n < 0)
			return;
		/* what lies closely together is one read */
		for (i = first = 0; i < n; i++) {
			if (i + 1 < n && r[i + 1].start - r[i].end <= JOIN)
				continue;
			take_range(w, r[first].start, r[i].end);
			first = i + 1;
		}
		arg.start = arg.walk_end;
	}
}

static void take_vma(struct worker *w, uint64_t start, uint64_t end)
{
	if (end > TASK_END)
		return;
	if (end - start > RESERVATION)
		take_scan(w, start, end);
	else
		take_range(w, start, end);
}

/* Lines of maps: the text is read in blocks, a cut line waits for its rest. */
static void take_maps(struct worker *w)
{
	char *line, *end, *dash;
	size_t have = 0;
	uint64_t start, stop;
	ssize_t n;

	while ((n = read(w->maps, w->text + have, MAPS_SIZE - have)) > 0) {
		have += (size_t)n;
		w->text[have] = '\0';
		for (line = w->text; (end = strchr(line, '\n'));
		     line = end + 1) {
			start = strtoull(line, &dash, 16);
			stop = strtoull(dash + 1, NULL, 16);
			take_vma(w, start, stop);
		}
		have -= (size_t)(line - w->text);
		memmove(w->text, line, have);
	}
}

static void take_pid(struct worker *w)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/pagemap", w->pid);
	w->pagemap = open(path, O_RDONLY | O_CLOEXEC);
	if (w->pagemap < 0)
		return;
	if (w->sweep->r->scan) {
		take_scan(w, 0, TASK_END);
	} else {
		snprintf(path, sizeof(path), "/proc/%d/maps", w->pid);
		w->maps = open(path, O_RDONLY | O_CLOEXEC);
		if (w->maps >= 0) {
			take_maps(w);
			close(w->maps);
		}
	}
	close(w->pagemap);
}

static void *sweep_work(void *arg)
{
	struct worker *w = arg;
	const struct probe_revmap *r = w->sweep->r;
	size_t i;

	if (w->n)
		probe_pin(w->sweep->home, w->n - 1);
	w->buf = probe_map(PROBE_WORDS * 8);
	w->text = probe_map(MAPS_SIZE + 1);
	w->regions = probe_map(REGIONS * sizeof(*w->regions));
	if (r->collect)
		w->tuple = probe_map(TUPLES * sizeof(*w->tuple));
	while ((i = atomic_fetch_add(&w->sweep->next, 1)) < r->pids) {
		w->pid = r->pid[i];
		take_pid(w);
	}
	probe_unmap(w->buf, PROBE_WORDS * 8);
	probe_unmap(w->text, MAPS_SIZE + 1);
	probe_unmap(w->regions, REGIONS * sizeof(*w->regions));
	probe_unmap(w->tuple, TUPLES * sizeof(*w->tuple));
	atomic_fetch_add(&w->sweep->present, w->present);
	atomic_fetch_add(&w->sweep->found, w->found);
	return NULL;
}

void probe_revmap(struct probe_revmap *r)
{
	struct sweep sweep = { .r = r, .home = probe_home() };
	struct worker *w = calloc(r->threads, sizeof(*w));
	bool listed = !r->pid;
	unsigned i;

	if (!w)
		probe_die("no memory");
	if (listed)
		list_pids(r);
	for (i = 0; i < r->threads; i++) {
		w[i].sweep = &sweep;
		w[i].n = i;
	}
	for (i = 1; i < r->threads; i++)
		if (pthread_create(&w[i].thread, NULL, sweep_work, &w[i]))
			probe_die("cannot start a thread");
	sweep_work(&w[0]);
	for (i = 1; i < r->threads; i++)
		pthread_join(w[i].thread, NULL);
	r->present = sweep.present;
	r->found = sweep.found;
	if (listed) {
		free(r->pid);
		r->pid = NULL;
	}
	free(w);
}
