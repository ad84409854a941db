/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Raw bounds: for each kind of question the system calls that cannot be
 * avoided and nothing else. bench/probe.c runs them alone, bench/compare.c
 * side by side with the library in one process. They know nothing of the
 * library. What fails ends the program: a bound of half the work is no bound.
 */
#ifndef BENCH_PROBE_H
#define BENCH_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROBE_COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

/* --- probe_util.c --- */

uint64_t probe_ns(void);	/* CLOCK_MONOTONIC */

void probe_die(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));

/* Page-aligned memory, touched for the first time by its user. */
void *probe_map(size_t size);
void probe_unmap(void *mem, size_t size);

int probe_open(const char *path);
int probe_open_pid(int pid, const char *name);

/* As much of [offset, offset + size) as there is; dies on an error. */
size_t probe_read(int fd, void *buf, size_t size, uint64_t offset);

/* Puts the calling thread on the @n-th CPU that its mask has besides the one
 * that @home runs on; does nothing if there are too few. */
void probe_pin(int home, unsigned n);
int probe_home(void);		/* the CPU that the caller is on */

/* Sorts @pfn by radix; @spare has room for as many. */
void probe_sort(uint64_t *pfn, uint64_t *spare, size_t n);

/* --- probe_kpage.c: the /proc/kpage* files --- */

enum probe_file {
	PROBE_FLAGS = 1,
	PROBE_COUNT = 2,
	PROBE_CGROUP = 4
};
#define PROBE_FILES 3

struct probe_kpage {
	unsigned files;		/* PROBE_FLAGS ... */
	int fd[PROBE_FILES];	/* -1 where not wanted */
	uint64_t max_pfn;	/* first entry past the end */
};

void probe_kpage_open(struct probe_kpage *k, unsigned files);
void probe_kpage_close(struct probe_kpage *k);

struct probe_scan {
	struct probe_kpage kpage;
	size_t buf;		/* bytes of one read */
	unsigned threads;	/* the caller's included */
	bool hist;		/* count pages per flag set, too */
};

/* Reads everything; how many entries each file had. */
uint64_t probe_scan(const struct probe_scan *s);

/* The ways to look up the words of given pfns. */
void probe_each(const struct probe_kpage *k, const uint64_t *pfn, size_t n);
void probe_runs(const struct probe_kpage *k, const uint64_t *pfn, size_t n,
		uint64_t gap, uint64_t *buf, size_t words);

/* --- probe_task.c: one process --- */

struct probe_range {
	uint64_t start, end;
};

struct probe_task {
	int pid;
	int maps, pagemap;
	struct probe_kpage kpage;
	struct probe_range *vma;
	size_t vmas;
	struct probe_range *found; /* populated ranges */
	size_t founds;
	uint64_t *pfn, *spare;	/* of present pages */
	size_t pfns;
	uint64_t *buf;		/* PROBE_WORDS */
};

#define PROBE_WORDS 8192	/* one read: 64 KiB */
#define PROBE_RANGES (1u << 18)	/* room for VMAs and for ranges */
#define PROBE_PFNS (1u << 22)	/* room for present pages */

void probe_task_open(struct probe_task *t, int pid, unsigned files);
void probe_task_close(struct probe_task *t);
/* Steps; each fills what the next one needs. */
void probe_task_maps(struct probe_task *t);
void probe_task_maps_raw(struct probe_task *t);
void probe_task_maps_query(struct probe_task *t);
void probe_task_pagemap(struct probe_task *t); /* every page of every VMA */
void probe_task_scan(struct probe_task *t); /* PAGEMAP_SCAN, present */
void probe_task_scan_all(struct probe_task *t); /* all categories */
void probe_task_found(struct probe_task *t); /* pagemap of found ranges */
/* All of it: present ranges, their pfns, sorted, kpage words of them. */
void probe_task_total(struct probe_task *t);

/* --- probe_lookup.c: one address after the other --- */

enum probe_step {
	PROBE_STEP_VMA = 1,	/* PROCMAP_QUERY */
	PROBE_STEP_PAGEMAP = 2,
	PROBE_STEP_FLAGS = 4,
	PROBE_STEP_COUNT = 8,
	PROBE_STEP_CGROUP = 16,
	PROBE_STEP_AGAIN = 32	/* pagemap once more: has the page moved? */
};
#define PROBE_STEP_FIVE 31
#define PROBE_STEP_SIX 63

struct probe_lookup {
	int maps, pagemap;
	struct probe_kpage kpage;
	uint64_t addr, pages;
};

void probe_lookup_open(struct probe_lookup *l, int pid, uint64_t addr,
		       uint64_t len);
void probe_lookup_close(struct probe_lookup *l);
/* The address of the @i-th look-up, the same for every measured side. */
uint64_t probe_lookup_addr(const struct probe_lookup *l, uint64_t i);
void probe_lookup(const struct probe_lookup *l, unsigned steps, uint64_t n);
/* The same, opening and closing all files for each address. */
void probe_lookup_cold(const struct probe_lookup *l, int pid, uint64_t n);

/* --- probe_revmap.c: who maps a page --- */

struct probe_tuple {
	uint64_t pfn, vaddr;
	uint32_t pid;
};

struct probe_revmap {
	int *pid;		/* NULL: every process, listed by each run */
	size_t pids;
	unsigned threads;
	bool scan;		/* PAGEMAP_SCAN before pagemap */
	bool collect;		/* all mappings, not those of one pfn */
	uint64_t pfn;
	/* results */
	uint64_t present;	/* entries with a page */
	uint64_t found;		/* mappings of pfn */
};

void probe_revmap(struct probe_revmap *r);

/* --- probe_cache.c: pages of a file --- */

struct probe_cache {
	int fd;
	uint64_t pages;
	unsigned char *core;	/* mincore of one window */
	uint64_t *entries;	/* pagemap of one window */
	uint64_t *pfn, *spare;
	size_t pfns;
};

void probe_cache_open(struct probe_cache *c, const char *path);
void probe_cache_close(struct probe_cache *c);
uint64_t probe_cache_stat(struct probe_cache *c); /* cachestat(2): count */
uint64_t probe_cache_mincore(struct probe_cache *c);
void probe_cache_pfns(struct probe_cache *c);
void probe_cache_flags(struct probe_cache *c, const struct probe_kpage *k);

/* --- probe_owners.c: page_owner's text --- */

struct probe_owners {
	const char *path;
	unsigned threads;
	/* results */
	uint64_t records;
	uint64_t groups;	/* stacks that the first thread saw */
};

void probe_owners(struct probe_owners *p);

#endif
