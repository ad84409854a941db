/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Part of pagedet.h: page_owner's records, grouped by stack or other keys. */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

/* ------------------------------------------------------------------------
 * Owners: page_owner's records, grouped
 */

/*
 * The keys that records are grouped by. They are part of the ABI, as field ids
 * are. A value is a number or, if the comment says "text", an id for
 * pagedet_owners_text(). The value of a stack is its id, which is the same in
 * every capture.
 */
enum pagedet_owner_key {
	PAGEDET_OWNER_STACK = 0, /* for pagedet_owners_stack() */
	PAGEDET_OWNER_PID = 1,
	PAGEDET_OWNER_TGID = 2,
	PAGEDET_OWNER_COMM = 3,	/* text */
	PAGEDET_OWNER_MEMCG_NAME = 4, /* text: the current charge, followed by "
				 * (offline)" and " (via objcg)" if page_owner
				 * says so */
	PAGEDET_OWNER_ORDER = 5,
	PAGEDET_OWNER_GFP = 6,	/* text: GFP_KERNEL|__GFP_ZERO */
	PAGEDET_OWNER_MIGRATETYPE = 7, /* text: that of the page block */
	PAGEDET_OWNER_ALLOCATOR = 8, /* text */
	PAGEDET_OWNER_MODULE = 9, /* text: the innermost module of the stack */
	PAGEDET_OWNER_SLAB = 10, /* 1: the page belongs to a slab cache */
	PAGEDET_OWNER_MIGRATE_REASON = 11, /* text */
	PAGEDET_OWNER_WINDOW = 12, /* start of the window, ns since boot */
	PAGEDET_OWNER_PAGE_MOBILITY = 13, /* text: the type of page block that
				 * the allocation asked for */
	PAGEDET_OWNER_BLOCK = 14, /* the first page frame number of the page
				 * block of the allocation's first page */
	PAGEDET_OWNER_NODE = 15, /* NUMA node */
	PAGEDET_OWNER_ZONE = 16	/* text: the name of the zone; by a text of
				 * page_owner, the number that the kernel gives
				 * it */
};

/* Largest number of keys of one query. */
#define PAGEDET_OWNER_KEYS 16

/*
 * pagedet_owners_query.sort. Equal groups are ordered by pages, then by keys.
 */
enum pagedet_owners_sort {
	PAGEDET_OWNERS_SORT_PAGES = 0, /* most pages first */
	PAGEDET_OWNERS_SORT_TIMES = 1, /* most records first */
	PAGEDET_OWNERS_SORT_OLDEST = 2, /* group of the oldest record first */
	PAGEDET_OWNERS_SORT_NEWEST = 3, /* group of the newest record first */
	PAGEDET_OWNERS_SORT_KEYS = 4, /* by keys, ascending */
	PAGEDET_OWNERS_SORT_BLOCKS = 5 /* most blocks first */
};

/* pagedet_owners_query.options */
enum pagedet_owners_option {
	PAGEDET_OWNERS_REVERSE = 1, /* in the reverse order */
	PAGEDET_OWNERS_MIXED = 2 /* only records that make a page block mixed:
				 * its PAGEDET_OWNER_MIGRATETYPE is not their
				 * PAGEDET_OWNER_PAGE_MOBILITY, and the page is
				 * not reserved. Groups have numbers of blocks.
				 * Records of which that is not known are
				 * undecided */
};

/*
 * struct pagedet_owners_query - start from PAGEDET_OWNERS_QUERY_INIT.
 * pagedet_owners() only reads what it points to, and keeps none of it.
 */
struct pagedet_owners_query {
	uint64_t size;		/* sizeof(struct pagedet_owners_query) */
	const char *path;	/* [nullable] file or pipe with text of
				 * page_owner, plain or compressed; "-" is
				 * standard input; NULL: what the handle has
				 * opened */
	const char *where;	/* [nullable] filter, see pagedet(1) */
	const uint32_t *by;	/* [nullable] [len: n_by] PAGEDET_OWNER_*; NULL
				 * groups by stack */
	uint64_t n_by;
	uint64_t window_ns;	/* length of PAGEDET_OWNER_WINDOW; 0 is one
				 * second */
	uint32_t sort;		/* PAGEDET_OWNERS_SORT_* */
	uint32_t options;	/* PAGEDET_OWNERS_* */
	uint32_t threads;	/* including the caller's; 0 and 1 are one */
	uint32_t reserved;
	uint64_t deadline_ns;	/* from the call; 0 no deadline */
	pagedet_progress_fn *progress; /* [nullable] called on the calling
				 * thread; places are bytes of text, or pages
				 * of a dump */
	void *progress_user;	/* [nullable] */
	uint64_t progress_ns;	/* shortest interval; 0 is 200 ms */
};

#define PAGEDET_OWNERS_QUERY_INIT \
	{ sizeof(struct pagedet_owners_query), NULL, NULL, NULL, 0, 0, 0, 0, \
	  0, 0, 0, NULL, NULL, 0 }

struct pagedet_owners;

/* A group: the allocations with the same keys. */
struct pagedet_owner_group {
	uint64_t size;		/* sizeof(struct pagedet_owner_group) */
	uint64_t times;		/* records; 0: page_owner counts only pages */
	uint64_t pages;
	uint64_t bytes;
	uint64_t oldest_ns;	/* time of allocation, since boot; UINT64_MAX */
	uint64_t newest_ns;	/* and 0 if no record has a time */
	uint64_t value[PAGEDET_OWNER_KEYS]; /* in the order of the query's by */
	uint32_t state[PAGEDET_OWNER_KEYS]; /* PAGEDET_HAVE, PAGEDET_NONE, or
				 * why the value is not known */
	uint64_t times_before;	/* set by pagedet_owners_compare() */
	uint64_t pages_before;
	uint64_t blocks;	/* with PAGEDET_OWNERS_MIXED: page blocks of
				 * these records. An allocation that is larger
				 * than a block counts in text for its first
				 * block only */
};

/* The sum of all groups, and the records that are in no group. */
struct pagedet_owners_total {
	uint64_t size;		/* sizeof(struct pagedet_owners_total) */
	uint64_t groups;
	uint64_t times;
	uint64_t pages;
	uint64_t bytes;
	uint64_t oldest_ns;	/* as in struct pagedet_owner_group */
	uint64_t newest_ns;
	uint64_t filtered;	/* records that the filter left out, or with
				 * PAGEDET_OWNERS_MIXED that are of the type of
				 * their block */
	uint64_t undecided;	/* records whose filter result is unknown */
	uint64_t damaged;	/* pieces of text that are not a whole record */
	uint64_t unprinted;	/* records that the kernel could not write */
	uint64_t text_bytes;	/* bytes of text read; 0: the input is not a
				 * text */
	uint32_t complete;	/* 1: all of it was read */
	uint32_t stopped;	/* if not: ETIMEDOUT or ECANCELED; otherwise
				 * 0 */
	uint64_t blocks;	/* with PAGEDET_OWNERS_MIXED: different page
				 * blocks of all groups */
};

/**
 * pagedet_owner_key_by_name - find a key of owners
 * @name: [in] "stack", "pid", "tgid", "comm", "memcg_name" ...
 * Return: PAGEDET_OWNER_*, or a negative errno.
 * Errors: ENOENT there is no such key.
 * Since: 0.1
 */
int pagedet_owner_key_by_name(const char *name);

/**
 * pagedet_owner_key_name - name a key of owners
 * @key: [in] PAGEDET_OWNER_*
 * Return: the name, or NULL if the number is not a key [nullable]
 *         [borrowed: forever].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_owner_key_name(uint32_t key);

/**
 * pagedet_owners - read page_owner's records and group them
 * Reads all records once. If the text is damaged or cut off, the intact records
 * are still grouped, and pagedet_owners_total() reports the damage. A deadline
 * or a cancel likewise keeps the groups of the records read so far.
 * @pd: [in] opened; a new handle is enough if the query has a path
 * @query: [in] the query
 * @ret: [out] [owned: pagedet_owners_free] the groups
 * Return: 0, or a negative errno.
 * Errors: EINVAL not open, no such key, order or option, too many keys, the
 *         filter is wrong; E2BIG query has a non-zero byte that this library
 *         does not know; ETIMEDOUT ECANCELED before a source that is asked for
 *         rows was started; ENOENT no such file;
 *         EACCES it may not be read; EBADMSG it is not a text of page_owner;
 *         ENOTSUP no source here has such records (pagedet_advice() says what
 *         it would need); ENODATA what is needed to read them, or to
 *         count page blocks, is missing; ENOSYS a part that is needed was not
 *         built; EIO; ENOMEM.
 * Since: 0.1
 */
int pagedet_owners(struct pagedet *pd, const struct pagedet_owners_query *query,
		   struct pagedet_owners **ret);

/**
 * pagedet_owners_compare - compare groups with those of an earlier time
 * Restarts the list of groups, ordered by how many pages they have gained. It
 * includes groups that no longer exist, with no pages.
 * @owners: [in] from pagedet_owners()
 * @before: [in] grouped by the same keys; unchanged, and not needed after the
 *          call
 * Return: 0, or a negative errno.
 * Errors: EINVAL the keys are others, or only one has PAGEDET_OWNERS_MIXED;
 *         ENOMEM.
 * Since: 0.1
 */
int pagedet_owners_compare(struct pagedet_owners *owners,
			   const struct pagedet_owners *before);

/**
 * pagedet_owners_order - set the order of groups, and leave out small ones
 * Restarts the list of groups.
 * @owners: [in] from pagedet_owners()
 * @keys: [in,nullable] sort keys, the most important first, for example
 *        "pages,-pid". times, pages, bytes, blocks and newest sort descending;
 *        oldest, ns (the same) and the keys of the groups sort ascending. A -
 *        before a key reverses it. NULL keeps the order
 * @min_pages: [in] groups with fewer pages are left out
 * Return: 0, or a negative errno; then nothing has changed.
 * Errors: EINVAL there is no such key, or they are not grouped by it; ENOMEM.
 * Since: 0.1
 */
int pagedet_owners_order(struct pagedet_owners *owners, const char *keys,
			 uint64_t min_pages);

/**
 * pagedet_owners_next - get the next group
 * @owners: [in] from pagedet_owners()
 * @ret: [in,out] the caller sets size
 * Return: 1, 0 at the end, or a negative errno.
 * Errors: EINVAL size is not that of any version.
 * Since: 0.1
 */
int pagedet_owners_next(struct pagedet_owners *owners,
			struct pagedet_owner_group *ret);

/**
 * pagedet_owners_text - get the text of a value
 * @owners: [in] from pagedet_owners()
 * @id: [in] a value of a key that is a text
 * @len: [out,nullable] bytes; a text may contain any byte
 * Return: the text, followed by a NUL, or NULL if the id has no text [nullable]
 *         [borrowed: pagedet_owners_free].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_owners_text(const struct pagedet_owners *owners,
				uint64_t id, size_t *len);

/**
 * pagedet_owners_stack - get the functions of a stack
 * @owners: [in] from pagedet_owners()
 * @id: [in] a value of PAGEDET_OWNER_STACK
 * @frames: [out,nullable] [len: n] innermost first, as the kernel writes them
 *          [borrowed: the next call for a stack of these owners]
 * @n: [in] size of @frames, in elements
 * Return: how many frames the stack has, or a negative errno.
 * Errors: ENOENT there is no such stack; ENOMEM.
 * Since: 0.1
 */
int pagedet_owners_stack(struct pagedet_owners *owners, uint64_t id,
			 const char **frames, uint32_t n);

/**
 * pagedet_owners_total - get the sum of all groups, and what is in no group
 * @owners: [in] from pagedet_owners()
 * @ret: [in,out] the caller sets size
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is not that of any version.
 * Since: 0.1
 */
int pagedet_owners_total(const struct pagedet_owners *owners,
			 struct pagedet_owners_total *ret);

/**
 * pagedet_owners_free - free groups
 * @owners: [in,nullable] NULL does nothing
 * Errors: none.
 * Since: 0.1
 */
void pagedet_owners_free(struct pagedet_owners *owners);
