/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Part of pagedet.h: the query, and the iterator over the rows that answer it.
 */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

/* ------------------------------------------------------------------------
 * The query
 */

/*
 * The pages that a query asks about. "items" below are struct pagedet_item. The
 * count of an item is at least 1, or PAGEDET_TO_END. Rows that answer item i
 * have ask = i.
 */
enum pagedet_target {
	PAGEDET_TARGET_NOTHING = 0,
	PAGEDET_TARGET_PFN = 1,	/* items: first pfn, count pages */
	PAGEDET_TARGET_PHYS = 2, /* items: first byte address, count bytes */
	PAGEDET_TARGET_VIRT = 3, /* items: pid, first byte address, count bytes;
				 * one row per page of the range */
	PAGEDET_TARGET_TASK = 4, /* items: pid, address range in bytes (0,
				 * PAGEDET_TO_END for all); one row per page
				 * table entry */
	PAGEDET_TARGET_FILE = 5, /* path; items: first page offset, count pages;
				 * without items the whole file. Its cached
				 * pages; in a captured tree only those that
				 * tasks map. The same holds for TREE and
				 * MOUNT */
	PAGEDET_TARGET_TREE = 6, /* path of a directory: all files below it on
				 * the same filesystem */
	PAGEDET_TARGET_MOUNT = 7, /* path of a mount point, or of any file on
				 * it: the whole filesystem */
	PAGEDET_TARGET_BLOCK = 8, /* path of a block device; items as for
				 * FILE */
	PAGEDET_TARGET_CGROUP = 9, /* path of a cgroup: the pages charged to
				 * it */
	PAGEDET_TARGET_KADDR = 10, /* items: first kernel address, count 1;
				 * flags PAGEDET_KADDR_*. vaddr, pte, map, vma
				 * and object describe the address */
	PAGEDET_TARGET_LOG = 11, /* path of a kernel log text, "-" is standard
				 * input. Each page in the log gets two rows
				 * with the same ask: the page as the log
				 * describes it, and the page as it is now. Only
				 * the first, if sources of the query is
				 * PAGEDET_SOURCE_LOG */
	PAGEDET_TARGET_SCAN = 12, /* every page of memory */
	PAGEDET_TARGET_MAPPERS = 13, /* items: as for PFN; one row per
				 * mapping */
	PAGEDET_TARGET_OBJECTS = 14, /* allocs: the objects and pages that a
				 * trace has no free of, by address: objects
				 * first. vaddr is the address of an object,
				 * object and object_state describe it.
				 * alloc_* and gfp_mask are of the trace, those
				 * that are keys as far as allocs is grouped by
				 * them. The rest is asked of the kernel that
				 * the handle has open, if the trace is of its
				 * boot; if sources of the query is
				 * PAGEDET_SOURCE_TRACE, of nobody: then
				 * slab_cache is of the trace, too */
	PAGEDET_TARGET_EVENTS = 15 /* allocs, of a query with events: the
				 * events of the trace in the order of their
				 * times, and a row where some were lost. vaddr
				 * is the address of an object, pfn the first
				 * page of a block. event*, alloc_requested,
				 * alloc_bytes, alloc_order, gfp_mask and gfp
				 * are of the trace. The rest is asked of the
				 * kernel, as for OBJECTS; then the trace is
				 * read twice. Its events are read during the
				 * query, and once */
};

#define PAGEDET_TO_END ((uint64_t)-1)

/* pagedet_item.flags for PAGEDET_TARGET_KADDR */
enum pagedet_kaddr {
	PAGEDET_KADDR_ANY = 0,	/* PAGE for an address in a struct page,
				 * otherwise MEMORY */
	PAGEDET_KADDR_MEMORY = 1, /* the page that contains the address */
	PAGEDET_KADDR_PAGE = 2,	/* the page of the struct page at the address */
	PAGEDET_KADDR_FOLIO = 3	/* the first page of that page's folio */
};

/* One range of a query. Used as an array element, so it will never grow. */
struct pagedet_item {
	uint64_t first;
	uint64_t count;
	uint32_t pid;		/* thread or process id, if the target needs
				 * one */
	uint32_t flags;
};

/* pagedet_query.options */
enum pagedet_query_option {
	PAGEDET_Q_CHEAP = 1,	/* also ask for every field that costs
				 * nothing */
	PAGEDET_Q_RUNS = 2,	/* merge neighbours with equal answers */
	PAGEDET_Q_UNDECIDED = 4, /* also return rows whose filter is unknown */
	PAGEDET_Q_SINGLE_SOURCE = 8, /* ask only the first source of a chain */
	PAGEDET_Q_KEEP_STRINGS = 16, /* ids stay valid as long as the
				 * iterator */
	PAGEDET_Q_UNCHECKED = 32, /* read each translation only once: rows carry
				 * PAGEDET_NOTE_UNCHECKED */
	PAGEDET_Q_HOLES = 64,	/* PAGEDET_TARGET_SCAN: also return rows for
				 * pfns without a page */
	PAGEDET_Q_GROUP = 128,	/* count pages per distinct value of group_by
				 * instead of listing them; without group_by all
				 * pages are one group */
	PAGEDET_Q_TASK_STACKS = 256, /* the caller will use
				 * pagedet_task_stack() */
	PAGEDET_Q_ANY_BOOT = 512, /* PAGEDET_TARGET_LOG, _OBJECTS, _EVENTS: ask
				 * the kernel even if the log or trace may be of
				 * another boot */
	PAGEDET_Q_USER_STACKS = 1024, /* the caller will use
				 * pagedet_user_stack() */
	PAGEDET_Q_POINTERS = 2048, /* PAGEDET_TARGET_LOG: leave addresses of the
				 * kernel in reasons */
	PAGEDET_Q_STOP_THREADS = 4096, /* pagedet_user_stack() stops a thread
				 * while it reads its stack, if kernel memory
				 * does not show that; without
				 * PAGEDET_Q_USER_STACKS it does nothing */
	PAGEDET_Q_PERF_MAP = 8192 /* pagedet_user_stack() names code of
				 * compilers at run time by the map file that
				 * they write for perf; without
				 * PAGEDET_Q_USER_STACKS it does nothing */
};

/* pagedet_query.order */
enum pagedet_order {
	PAGEDET_ORDER_WALK = 0,	/* order of the walk: always the same */
	PAGEDET_ORDER_ANY = 1,	/* order of completion: fastest with threads */
	PAGEDET_ORDER_UP = 2,	/* by the field order_by, smallest first, rows
				 * without an answer last. libpagedet completes
				 * the walk before the first row. A limit up to
				 * PAGEDET_ORDER_MAX is needed for rows, not for
				 * groups. Rows have no pagedet_page_bytes() */
	PAGEDET_ORDER_DOWN = 3	/* as PAGEDET_ORDER_UP, but largest first */
};

/*
 * The largest limit of an ordered query. pagedet_query() allocates 40 bytes for
 * each row of the limit and each field of a row: 2.6 MB per field with this
 * limit. During the walk the text of the rows takes up to three times
 * string_bytes.
 */
#define PAGEDET_ORDER_MAX 65536

/* Passed to the progress callback. */
struct pagedet_progress {
	uint64_t size;		/* sizeof(struct pagedet_progress) */
	uint64_t done;		/* places visited */
	uint64_t total;		/* places to visit in all; 0 not known yet */
	uint64_t rows;
	uint64_t elapsed_ns;
};

/* One file or directory of a list; see pagedet_query.next_place. */
struct pagedet_place {
	uint64_t size;		/* sizeof(struct pagedet_place) */
	const char *path;	/* of a file, or for PAGEDET_TARGET_TREE of a
				 * directory; must stay valid until the next
				 * call */
	uint64_t first;		/* page offset in the file, or in each file
				 * below the directory */
	uint64_t count;		/* pages; PAGEDET_TO_END is all of them */
};

/*
 * Sets *@ret to the next place of a list. @error is 0, or the negative errno of
 * the failure to open the place before; @why explains it. The walk continues
 * with the other places. Return: 1, or 0 at the end of the list; any other
 * value cancels the query.
 */
typedef int pagedet_place_fn(void *user, int error, const char *why,
			     struct pagedet_place *ret);

/* Return: 0 to continue; any other value cancels the query. */
typedef int pagedet_progress_fn(void *user, const struct pagedet_progress *p);

/*
 * struct pagedet_query - one query. Start from PAGEDET_QUERY_INIT or
 * pagedet_query_init(). pagedet_query() copies everything that it points to,
 * except index, allocs, heat, kmap, and what belongs to progress and
 * next_place: these must exist until pagedet_iter_free().
 */
struct pagedet_query {
	uint64_t size;		/* sizeof(struct pagedet_query) */
	uint64_t row_size;	/* sizeof(struct pagedet_page) */
	uint64_t fields[2];	/* wanted fields: bit (id % 64) of word (id /
				 * 64) */
	const struct pagedet_item *items; /* [nullable] [len: n_items] */
	uint64_t n_items;
	const char *path;	/* [nullable] for targets that need a path */
	const char *where;	/* [nullable] filter, see pagedet(1); NULL
				 * accepts all rows */
	const uint32_t *group_by; /* [nullable] [len: n_group_by] field ids;
				 * setting them implies PAGEDET_Q_GROUP. Groups
				 * of objects or events count these in
				 * PAGEDET_FIELD_PAGES, and ALLOC_BYTES is their
				 * sum unless they are grouped by it */
	uint64_t n_group_by;
	struct pagedet_index *index; /* [nullable] for mappers and user_maps;
				 * NULL walks all tasks once instead */
	pagedet_progress_fn *progress; /* [nullable] called on the calling
				 * thread */
	void *progress_user;	/* [nullable] */
	uint64_t progress_ns;	/* shortest interval; 0 is 200 ms */
	uint64_t deadline_ns;	/* from the call of pagedet_query(); 0 no
				 * deadline */
	uint64_t limit;		/* largest number of rows; 0 no limit */
	uint64_t string_bytes;	/* limit for interned text; 0 is 8 MiB */
	uint32_t target;	/* PAGEDET_TARGET_* */
	uint32_t options;	/* PAGEDET_Q_* */
	uint32_t order;		/* PAGEDET_ORDER_* */
	uint32_t threads;	/* including the caller's; 0 and 1 are one */
	uint32_t sources;	/* PAGEDET_SOURCE_BIT()s; 0 as the handle's */
	uint32_t order_by;	/* PAGEDET_FIELD_* that rows carry, for
				 * PAGEDET_ORDER_UP and _DOWN; otherwise 0 */
	pagedet_place_fn *next_place; /* [nullable] replaces path and items by a
				 * sequence of files for PAGEDET_TARGET_FILE or
				 * directories for PAGEDET_TARGET_TREE. The
				 * field ask is the number of the place. Called
				 * on the calling thread, which then works
				 * alone */
	void *next_place_user;	/* [nullable] */
	struct pagedet_allocs *allocs; /* [nullable] of OBJECTS and EVENTS */
	struct pagedet_heat *heat; /* [nullable] from pagedet_heat() */
	uint64_t page_size;	/* PAGEDET_TARGET_LOG: of the machine that wrote
				 * the log, in bytes, for a log that does not
				 * say it; 0 not known */
	struct pagedet_kmap_pages *kmap; /* [nullable] from pagedet_kmap_pages()
				 * of the same handle */
};

#define PAGEDET_QUERY_INIT \
	{ sizeof(struct pagedet_query), sizeof(struct pagedet_page), \
	  { 0, 0 }, NULL, 0, NULL, NULL, NULL, 0, NULL, NULL, NULL, 0, 0, 0, \
	  0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, 0, NULL }

/**
 * pagedet_query_init - set the sizes and zero the rest
 * @query: [out] the struct to set
 * @size: [in] sizeof(struct pagedet_query) of the caller
 * @row_size: [in] sizeof(struct pagedet_page) of the caller
 * Errors: none.
 * Since: 0.1
 */
void pagedet_query_init(struct pagedet_query *query, uint64_t size,
			uint64_t row_size);

/**
 * pagedet_fields_parse - add the fields of a list like "pfn,flags" to a query
 * @pd: [in] for the error text
 * @list: [in] field names and groups, separated by commas. Groups: "cheap"
 *        (adds PAGEDET_Q_CHEAP), "all" (every field except those that need page
 *        contents, a walk of other tasks, DAMON or a KMAP), "everything", and
 *        the
 *        group names that pagedet_field() gives
 * @query: [in,out] its fields and options are extended
 * Return: 0, or a negative errno.
 * Errors: ENOENT a name is neither field nor group; EINVAL a name in the
 *         list is empty.
 * Since: 0.1
 */
int pagedet_fields_parse(struct pagedet *pd, const char *list,
			 struct pagedet_query *query);

/**
 * pagedet_filter_fields - find the fields that a filter uses
 * @pd: [in] for the error text
 * @where: [in] a filter, see pagedet(1)
 * @ret: [out] [len: 2] two words, as pagedet_query.fields
 * Return: 0, or a negative errno.
 * Errors: EINVAL the filter is wrong; pagedet_advice() may suggest a
 *         correction; ENOMEM.
 * Since: 0.1
 */
int pagedet_filter_fields(struct pagedet *pd, const char *where, uint64_t *ret);

/**
 * pagedet_target_fields - find the fields that pages of a target can have
 * No source ever answers another field for this target: a page of a scan, for
 * example, has no address in a task. Saved rows and rows of a log may have any
 * field.
 * @target: [in] PAGEDET_TARGET_*
 * @ret: [out] [len: 2] two words, as pagedet_query.fields
 * Errors: none.
 * Since: 0.1
 */
void pagedet_target_fields(uint32_t target, uint64_t *ret);

/**
 * pagedet_query - start a query
 * Checks the query and makes its plan. pagedet_next() reads the pages.
 * @pd: [in] opened
 * @query: [in] the query
 * @ret: [out] [owned: pagedet_iter_free] the new iterator
 * Return: 0, or a negative errno.
 * Errors: EINVAL the handle is not open, no such target, a path, items or
 *         allocs are missing or are not for this target, an item is empty,
 *         wraps, has no pid, or is more than 2^32 pages for MAPPERS, the filter
 *         is wrong, the path is of the wrong kind, as a directory where a file
 *         is meant, sorted rows have no limit or one above PAGEDET_ORDER_MAX,
 *         order_by without such an order, or of a field whose values cannot be
 *         ordered, an item of KADDR with a count or flags, the events of allocs
 *         were read or added up already, more than 16 fields to group by, or
 *         one twice, more than 1024 threads, next_place beside a path or items
 *         or for another target, a page_size that no machine has or for
 *         another target than a log, row_size has no room for the cells; E2BIG
 *         query has a non-zero byte, a field, option or order that this library
 *         does not know; ENOENT no such file, cgroup; ENODATA nothing can be
 *         known of the file: in a captured tree no task maps it, or tasks map
 *         several of its name; ESRCH no such task; EACCES access to the target
 *         itself is denied; ENOTSUP no source here can walk this target, or
 *         none of sources is open
 *         (pagedet_error() says what it would need); EBADMSG types that were
 *         given are those of another kernel, or damaged, or a dump contradicts
 *         itself about its kernel; ENOSYS a part that is needed was not built;
 *         ETIMEDOUT the deadline passed, or ECANCELED progress returned
 *         non-zero, before the sources were started, or a log that is the
 *         handle's source was read; ENOMEM; EIO.
 * Since: 0.1
 */
int pagedet_query(struct pagedet *pd, const struct pagedet_query *query,
		  struct pagedet_iter **ret);

/* ------------------------------------------------------------------------
 * The iterator
 */

/* One field of a batch. Used as an array element, so it will never grow. */
struct pagedet_column {
	uint32_t field;		/* PAGEDET_FIELD_* */
	uint32_t reserved;
	const uint64_t *value;	/* one per row, 0 without an answer */
	const uint16_t *cell;	/* one per row */
};

/* A batch of rows as columns. */
struct pagedet_columns {
	uint64_t size;		/* sizeof(struct pagedet_columns) */
	uint64_t rows;
	uint64_t n_columns;
	const struct pagedet_column *columns; /* [len: n_columns] */
};

/* How much of the query was visited, and how many answers were lost. */
struct pagedet_coverage {
	uint64_t size;		/* sizeof(struct pagedet_coverage) */
	uint64_t wanted;	/* places to visit; 0 not known */
	uint64_t visited;	/* places visited */
	uint64_t skipped;	/* places skipped because they are empty */
	uint64_t rows;		/* rows returned or grouped */
	uint64_t undecided;	/* places whose filter is unknown */
	uint64_t torn;		/* rows whose page changed during the read */
	uint64_t spilled;	/* pages put into the group "other" */
	uint64_t tasks;		/* tasks visited */
	uint64_t tasks_gone;	/* tasks that ended during the query */
	uint64_t tasks_denied;	/* tasks that exist but may not be read */
	uint64_t files;		/* files visited */
	uint64_t files_gone;	/* files that vanished or shrank during it */
	uint64_t files_denied;	/* files that exist but may not be read */
	uint64_t lost[32];	/* cells without an answer, by reason */
	uint64_t answered[2];	/* fields that at least one row answers */
	uint64_t resume;	/* first place not visited; 0 if complete */
	uint32_t complete;	/* 1: all wanted places were visited */
	uint32_t stopped;	/* why not: ETIMEDOUT, ECANCELED, EIO ...; 0
				 * with complete 0: the walk ended, but may not
				 * see everything here */
	uint64_t tasks_damaged;	/* tasks of which only a part could be read,
				 * because their data is damaged or not in the
				 * dump */
	uint64_t matched;	/* pages whose filter is true; 0 without a
				 * filter */
	uint64_t tasks_again;	/* of PAGEDET_TARGET_TASK: tasks that have the
				 * address space of one before (vfork, clone
				 * with CLONE_VM, named twice): their rows are
				 * those of the other one again. 0 if the items
				 * are about different addresses */
	uint64_t tasks_merged;	/* the same of a query with group_by, where
				 * neither groups nor filter depend on the task:
				 * these tasks were left out, so that sums count
				 * an address space once */
};

/* The result of PAGEDET_TARGET_MAPPERS for one pfn, or several; see more. */
struct pagedet_mappers {
	uint64_t size;		/* sizeof(struct pagedet_mappers) */
	uint64_t pfn;
	uint64_t found;		/* number of user mappings, as the kernel counts
				 * them: those of one address space once, also
				 * if several processes have it (vfork, clone
				 * with CLONE_VM); see found_state */
	uint64_t expected;	/* the kernel's count. If fewer mappings were
				 * found, libpagedet read the count again after
				 * the walk and gives the smaller one */
	uint64_t n_unread;	/* number of tasks that could not be read */
	const uint32_t *unread;	/* [len: n_unread] pids of these tasks */
	uint32_t expected_state; /* PAGEDET_HAVE, or why it is not known */
	uint32_t mapcount_kind;	/* PAGEDET_MAPCOUNT_* of expected */
	uint32_t found_state;	/* PAGEDET_HAVE, or why no source could look for
				 * user mappings, or for those that a driver
				 * may have made (PAGEDET_UNSUPPORTED); found
				 * is then not their number */
	uint32_t shared;	/* number of mappings in addition to found:
				 * those of further processes with the same
				 * address space */
	uint64_t more;		/* how many page frames after pfn this is about,
				 * too: of a long range, those behind the end of
				 * memory are summed up */
};

/**
 * pagedet_next - read the next rows
 * @it: [in] from pagedet_query()
 * @rows: [out] [len: n], each query.row_size bytes
 * @n: [in] size of @rows in rows, at least 1
 * Return: how many rows were written, 0 at the end, or a negative errno. Fewer
 *         than @n does not mean the end. After ETIMEDOUT and ECANCELED the
 *         earlier rows are valid, and pagedet_coverage() says what is missing.
 * Errors: EINVAL @n is 0; ETIMEDOUT the deadline passed; ECANCELED
 *         pagedet_cancel(), progress or next_place; EIO reading failed for the
 *         whole walk; ENOMEM; ESRCH the task asked for ended before anything
 *         was read; EACCES it may not be read; EBADMSG names of calls in a
 *         trace are of another boot, or a compressed text or a snapshot is
 *         damaged.
 * Since: 0.1
 */
int pagedet_next(struct pagedet_iter *it, struct pagedet_page *rows,
		 uint32_t n);

/**
 * pagedet_next_columns - read the next rows as columns
 * Faster than rows, and suited to array libraries of other languages.
 * @it: [in] from pagedet_query()
 * @ret: [in,out] the caller sets size; arrays [borrowed: the next step]. Their
 *       memory stays readable until pagedet_iter_free(), only its contents
 *       change.
 * Return: how many rows, 0 at the end, or a negative errno.
 * Errors: EINVAL size is too small; as pagedet_next().
 * Since: 0.1
 */
int pagedet_next_columns(struct pagedet_iter *it, struct pagedet_columns *ret);

/**
 * pagedet_iter_retarget - repeat the query for other places
 * Keeps the plan, buffers and descriptors. This is the fast way to make many
 * single look-ups. Works for the targets PFN, PHYS, VIRT, TASK, MAPPERS and
 * KADDR.
 * @it: [in] from pagedet_query()
 * @items: [in] [len: n_items] the new places
 * @n_items: [in] number of @items
 * Return: 0, or a negative errno.
 * Errors: EINVAL the target takes no items, an item is empty or wraps, the
 *         query groups, has several threads or orders rows by a field
 *         (PAGEDET_ORDER_UP, _DOWN); EACCES of MAPPERS: who maps pages may not
 *         be read; ENOMEM. Whether there is such a task says pagedet_next().
 * Since: 0.1
 */
int pagedet_iter_retarget(struct pagedet_iter *it,
			  const struct pagedet_item *items, uint64_t n_items);

/**
 * pagedet_cancel - make a running query stop soon
 * This is the only call that another thread or a signal handler may make.
 * @it: [in] must not be freed during the call
 * Errors: none.
 * Since: 0.1
 */
void pagedet_cancel(struct pagedet_iter *it);

/**
 * pagedet_iter_free - end a query and free its iterator
 * @it: [in,nullable] NULL does nothing
 * Errors: none.
 * Since: 0.1
 */
void pagedet_iter_free(struct pagedet_iter *it);

/**
 * pagedet_iter_fields - find the fields that rows of this iterator carry
 * @it: [in] from pagedet_query()
 * @ret: [out] [len: 2] two words, as pagedet_query.fields
 * Errors: none.
 * Since: 0.1
 */
void pagedet_iter_fields(const struct pagedet_iter *it, uint64_t *ret);

/**
 * pagedet_why - say why no source can answer a field in this query
 * The answer is known before the first row.
 * @it: [in] from pagedet_query()
 * @field: [in] PAGEDET_FIELD_*
 * Return: PAGEDET_HAVE if some source can, PAGEDET_NOT_ASKED if the query did
 *         not want it, otherwise the reason PAGEDET_UNSUPPORTED ...
 * Errors: none.
 * Since: 0.1
 */
uint32_t pagedet_why(const struct pagedet_iter *it, uint32_t field);

/**
 * pagedet_why_advice - say what would make answers to a field possible
 * A field that is answered only for some pages has advice too: what would let a
 * source answer it for more pages.
 * @it: [in] from pagedet_query()
 * @field: [in] PAGEDET_FIELD_*
 * Return: "needs CAP_SYS_ADMIN", or ""; never NULL
 *         [borrowed: pagedet_iter_free].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_why_advice(const struct pagedet_iter *it, uint32_t field);

/**
 * pagedet_coverage - say how much the query has visited so far
 * @it: [in] from pagedet_query()
 * @ret: [in,out] the caller sets size
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is too small.
 * Since: 0.1
 */
int pagedet_coverage(const struct pagedet_iter *it,
		     struct pagedet_coverage *ret);

/**
 * pagedet_mappers - get the result of PAGEDET_TARGET_MAPPERS for one pfn
 * The result is complete once pagedet_next() has returned 0.
 * @it: [in] from pagedet_query()
 * @n: [in] 0, 1, 2 ...: the results in the order of the query; each is of one
 *     pfn, or of several: see more
 * @ret: [in,out] the caller sets size; unread [borrowed: the next step]
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is too small, or the target is another; ENOENT @n is past
 *         the last result; EAGAIN the walk has not ended.
 * Since: 0.1
 */
int pagedet_mappers(const struct pagedet_iter *it, uint64_t n,
		    struct pagedet_mappers *ret);

/**
 * pagedet_string - get the text of a string id
 * @it: [in] from pagedet_query()
 * @id: [in] value of a field of type STRING or LIST
 * @len: [out,nullable] bytes, without the terminating NUL; the text may contain
 *       any byte except NUL
 * Return: the text, or NULL if the id is no longer valid [nullable]
 *         [borrowed: the next step].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_string(const struct pagedet_iter *it, uint64_t id,
			   size_t *len);

/**
 * pagedet_stack - get the frames of a stack id
 * The id is XXH3-64 of the frames in the form below, each followed by a
 * newline. Names and offsets do not depend on the kernel's load address. A
 * frame without a name, for example of an unloaded module, is its address.
 * @it: [in] of a query that wanted a field of type STACK
 * @id: [in] value of a field of type STACK
 * @frames: [out] [len: n] text of each frame, innermost first: "name+0x10/0x40
 *          [module]" [borrowed: the next step]
 * @n: [in] size of @frames, in elements
 * Return: how many frames the stack has, or a negative errno.
 * Errors: ENOENT the id is no longer valid, or there are no frames for it;
 *         ENOMEM; EBADMSG EIO they cannot be read again.
 * Since: 0.1
 */
int pagedet_stack(const struct pagedet_iter *it, uint64_t id,
		  const char **frames, uint32_t n);

/**
 * pagedet_threads - list the threads of a process
 * @it: [in] of a query with PAGEDET_Q_TASK_STACKS or PAGEDET_Q_USER_STACKS, and
 *      the target VIRT, TASK or MAPPERS
 * @pid: [in] as in rows
 * @tids: [out] [len: n] thread ids, ascending
 * @n: [in] size of @tids, in elements
 * Return: how many threads it has, or a negative errno.
 * Errors: EINVAL the query is none of these; ESRCH there is no such process;
 *         EACCES it may not be read; ENOTSUP no source that is open here knows
 *         tasks; ETIMEDOUT the deadline of the query passed, or it was
 *         cancelled; EBADMSG EIO ENOMEM the list of tasks cannot be read.
 * Since: 0.1
 */
int pagedet_threads(const struct pagedet_iter *it, uint32_t pid, uint32_t *tids,
		    uint32_t n);

/**
 * pagedet_task_stack - get the kernel stack of a thread
 * Gives the frames that /proc/PID/stack shows, for a dump as well as for the
 * running kernel. libpagedet unwinds by the kernel's own ORC tables on x86-64
 * and by frame pointers on arm64 (Documentation/arch/x86/orc-unwinder.rst,
 * arch/arm64/kernel/stacktrace.c).
 * @it: [in] as for pagedet_threads(), with PAGEDET_Q_TASK_STACKS
 * @tid: [in] thread id
 * @frames: [out] [len: n] text of each frame, innermost first: "name+0x10/0x40
 *          [module]", or an address if it has no name. The last frame is "?" if
 *          the rest of the stack could not be read. "?" before other frames:
 *          one caller may be missing there, because an interrupt of arm64
 *          stopped a function whose code does not show whether it has a record
 *          [borrowed: the next step, or the next call for any thread]
 * @n: [in] size of @frames, in elements
 * Return: how many frames the stack has, 0 if the thread is in user code, or a
 *         negative errno.
 * Errors: EAGAIN it runs, so its stack is in the registers of a processor;
 *         ENOENT it ran when the dump was written, which has no registers;
 *         EIO the page where it begins is not in the dump; EINVAL, ESRCH,
 *         EACCES, ENOTSUP, ETIMEDOUT, EBADMSG, EIO, ENOMEM as for
 *         pagedet_threads(); ENOTSUP also if the kernel has no data for
 *         unwinding; ENODATA its types or symbols are not known.
 * Since: 0.1
 */
int pagedet_task_stack(const struct pagedet_iter *it, uint32_t tid,
		       const char **frames, uint32_t n);

/* pagedet_frame.type */
enum pagedet_frame_type {
	PAGEDET_FRAME_UNKNOWN = 0, /* not in code that the process has mapped;
				 * or the rest of the stack, if address is 0 */
	PAGEDET_FRAME_USER = 1,	/* code of a file */
	PAGEDET_FRAME_VDSO = 2,	/* code that the kernel maps into programs */
	PAGEDET_FRAME_SIGNAL = 3, /* the kernel made it to call the handler of a
				 * signal; the next frame was interrupted */
	PAGEDET_FRAME_JIT = 4	/* code that belongs to no file, as compilers
				 * at run time write it; or to a memfd that is
				 * not a program */
};

/* One frame of a user stack. Used as an array element, so it will never grow.
 * All texts end with a NUL. */
struct pagedet_frame {
	uint64_t address;	/* return address, or where the thread was; 0:
				 * the rest of the stack is not known */
	uint64_t offset;	/* of that in function */
	uint64_t bytes;		/* of function; 0 not known */
	uint64_t file_address;	/* address in module, as addr2line(1) takes it;
				 * 0 not known */
	const char *function;	/* [nullable] NULL: no symbol has this code */
	const char *module;	/* [nullable] path as in /proc/PID/maps */
	const char *build_id;	/* [nullable] of module, in hexadecimal */
	const char *why;	/* [nullable] why function, or the rest of the
				 * stack, is not known; or, if there is a
				 * function, why the rest is not proved */
	uint32_t type;		/* PAGEDET_FRAME_* */
	uint32_t reserved;
};

/**
 * pagedet_user_stack - get the stack of a thread in its program
 * Only for threads on x86-64, also of 32-bit programs, and on arm64, without
 * those. Without PAGEDET_Q_STOP_THREADS no thread is stopped or traced, and its
 * memory does not change: bpf, kcore or a dump give the registers that the
 * thread had when it entered the kernel, and its memory. Of a thread that ran,
 * only a dump may have registers. libunwind unwinds by the tables of the mapped
 * files (.eh_frame, .debug_frame); 32-bit code, and code of arm64, is unwound
 * by them without it, on any machine. Code without a table ends the stack. On
 * the running kernel these files are read like any file: their cached pages are
 * then marked as used, and what was not cached is now.
 * Names come from the symbols of these files, or from debug files of the same
 * build id in /usr/lib/debug. A file is not used if another one has its name
 * since, and the mapped one cannot be opened; nor if it is on a network
 * filesystem or FUSE, or if the tables of the process's files exceed 512 MiB.
 * The call may hang if such a filesystem is below another one, or has
 * /usr/lib/debug. In a dump, a mapped file is what was cached of it. A file of
 * this machine takes its place only if it has the same build id. Where a page
 * of the stack is not in the dump, the rest of the stack is not known.
 *
 * With PAGEDET_Q_PERF_MAP, code of compilers at run time (PAGEDET_FRAME_JIT) is
 * named by the file /tmp/perf-PID.map that they write for perf. It is the one
 * in the root directory of the process, with its pid in its own namespace. It
 * must be a regular file of at most 64 MiB and 1,048,576 lines, without
 * symbolic links in its way, and no mount that leads to it may be a network
 * filesystem or FUSE. Nothing may be mounted on it. Of a process in a chroot
 * that is known only if it is in the caller's mount namespace; otherwise the
 * file is not used. Its owner must be the effective user of the process, or
 * root, and not every user may write it. It must have been written since the
 * process started; whether the process executed another program since then is
 * not known. It is read once for each process, before a thread is stopped, and
 * again only if it has changed. Of entries that overlap the last one counts,
 * and a function of which a later one has a part is not believed. Lines in
 * another form are not either, nor is a last line that is not complete. The
 * file says where a function starts, so the stack goes on if the function has
 * only pushed registers, made a frame pointer and reserved stack from there to
 * its call. If it has made a frame pointer in this way and then done something
 * else, the stack goes on from a call to where that leads, and why says that
 * nothing proves the next frame; if it does not lead to code of a caller, the
 * stack ends there. For a dump there is no such file.
 *
 * With PAGEDET_Q_STOP_THREADS kernel memory is asked first, too. It cannot tell
 * if the thread runs, or if no source may read or understand kernel memory. The
 * call then stops the thread by ptrace(2) while it reads the stack
 * (PTRACE_SEIZE and PTRACE_INTERRUPT), so that threads that run have one, too,
 * and their owner needs no other permission. Memory is read by
 * process_vm_readv(2), only where a page is present. That perturbs the process:
 * pages are marked as accessed, a system call in which the thread waits may
 * fail with EINTR (signal(7): as by stop signals), and the caller's process
 * gets SIGCHLD; its other waits for any child may see these stops. The thread
 * goes on when the call returns, after two seconds, and when this process dies;
 * not while this process is stopped itself. What an emitter writes says of
 * each thread whether it was stopped. Threads of a dump cannot be: there the
 * option changes nothing.
 * @it: [in] of a query with PAGEDET_Q_USER_STACKS and the target VIRT, TASK or
 *      MAPPERS
 * @tid: [in] thread id
 * @frames: [out] [len: n] innermost first, at most 128. If the rest of the
 *          stack is not known, one more frame without an address says why
 *          [borrowed: the next step, or the next call for any thread]
 * @n: [in] size of @frames, in elements
 * Return: how many frames the stack has, 0 if the thread has no user code, or a
 *         negative errno.
 * Errors: EAGAIN it runs, so its registers are in a processor, or it ran
 *         meanwhile; ENOENT it ran when the dump was written, which does not
 *         prove what its registers are, or it runs 32-bit code of arm64; EIO
 *         the page that has its registers is not in the dump; ENOSYS
 *         libunwind was not built or is not installed, and the thread runs
 *         64-bit code of x86-64;
 *         with PAGEDET_Q_STOP_THREADS also, if kernel memory does not show the
 *         stack either, which the error text then explains: EAGAIN it does not
 *         stop within a second, or its stack could not be read within two;
 *         EACCES ptrace(2) is not allowed, a debugger has the thread, or it
 *         belongs to this process; ENOTSUP below a root;
 *         EINVAL, ESRCH, ENOTSUP, EBADMSG, EIO, ENOMEM as for
 *         pagedet_threads(); EACCES also if no source may read kernel memory;
 *         ENODATA the kernel's types or symbols are not known.
 * Since: 0.1
 */
int pagedet_user_stack(const struct pagedet_iter *it, uint32_t tid,
		       struct pagedet_frame *frames, uint32_t n);

/**
 * pagedet_page_bytes - get the bytes of a page of this step
 * The bytes are a whole page as it was when libpagedet read it. They exist only
 * if the query wanted a field of group "content" and the row has an answer to
 * it. Rows of runs and groups have none. Rows of PAGEDET_ORDER_UP and _DOWN
 * have none either, because libpagedet keeps rows until the walk ends:
 * pagedet_error() then says so, and the caller can query these pages again.
 * bpf, kcore and dumps give the bytes without changing anything. If none of
 * them is open, libpagedet reads present pages of tasks through /proc/PID/mem.
 * That marks the pages as accessed, and their rows as perturbed. libpagedet
 * never brings in a page that is not present, and never reads a poisoned page.
 * @it: [in] from pagedet_query()
 * @row: [in] number of the row in this step
 * @len: [out] bytes
 * Return: the bytes, or NULL if they were not read [nullable]
 *         [borrowed: the next step].
 * Errors: none.
 * Since: 0.1
 */
const void *pagedet_page_bytes(const struct pagedet_iter *it, uint64_t row,
			       size_t *len);
