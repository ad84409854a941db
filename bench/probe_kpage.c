/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reading /proc/kpageflags, kpagecount and kpagecgroup: all of them with any
 * number of threads, or the words of given pages.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"

static uint64_t find_max_pfn(int fd)
{
	uint64_t low = 0, high = (uint64_t)1 << 40, mid, word;

	/* every entry below the end can be read: halve the unknown part */
	while (low < high) {
		mid = low + (high - low) / 2;
		if (probe_read(fd, &word, 8, mid * 8) == 8)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

void probe_kpage_open(struct probe_kpage *k, unsigned files)
{
	static const char *const path[PROBE_FILES] = {
		"/proc/kpageflags", "/proc/kpagecount", "/proc/kpagecgroup"
	};
	unsigned i;

	k->files = files;
	k->max_pfn = 0;
	for (i = 0; i < PROBE_FILES; i++)
		k->fd[i] = files & 1u << i ? probe_open(path[i]) : -1;
	for (i = 0; i < PROBE_FILES && !k->max_pfn; i++)
		if (k->fd[i] >= 0)
			k->max_pfn = find_max_pfn(k->fd[i]);
}

void probe_kpage_close(struct probe_kpage *k)
{
	unsigned i;

	for (i = 0; i < PROBE_FILES; i++)
		if (k->fd[i] >= 0)
			close(k->fd[i]);
}

/* --- the whole files --- */

#define SLOTS 4096

struct hist {
	uint64_t flags[SLOTS], pages[SLOTS];
};

struct scan {
	const struct probe_scan *what;
	_Atomic uint64_t block;
	_Atomic uint64_t entries;
	int home;
};

struct worker {
	struct scan *scan;
	struct hist *hist;	/* NULL: do not count */
	unsigned n;
	pthread_t thread;
};

static void hist_add(struct hist *h, uint64_t flags, uint64_t pages)
{
	uint64_t slot = flags * 0x9E3779B97F4A7C15u >> 52;
	unsigned tried = 0;

	while (h->pages[slot] && h->flags[slot] != flags) {
		slot = (slot + 1) % SLOTS;
		if (++tried == SLOTS)
			probe_die("more than %d flag sets", SLOTS);
	}
	h->flags[slot] = flags;
	h->pages[slot] += pages;
}

static void hist_words(struct hist *h, const uint64_t *word, size_t n)
{
	size_t i, first = 0;

	for (i = 1; i <= n; i++) {
		if (i < n && word[i] == word[first])
			continue;
		hist_add(h, word[first], i - first);
		first = i;
	}
}

static void *scan_work(void *arg)
{
	struct worker *w = arg;
	const struct probe_scan *s = w->scan->what;
	uint64_t offset, entries = 0;
	char *buf[PROBE_FILES] = { NULL };
	size_t got = 1, n;
	unsigned i;

	if (w->n)
		probe_pin(w->scan->home, w->n - 1);
	for (i = 0; i < PROBE_FILES; i++)
		if (s->kpage.fd[i] >= 0)
			buf[i] = probe_map(s->buf);
	while (got) {
		offset = atomic_fetch_add(&w->scan->block, 1) * s->buf;
		got = 0;
		for (i = 0; i < PROBE_FILES; i++) {
			if (!buf[i])
				continue;
			n = probe_read(s->kpage.fd[i], buf[i], s->buf, offset);
			got = n > got ? n : got;
			if (i == 0 && n && w->hist)
				hist_words(w->hist, (uint64_t *)(void *)buf[0],
					   n / 8);
		}
		entries += got / 8;
	}
	for (i = 0; i < PROBE_FILES; i++)
		probe_unmap(buf[i], s->buf);
	atomic_fetch_add(&w->scan->entries, entries);
	return NULL;
}

uint64_t probe_scan(const struct probe_scan *s)
{
	struct scan scan = { .what = s, .home = probe_home() };
	struct worker *w = calloc(s->threads, sizeof(*w));
	unsigned i, slot;

	if (!w)
		probe_die("no memory");
	for (i = 0; i < s->threads; i++) {
		w[i].scan = &scan;
		w[i].n = i;
		if (s->hist)
			w[i].hist = probe_map(sizeof(struct hist));
	}
	for (i = 1; i < s->threads; i++)
		if (pthread_create(&w[i].thread, NULL, scan_work, &w[i]))
			probe_die("cannot start a thread");
	scan_work(&w[0]);
	for (i = 1; i < s->threads; i++)
		pthread_join(w[i].thread, NULL);
	for (i = 1; i < s->threads && s->hist; i++)
		for (slot = 0; slot < SLOTS; slot++)
			if (w[i].hist->pages[slot])
				hist_add(w[0].hist, w[i].hist->flags[slot],
					 w[i].hist->pages[slot]);
	for (i = 0; i < s->threads; i++)
		probe_unmap(w[i].hist, sizeof(struct hist));
	free(w);
	return scan.entries;
}

/* --- given pages --- */

void probe_each(const struct probe_kpage *k, const uint64_t *pfn, size_t n)
{
	uint64_t word;
	unsigned file;
	size_t i;

	for (i = 0; i < n; i++)
		for (file = 0; file < PROBE_FILES; file++)
			if (k->fd[file] >= 0)
				probe_read(k->fd[file], &word, 8, pfn[i] * 8);
}

/*
 * One read for every run of pfns in which the next one is at most @gap pages
 * further on. With @gap 0 only exactly neighbouring pfns share a read.
 */
void probe_runs(const struct probe_kpage *k, const uint64_t *pfn, size_t n,
		uint64_t gap, uint64_t *buf, size_t words)
{
	size_t first = 0, next;
	unsigned file;

	while (first < n) {
		next = first + 1;
		while (next < n && pfn[next] >= pfn[next - 1] &&
		       pfn[next] - pfn[next - 1] <= gap + 1 &&
		       pfn[next] - pfn[first] < words)
			next++;
		for (file = 0; file < PROBE_FILES; file++)
			if (k->fd[file] >= 0)
				probe_read(k->fd[file], buf,
					   (pfn[next - 1] - pfn[first] + 1) * 8,
					   pfn[first] * 8);
		first = next;
	}
}
