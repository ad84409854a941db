/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Part of pagedet.h: the question, and the rows that answer it. */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

/* ------------------------------------------------------------------------
 * The query
 */

/*
 * What pages are asked for. "item" is struct pagedet_item; its count is at
 * least 1, or PAGEDET_TO_END. The answer to item i carries ask = i.
 */
enum pagedet_target {
	PAGEDET_TARGET_NOTHING = 0,
	PAGEDET_TARGET_PFN = 1,	/* items: first pfn, count pages */
	PAGEDET_TARGET_PHYS = 2, /* items: first byte address, count bytes */
	PAGEDET_TARGET_VIRT = 3, /* items: pid, first byte address, count
				 * bytes; a row for every page of it */
	PAGEDET_TARGET_TASK = 4, /* items: pid, address range in bytes (0,
				 * PAGEDET_TO_END for all); a row for every
				 * entry in the page tables */
	PAGEDET_TARGET_FILE = 5, /* path; items: first page offset, count
				 * pages; no items is the whole file. Cached
				 * pages, or, in a captured tree, those of them
				 * that tasks map; TREE and MOUNT likewise */
	PAGEDET_TARGET_TREE = 6, /* path of a directory: all files below it
				 * on its filesystem */
	PAGEDET_TARGET_MOUNT = 7, /* path of a mount point, or any file on it:
				 * the whole filesystem */
	PAGEDET_TARGET_BLOCK = 8, /* path of a block device; items as FILE */
	PAGEDET_TARGET_CGROUP = 9, /* path of a cgroup: pages charged to it */
	PAGEDET_TARGET_KADDR = 10, /* items: first kernel address, count 1;
				 * flags PAGEDET_KADDR_*. vaddr, pte, map, vma
				 * and object are about the address */
	PAGEDET_TARGET_LOG = 11, /* path of a kernel log text, "-" is standard
				 * input: for each page that it mentions a row
				 * of what it says and one of what is there
				 * now, with the same ask; only the former if
				 * the query's sources are PAGEDET_SOURCE_LOG */
	PAGEDET_TARGET_SCAN = 12, /* every page of memory */
	PAGEDET_TARGET_MAPPERS = 13 /* items: as PFN; a row for each mapping */
};

#define PAGEDET_TO_END ((uint64_t)-1)

/* pagedet_item.flags for PAGEDET_TARGET_KADDR */
enum pagedet_kaddr {
	PAGEDET_KADDR_ANY = 0,	/* PAGE for what is in a struct page, else
				 * MEMORY */
	PAGEDET_KADDR_MEMORY = 1, /* the page that the address lies in */
	PAGEDET_KADDR_PAGE = 2,	/* the page that this struct page describes */
	PAGEDET_KADDR_FOLIO = 3	/* the first page of its folio */
};

/* An element of arrays: it will not grow. */
struct pagedet_item {
	uint64_t first;
	uint64_t count;
	uint32_t pid;		/* thread or process id where one is needed */
	uint32_t flags;
};

/* pagedet_query.options */
enum pagedet_query_option {
	PAGEDET_Q_CHEAP = 1,	/* also every field that costs nothing here */
	PAGEDET_Q_RUNS = 2,	/* fold neighbours with equal answers */
	PAGEDET_Q_UNDECIDED = 4, /* list rows whose filter is unknown, too */
	PAGEDET_Q_SINGLE_SOURCE = 8, /* ask only the first source of a chain */
	PAGEDET_Q_KEEP_STRINGS = 16, /* ids stay valid to the iterator's end */
	PAGEDET_Q_UNCHECKED = 32, /* do not read a translation twice: rows
				 * carry PAGEDET_NOTE_UNCHECKED */
	PAGEDET_Q_HOLES = 64,	/* PAGEDET_TARGET_SCAN: rows for pfns without
				 * a page, too */
	PAGEDET_Q_GROUP = 128,	/* count pages per distinct answer of group_by
				 * instead of listing; without group_by all
				 * pages are one group */
	PAGEDET_Q_TASK_STACKS = 256 /* pagedet_task_stack() will be asked */
};

/* pagedet_query.order */
enum pagedet_order {
	PAGEDET_ORDER_WALK = 0,	/* as the target is walked: always the same */
	PAGEDET_ORDER_ANY = 1	/* as rows become ready: fastest with threads */
};

/* Told to the progress callback. */
struct pagedet_progress {
	uint64_t size;		/* sizeof(struct pagedet_progress) */
	uint64_t done;		/* places visited */
	uint64_t total;		/* places expected; 0 not known yet */
	uint64_t rows;
	uint64_t elapsed_ns;
};

/* Return: 0 to go on, anything else cancels. */
typedef int pagedet_progress_fn(void *user, const struct pagedet_progress *p);

/*
 * struct pagedet_query - one question. Start from PAGEDET_QUERY_INIT or
 * pagedet_query_init(). Everything it points to is copied by pagedet_query().
 */
struct pagedet_query {
	uint64_t size;		/* sizeof(struct pagedet_query) */
	uint64_t row_size;	/* sizeof(struct pagedet_page) */
	uint64_t fields[2];	/* wanted: bit (id % 64) of word (id / 64) */
	const struct pagedet_item *items; /* [nullable] [len: n_items] */
	uint64_t n_items;
	const char *path;	/* [nullable] for targets that take one */
	const char *where;	/* [nullable] filter, see pagedet(1); NULL
				 * takes all */
	const uint32_t *group_by; /* [nullable] [len: n_group_by] field ids, for
				 * PAGEDET_Q_GROUP, which they imply */
	uint64_t n_group_by;
	struct pagedet_index *index; /* [nullable] for mappers and user_maps;
				 * NULL makes one pass over the tasks instead */
	pagedet_progress_fn *progress; /* [nullable] called on the calling
				 * thread */
	void *progress_user;	/* [nullable] */
	uint64_t progress_ns;	/* at most this often; 0 is 200 ms */
	uint64_t deadline_ns;	/* from the call of pagedet_query(); 0 none */
	uint64_t limit;		/* rows; 0 none */
	uint64_t string_bytes;	/* bound for interned text; 0 is 8 MiB */
	uint32_t target;	/* PAGEDET_TARGET_* */
	uint32_t options;	/* PAGEDET_Q_* */
	uint32_t order;		/* PAGEDET_ORDER_* */
	uint32_t threads;	/* the caller's included; 0 and 1 are one */
	uint32_t sources;	/* PAGEDET_SOURCE_BIT()s; 0 is the handle's */
	uint32_t reserved;
};

#define PAGEDET_QUERY_INIT \
	{ sizeof(struct pagedet_query), sizeof(struct pagedet_page), \
	  { 0, 0 }, NULL, 0, NULL, NULL, NULL, 0, NULL, NULL, NULL, 0, 0, 0, \
	  0, 0, 0, 0, 0, 0, 0 }

/**
 * pagedet_query_init - fill in the sizes, zero the rest
 * @query: [out]
 * @size: [in] sizeof(struct pagedet_query) of the caller
 * @row_size: [in] sizeof(struct pagedet_page) of the caller
 * Errors: none.
 * Since: 0.1
 */
void pagedet_query_init(struct pagedet_query *query, uint64_t size,
			uint64_t row_size);

/**
 * pagedet_fields_parse - turn "pfn,flags,owner" into wanted fields
 * @pd: [in] for the error text
 * @list: [in] field names and groups, separated by commas. Groups: "cheap"
 *        (adds PAGEDET_Q_CHEAP), "all" (every field that reads no content and
 *        looks at no other task), "everything", and the group names that
 *        pagedet_field() gives
 * @query: [in,out] fields and options are added to
 * Return: 0, or a negative errno.
 * Errors: ENOENT a name is neither field nor group; EINVAL the list is empty.
 * Since: 0.1
 */
int pagedet_fields_parse(struct pagedet *pd, const char *list,
			 struct pagedet_query *query);

/**
 * pagedet_query - ask
 * Checks the question and makes the plan; pages are read by pagedet_next().
 * @pd: [in] opened
 * @query: [in]
 * @ret: [out] [owned: pagedet_iter_free]
 * Return: 0, or a negative errno.
 * Errors: EINVAL the handle is not open, no such target, an item is empty or
 *         wraps, a filter or field list is wrong, the path is of the wrong
 *         kind, as a directory where a file is meant; E2BIG query has a
 *         non-zero byte that this library does not know; ENOENT no such file,
 *         cgroup; ENODATA nothing can be known of the file: in a captured tree
 *         no task maps it, or tasks map several of its name; ESRCH no such
 *         task; EACCES the target itself may not be looked at; ENOTSUP no
 *         source here can walk this target (pagedet_error() says what it would
 *         need); EBADMSG types that were given are those of another kernel, or
 *         damaged, or what a dump says of its kernel contradicts itself;
 *         ENOSYS a part that is needed was not built; ETIMEDOUT the deadline
 *         passed before a log that is the handle's source was read; ENOMEM;
 *         EIO.
 * Since: 0.1
 */
int pagedet_query(struct pagedet *pd, const struct pagedet_query *query,
		  struct pagedet_iter **ret);

/* ------------------------------------------------------------------------
 * The iterator
 */

/* One field of a batch. An element of arrays: it will not grow. */
struct pagedet_column {
	uint32_t field;		/* PAGEDET_FIELD_* */
	uint32_t reserved;
	const uint64_t *value;	/* one per row, 0 where not answered */
	const uint16_t *cell;	/* one per row */
};

/* A batch as columns. */
struct pagedet_columns {
	uint64_t size;		/* sizeof(struct pagedet_columns) */
	uint64_t rows;
	uint64_t n_columns;
	const struct pagedet_column *columns; /* [len: n_columns] */
};

/* How much of the question was looked at, and what got lost. */
struct pagedet_coverage {
	uint64_t size;		/* sizeof(struct pagedet_coverage) */
	uint64_t wanted;	/* places to look at; 0 not known */
	uint64_t visited;	/* places looked at */
	uint64_t skipped;	/* places known to be empty, not looked at */
	uint64_t rows;		/* rows handed out, or grouped */
	uint64_t undecided;	/* places whose filter is unknown */
	uint64_t torn;		/* rows whose page moved while being read */
	uint64_t spilled;	/* pages put into the group "other" */
	uint64_t tasks;		/* tasks looked at */
	uint64_t tasks_gone;	/* that ended meanwhile */
	uint64_t tasks_denied;	/* that exist and may not be read */
	uint64_t files;		/* files looked at */
	uint64_t files_gone;	/* that vanished or shrank meanwhile */
	uint64_t files_denied;	/* that exist and may not be read */
	uint64_t lost[32];	/* cells without answer, by PAGEDET_* reason */
	uint64_t answered[2];	/* fields with an answer in some row */
	uint64_t resume;	/* first place not visited; 0 if complete */
	uint32_t complete;	/* 1: everything wanted was visited */
	uint32_t stopped;	/* ETIMEDOUT, ECANCELED, EIO ...: why not; 0
				 * with complete 0: the walk ended, but there
				 * may be more than can be seen here, which the
				 * log says */
};

/* What PAGEDET_TARGET_MAPPERS found for one pfn. */
struct pagedet_mappers {
	uint64_t size;		/* sizeof(struct pagedet_mappers) */
	uint64_t pfn;
	uint64_t found;		/* user mappings found; see found_state */
	uint64_t expected;	/* what the kernel counts; where fewer were
				 * found, it was counted again after the walk,
				 * and this is the lesser of both */
	uint64_t n_unread;	/* tasks that could not be looked at */
	const uint32_t *unread;	/* their pids [len: n_unread] */
	uint32_t expected_state; /* PAGEDET_HAVE, or why it is not known */
	uint32_t mapcount_kind;	/* PAGEDET_MAPCOUNT_* of expected */
	uint32_t found_state;	/* PAGEDET_HAVE, or why nobody could look for
				 * user mappings: found is no number then */
	uint32_t reserved;
};

/**
 * pagedet_next - the next rows
 * @it: [in]
 * @rows: [out] [len: n], each query.row_size bytes
 * @n: [in] how many fit, at least 1
 * Return: how many rows were written, 0 at the end, or a negative errno. Fewer
 *         than @n does not mean the end. After ETIMEDOUT and ECANCELED the
 *         rows so far are right, and pagedet_coverage() says what is missing.
 * Errors: EINVAL; ETIMEDOUT the deadline passed; ECANCELED pagedet_cancel()
 *         or the progress callback; EIO reading failed for the whole walk;
 *         ENOMEM; ESRCH the task asked for ended before anything was read.
 * Since: 0.1
 */
int pagedet_next(struct pagedet_iter *it, struct pagedet_page *rows,
		 uint32_t n);

/**
 * pagedet_next_columns - the next rows as columns
 * Faster than rows, and what arrays of other languages want.
 * @it: [in]
 * @ret: [in,out] size is set by the caller; arrays [borrowed: the next step].
 *       Their memory stays readable until pagedet_iter_free(), only what is in
 *       it changes.
 * Return: how many rows, 0 at the end, or a negative errno.
 * Errors: as pagedet_next().
 * Since: 0.1
 */
int pagedet_next_columns(struct pagedet_iter *it, struct pagedet_columns *ret);

/**
 * pagedet_iter_retarget - ask the same about other places
 * Keeps plan, buffers and descriptors: the fast way for one look-up after the
 * other. Targets PFN, PHYS, VIRT, TASK, MAPPERS, KADDR.
 * @it: [in]
 * @items: [in] [len: n_items]
 * @n_items: [in]
 * Return: 0, or a negative errno.
 * Errors: EINVAL the target takes no items, an item is empty or wraps, the
 *         query groups or has several threads; ESRCH no such task; EACCES the
 *         task may not be looked at; ENOMEM.
 * Since: 0.1
 */
int pagedet_iter_retarget(struct pagedet_iter *it,
			  const struct pagedet_item *items, uint64_t n_items);

/**
 * pagedet_cancel - make a running query stop soon
 * The only call that another thread or a signal handler may make.
 * @it: [in] not freed meanwhile
 * Errors: none.
 * Since: 0.1
 */
void pagedet_cancel(struct pagedet_iter *it);

/**
 * pagedet_iter_free - end a query
 * @it: [in,nullable]
 * Errors: none.
 * Since: 0.1
 */
void pagedet_iter_free(struct pagedet_iter *it);

/**
 * pagedet_iter_fields - which fields the rows of this iterator carry
 * @it: [in]
 * @ret: [out] [len: 2] two words, as pagedet_query.fields
 * Errors: none.
 * Since: 0.1
 */
void pagedet_iter_fields(const struct pagedet_iter *it, uint64_t *ret);

/**
 * pagedet_why - why nobody can answer a field in this query
 * Known before the first row.
 * @it: [in]
 * @field: [in] PAGEDET_FIELD_*
 * Return: PAGEDET_HAVE if some source can, PAGEDET_NOT_ASKED if it was not
 *         wanted, else the reason PAGEDET_UNSUPPORTED ...
 * Errors: none.
 * Since: 0.1
 */
uint32_t pagedet_why(const struct pagedet_iter *it, uint32_t field);

/**
 * pagedet_why_advice - what would make a field possible
 * @it: [in]
 * @field: [in] PAGEDET_FIELD_*
 * Return: "needs CAP_SYS_ADMIN", or "" ; never NULL
 *         [borrowed: pagedet_iter_free].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_why_advice(const struct pagedet_iter *it, uint32_t field);

/**
 * pagedet_coverage - how much was looked at so far
 * @it: [in]
 * @ret: [in,out] size is set by the caller
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is too small.
 * Since: 0.1
 */
int pagedet_coverage(const struct pagedet_iter *it,
		     struct pagedet_coverage *ret);

/**
 * pagedet_mappers - what PAGEDET_TARGET_MAPPERS found for one pfn
 * Complete once pagedet_next() has answered 0.
 * @it: [in]
 * @n: [in] 0, 1, 2 ...: the pfns in the order of the query
 * @ret: [in,out] size is set by the caller; unread [borrowed: the next step]
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is too small, or the target is another; ENOENT @n is
 *         past the last pfn; EAGAIN the walk has not ended.
 * Since: 0.1
 */
int pagedet_mappers(const struct pagedet_iter *it, uint64_t n,
		    struct pagedet_mappers *ret);

/**
 * pagedet_string - the text behind an id
 * @it: [in]
 * @id: [in] value of a field of type STRING or LIST
 * @len: [out,nullable] bytes, without the terminating NUL; the text itself may
 *       hold any byte but NUL
 * Return: the text, or NULL if the id is no longer valid
 *         [nullable] [borrowed: the next step].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_string(const struct pagedet_iter *it, uint64_t id,
			   size_t *len);

/**
 * pagedet_stack - the frames behind a stack id
 * The id is XXH3-64 of the frames as they are here, each with a newline behind
 * it. Names and offsets do not change when the kernel starts elsewhere; a frame
 * that has no name, as of a module that was unloaded, is its address.
 * @it: [in] wanted a field of type STACK
 * @id: [in] value of a field of type STACK
 * @frames: [out] [len: n] text of each frame, innermost first:
 *          "name+0x10/0x40 [module]"
 *          [borrowed: the next step]
 * @n: [in] how many fit
 * Return: how many frames the stack has, or a negative errno.
 * Errors: ENOENT the id is no longer valid, or there are no frames for it;
 *         ENOMEM; EBADMSG EIO they cannot be read again.
 * Since: 0.1
 */
int pagedet_stack(const struct pagedet_iter *it, uint64_t id,
		  const char **frames, uint32_t n);

/**
 * pagedet_threads - the threads of a process
 * @it: [in] of a query with PAGEDET_Q_TASK_STACKS, whose target is VIRT, TASK
 *      or MAPPERS
 * @pid: [in] as in rows
 * @tids: [out] [len: n] thread ids, ascending
 * @n: [in] how many fit
 * Return: how many threads it has, or a negative errno.
 * Errors: EINVAL the query is none of these; ESRCH there is no such process;
 *         EACCES it may not be read; ENOTSUP no source that is open here knows
 *         tasks; EBADMSG EIO ENOMEM the list of tasks cannot be read.
 * Since: 0.1
 */
int pagedet_threads(const struct pagedet_iter *it, uint32_t pid, uint32_t *tids,
		    uint32_t n);

/**
 * pagedet_task_stack - where a thread is in the kernel
 * What /proc/PID/stack tells, of a dump as of a running kernel: by the kernel's
 * own ORC tables on x86-64, by frame pointers on arm64
 * (Documentation/arch/x86/orc-unwinder.rst, arch/arm64/kernel/stacktrace.c).
 * @it: [in] as for pagedet_threads()
 * @tid: [in] thread id
 * @frames: [out] [len: n] text of each frame, innermost first:
 *          "name+0x10/0x40 [module]"; an address where there is no name; as the
 *          last one "?" where what follows could not be read
 *          [borrowed: the next step, or the next call for any thread]
 * @n: [in] how many fit
 * Return: how many frames the stack has, 0 if it is in user code, or a negative
 *         errno.
 * Errors: EAGAIN it runs, so its stack is in the registers of a processor;
 *         ENOENT it ran when the dump was written, which has no registers;
 *         EINVAL, ESRCH, EACCES, ENOTSUP, EBADMSG, EIO, ENOMEM as for
 *         pagedet_threads(); ENOTSUP also if the kernel has nothing to unwind
 *         by; ENODATA its types or symbols are not known.
 * Since: 0.1
 */
int pagedet_task_stack(const struct pagedet_iter *it, uint32_t tid,
		       const char **frames, uint32_t n);

/**
 * pagedet_page_bytes - the bytes of a page of this step
 * Only when the query wanted a field of group "content", and only of rows
 * whose content is answered: a whole page, as it was when it was read. Rows of
 * runs and groups have none. Read by bpf, kcore and out of dumps, which changes
 * nothing; where none of these is open, pages of tasks that are present are
 * read through /proc/PID/mem, which marks them as used, and their rows as
 * perturbed. What is not present is not brought in, and what is poisoned is
 * not read.
 * @it: [in]
 * @row: [in] number of the row in this step
 * @len: [out] bytes
 * Return: the bytes, or NULL if they were not read
 *         [nullable] [borrowed: the next step].
 * Errors: none.
 * Since: 0.1
 */
const void *pagedet_page_bytes(const struct pagedet_iter *it, uint64_t row,
			       size_t *len);
