/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The source "procfs": what a plain kernel tells about pages in /proc and
 * /sys. One file per thing that is read; this header is what they share.
 */
#ifndef PDET_BACKEND_PROCFS_H
#define PDET_BACKEND_PROCFS_H

#include <pthread.h>

#include "backend/backend.h"
#include "kernel/kpf.h"
#include "kernel/pagemap.h"

#define PROCFS PAGEDET_SOURCE_PROCFS

/* A file that may or may not be there. */
struct procfs_file {
	int fd;			/* -1: not open */
	int error;		/* negative errno of opening; 0 not tried */
};

enum procfs_kpage {
	KPAGE_FLAGS,
	KPAGE_COUNT,
	KPAGE_CGROUP,
	KPAGE_FILES
};

/* A descriptor that pagedet_add_fd() handed in. */
struct procfs_handed {
	uint32_t kind;
	uint32_t pid;
	int fd;
};

/* Node and zone of memory. */
struct procfs_zone {
	struct pdet_range range;
	uint32_t node;
	uint32_t zone;		/* PAGEDET_ZONE_* */
};

struct procfs_block {
	struct pdet_range range;
	uint32_t node;
};

/*
 * Loaded on first use by whichever thread gets there; read without the lock
 * after procfs_memory_load() has returned.
 */
struct procfs_memory {
	pthread_mutex_t lock;
	bool loaded;
	uint64_t block_pages;	/* of a sysfs memory block; 0 none */
	bool state_known;	/* of the block asked for last */
	bool state_offline;
	unsigned state_why;	/* why that cannot be told; 0 it can */
	uint64_t state_block;
	uint64_t max_pfn;	/* by kpageflags; 0 unknown */
	int max_error;		/* negative errno: why not */
	struct pdet_ranges present; /* where struct pages are */
	struct pdet_ranges device; /* "Persistent Memory" and the like */
	/* Reasons, where that could not be read; 0 none. Without a map,
	 * "present" is wider than it need be. */
	unsigned node_why, zone_why, present_why, device_why;
	struct {
		struct procfs_block *data;
		size_t n, cap;
	} blocks;
	struct {
		struct procfs_zone *data;
		size_t n, cap;
	} zones;
};

/* Memory cgroups by the inode of their directory. */
struct procfs_cgroup {
	uint64_t ino;
	char *path;		/* "/" is the root of the hierarchy */
	int error;		/* negative errno: some below it are not here */
};

struct procfs_cgroups {
	pthread_mutex_t lock;
	bool loaded;
	int error;		/* negative errno: why there are none */
	int partial;		/* negative errno: why some are not here */
	char what[128];		/* was looked at when that happened */
	uint64_t loaded_ns;	/* CLOCK_MONOTONIC */
	struct {
		struct procfs_cgroup *data;
		size_t n, cap;
	} list;			/* sorted by ino */
};

struct procfs {
	struct pdet_backend backend;
	bool live;		/* root/proc is a proc filesystem, not a copy */
	uint32_t page_shift;
	struct procfs_file kpage[KPAGE_FILES];
	struct procfs_file idle; /* the bitmap; opened if it may be read */
	struct {
		struct procfs_handed *data;
		size_t n, cap;
	} handed;

	bool looked_flags;	/* the parts of procfs_look() that ran */
	bool looked_tasks;
	bool looked_numbers;
	bool no_pagemap;
	struct pdet_kpf kpf;
	struct pdet_pagemap pagemap;
	bool pfn_hidden;	/* our own pagemap shows no numbers */
	uint64_t scan_categories; /* of PAGEMAP_SCAN; 0: no such ioctl */
	bool procmap_query;
	pthread_mutex_t mapcount_lock;
	bool mapcount_looked;
	unsigned mapcount_kind;	/* of large folios; 0 not known */

	struct procfs_memory memory;
	struct procfs_cgroups cgroups;
};

/* The filesystem with this device number. */
struct procfs_device {
	uint64_t dev;
	bool shows_owner;	/* as pdet_mount_shows_owner() */
};

struct procfs_mounts {
	uint64_t read_ns;	/* CLOCK_MONOTONIC; 0 nothing was read */
	bool unmountable;	/* those of the kernel itself are here, too */
	struct {
		struct procfs_device *data;
		size_t n, cap;
	} list;			/* sorted by dev */
};

/* Buffers of one thread. */
struct procfs_session {
	struct pdet_session session;
	struct procfs *p;
	struct pdet_kpf kpf;	/* p's, and what this session has seen */
	bool tails_seen;	/* kpf.tails_own is settled */
	struct pdet_pagemap pagemap; /* the same */
	struct procfs_mounts mounts; /* for dev and inode of mapped files */
	uint64_t *words;	/* PROCFS_WORDS of pagemap or kpage */
	struct procfs_place *look; /* pfns of a batch, sorted */
	uint64_t *word[KPAGE_FILES]; /* per row of a batch */
	uint32_t rows;		/* room in look and word */
	struct procfs_folded *folded; /* of procfs_fold.c */
	struct procfs_bytes *bytes; /* of procfs_bytes.c */
};

/* A row and its pfn, to be sorted. */
struct procfs_place {
	uint64_t pfn;
	uint32_t row;
};

#define PROCFS_WORDS 8192

/* A word that stands for "reading failed": no kernel sets all bits. */
#define PROCFS_WORD_LOST (~(uint64_t)0)
/* It moved while it was looked for. */
#define PROCFS_WORD_RACED (PROCFS_WORD_LOST - 1)

static inline struct procfs *procfs_of(struct pdet_backend *b)
{
	return PDET_CONTAINER(b, struct procfs, backend);
}

static inline struct procfs_session *procfs_session_of(struct pdet_session *s)
{
	return PDET_CONTAINER(s, struct procfs_session, session);
}

/* --- procfs_files.c --- */
struct procfs_kpage_name {
	const char *name;	/* below /proc */
	uint32_t fd_kind;	/* PAGEDET_FD_* */
	const char *config;	/* that makes a kernel have it */
};
extern const struct procfs_kpage_name procfs_kpage_names[KPAGE_FILES];
int procfs_add_fd(struct pdet_backend *b, struct pdet_env *env, uint32_t kind,
		  uint32_t pid, int fd);
/* The descriptor of a kpage file, opened on first use; or negative errno. */
int procfs_kpage_fd(struct procfs *p, struct pdet_env *env,
		    enum procfs_kpage which);
/* A handed-in descriptor, or -1. */
int procfs_handed_fd(const struct procfs *p, uint32_t kind, uint32_t pid);
/* The reason in cells for a negative errno. */
unsigned procfs_reason(int error);
/* One word of a kpage file: 1, 0 past the end, or negative errno. */
int procfs_kpage_one(struct procfs *p, struct pdet_env *env,
		     enum procfs_kpage which, uint64_t pfn, uint64_t *ret);
/* The same, whatever the map of memory says of that end. */
int procfs_kpage_bare(struct procfs *p, struct pdet_env *env,
		      enum procfs_kpage which, uint64_t pfn, uint64_t *ret);

/* --- procfs_look.c: what this kernel does, seen on pages of our own --- */
int procfs_look(struct procfs *p, struct pdet_env *env,
		const struct pdet_wants *wants);
/* 0: pagemap shows page frame numbers, as far as is known; -EACCES it hides
 * them, -ENOENT there is no pagemap. The caller's thread. */
int procfs_look_numbers(struct procfs *p);
/* PAGEDET_MAPCOUNT_* of large folios, 0 not known. Any thread. */
unsigned procfs_look_mapcount(struct procfs *p, struct pdet_env *env);

/* --- procfs_kpage.c --- */
int procfs_fill(struct pdet_session *s, struct pdet_batch *b,
		const struct pdet_fields *want, unsigned source);
void procfs_together(const struct pdet_backend *b, struct pdet_fields *set);

/* --- procfs_fold.c: rows with the same words become one; @neighbours: only
 * where they stand behind each other --- */
void procfs_fold(struct procfs_session *s, struct pdet_batch *b, bool count,
		 bool cgroup, bool neighbours);

/* --- procfs_bytes.c: what pages of tasks hold --- */
int procfs_fill_content(struct procfs_session *s, struct pdet_batch *b);
void procfs_bytes_free(struct procfs_bytes *y);

/* --- procfs_folio.c: where a folio begins and ends --- */
void procfs_fill_folio(struct procfs_session *s, struct pdet_batch *b,
		       const uint64_t *words);
/* PTE_LEVEL of rows [row, row + n), pages of hugetlb. */
void procfs_fill_level(struct procfs_session *s, struct pdet_batch *b,
		       uint32_t row, uint32_t n, const uint64_t *words);
/* The head page of tail @pfn and its word: 0, or the reason for which there is
 * none: PAGEDET_RACED, it moved meanwhile. */
unsigned procfs_folio_head(struct procfs_session *s, uint64_t pfn,
			   uint64_t *head, uint64_t *word);
/* Gives tails their head's kpagecgroup word: of their own they have 0, charged
 * or not, on kernels that do not look at the head (6.1; 6.12 does). */
void procfs_tails_cgroup(struct procfs_session *s, const struct pdet_batch *b,
			 const uint64_t *flags, uint64_t *cgroup);

/* --- procfs_idle.c: whether KPF_IDLE is to be believed --- */
void procfs_idle_open(struct procfs *p, struct pdet_env *env);
/* Marks words of the batch whose pages the bitmap calls idle, too. */
void procfs_idle(struct procfs_session *s, struct pdet_batch *b,
		 uint64_t *word);

/* --- procfs_memory.c --- */
int procfs_memory_load(struct procfs *p, struct pdet_env *env);
void procfs_memory_free(struct procfs_memory *m);
int procfs_memory(struct pdet_backend *b, struct pdet_env *env,
		  struct pdet_ranges *ret);
/* Whether there may be memory, as far as the map tells; *why, if it is not 0,
 * is a reason for which it does not. */
bool procfs_memory_present(struct procfs *p, struct pdet_env *env,
			   uint64_t pfn, unsigned *why);
/* Whether a captured kpage file that has no word of @pfn should have one. */
bool procfs_memory_cut(struct procfs *p, struct pdet_env *env, uint64_t pfn);
/* For a pfn without page: PAGEDET_KIND_HOLE, _DEVICE or _OFFLINE; *why as
 * above. */
unsigned procfs_memory_kind(struct procfs *p, struct pdet_env *env,
			    uint64_t pfn, unsigned *why);
void procfs_fill_place(struct procfs_session *s, struct pdet_batch *b,
		       const struct pdet_fields *want);

/* --- procfs_cgroup.c --- */
int procfs_cgroup(struct pdet_backend *b, struct pdet_env *env,
		  const char *path, uint64_t **ret, size_t *n);
/* Where the hierarchy is mounted, or would be. */
void procfs_cgroup_point(struct pdet_env *env, char *ret, size_t size);

/* Paths within the hierarchy: of the cgroup at @path and all below it. */
struct procfs_cgroup_paths {
	char **data;
	size_t n, cap;
};
int procfs_cgroups_below(struct procfs *p, struct pdet_env *env,
			 const char *path, struct procfs_cgroup_paths *ret);
void procfs_cgroup_paths_free(struct procfs_cgroup_paths *paths);

/* --- procfs_cgroup_tasks.c --- */
int procfs_cgroup_tasks(struct pdet_backend *b, struct pdet_env *env,
			const char *path, uint32_t **ret, size_t *n);

/* From the column memcg_ino, which must be there. */
void procfs_fill_memcg_path(struct procfs_session *s, struct pdet_batch *b);
void procfs_cgroups_free(struct procfs_cgroups *c);

/* --- procfs_mounts.c --- */
/* Whether maps of task @pid shows for files of device @dev what their pages
 * are under. */
bool procfs_shows_owner(struct procfs_session *s, uint32_t pid, uint64_t dev);

/* --- procfs_stack.c --- */
int procfs_threads(struct pdet_session *s, uint32_t pid, uint32_t **ret,
		   size_t *n);
int procfs_task_stack(struct pdet_session *s, uint32_t tid,
		      struct pdet_text *ret);

/* --- procfs_swaps.c --- */
/* How many swap areas are in use: entries of a lower type are in one. False if
 * that cannot be told. */
bool procfs_swap_areas(const struct pdet_env *env, uint32_t *ret);

/* --- procfs_task.c, procfs_entry.c, procfs_entry_recheck.c,
 * procfs_glance.c --- */
/* The numbers that are names in a directory, ascending; -ENOENT there is no
 * such directory. */
int procfs_list_pids(struct pdet_env *env, const char *path, uint32_t **ret,
		     size_t *n);
int procfs_tasks(struct pdet_backend *b, struct pdet_env *env, uint32_t **ret,
		 size_t *n);
int procfs_task_open(struct pdet_session *s, uint32_t pid,
		     struct pdet_task **ret);
void procfs_task_close(struct pdet_task *t);
void procfs_task_name(struct pdet_session *s, struct pdet_task *t);
int procfs_task_same(struct pdet_session *s, struct pdet_task *t);
int procfs_vma_at(struct pdet_session *s, struct pdet_task *t, uint64_t addr,
		  struct pdet_vma *ret);
int procfs_vma_first(struct pdet_session *s, struct pdet_task *t);
int procfs_vma_next(struct pdet_session *s, struct pdet_task *t,
		    struct pdet_vma *ret);
int procfs_populated(struct pdet_session *s, struct pdet_task *t, uint64_t *at,
		     uint64_t end, struct pdet_range *ret, size_t max);
int procfs_entries(struct pdet_session *s, struct pdet_task *t, uint64_t *at,
		   uint64_t end, bool all, struct pdet_batch *b);
bool procfs_glance(struct pdet_session *s, struct pdet_task *t, uint64_t addr,
		   bool again, struct pdet_batch *b);
int procfs_recheck(struct pdet_session *s, struct pdet_task *t,
		   struct pdet_batch *b, uint32_t first, uint32_t n);
int procfs_mappings(struct pdet_session *s, struct pdet_task *t,
		    uint64_t start, uint64_t end,
		    const struct pdet_pfnset *set,
		    struct pdet_found_list *ret);

/* --- procfs_file.c, procfs_tree.c --- */
int procfs_file_open(struct pdet_session *s, const char *path, bool block,
		     struct pdet_file **ret);
void procfs_file_close(struct pdet_file *f);
int procfs_file_count(struct pdet_session *s, struct pdet_file *f,
		      uint64_t first, uint64_t count, uint64_t *ret);
int procfs_file_pages(struct pdet_session *s, struct pdet_file *f,
		      uint64_t *at, uint64_t end, struct pdet_batch *b);
int procfs_file_recheck(struct pdet_session *s, struct pdet_file *f,
			struct pdet_batch *b, uint32_t first, uint32_t n);
int procfs_tree_open(struct pdet_session *s, const char *path,
		     uint32_t target, struct pdet_tree **ret);
int procfs_tree_next(struct pdet_session *s, struct pdet_tree *t,
		     struct pdet_file **ret);
void procfs_tree_close(struct pdet_tree *t);
int procfs_mount_table(struct pdet_backend *b, struct pdet_env *env,
		       struct pdet_text *ret);

#endif
