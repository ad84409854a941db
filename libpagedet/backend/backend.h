/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The contract between query/ and where answers come from.
 *
 * A backend is opened once per handle. For each query it is prepared on the
 * caller's thread - that is when it opens files, looks at the kernel, builds
 * tables - and after that only read, except through a session. A session is
 * one thread's view of it: buffers, descriptors, an env for errors. Sessions
 * of one backend run in parallel.
 *
 * Members may be NULL: then the backend cannot do that, and query/ says so.
 * "Negative errno" is from the closed list, with words in the env. A function
 * that fails leaves nothing half done behind.
 */
#ifndef PDET_BACKEND_BACKEND_H
#define PDET_BACKEND_BACKEND_H

#include <stdatomic.h>

#include "base/env.h"
#include "base/io.h"
#include "base/range.h"
#include "base/vec.h"
#include "kernel/maps.h"
#include "schema/batch.h"

struct pdet_backend;
struct pdet_text;

/* What pagedet_open() was told, in one place for every backend. */
struct pdet_input {
	const struct pagedet_options *options;
	uint32_t sources;	/* allowed */
};

/* Whether a source can answer a field here and now. */
struct pdet_ability {
	uint8_t reason;		/* PAGEDET_HAVE, or why not */
	uint8_t cost;		/* PAGEDET_COST_* */
	uint8_t tier;		/* PAGEDET_TIER_*; 0: not of a dump */
	bool partial;		/* of some pages only */
	char advice[160];
};

/* Where page_owner's records are as text. */
struct pdet_owners_text {
	int fd;			/* of the running kernel's file, to be read by
				 * pages: kernel/owner_live.h; -1: a file like
				 * any other */
	char path[4096];
};

/* What one backend knows of the kernel as a whole. */
struct pdet_kernel_info {
	uint64_t page_size;
	uint64_t max_pfn;	/* 0 unknown */
	uint64_t nodes;		/* 0 unknown */
	bool live;
	bool big_endian;
	char arch[72];
	char release[128];
	char boot_id[40];
	char host[72];
	uint64_t first_ns, last_ns; /* CLOCK_REALTIME of rows that were saved;
				 * 0: they are read now */
	uint64_t hash_key;	/* the id of their hashes' key; 0: none */
};

struct pdet_snapshot;

/* An opened task. Backends embed it. */
struct pdet_task {
	struct pdet_backend *backend;
	uint32_t pid;
	bool named;		/* task_name() was called */
	uint8_t tgid_why, comm_why; /* why they are not known; 0: they are */
	uint32_t tgid;
	char comm[64];		/* may hold any byte but NUL */
	size_t comm_len;
};

/* A mapping that was found; or, where any page is looked for, several that are
 * alike, of pages and of frames that follow each other. */
struct pdet_found {
	uint64_t pfn;
	uint64_t vaddr;
	uint32_t pte;		/* PAGEDET_PTE bits */
	uint32_t pte_known;
	uint64_t more;		/* how many follow the first one */
};

struct pdet_found_list {
	struct pdet_found *data;
	size_t n, cap;
};

/* The same for one of the kernel's own. */
struct pdet_kernel_found {
	uint64_t pfn;
	uint64_t vaddr;
	uint32_t pte;		/* PAGEDET_PTE bits */
	uint32_t pte_known;
	uint8_t level;		/* PAGEDET_LEVEL_* */
	uint8_t map;		/* PAGEDET_MAP_*; 0 not known */
};

struct pdet_kernel_found_list {
	struct pdet_kernel_found *data;
	size_t n, cap;
	bool lost;		/* there may be more */
};

/* Sorted pfns to look for. */
struct pdet_pfnset {
	const uint64_t *pfn;
	size_t n;
};

/* pdet_pfnset_at - the first of the set that is not below @pfn; set->n: all
 * are. */
static inline size_t pdet_pfnset_at(const struct pdet_pfnset *set, uint64_t pfn)
{
	size_t low = 0, high = set->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (set->pfn[mid] < pfn)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* An opened file whose cached pages are wanted. Backends embed it. */
struct pdet_file {
	struct pdet_backend *backend;
	uint64_t pages;		/* size in base pages, rounded up */
	uint64_t dev;		/* 0 with inode 0: cannot be proved */
	uint64_t inode;
	unsigned kind;		/* PAGEDET_KIND_FILE, _SHMEM, _HUGETLB */
	bool block;		/* is a block device */
	const char *path;	/* as the answer says it */
};

/* Walking all files of a directory tree or a filesystem. Backends embed it. */
struct pdet_tree {
	struct pdet_backend *backend;
	uint64_t files;		/* met so far */
	uint64_t gone;		/* vanished meanwhile */
	uint64_t denied;	/* could not be opened */
};

/* What prepare() is told: what this query will want. */
struct pdet_wants {
	struct pdet_fields fields;
	uint32_t target;	/* PAGEDET_TARGET_* */
	bool walks;		/* its places are found by this backend */
	bool fold;		/* nothing is asked that differs between pages
				 * with the same answers: fill() may turn rows
				 * of a series into one row with PAGES */
	bool kinds;		/* the same, and only by kind */
	bool runs;		/* as fold, but only rows of neighbours become
				 * one, with the PFN of the first */
	bool stacks;		/* of tasks will be asked for */
	bool alone;		/* one session, in the thread that prepares: it
				 * may load what it turns out to need */
	uint64_t deadline_ns;	/* CLOCK_MONOTONIC, for what prepare() reads as
				 * a whole: then it fails with -ETIMEDOUT; 0
				 * none */
	bool perturb;		/* rows are few and have NOTES, and more was
				 * asked than what comes for nothing: a look
				 * that changes something is all right */
};

/* A session. Backends embed it. */
struct pdet_session {
	struct pdet_backend *backend;
	struct pdet_env env;
	const struct pdet_wants *wants;
	/* Asked by who waits for long: true if nobody does any more, for the
	 * deadline passed or the query was cancelled. NULL: never. */
	bool (*stop)(void *arg);
	void *stop_arg;
	/* Of all sessions of the query: for who asks about so many places and
	 * no more. 0 again when it is about others. NULL: nobody counts. */
	atomic_uint *asked;
};

struct pdet_backend_ops {
	const char *name;
	uint32_t sources;	/* PAGEDET_SOURCE_BIT()s that it serves */
	size_t size;		/* of the struct that embeds pdet_backend */

	/* Can this input be ours? 0 no .. 100 surely; a negative errno if a
	 * file that the caller named cannot be read. Reads only. */
	int (*probe)(struct pdet_env *env, const struct pdet_input *in);
	int (*open)(struct pdet_backend *b, struct pdet_env *env,
		    const struct pdet_input *in);
	void (*close)(struct pdet_backend *b);
	void (*info)(struct pdet_backend *b, struct pdet_env *env,
		     struct pdet_kernel_info *ret);

	/* What it can answer for a target, and why not. Opens what it must to
	 * know, reads nothing else. */
	void (*survey)(struct pdet_backend *b, struct pdet_env *env,
		       uint32_t target, unsigned field, unsigned source,
		       struct pdet_ability *ret);

	/* Not open, for it is asked only by name: whether it could be, and what
	 * that takes. */
	void (*absent)(struct pdet_env *env, struct pdet_ability *ret);

	/* Hands in a descriptor that somebody else opened. */
	int (*add_fd)(struct pdet_backend *b, struct pdet_env *env,
		      uint32_t kind, uint32_t pid, int fd);

	int (*prepare)(struct pdet_backend *b, struct pdet_env *env,
		       const struct pdet_wants *wants);
	/* The session has a copy of @env. Fails with words, or -ENOMEM. */
	int (*session_new)(struct pdet_backend *b, struct pdet_env *env,
			   const struct pdet_wants *wants,
			   struct pdet_session **ret);
	void (*session_free)(struct pdet_session *s);

	/* Answers fields @want for rows whose pfn column is answered; rows
	 * without pfn get what can be said without. Every cell of @want is
	 * written. */
	int (*fill)(struct pdet_session *s, struct pdet_batch *b,
		    const struct pdet_fields *want, unsigned source);

	/* Adds to @set what fill() reads together with some of it: asked for
	 * one after the other, they may be of different moments. May be NULL:
	 * what it reads does not change. */
	void (*together)(const struct pdet_backend *b, struct pdet_fields *set);

	/* Where there is memory, ascending, without overlap. */
	int (*memory)(struct pdet_backend *b, struct pdet_env *env,
		      struct pdet_ranges *ret);

	/* --- tasks --- */
	/* All of them, ascending; free with free(). */
	int (*tasks)(struct pdet_backend *b, struct pdet_env *env,
		     uint32_t **ret, size_t *n);
	/* -ESRCH it is gone, -EACCES it may not be read */
	int (*task_open)(struct pdet_session *s, uint32_t pid,
			 struct pdet_task **ret);
	void (*task_close)(struct pdet_task *t);
	/* Fills in tgid and comm, or why they cannot be read. */
	void (*task_name)(struct pdet_session *s, struct pdet_task *t);
	/* Still the same task with the same address space? 0, or -ESRCH. */
	int (*task_same)(struct pdet_session *s, struct pdet_task *t);
	/* The VMA that covers @addr or is the next one: 1, 0 none left. The
	 * name is valid until the next call. */
	int (*vma_at)(struct pdet_session *s, struct pdet_task *t,
		      uint64_t addr, struct pdet_vma *ret);
	/* The same in ascending order from 0 on, faster for all of them. */
	int (*vma_first)(struct pdet_session *s, struct pdet_task *t);
	int (*vma_next)(struct pdet_session *s, struct pdet_task *t,
			struct pdet_vma *ret);
	/* Ranges of [start, end) that may have entries: leaves out what is
	 * surely empty, ascending. At most @max, from *at on; *at is moved. */
	int (*populated)(struct pdet_session *s, struct pdet_task *t,
			 uint64_t *at, uint64_t end, struct pdet_range *ret,
			 size_t max);
	/* Appends a row per page of [*at, end) - only those with an entry
	 * unless @all - until the batch is full or @end: vaddr, pfn, pte and
	 * the rest of the entry. *at is moved. -ESRCH the address space is
	 * gone. */
	int (*entries)(struct pdet_session *s, struct pdet_task *t,
		       uint64_t *at, uint64_t end, bool all,
		       struct pdet_batch *b);
	/* Answers row 0 of @b, all that the query wants but what the walk and
	 * the engine write, if there is an ordinary page at @addr; with @again
	 * the entry is read twice. False: it must be asked the long way. */
	bool (*glance)(struct pdet_session *s, struct pdet_task *t,
		       uint64_t addr, bool again, struct pdet_batch *b);
	/* Reads the entries of rows @first .. @first + n - 1 again and notes
	 * which have moved. */
	int (*recheck)(struct pdet_session *s, struct pdet_task *t,
		       struct pdet_batch *b, uint32_t first, uint32_t n);
	/* Appends where [start, end) maps a page of @set (NULL: any page).
	 * -EBADMSG: there may be more, for a part is damaged. */
	int (*mappings)(struct pdet_session *s, struct pdet_task *t,
			uint64_t start, uint64_t end,
			const struct pdet_pfnset *set,
			struct pdet_found_list *ret);

	/* --- the kernel's own addresses --- */
	/* Appends a row: the page that a kernel address is about, in the way
	 * that @as (PAGEDET_KADDR_*) says, and what that address is. */
	int (*kaddr)(struct pdet_session *s, uint64_t addr, unsigned as,
		     struct pdet_batch *b);
	/* Translates it again and notes if its row is about another page. */
	void (*kaddr_recheck)(struct pdet_session *s, uint64_t addr,
			      unsigned as, struct pdet_batch *b, uint32_t row);
	/* Appends where the kernel's own page tables map a page of @set, in
	 * one walk through all of them. @stop is asked now and then: 1 if it
	 * ended the walk, else 0 or negative errno. */
	int (*kernel_mappings)(struct pdet_session *s,
			       const struct pdet_pfnset *set,
			       bool (*stop)(void *arg), void *arg,
			       struct pdet_kernel_found_list *ret);
	/* Answers VMA_* of a row about a kernel address. */
	void (*kernel_area)(struct pdet_session *s, uint64_t addr,
			    struct pdet_batch *b, uint32_t row);

	/* Appends a row for each mapping of a page, of tasks and of the
	 * kernel, from number *at on until the batch is full; *at is moved,
	 * behind the last to SIZE_MAX. For who was told about pages and can
	 * walk through no tables. -EAGAIN: there may be more; above 0, without
	 * words: the PAGEDET_* reason why nothing is known of this one's. One
	 * session of a query is asked. */
	int (*told)(struct pdet_session *s, uint64_t pfn, size_t *at,
		    struct pdet_batch *b);

	/* --- where threads are; only if wants->stacks --- */
	/* Of a process, ascending; free with free(). */
	int (*threads)(struct pdet_session *s, uint32_t pid, uint32_t **ret,
		       size_t *n);
	/* The frames of one, innermost first, each with a newline behind it;
	 * the last is "?" if there are more. -EAGAIN: it runs. */
	int (*task_stack)(struct pdet_session *s, uint32_t tid,
			  struct pdet_text *ret);

	/* --- stacks --- */
	/* The frames behind a value of ALLOC_STACK or FREE_STACK that it has
	 * answered, innermost first, each with a newline behind it. -ENOENT it
	 * has not, or they are gone. No words. */
	int (*stack)(struct pdet_session *s, uint64_t id,
		     struct pdet_text *ret);

	/* --- rows that were saved --- */
	/* The file that they are in, for whoever lists them as they are. */
	const struct pdet_snapshot *(*saved)(struct pdet_backend *b);

	/* --- page_owner's records as text --- */
	/* -ENOTSUP, -EACCES ... with words: they cannot be read. */
	int (*owners)(struct pdet_backend *b, struct pdet_env *env,
		      struct pdet_owners_text *ret);

	/* --- files; not called where no_cache is set --- */
	int (*file_open)(struct pdet_session *s, const char *path, bool block,
			 struct pdet_file **ret);
	void (*file_close)(struct pdet_file *f);
	/* How many pages of [first, first + count) are cached, cheaply. */
	int (*file_count)(struct pdet_session *s, struct pdet_file *f,
			  uint64_t first, uint64_t count, uint64_t *ret);
	/* Appends a row per cached page of [*at, end) until the batch is full
	 * or @end: index, pfn. *at is moved. */
	int (*file_pages)(struct pdet_session *s, struct pdet_file *f,
			  uint64_t *at, uint64_t end, struct pdet_batch *b);
	int (*file_recheck)(struct pdet_session *s, struct pdet_file *f,
			    struct pdet_batch *b, uint32_t first, uint32_t n);
	int (*tree_open)(struct pdet_session *s, const char *path,
			 uint32_t target, struct pdet_tree **ret);
	/* 1 and a file, or 0 at the end. */
	int (*tree_next)(struct pdet_session *s, struct pdet_tree *t,
			 struct pdet_file **ret);
	void (*tree_close)(struct pdet_tree *t);
	/* The mounts that names of VMAs are seen through, as the text of
	 * mountinfo. Free with pdet_text_free(). No words. */
	int (*mount_table)(struct pdet_backend *b, struct pdet_env *env,
			   struct pdet_text *ret);

	/* --- cgroups --- */
	/* Inodes of a cgroup and all below it, sorted. */
	int (*cgroup)(struct pdet_backend *b, struct pdet_env *env,
		      const char *path, uint64_t **ret, size_t *n);
	/* Tasks of a cgroup and all below it, ascending; for where it is not
	 * to be seen what is charged. Free with free(). */
	int (*cgroup_tasks)(struct pdet_backend *b, struct pdet_env *env,
			    const char *path, uint32_t **ret, size_t *n);
};

struct pdet_backend {
	const struct pdet_backend_ops *ops;
	uint32_t sources;	/* of ops->sources, those that are open */
	uint64_t page_size;	/* of its kernel; 0: this machine's */
	bool dear;		/* its first answer takes so long that it is
				 * only asked what others do not know */
	bool no_cache;		/* the files and their page cache are not
				 * here: only what tasks map can be seen */
};

/*
 * pdet_backends - all that this library was built with, NULL at the end; in
 * registry.c, the only file that names them.
 */
extern const struct pdet_backend_ops *const pdet_backends[];

#endif
