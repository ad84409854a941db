/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The contract between query/ and the sources of answers.
 *
 * A backend is opened once for each handle. For each query it is prepared on
 * the caller's thread: it opens files, examines the kernel and builds tables.
 * After that it is only read; changes are made only in sessions. A session
 * belongs to one thread: it has buffers, descriptors, and an env for errors.
 * Sessions of one backend run in parallel.
 *
 * A member may be NULL: the backend then does not have that ability, and query/
 * reports this. A negative errno is from the public list, with an error text in
 * the env. If a function fails, there is nothing to undo.
 */
#ifndef PDET_BACKEND_BACKEND_H
#define PDET_BACKEND_BACKEND_H

#include <stdatomic.h>

#include "base/env.h"
#include "base/io.h"
#include "base/range.h"
#include "base/vec.h"
#include "kernel/object/damon.h"
#include "kernel/object/slab.h"
#include "kernel/text/maps.h"
#include "schema/batch.h"
#include "unwind/user_stack.h"

struct pdet_backend;
struct pdet_text;

/* The input of pagedet_open(), the same for every backend. */
struct pdet_input {
	const struct pagedet_options *options;
	uint32_t sources;	/* allowed sources */
};

/* Whether a source can answer a field for one target. */
struct pdet_ability {
	uint8_t reason;		/* PAGEDET_HAVE, or the reason why not */
	uint8_t cost;		/* PAGEDET_COST_* */
	uint8_t tier;		/* PAGEDET_TIER_*; 0: not a dump */
	bool partial;		/* only for some pages */
	bool vague;		/* for some pages its value means unknown:
				 * PAGEDET_KIND_UNKNOWN */
	bool final;		/* the reason holds for every source */
	char advice[256];
};

/* Whether a row of a survey's table, with these bits, is about @field for
 * @target. Fields with a number above 63 are not in such a table. */
static inline bool pdet_answers(uint64_t fields, uint32_t targets,
				unsigned field, uint32_t target)
{
	return field < 64 && fields >> field & 1 && targets >> target & 1;
}

/* A source of page_owner's records as text. */
struct pdet_owners_text {
	int fd;			/* the running kernel's file, to be read by
				 * page: kernel/owner/live.h; -1: an ordinary
				 * file */
	char path[4096];
};

/* Facts of a backend about the kernel as a whole. */
struct pdet_kernel_info {
	uint64_t page_size;
	uint64_t max_pfn;	/* 0: unknown */
	uint64_t nodes;		/* 0: unknown */
	bool live;
	bool big_endian;
	char arch[72];
	char release[128];
	char boot_id[40];
	char host[72];
	uint64_t first_ns, last_ns; /* CLOCK_REALTIME of saved rows; 0: rows are
				     * read now */
	uint64_t hash_key;	/* id of the key of saved hashes; 0: none */
	uint64_t hash_zero;	/* of a page of zeroes under that key; 0: not
				 * known */
};

struct pdet_snapshot;

/* An open task. Backends embed it. */
struct pdet_task {
	struct pdet_backend *backend;
	uint32_t pid;
	uint32_t thread;	/* the thread whose memory is read: another one
				 * if a main thread has ended, else pid */
	uint64_t space;		/* a number of its address space; 0:
				 * space_order() tells whether it is shared */
	uint64_t space_key;	/* space_key() before its memory was opened; 0:
				 * it is not known */
	bool named;		/* task_name() was called */
	uint8_t tgid_why, comm_why; /* reasons why tgid and comm are unknown; 0:
				     * known */
	uint32_t tgid;
	char comm[64];		/* may hold any byte but NUL */
	size_t comm_len;
};

/* How the address spaces of two threads compare. */
enum pdet_space_order {
	PDET_SPACE_SAME,
	PDET_SPACE_BEFORE,	/* the first one is before the second one */
	PDET_SPACE_AFTER,
	PDET_SPACE_UNKNOWN
};

/* Memory use of a process. */
struct pdet_usage {
	struct pagedet_usage row; /* without the name */
	uint64_t space, space_key; /* as in struct pdet_task */
	uint32_t thread;
	bool named;
	size_t comm_len;
	char comm[64];		/* may hold any byte but NUL */
};

/* A mapping that was found. In a search for any page it may stand for several
 * equal mappings of consecutive pages and frames. */
struct pdet_found {
	uint64_t pfn;
	uint64_t vaddr;
	uint32_t pte;		/* PAGEDET_PTE bits */
	uint32_t pte_known;
	uint64_t more;		/* number of mappings after the first */
};

/*
 * Mappings that a source cannot see: frames that a driver has mapped by their
 * numbers.
 */
enum {
	PDET_BLIND_KERNEL = 1 << 0, /* data of the kernel, for every task */
	PDET_BLIND_DRIVER = 1 << 1,
};

struct pdet_found_list {
	struct pdet_found *data;
	size_t n, cap;
};

/* The same for a mapping of the kernel. */
struct pdet_kernel_found {
	uint64_t pfn;
	uint64_t vaddr;
	uint32_t pte;		/* PAGEDET_PTE bits */
	uint32_t pte_known;
	uint8_t level;		/* PAGEDET_LEVEL_* */
	uint8_t map;		/* PAGEDET_MAP_*; 0: unknown */
};

struct pdet_kernel_found_list {
	struct pdet_kernel_found *data;
	size_t n, cap;
	bool lost;		/* some mappings may be missing */
};

/* Page frames to search for, ascending. No two elements overlap. */
struct pdet_pfnset {
	const uint64_t *pfn;
	size_t n;
	const uint64_t *more;	/* for each element, how many frames after it
				 * belong to it; NULL: none */
};

static inline uint64_t pdet_pfnset_last(const struct pdet_pfnset *set, size_t i)
{
	return set->pfn[i] + (set->more ? set->more[i] : 0);
}

/* pdet_pfnset_at - index of the first element that does not end before @pfn;
 * set->n: there is none. */
static inline size_t pdet_pfnset_at(const struct pdet_pfnset *set, uint64_t pfn)
{
	size_t low = 0, high = set->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (pdet_pfnset_last(set, mid) < pfn)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/*
 * pdet_pfnset_next - find the first frame of the set from *pfn on that is below
 * @end. *i is the index of an element not behind it, at first of
 * pdet_pfnset_at(). Returns false if there is none.
 */
static inline bool pdet_pfnset_next(const struct pdet_pfnset *set, size_t *i,
				    uint64_t *pfn, uint64_t end)
{
	while (*i < set->n && pdet_pfnset_last(set, *i) < *pfn)
		++*i;
	if (*i < set->n && *pfn < set->pfn[*i])
		*pfn = set->pfn[*i];
	return *i < set->n && *pfn < end;
}

/* An open file for its cached pages. Backends embed it. */
struct pdet_file {
	struct pdet_backend *backend;
	uint64_t pages;		/* size in base pages, rounded up */
	uint64_t dev;		/* 0 with inode 0: unproven */
	uint64_t inode;
	unsigned kind;		/* PAGEDET_KIND_FILE, _SHMEM, _HUGETLB */
	bool block;		/* is a block device */
	const char *path;	/* as shown in answers */
};

/* The number of cached pages of a file. */
struct pdet_file_count {
	uint64_t pages;
	uint64_t lost;		/* pages that the file has, but whose state is
				 * unknown */
	unsigned why;		/* 0: pages + lost is the total; otherwise the
				 * PAGEDET_* reason why it may be larger */
};

/*
 * A walk over all files of a directory tree or a filesystem. Backends embed it.
 */
struct pdet_tree {
	struct pdet_backend *backend;
	uint64_t files;		/* visited so far */
	uint64_t gone;		/* disappeared meanwhile */
	uint64_t denied;	/* could not be opened */
};

/* What a query will need, for prepare(). */
struct pdet_wants {
	struct pdet_fields fields;
	uint32_t target;	/* PAGEDET_TARGET_* */
	bool walks;		/* this backend finds the query's places */
	bool fold;		/* no requested field can tell pages with the
				 * same answers apart: fill() may fold the rows
				 * of a series into one row with PAGES */
	bool kinds;		/* the same; in addition, pages are counted only
				 * by kind */
	bool runs;		/* as fold, but only for neighbouring rows; the
				 * folded row has the PFN of the first */
	bool stacks;		/* stacks of tasks will be requested */
	bool user_stacks;	/* user stacks of threads will be requested */
	bool alone;		/* one session, in the thread that prepares: it
				 * may load data on demand */
	uint64_t deadline_ns;	/* CLOCK_MONOTONIC deadline for data that
				 * prepare() reads as a whole; after it
				 * prepare() fails with -ETIMEDOUT; 0 if there
				 * is none */
	bool perturb;		/* the query has few rows, has NOTES, and goes
				 * beyond cheap fields: a read with side effects
				 * is acceptable */
};

/* A session. Backends embed it. */
struct pdet_session {
	struct pdet_backend *backend;
	struct pdet_env env;
	const struct pdet_wants *wants;
	/* Called by long waits and by reads of kernel memory (base/stop.h).
	 * True if the deadline has passed or the query was cancelled. NULL:
	 * never. */
	bool (*stop)(void *arg);
	void *stop_arg;
	/* Number of places that were asked about, shared by all sessions of a
	 * query, for a backend with a limit. It is reset to 0 for other places.
	 * NULL: places are not counted. */
	atomic_uint *asked;
};

/* What is at a kernel address. */
enum pdet_at_kind {
	PDET_AT_OTHER,
	PDET_AT_NAMED,		/* code or data of the kernel that has a name */
	PDET_AT_OBJECT		/* of a slab */
};

struct pdet_at {
	enum pdet_at_kind kind;
	unsigned use;		/* PAGEDET_OBJECT_*; 0: not known */
	unsigned state;		/* PAGEDET_HAVE, or why use is not known.
				 * PAGEDET_NONE: it is not in a slab */
	unsigned map;		/* PAGEDET_HAVE: memory is mapped there;
				 * PAGEDET_NONE: none is; or why that is not
				 * known */
	uint64_t address;	/* where the part of the object for its user
				 * begins */
	bool kept;		/* use is not known: a processor may keep it as
				 * a free one, in a list that cannot be read */
	char cache[PDET_SLAB_NAME];
};

struct pdet_backend_ops {
	const char *name;
	uint32_t sources;	/* PAGEDET_SOURCE_BIT()s that it provides */
	size_t size;		/* of the struct that embeds pdet_backend */

	/* Whether this input belongs to the backend: from 0 (no) to 100
	 * (certain). Returns a negative errno if a file that the caller named
	 * cannot be read. Only reads. */
	int (*probe)(struct pdet_env *env, const struct pdet_input *in);
	int (*open)(struct pdet_backend *b, struct pdet_env *env,
		    const struct pdet_input *in);
	void (*close)(struct pdet_backend *b);
	void (*info)(struct pdet_backend *b, struct pdet_env *env,
		     struct pdet_kernel_info *ret);

	/* Whether it can answer a field for a target, or the reason why not.
	 * Opens only the files needed to know that. */
	void (*survey)(struct pdet_backend *b, struct pdet_env *env,
		       uint32_t target, unsigned field, unsigned source,
		       struct pdet_ability *ret);

	/* For a backend that is opened only if it is named: whether it could be
	 * opened, and what that requires. */
	void (*absent)(struct pdet_env *env, struct pdet_ability *ret);

	/* Passes in a descriptor that the caller opened. */
	int (*add_fd)(struct pdet_backend *b, struct pdet_env *env,
		      uint32_t kind, uint32_t pid, int fd);

	int (*prepare)(struct pdet_backend *b, struct pdet_env *env,
		       const struct pdet_wants *wants);
	/*
	 * Makes a session, which gets a copy of @env. Fails with an error text,
	 * or with -ENOMEM.
	 */
	int (*session_new)(struct pdet_backend *b, struct pdet_env *env,
			   const struct pdet_wants *wants,
			   struct pdet_session **ret);
	void (*session_free)(struct pdet_session *s);

	/* Answers fields @want for rows with a pfn. A row without a pfn gets
	 * what is known without it. Writes every cell of @want. @b is a bare
	 * batch only if @folds is set. A backend with @reads_bytes reads the
	 * bytes of the page. It is asked for content after all other sources
	 * have answered. */
	bool folds, reads_bytes;
	int (*fill)(struct pdet_session *s, struct pdet_batch *b,
		    const struct pdet_fields *want, unsigned source);

	/* Adds to @set what fill() reads together with some of it: asked for
	 * one after the other, they may be of different moments. May be NULL:
	 * what it reads does not change. */
	void (*together)(const struct pdet_backend *b, struct pdet_fields *set);

	/* The ranges with memory, ascending, without overlap. */
	int (*memory)(struct pdet_backend *b, struct pdet_env *env,
		      struct pdet_ranges *ret);

	/* The first frame after the last one that may have a struct page; 0: it
	 * is not known. Only on the caller's thread. Sets no error text. */
	uint64_t (*frames_end)(struct pdet_backend *b, struct pdet_env *env);

	/* --- tasks --- */
	/* All tasks, ascending; the caller frees them with free(). *lost counts
	 * unreadable tasks and parts of the list. */
	int (*tasks)(struct pdet_backend *b, struct pdet_env *env,
		     uint32_t **ret, size_t *n, uint64_t *lost);
	/* Details of all threads, or of one thread of each process, in any
	 * order; the caller frees them with free(). *lost counts unreadable
	 * ones. */
	int (*list_tasks)(struct pdet_backend *b, struct pdet_env *env,
			  bool processes, struct pagedet_task **ret, size_t *n,
			  uint64_t *lost);
	/* Gets the memory use of a process, if the kernel has counted it, and
	 * its space_key() of before, and of which thread that is.
	 * Returns 1, or 0 if the process has no memory. -ESRCH: it has ended;
	 * -EACCES: access is denied; -EBADMSG: the text has another format.
	 * -ENOTSUP: it is not counted, and a walk will find more; *ret has the
	 * facts already known. Any thread may call it with its own env. Sets no
	 * error text. */
	int (*usage)(struct pdet_backend *b, struct pdet_env *env, uint32_t pid,
		     struct pdet_usage *ret);
	/* An estimate of a task's resident pages; 0: unknown. Sets no error
	 * text. */
	uint64_t (*task_size)(struct pdet_backend *b, struct pdet_env *env,
			      uint32_t pid);
	/* -ESRCH: the task has ended; -EACCES: it may not be read. */
	int (*task_open)(struct pdet_session *s, uint32_t pid,
			 struct pdet_task **ret);
	void (*task_close)(struct pdet_task *t);
	/* Whether a thread has memory of its own: 1; 0: it is a zombie, or a
	 * kernel thread; -ESRCH: there is no such thread; another negative
	 * errno: it is not known. Sets no error text. NULL: task_open() opens
	 * those without memory, too. */
	int (*has_memory)(struct pdet_session *s, uint32_t tid);
	/* A key of a thread's address space; 0: it is not known, or the thread
	 * has none. Different keys are of different address spaces. It does not
	 * change until the thread gets another address space (execve), or has
	 * none any more. NULL: all numbers in tasks that have memory are set,
	 * or the source knows of none that are shared. */
	uint64_t (*space_key)(struct pdet_session *s, uint32_t tid);
	/* Compares the address spaces of two threads that have the same key.
	 * The answer is true only if both still have that key afterwards. The
	 * order lasts as long as both keys do. Comes with space_key(). */
	enum pdet_space_order (*space_order)(struct pdet_session *s,
					     uint32_t tid, uint32_t other);
	/* Sets tgid and comm, or the reasons why they are unknown. */
	void (*task_name)(struct pdet_session *s, struct pdet_task *t);
	/*
	 * Checks that it is still the same task with the same address space.
	 * Returns 0 or -ESRCH.
	 */
	int (*task_same)(struct pdet_session *s, struct pdet_task *t);
	/* Finds the VMA that contains @addr, or the next one. Returns 1, or 0
	 * if there is none. The name is valid until the next call. */
	int (*vma_at)(struct pdet_session *s, struct pdet_task *t,
		      uint64_t addr, struct pdet_vma *ret);
	/* The same for all VMAs in ascending order, faster. -EBADMSG at the
	 * end: some may be missing, because a part is damaged. */
	int (*vma_first)(struct pdet_session *s, struct pdet_task *t);
	int (*vma_next)(struct pdet_session *s, struct pdet_task *t,
			struct pdet_vma *ret);
	/* Returns 1 and the address range that populated() can search quickly
	 * without VMAs. If it returns 0, or if the backend does not have this
	 * function, populated() needs VMAs. */
	int (*space)(struct pdet_session *s, struct pdet_task *t,
		     struct pdet_range *ret);
	/* Finds at most @max ranges of [*at, end) that may have entries, in
	 * ascending order. Skips parts that are certainly empty. Advances *at.
	 */
	int (*populated)(struct pdet_session *s, struct pdet_task *t,
			 uint64_t *at, uint64_t end, struct pdet_range *ret,
			 size_t max);
	/* Appends rows for pages of [*at, end), until the batch is full: for
	 * each page if @all, otherwise for each page with an entry. Fills
	 * vaddr, pfn, pte and the rest of the entry. Advances *at. -ESRCH: the
	 * address space is gone. */
	int (*entries)(struct pdet_session *s, struct pdet_task *t,
		       uint64_t *at, uint64_t end, bool all,
		       struct pdet_batch *b);
	/* A fast path for an ordinary page at @addr. Answers row 0 of @b,
	 * except the fields that the walk and the engine write. With @again it
	 * reads the entry twice. If it returns false, use the normal path. */
	bool (*glance)(struct pdet_session *s, struct pdet_task *t,
		       uint64_t addr, bool again, struct pdet_batch *b);
	/* Reads the entries of rows @first .. @first + n - 1 again, and notes
	 * which ones have changed. */
	int (*recheck)(struct pdet_session *s, struct pdet_task *t,
		       struct pdet_batch *b, uint32_t first, uint32_t n);
	/* Appends the mappings in [start, end) of pages in @set (NULL: any
	 * page). -EBADMSG: some may be missing, because a part is damaged. */
	int (*mappings)(struct pdet_session *s, struct pdet_task *t,
			uint64_t start, uint64_t end,
			const struct pdet_pfnset *set,
			struct pdet_found_list *ret);

	/* PDET_BLIND_* of a VMA whose pages mappings() does not see, which
	 * vma_next() has just returned; 0: it sees all of them. @known: what
	 * other VMAs have shown. May be NULL: it always sees all. */
	unsigned (*blind)(struct pdet_session *s, struct pdet_task *t,
			  const struct pdet_vma *vma, unsigned known);

	/* Counts the page table entries that map the large folio that begins at
	 * @head, or a page of it. Returns a negative errno, without an error
	 * text, if that is not known. */
	int (*folio_maps)(struct pdet_session *s, uint64_t head, uint64_t *ret);

	/* --- the kernel as a whole --- */
	/* -ENOENT, with an error text: the kernel lacks the symbol. */
	int (*symbol)(struct pdet_backend *b, struct pdet_env *env,
		      const char *name, uint64_t *ret);
	/* Names an address of code as the kernel prints it, with its module:
	 * "name+0x10/0x40 [module]". The session was prepared for stacks.
	 * Returns the length, or 0 if there is no name. */
	size_t (*code)(struct pdet_session *s, uint64_t addr, char *buf,
		       size_t size);
	/* Passes each record of the kernel's log to @fn, oldest first. Returns
	 * the result of @fn if it is not 0. *lost counts unreadable records. */
	int (*kernel_log)(struct pdet_backend *b, struct pdet_env *env,
			  pagedet_log_record_fn *fn, void *user,
			  uint64_t *lost);

	/* What a thread of DAMON monitors. The caller frees the targets. Fails
	 * with an error text. */
	int (*damon)(struct pdet_backend *b, struct pdet_env *env,
		     uint32_t thread, struct pdet_damon_context *ret);

	/* How many pages are in a page block, as a power of 2. Returns a
	 * negative errno, without an error text, if that is not known. */
	int (*block_order)(struct pdet_backend *b, struct pdet_env *env);

	/* --- the kernel's own addresses --- */
	/* Where the kernel maps all of physical memory: the address of an
	 * object, less its physical address, modulo 2^64. */
	int (*direct_map)(struct pdet_backend *b, struct pdet_env *env,
			  uint64_t *ret);
	/* Appends a row for the page that a kernel address stands for,
	 * interpreted according to @as (PAGEDET_KADDR_*), and describes the
	 * address. */
	int (*kaddr)(struct pdet_session *s, uint64_t addr, unsigned as,
		     struct pdet_batch *b);
	/* The kind of a page, and whether its count is 0, of a source that has
	 * kaddr(). Returns PAGEDET_HAVE, or why they are not known. */
	unsigned (*kind)(struct pdet_session *s, uint64_t pfn, unsigned *kind,
			 bool *uncounted);
	/* The object at the address of the last kaddr(), whose page was a slab:
	 * the bytes that it gets, and whether it begins there. False: there is
	 * none. */
	bool (*slab_object)(struct pdet_session *s, uint64_t addr,
			    uint32_t *bytes, bool *begins);
	/* What is at a kernel address now; of a session for OBJECT of
	 * PAGEDET_TARGET_KADDR. */
	void (*object_at)(struct pdet_session *s, uint64_t addr,
			  struct pdet_at *ret);
	/* Finds the struct file of a descriptor of a task, and its size, on a
	 * running kernel. -ENOENT: it is not open; -ESRCH: there is no such
	 * task. */
	int (*file_object)(struct pdet_session *s, uint32_t pid, uint32_t fd,
			   uint64_t *addr, uint64_t *bytes);
	/* Translates the address again, and notes if the page has changed. */
	void (*kaddr_recheck)(struct pdet_session *s, uint64_t addr,
			      unsigned as, struct pdet_batch *b, uint32_t row);
	/* Appends the mappings of pages in @set in the kernel's own page
	 * tables, with one walk over all tables. Calls @stop from time to time.
	 * Returns 1 if it ended the walk, else 0 or a negative errno. */
	int (*kernel_mappings)(struct pdet_session *s,
			       const struct pdet_pfnset *set,
			       bool (*stop)(void *arg), void *arg,
			       struct pdet_kernel_found_list *ret);
	/* Answers VMA_* of a row about a kernel address. */
	void (*kernel_area)(struct pdet_session *s, uint64_t addr,
			    struct pdet_batch *b, uint32_t row);

	/* Appends a row for each mapping of a page, by tasks and by the kernel.
	 * Starts at mapping *at, and stops when the batch is full. Advances
	 * *at, and sets it to SIZE_MAX at the end. Used by sources that have
	 * reports and cannot walk page tables. -EAGAIN: there may be more. A
	 * result above 0, without an error text, is the PAGEDET_* reason why
	 * nothing is known of this page's mappings. Only one session of a query
	 * is asked. */
	int (*told)(struct pdet_session *s, uint64_t pfn, size_t *at,
		    struct pdet_batch *b);

	/* --- stacks of threads; called only if wants->stacks is set --- */
	/*
	 * The threads of a process, ascending; the caller frees them with
	 * free(). Returns 1 if there may be more threads, because a part of the
	 * list is damaged.
	 */
	int (*threads)(struct pdet_session *s, uint32_t pid, uint32_t **ret,
		       size_t *n);
	/* The frames of a thread's stack, innermost first, each with a newline;
	 * the last is "?" if there are more. -EAGAIN: it is running. */
	int (*task_stack)(struct pdet_session *s, uint32_t tid,
			  struct pdet_text *ret);

	/* --- user stacks of threads; called only if wants->user_stacks is set,
	 * with a task of the same backend --- */
	/* user_regs() stops the thread until task_close(), so that it is asked
	 * only if the caller allows that, and others do not know the stack. It
	 * then sets ret->stopped, also if it fails. */
	bool stops_threads;
	/*
	 * Gets the registers that the thread had when it entered the kernel, or
	 * was stopped. Returns 1, or 0 if it has no user code. -EAGAIN: it is
	 * running.
	 */
	int (*user_regs)(struct pdet_session *s, struct pdet_task *t,
			 struct pdet_user_regs *ret);
	/* Reads the page of PDET_USER_PAGE bytes at @addr, without any effect
	 * on the task, but that a source that stops threads may mark the page
	 * as accessed. Returns 0, -ENOENT if the task has no entry for it,
	 * -ENXIO if it is not present (perhaps swapped out), -EFAULT if no
	 * program has that address, -EAGAIN if the entry changes again and
	 * again, or a result of memory/memory.h. Sets no error text. */
	int (*user_page)(struct pdet_session *s, struct pdet_task *t,
			 uint64_t addr, void *buf);
	/* A number of the task's address space, if it is one of a dump: its
	 * VMAs are the mappings, and the pages of their files are those of
	 * cached_page(). 0, or NULL: both are on this machine. */
	uint64_t (*user_space)(struct pdet_session *s, struct pdet_task *t);
	/* A number of the mappings that a task of this machine has now: the
	 * same number, the same mappings. What is read between two calls with
	 * the same number has this one. 0, or NULL: it is not known. */
	uint64_t (*user_maps)(struct pdet_session *s, struct pdet_task *t);
	/* Reads a page of the page cache at pdet_vma.cache. Returns 0, -ENODATA
	 * if it was not cached, or a result of memory/memory.h. Sets no error
	 * text. */
	int (*cached_page)(struct pdet_session *s, uint64_t cache,
			   uint64_t index, void *buf);

	/* --- stacks of allocations and frees --- */
	/* Gets the frames for a value of ALLOC_STACK or FREE_STACK that this
	 * backend gave. The innermost frame is first, and each one ends with a
	 * newline. -ENOENT: the value is not from this backend, or the frames
	 * are gone. Sets no error text. */
	int (*stack)(struct pdet_session *s, uint64_t id,
		     struct pdet_text *ret);

	/* --- saved rows --- */
	/* The file that has the rows, for callers that list them unchanged. */
	const struct pdet_snapshot *(*saved)(struct pdet_backend *b);

	/* --- page_owner's records as text --- */
	/*
	 * If the records cannot be read, returns -ENOTSUP, -EACCES or another
	 * error, with an error text.
	 */
	int (*owners)(struct pdet_backend *b, struct pdet_env *env,
		      struct pdet_owners_text *ret);

	/* --- files; not called if no_cache is set --- */
	int (*file_open)(struct pdet_session *s, const char *path, bool block,
			 struct pdet_file **ret);
	/* An estimate of the pages of a file, by its name; 0: unknown. Sets no
	 * error text. */
	uint64_t (*file_size)(struct pdet_backend *b, struct pdet_env *env,
			      const char *path);
	/* The file's descriptor, if its page cache is the one of the answer;
	 * otherwise -1. */
	int (*file_fd)(const struct pdet_file *f);
	/* Opens a file like @as that this process has open as @fd, for its
	 * cached pages. Returns 1, or 0 if this backend does not know the file.
	 * file_pages() may then fail with -EAGAIN, without an error text and
	 * without effect, if the pages cannot be determined at the moment. */
	int (*file_opened)(struct pdet_session *s, int fd,
			   const struct pdet_file *as, struct pdet_file **ret);
	void (*file_close)(struct pdet_file *f);
	/*
	 * The number of cached pages in [first, first + count); a cheap call.
	 */
	int (*file_count)(struct pdet_session *s, struct pdet_file *f,
			  uint64_t first, uint64_t count,
			  struct pdet_file_count *ret);
	/* Appends a row with index and pfn for each cached page of [*at, end),
	 * until the batch is full. Advances *at. Returns 0, or the PAGEDET_*
	 * reason why pages before *at may be missing. */
	int (*file_pages)(struct pdet_session *s, struct pdet_file *f,
			  uint64_t *at, uint64_t end, struct pdet_batch *b);
	int (*file_recheck)(struct pdet_session *s, struct pdet_file *f,
			    struct pdet_batch *b, uint32_t first, uint32_t n);
	int (*tree_open)(struct pdet_session *s, const char *path,
			 uint32_t target, struct pdet_tree **ret);
	/* 1 with a file, or 0 at the end. */
	int (*tree_next)(struct pdet_session *s, struct pdet_tree *t,
			 struct pdet_file **ret);
	void (*tree_close)(struct pdet_tree *t);
	/* The mounts that apply to names of VMAs, as mountinfo text. The caller
	 * frees it with pdet_text_free(). Sets no error text. */
	int (*mount_table)(struct pdet_backend *b, struct pdet_env *env,
			   struct pdet_text *ret);

	/* --- cgroups --- */
	/* The inodes of a cgroup and all its descendants, sorted. */
	int (*cgroup)(struct pdet_backend *b, struct pdet_env *env,
		      const char *path, uint64_t **ret, size_t *n);
	/* The tasks of a cgroup and all its descendants, ascending, for kernels
	 * that do not show charges of pages. The caller frees them with
	 * free(). */
	int (*cgroup_tasks)(struct pdet_backend *b, struct pdet_env *env,
			    const char *path, uint32_t **ret, size_t *n);
};

struct pdet_backend {
	const struct pdet_backend_ops *ops;
	uint32_t sources;	/* those of ops->sources that are open */
	uint64_t page_size;	/* of its kernel; 0: as on this machine */
	bool dear;		/* its first answer is slow: it is asked only
				 * for what the others do not know */
	uint32_t bulk;		/* bits 1 << PAGEDET_TARGET_*: for many pages of
				 * these targets it is faster than the others,
				 * and is asked first */
	bool no_cache;		/* files and page cache are not available: only
				 * mappings of tasks are visible */
};

/* Whether a task that cannot be read, because of @error, is a zombie: it had no
 * memory before, so nothing is missing. */
static inline bool pdet_is_zombie(struct pdet_session *s, uint32_t pid,
				  int error)
{
	return error == -ESRCH && s->backend->ops->has_memory &&
	       s->backend->ops->has_memory(s, pid) == 0;
}

/*
 * pdet_backends - all backends built in, NULL at the end; in registry.c, the
 * only file that names them.
 */
extern const struct pdet_backend_ops *const pdet_backends[];

#endif
