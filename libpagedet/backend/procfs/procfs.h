/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The source "procfs": facts about pages in /proc and /sys of an unmodified
 * kernel. Each file of this room reads one kind of file; this header has their
 * common declarations.
 */
#ifndef PDET_BACKEND_PROCFS_PROCFS_H
#define PDET_BACKEND_PROCFS_PROCFS_H

#include <pthread.h>

#include "backend/backend.h"
#include "kernel/page/kpf.h"
#include "kernel/page/pagemap.h"

#define PROCFS PAGEDET_SOURCE_PROCFS

/* An optional file. */
struct procfs_file {
	int fd;			/* -1: not open */
	int error;		/* negative errno of opening; 0: not tried */
};

enum procfs_kpage {
	KPAGE_FLAGS,
	KPAGE_COUNT,
	KPAGE_CGROUP,
	KPAGE_FILES
};

/* A descriptor from pagedet_add_fd(). */
struct procfs_handed {
	uint32_t kind;
	uint32_t pid;
	int fd;
};

/* Node and zone of a range of memory. */
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
 * Loaded on first use, by any thread. Read without the lock after
 * procfs_memory_load() has returned.
 */
struct procfs_memory {
	pthread_mutex_t lock;
	bool loaded;
	uint64_t block_pages;	/* pages of a sysfs memory block; 0: none */
	bool state_known;	/* of the last block examined */
	bool state_offline;
	unsigned state_why;	/* the reason why it is unknown; 0: known */
	uint64_t state_block;
	uint64_t max_pfn;	/* from kpageflags; 0: unknown */
	int max_error;		/* negative errno: why it is unknown */
	struct pdet_ranges present; /* ranges with struct pages */
	struct pdet_ranges device; /* "Persistent Memory" and the like */
	/* Reasons why a list could not be read; 0 if there is none. Without the
	 * list of blocks, "present" is wider than necessary. */
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
	int error;		/* negative errno: some descendants are
				 * missing */
};

struct procfs_cgroups {
	pthread_mutex_t lock;
	bool loaded;
	int error;		/* negative errno: why there are none */
	int partial;		/* negative errno: why some are missing */
	char what[128];		/* the directory or file that failed */
	uint64_t loaded_ns;	/* CLOCK_MONOTONIC */
	struct {
		struct procfs_cgroup *data;
		size_t n, cap;
	} list;			/* sorted by inode */
};

struct procfs {
	struct pdet_backend backend;
	bool live;		/* root/proc is a proc filesystem, not a copy */
	uint32_t page_shift;
	struct procfs_file kpage[KPAGE_FILES];
	struct procfs_file idle; /* the idle bitmap; open if readable */
	struct {
		struct procfs_handed *data;
		size_t n, cap;
	} handed;

	bool looked_flags;	/* parts of procfs_look() that have run */
	bool looked_tasks;
	bool looked_numbers;
	bool no_pagemap;
	struct pdet_kpf kpf;
	struct pdet_pagemap pagemap;
	bool pfn_hidden;	/* our own pagemap hides numbers */
	uint64_t scan_categories; /* of PAGEMAP_SCAN; 0: unsupported */
	bool procmap_query;
	pthread_mutex_t look_lock;
	bool ksm_looked;
	bool ksm_lies;		/* as in struct pdet_kpf */
	bool mapcount_looked;
	unsigned mapcount_kind;	/* for large folios; 0: unknown */

	struct procfs_memory memory;
	struct procfs_cgroups cgroups;
};

/* A filesystem, by its device number. */
struct procfs_device {
	uint64_t dev;
	bool shows_owner;	/* as pdet_mount_shows_owner() */
};

struct procfs_mounts {
	uint64_t read_ns;	/* CLOCK_MONOTONIC; 0: not read */
	bool unmountable;	/* includes filesystems internal to the
				 * kernel */
	struct {
		struct procfs_device *data;
		size_t n, cap;
	} list;			/* sorted by dev */
};

/* Buffers of one thread. */
struct procfs_session {
	struct pdet_session session;
	struct procfs *p;
	struct pdet_kpf kpf;	/* a copy of the one in p, with what this
				 * session has seen since */
	bool tails_seen;	/* kpf.tails_own is settled */
	bool ksm_seen;		/* kpf.ksm_lies is settled */
	struct pdet_pagemap pagemap; /* a copy of p's */
	struct procfs_mounts mounts; /* for dev and inode of mapped files */
	uint64_t *words;	/* buffer of PROCFS_WORDS, for pagemap or
				 * kpage */
	struct procfs_place *look; /* pfns of a batch, sorted */
	uint64_t *word[KPAGE_FILES]; /* for each row of a batch */
	uint32_t rows;		/* size of look and word */
	struct procfs_folded *folded; /* used by fold.c */
	struct procfs_bytes *bytes; /* used by bytes.c */
};

/* A row and its pfn, to be sorted. */
struct procfs_place {
	uint64_t pfn;
	uint32_t row;
};

#define PROCFS_WORDS 8192

/* Marks a failed read: no kernel sets all bits. */
#define PROCFS_WORD_LOST (~(uint64_t)0)
/* The page changed during the lookup. */
#define PROCFS_WORD_RACED (PROCFS_WORD_LOST - 1)

static inline struct procfs *procfs_of(struct pdet_backend *b)
{
	return PDET_CONTAINER(b, struct procfs, backend);
}

static inline struct procfs_session *procfs_session_of(struct pdet_session *s)
{
	return PDET_CONTAINER(s, struct procfs_session, session);
}

/* --- files.c --- */
struct procfs_kpage_name {
	const char *name;	/* below /proc */
	uint32_t fd_kind;	/* PAGEDET_FD_* */
	const char *config;	/* kernel option that provides it */
};
extern const struct procfs_kpage_name procfs_kpage_names[KPAGE_FILES];
int procfs_add_fd(struct pdet_backend *b, struct pdet_env *env, uint32_t kind,
		  uint32_t pid, int fd);
/* The descriptor of a kpage file, opened on first use; or a negative errno. */
int procfs_kpage_fd(struct procfs *p, struct pdet_env *env,
		    enum procfs_kpage which);
/* A passed-in descriptor, or -1. */
int procfs_handed_fd(const struct procfs *p, uint32_t kind, uint32_t pid);
/*
 * Reads one word of a kpage file. Returns 1, 0 past the end, or a negative
 * errno.
 */
int procfs_kpage_one(struct procfs *p, struct pdet_env *env,
		     enum procfs_kpage which, uint64_t pfn, uint64_t *ret);
/* The same, without regard to what the memory map says about the end. */
int procfs_kpage_bare(struct procfs *p, struct pdet_env *env,
		      enum procfs_kpage which, uint64_t pfn, uint64_t *ret);

/* --- look.c: the behaviour of this kernel, seen on pages of our own --- */
int procfs_look(struct procfs *p, struct pdet_env *env,
		const struct pdet_wants *wants);
/* Returns 0 if pagemap shows page frame numbers, as far as known; -EACCES if it
 * hides them; -ENOENT if there is no pagemap. Runs only on the caller's
 * thread. */
int procfs_look_numbers(struct procfs *p);
/* True if KSM is, or may be, set on anonymous pages that are not merged. 6.12
 * sets it on all of them (fs/proc/page.c tests one bit of PAGE_MAPPING_KSM).
 * Any thread may call it. */
bool procfs_look_ksm(struct procfs *p, struct pdet_env *env);
/*
 * PAGEDET_MAPCOUNT_* of large folios, or 0 if it is unknown. Any thread may
 * call it.
 */
unsigned procfs_look_mapcount(struct procfs *p, struct pdet_env *env);

/* --- kpage.c --- */
/* pdet_kpf_flags() with what a session knows. */
uint64_t procfs_flags(struct procfs_session *s, uint64_t word, uint64_t head,
		      uint64_t *known);
int procfs_fill(struct pdet_session *s, struct pdet_batch *b,
		const struct pdet_fields *want, unsigned source);
void procfs_together(const struct pdet_backend *b, struct pdet_fields *set);

/* --- fold.c: merges rows with the same words; with @neighbours only those next
 * to each other --- */
void procfs_fold(struct procfs_session *s, struct pdet_batch *b, bool count,
		 bool cgroup, bool neighbours);

/* --- bytes.c: the content of pages of tasks --- */
int procfs_fill_content(struct procfs_session *s, struct pdet_batch *b);
void procfs_bytes_free(struct procfs_bytes *y);

/* --- folio.c: the extent of folios --- */
void procfs_fill_folio(struct procfs_session *s, struct pdet_batch *b,
		       const uint64_t *words);
/* PTE_LEVEL of rows [row, row + n), which are hugetlb pages. */
void procfs_fill_level(struct procfs_session *s, struct pdet_batch *b,
		       uint32_t row, uint32_t n, const uint64_t *words);
/* Find the head of tail @pfn and the word of the head. Returns 0, or a reason.
 * PAGEDET_RACED: the page changed meanwhile. */
unsigned procfs_folio_head(struct procfs_session *s, uint64_t pfn,
			   uint64_t *head, uint64_t *word);
/* Give tails the kpagecgroup word of their head. Kernels that do not use the
 * head (6.1) always show 0 for a tail; 6.12 does use it. */
void procfs_tails_cgroup(struct procfs_session *s, const struct pdet_batch *b,
			 const uint64_t *flags, uint64_t *cgroup);

/* --- idle.c: whether KPF_IDLE is reliable --- */
void procfs_idle_open(struct procfs *p, struct pdet_env *env);
/* Mark words whose pages are also idle in the bitmap. */
void procfs_idle(struct procfs_session *s, struct pdet_batch *b,
		 uint64_t *word);

/* --- memory.c --- */
int procfs_memory_load(struct procfs *p, struct pdet_env *env);
void procfs_memory_free(struct procfs_memory *m);
int procfs_memory(struct pdet_backend *b, struct pdet_env *env,
		  struct pdet_ranges *ret);
uint64_t procfs_frames_end(struct pdet_backend *b, struct pdet_env *env);
/* True if there may be memory, as far as the map shows. *why, if it is not 0,
 * is the reason why the map is incomplete. */
bool procfs_memory_present(struct procfs *p, struct pdet_env *env,
			   uint64_t pfn, unsigned *why);
/* True if a captured kpage file lacks a word for @pfn that it should have. */
bool procfs_memory_cut(struct procfs *p, struct pdet_env *env, uint64_t pfn);
/* For a pfn without a page: PAGEDET_KIND_HOLE, _DEVICE or _OFFLINE; *why as
 * above. */
unsigned procfs_memory_kind(struct procfs *p, struct pdet_env *env,
			    uint64_t pfn, unsigned *why);
void procfs_fill_place(struct procfs_session *s, struct pdet_batch *b,
		       const struct pdet_fields *want);

/* --- cgroup.c --- */
int procfs_cgroup(struct pdet_backend *b, struct pdet_env *env,
		  const char *path, uint64_t **ret, size_t *n);
/* The mount point of the hierarchy, or the default one. */
void procfs_cgroup_point(struct pdet_env *env, char *ret, size_t size);

/* Paths in the hierarchy: the cgroup at @path and all its descendants. */
struct procfs_cgroup_paths {
	char **data;
	size_t n, cap;
};
int procfs_cgroups_below(struct procfs *p, struct pdet_env *env,
			 const char *path, struct procfs_cgroup_paths *ret);
void procfs_cgroup_paths_free(struct procfs_cgroup_paths *paths);

/* --- cgroup_tasks.c --- */
int procfs_cgroup_tasks(struct pdet_backend *b, struct pdet_env *env,
			const char *path, uint32_t **ret, size_t *n);

/* Fill the path from the column memcg_ino, which must exist. */
void procfs_fill_memcg_path(struct procfs_session *s, struct pdet_batch *b);
void procfs_cgroups_free(struct procfs_cgroups *c);

/* --- mounts.c --- */
/* True if maps of task @pid shows, for files of device @dev, the owner of their
 * pages. */
bool procfs_shows_owner(struct procfs_session *s, uint32_t pid, uint64_t dev);

/* --- stack.c --- */
int procfs_threads(struct pdet_session *s, uint32_t pid, uint32_t **ret,
		   size_t *n);
int procfs_task_stack(struct pdet_session *s, uint32_t tid,
		      struct pdet_text *ret);

/* --- hold.c: user stacks of threads that may be stopped --- */
int procfs_user_regs(struct pdet_session *s, struct pdet_task *t,
		     struct pdet_user_regs *ret);
int procfs_user_page(struct pdet_session *s, struct pdet_task *t, uint64_t addr,
		     void *buf);

/* --- swaps.c --- */
/* The number of swap areas in use: lower types are swap areas. False if it is
 * unknown. */
bool procfs_swap_areas(const struct pdet_env *env, uint32_t *ret);

/* --- task.c, entry.c, entry_recheck.c, populated.c, glance.c --- */
/* The names in a directory that are numbers, ascending; -ENOENT: there is no
 * such directory. */
int procfs_list_pids(struct pdet_env *env, const char *path, uint32_t **ret,
		     size_t *n);
int procfs_tasks(struct pdet_backend *b, struct pdet_env *env, uint32_t **ret,
		 size_t *n, uint64_t *lost);
/* kmsg.c */
int procfs_kernel_log(struct pdet_backend *b, struct pdet_env *env,
		      pagedet_log_record_fn *fn, void *user, uint64_t *lost);
/* tasks.c */
int procfs_list_tasks(struct pdet_backend *b, struct pdet_env *env,
		      bool processes, struct pagedet_task **ret, size_t *n,
		      uint64_t *lost);
int procfs_usage(struct pdet_backend *b, struct pdet_env *env, uint32_t pid,
		 struct pdet_usage *ret);
int procfs_task_open(struct pdet_session *s, uint32_t pid,
		     struct pdet_task **ret);
void procfs_task_close(struct pdet_task *t);
int procfs_has_memory(struct pdet_session *s, uint32_t tid);
/* space.c */
uint64_t procfs_space_key(struct pdet_session *s, uint32_t tid);
enum pdet_space_order procfs_space_order(struct pdet_session *s, uint32_t tid,
					 uint32_t other);
void procfs_task_name(struct pdet_session *s, struct pdet_task *t);
int procfs_task_same(struct pdet_session *s, struct pdet_task *t);
int procfs_vma_at(struct pdet_session *s, struct pdet_task *t, uint64_t addr,
		  struct pdet_vma *ret);
int procfs_vma_first(struct pdet_session *s, struct pdet_task *t);
int procfs_vma_next(struct pdet_session *s, struct pdet_task *t,
		    struct pdet_vma *ret);
int procfs_space(struct pdet_session *s, struct pdet_task *t,
		 struct pdet_range *ret);
uint64_t procfs_task_size(struct pdet_backend *b, struct pdet_env *env,
			  uint32_t pid);
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
/* unshown.c */
unsigned procfs_blind(struct pdet_session *s, struct pdet_task *t,
		      const struct pdet_vma *vma, unsigned known);

/* --- file.c, tree.c --- */
uint64_t procfs_file_size(struct pdet_backend *b, struct pdet_env *env,
			  const char *path);
int procfs_file_fd(const struct pdet_file *file);
int procfs_file_open(struct pdet_session *s, const char *path, bool block,
		     struct pdet_file **ret);
void procfs_file_close(struct pdet_file *f);
int procfs_file_count(struct pdet_session *s, struct pdet_file *f,
		      uint64_t first, uint64_t count,
		      struct pdet_file_count *ret);
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
