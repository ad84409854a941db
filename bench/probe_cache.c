/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Cached pages of a file: how many, which, their pfns and flags. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe.h"
#include "probe_uapi.h"

#define WINDOW_PAGES ((size_t)1 << 18)	/* 1 GiB */
#define AROUND 16		/* pages that one fault maps: 64 KiB */
#define PRESENT ((uint64_t)1 << 63)
#define PFN_MASK (((uint64_t)1 << 55) - 1)
#define BRIDGE_PFNS 8

void probe_cache_open(struct probe_cache *c, const char *path)
{
	struct stat st;

	memset(c, 0, sizeof(*c));
	c->fd = probe_open(path);
	if (fstat(c->fd, &st))
		probe_die("cannot stat %s: %s", path, strerror(errno));
	c->pages = ((uint64_t)st.st_size + 4095) / 4096;
	c->core = probe_map(WINDOW_PAGES);
	c->entries = probe_map(WINDOW_PAGES * 8);
	c->pfn = probe_map(c->pages * 8);
	c->spare = probe_map(c->pages * 8);
}

void probe_cache_close(struct probe_cache *c)
{
	close(c->fd);
	probe_unmap(c->core, WINDOW_PAGES);
	probe_unmap(c->entries, WINDOW_PAGES * 8);
	probe_unmap(c->pfn, c->pages * 8);
	probe_unmap(c->spare, c->pages * 8);
}

uint64_t probe_cache_stat(struct probe_cache *c)
{
	struct uapi_cachestat_range range = { 0, c->pages * 4096 };
	struct uapi_cachestat stat;

	if (syscall(UAPI_SYS_CACHESTAT, c->fd, &range, &stat, 0))
		probe_die("cachestat: %s", strerror(errno));
	return stat.cache;
}

static char *map_window(struct probe_cache *c, uint64_t first, size_t n)
{
	char *mem = mmap(NULL, n * 4096, PROT_READ, MAP_SHARED, c->fd,
			 (off_t)(first * 4096));

	if (mem == MAP_FAILED)
		probe_die("cannot map the file: %s", strerror(errno));
	if (mincore(mem, n * 4096, c->core))
		probe_die("mincore: %s", strerror(errno));
	return mem;
}

uint64_t probe_cache_mincore(struct probe_cache *c)
{
	uint64_t first, count = 0;
	size_t n, i;
	char *mem;

	for (first = 0; first < c->pages; first += n) {
		n = c->pages - first < WINDOW_PAGES ?
			(size_t)(c->pages - first) : WINDOW_PAGES;
		mem = map_window(c, first, n);
		for (i = 0; i < n; i++)
			count += c->core[i] & 1;
		munmap(mem, n * 4096);
	}
	return count;
}

static void read_window(struct probe_cache *c, int pagemap, const char *mem,
			size_t n)
{
	if (probe_read(pagemap, c->entries, n * 8,
		       (uintptr_t)mem / 4096 * 8) != n * 8)
		probe_die("cannot read our own pagemap");
}

/* A fault maps cached neighbours, too: touch one page of each 64 KiB, then
 * those that are still missing. */
static void touch_window(struct probe_cache *c, int pagemap, char *mem,
			 size_t n)
{
	const volatile char *byte = mem;
	bool missing = false;
	size_t i, last = SIZE_MAX;

	for (i = 0; i < n; i++) {
		if (!(c->core[i] & 1) || i / AROUND == last)
			continue;
		(void)byte[i * 4096];
		last = i / AROUND;
	}
	read_window(c, pagemap, mem, n);
	for (i = 0; i < n; i++) {
		if (!(c->core[i] & 1) || c->entries[i] & PRESENT)
			continue;
		(void)byte[i * 4096];
		missing = true;
	}
	if (missing)
		read_window(c, pagemap, mem, n);
}

void probe_cache_pfns(struct probe_cache *c)
{
	int pagemap = probe_open("/proc/self/pagemap");
	uint64_t first;
	size_t n, i;
	char *mem;

	c->pfns = 0;
	for (first = 0; first < c->pages; first += n) {
		n = c->pages - first < WINDOW_PAGES ?
			(size_t)(c->pages - first) : WINDOW_PAGES;
		mem = map_window(c, first, n);
		/* no page that is not cached is to be brought in */
		madvise(mem, n * 4096, MADV_RANDOM);
		touch_window(c, pagemap, mem, n);
		munmap(mem, n * 4096);
		for (i = 0; i < n; i++)
			if (c->core[i] & 1 && c->entries[i] & PRESENT)
				c->pfn[c->pfns++] = c->entries[i] & PFN_MASK;
	}
	close(pagemap);
}

void probe_cache_flags(struct probe_cache *c, const struct probe_kpage *k)
{
	probe_cache_pfns(c);
	probe_sort(c->pfn, c->spare, c->pfns);
	probe_runs(k, c->pfn, c->pfns, BRIDGE_PFNS, c->entries, PROBE_WORDS);
}
