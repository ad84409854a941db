/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * An opened file whose cached pages are wanted, and a part of it mapped into
 * our own address space; shared by procfs_file*.c and procfs_tree.c.
 */
#ifndef PDET_BACKEND_PROCFS_FILE_H
#define PDET_BACKEND_PROCFS_FILE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "backend/procfs.h"
#include "kernel/cachestat.h"

/* Our own page tables and descriptors, one for all files of a tree. */
struct procfs_own {
	atomic_uint users;
	int pagemap;		/* or negative errno */
	int fds;		/* the directory of our descriptors, or -1 */
};

/* Sessions share it; but for a hint and views it stays as it was opened. */
struct procfs_cached {
	struct pdet_file file;
	struct procfs_own *own;
	int fd;			/* -1: an empty file */
	unsigned shift;		/* of a page */
	bool counts;		/* cachestat looks at what mmap maps */
	bool swaps;		/* pages may be in swap */
	bool huge;		/* hugetlbfs */
	atomic_bool dense;
	pthread_mutex_t lock;
	struct procfs_view *views; /* without a window; the last one used is
				 * first */
	char path[];
};

/* By what the pages of a file can be found. */
struct procfs_lens {
	bool counts;		/* cachestat answers for it */
	bool honest;		/* mincore tells the truth about it */
};

/* Pages mapped at a time: small enough not to show in our own size, a multiple
 * of what one entry of a higher table maps. */
#define PROCFS_WINDOW_BYTES ((uint64_t)8 << 20)
#define PROCFS_WINDOW_PAGES 2048

/* Part of a file, mapped. */
struct procfs_window {
	char *addr;
	uint32_t n;		/* pages */
	unsigned shift;
	struct procfs_cached *f;
	struct procfs_view *view; /* that it is in */
};

/* What is known of a page of a window. */
enum procfs_page_state {
	PROCFS_CACHED = 1,
	PROCFS_RESIDENT = 2,	/* and up to date: touching it reads nothing */
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

/* --- procfs_file.c --- */
/* An O_PATH descriptor of @path below the env's root, or negative errno. */
int procfs_path_open(struct pdet_env *env, const char *path);
/* @path as an answer says it; NULL without memory. */
char *procfs_path_shown(struct pdet_env *env, const char *path);
/* statx(2) of a descriptor; negative errno, no words. */
int procfs_stat(int fd, struct statx *ret);
struct procfs_own *procfs_own_new(void);
void procfs_own_drop(struct procfs_own *own);
/* The descriptor that shows the page frames of our own pages, or negative
 * errno. */
int procfs_file_pagemap(const struct procfs *p, const struct procfs_cached *f);
/* The file behind an O_PATH descriptor, which stays the caller's. @magic is of
 * its filesystem. */
int procfs_cached_new(struct pdet_session *s, int fd, const struct statx *st,
		      unsigned long magic, struct procfs_own *own,
		      const char *path, struct procfs_cached **ret);
/* 0, or negative errno: the kernel does not tell. */
int procfs_cachestat(const struct procfs_cached *f, uint64_t first,
		     uint64_t n, struct pdet_cachestat *ret);
/* -EACCES, with words, if there is no way. */
int procfs_lens(struct pdet_env *env, const struct procfs_cached *f,
		struct procfs_lens *ret);

/* --- procfs_file_map.c --- */
/* Negative errno, no words. */
int procfs_window_map(struct procfs_cached *f, uint64_t first, uint32_t n,
		      struct procfs_window *ret);
/* Our page tables are as before; addresses may stay taken until the file is
 * closed. */
void procfs_window_unmap(struct procfs_window *w);
void procfs_views_free(struct procfs_cached *f);
/* state[i] becomes PROCFS_RESIDENT or loses it, for at <= i < at + n. */
int procfs_window_resident(const struct procfs_window *w, uint32_t at,
			   uint32_t n, uint8_t *state);
/* Maps pages that are resident and reads their entries into @words; what is
 * not answered there is 0. Pages that vanished meanwhile lose their state. */
int procfs_window_entries(const struct procfs_window *w, int pagemap,
			  uint8_t *state, uint64_t *words);
/* Whether mincore tells this process of this file. */
bool procfs_mincore_honest(const struct procfs_cached *f);

#endif
