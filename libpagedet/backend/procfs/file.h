/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Declarations of an open file for its cached pages, and of a part of it mapped
 * into our own address space. Shared by file*.c and tree.c.
 */
#ifndef PDET_BACKEND_PROCFS_FILE_H
#define PDET_BACKEND_PROCFS_FILE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "backend/procfs/procfs.h"
#include "disk/cachestat.h"

/* Our own pagemap and descriptors, shared by all files of a tree. */
struct procfs_own {
	atomic_uint users;
	int pagemap;		/* descriptor, or negative errno */
	int fds;		/* the directory of our descriptors, or -1 */
};

/* Shared by sessions. Only a hint and the views change after open. */
struct procfs_cached {
	struct pdet_file file;
	struct procfs_own *own;
	int fd;			/* -1: an empty file */
	unsigned shift;		/* log2 of a page */
	bool counts;		/* cachestat counts the pages that mmap maps */
	bool swaps;		/* pages may be in swap */
	bool huge;		/* hugetlbfs */
	atomic_bool dense;
	pthread_mutex_t lock;
	struct procfs_view *views; /* unused views, most recently used first */
	char path[];
};

/* The methods available to find the pages of a file. */
struct procfs_lens {
	bool counts;		/* cachestat works for it */
	bool honest;		/* mincore gives true results for it */
};

/* Part of a file that is examined at a time, a multiple of what one entry of a
 * higher table maps. Each part needs calls that stop all threads of the
 * process. */
#define PROCFS_WINDOW_BYTES ((uint64_t)32 << 20)
#define PROCFS_WINDOW_PAGES 8192

/* A mapped part of a file. */
struct procfs_window {
	char *addr;
	uint32_t n;		/* pages */
	unsigned shift;
	struct procfs_cached *f;
	struct procfs_view *view; /* the view that contains it */
};

/* State bits of a page in a window. */
enum procfs_page_state {
	PROCFS_CACHED = 1,
	PROCFS_RESIDENT = 2,	/* also up to date: touching it reads nothing */
	PROCFS_REFUSED = 4	/* touching it failed */
};

static inline struct procfs_cached *procfs_cached_of(struct pdet_file *f)
{
	return PDET_CONTAINER(f, struct procfs_cached, file);
}

static inline uint32_t procfs_window_pages(unsigned shift)
{
	return PDET_MIN((uint32_t)(PROCFS_WINDOW_BYTES >> shift),
			(uint32_t)PROCFS_WINDOW_PAGES);
}

/* Most pages of a window that are mapped at a time: few enough not to show in
 * our own size. */
static inline uint32_t procfs_window_full(unsigned shift)
{
	return procfs_window_pages(shift) / 4;
}

/* --- file.c --- */
/*
 * Opens @path, below the env's root, with O_PATH. Returns a descriptor, or a
 * negative errno.
 */
int procfs_path_open(struct pdet_env *env, const char *path);
/* @path as it is shown in an answer. NULL if memory is short. */
char *procfs_path_shown(struct pdet_env *env, const char *path);
/*
 * Calls statx(2) for a descriptor. Returns a negative errno on failure. Sets no
 * error text.
 */
int procfs_stat(int fd, struct statx *ret);
struct procfs_own *procfs_own_new(void);
void procfs_own_drop(struct procfs_own *own);
/* The pagemap descriptor for the pages of this process, or a negative errno. */
int procfs_file_pagemap(const struct procfs *p, const struct procfs_cached *f);
/* Opens the file of an O_PATH descriptor, which the caller keeps. *@magic gets
 * the magic number of its filesystem. */
int procfs_cached_new(struct pdet_session *s, int fd, const struct statx *st,
		      unsigned long magic, struct procfs_own *own,
		      const char *path, struct procfs_cached **ret);
/* 0, or a negative errno: not supported. */
int procfs_cachestat(const struct procfs_cached *f, uint64_t first,
		     uint64_t n, struct pdet_cachestat *ret);
/* -EACCES, with an error text, if no method works. */
int procfs_lens(struct pdet_env *env, const struct procfs_cached *f,
		struct procfs_lens *ret);

/* --- file_map.c --- */
/* Negative errno; sets no error text. */
int procfs_window_map(struct procfs_cached *f, uint64_t first, uint32_t n,
		      struct procfs_window *ret);
/* Restores the page tables of this process. The address range may stay reserved
 * until the file is closed. */
void procfs_window_unmap(struct procfs_window *w);
void procfs_views_free(struct procfs_cached *f);
/* Set or clear PROCFS_RESIDENT in state[i] for at <= i < at + n. */
int procfs_window_resident(const struct procfs_window *w, uint32_t at,
			   uint32_t n, uint8_t *state);
/* Map resident pages, and read their pagemap words into @words. Returns 0 if
 * there is none. Pages that have disappeared meanwhile lose their state. */
int procfs_window_entries(const struct procfs_window *w, int pagemap,
			  uint8_t *state, uint64_t *words);
/* True if mincore tells this process the truth about this file. */
bool procfs_mincore_honest(const struct procfs_cached *f);

#endif
