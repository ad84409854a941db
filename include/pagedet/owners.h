/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Part of pagedet.h: records of page_owner, grouped. */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

/* ------------------------------------------------------------------------
 * Owners: page_owner's records, grouped
 */

/*
 * What records are grouped by. Pinned, as field ids are. Values are numbers,
 * or ids of texts for pagedet_owners_text(); that of a stack is its id, the
 * same in every capture.
 */
enum pagedet_owner_key {
	PAGEDET_OWNER_STACK = 0, /* pagedet_owners_stack() */
	PAGEDET_OWNER_PID = 1,
	PAGEDET_OWNER_TGID = 2,
	PAGEDET_OWNER_COMM = 3,	/* text */
	PAGEDET_OWNER_MEMCG_NAME = 4, /* text: where it is charged now; with
				 * " (offline)" and " (via objcg)" behind it
				 * where page_owner says so */
	PAGEDET_OWNER_ORDER = 5,
	PAGEDET_OWNER_GFP = 6,	/* text: GFP_KERNEL|__GFP_ZERO */
	PAGEDET_OWNER_MIGRATETYPE = 7, /* text: of the page block */
	PAGEDET_OWNER_ALLOCATOR = 8, /* text */
	PAGEDET_OWNER_MODULE = 9, /* text: the innermost one in the stack */
	PAGEDET_OWNER_SLAB = 10, /* 1: of a slab cache */
	PAGEDET_OWNER_MIGRATE_REASON = 11, /* text */
	PAGEDET_OWNER_WINDOW = 12 /* ns since boot at which it begins */
};

/* At most so many keys at once. */
#define PAGEDET_OWNER_KEYS 16

/* pagedet_owners_query.sort; equal ones by pages, then by keys */
enum pagedet_owners_sort {
	PAGEDET_OWNERS_SORT_PAGES = 0, /* most pages first */
	PAGEDET_OWNERS_SORT_TIMES = 1, /* most records first */
	PAGEDET_OWNERS_SORT_OLDEST = 2, /* with the oldest record first */
	PAGEDET_OWNERS_SORT_NEWEST = 3, /* with the newest record first */
	PAGEDET_OWNERS_SORT_KEYS = 4 /* by keys, ascending */
};

/* pagedet_owners_query.options */
enum pagedet_owners_option {
	PAGEDET_OWNERS_REVERSE = 1 /* the other way round */
};

/* struct pagedet_owners_query - start from PAGEDET_OWNERS_QUERY_INIT. All that
 * it points to is only read by pagedet_owners(). */
struct pagedet_owners_query {
	uint64_t size;		/* sizeof(struct pagedet_owners_query) */
	const char *path;	/* [nullable] text of page_owner, plain or
				 * compressed, a file or a pipe, "-" is the
				 * standard input; NULL: what is opened */
	const char *where;	/* [nullable] filter, see pagedet(1) */
	const uint32_t *by;	/* [nullable] [len: n_by] PAGEDET_OWNER_*; NULL
				 * is by stack */
	uint64_t n_by;
	uint64_t window_ns;	/* length of PAGEDET_OWNER_WINDOW; 0 is a
				 * second */
	uint32_t sort;		/* PAGEDET_OWNERS_SORT_* */
	uint32_t options;	/* PAGEDET_OWNERS_* */
	uint32_t threads;	/* the caller's included; 0 and 1 are one */
	uint32_t reserved;
	uint64_t deadline_ns;	/* from the call; 0 none */
	pagedet_progress_fn *progress; /* [nullable] called on the calling
				 * thread; places are bytes of text, or pages
				 * of a dump */
	void *progress_user;	/* [nullable] */
	uint64_t progress_ns;	/* at most this often; 0 is 200 ms */
};

#define PAGEDET_OWNERS_QUERY_INIT \
	{ sizeof(struct pagedet_owners_query), NULL, NULL, NULL, 0, 0, 0, 0, \
	  0, 0, 0, NULL, NULL, 0 }

struct pagedet_owners;

/* Allocations that have the same keys. */
struct pagedet_owner_group {
	uint64_t size;		/* sizeof(struct pagedet_owner_group) */
	uint64_t times;		/* records; 0: page_owner only counts pages */
	uint64_t pages;
	uint64_t bytes;
	uint64_t oldest_ns;	/* when allocated, since boot; UINT64_MAX and */
	uint64_t newest_ns;	/* 0: none of the records says when */
	uint64_t value[PAGEDET_OWNER_KEYS]; /* in the order of by */
	uint32_t state[PAGEDET_OWNER_KEYS]; /* PAGEDET_HAVE, PAGEDET_NONE or
				 * why it is not known */
	uint64_t times_before;	/* after pagedet_owners_compare() */
	uint64_t pages_before;
};

/* All groups together, and what is in none. */
struct pagedet_owners_total {
	uint64_t size;		/* sizeof(struct pagedet_owners_total) */
	uint64_t groups;
	uint64_t times;
	uint64_t pages;
	uint64_t bytes;
	uint64_t oldest_ns;	/* as in struct pagedet_owner_group */
	uint64_t newest_ns;
	uint64_t filtered;	/* records that the filter left out */
	uint64_t undecided;	/* for which it is unknown */
	uint64_t damaged;	/* pieces of text that are no whole record */
	uint64_t unprinted;	/* records that the kernel could not write */
	uint64_t text_bytes;	/* of text that was read; 0: it is no text */
	uint32_t complete;	/* 1: all of it was read */
	uint32_t stopped;	/* ETIMEDOUT, ECANCELED: who ended it before
				 * all of it was read; else 0 */
};

/**
 * pagedet_owner_key_by_name - find a key of owners
 * @name: [in] "stack", "pid", "tgid", "comm", "memcg_name" ...
 * Return: PAGEDET_OWNER_*, or -ENOENT.
 * Errors: ENOENT.
 * Since: 0.1
 */
int pagedet_owner_key_by_name(const char *name);

/**
 * pagedet_owner_key_name - the name of a key of owners
 * @key: [in] PAGEDET_OWNER_*
 * Return: the name, or NULL for a number that means nothing here
 *         [nullable] [borrowed: the library].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_owner_key_name(uint32_t key);

/**
 * pagedet_owners - read page_owner's records and group them
 * Reads all of them, once. Text that is damaged or cut off is grouped as far
 * as it is good, and pagedet_owners_total() says so; the same is done with what
 * was read when the deadline comes or the progress callback cancels.
 * @pd: [in] opened; or, if the query names a path, only made
 * @query: [in]
 * @ret: [out] [owned: pagedet_owners_free]
 * Return: 0, or a negative errno.
 * Errors: EINVAL not open, no such key, the filter is wrong; E2BIG query has a
 *         non-zero byte that this library does not know; ENOENT no such file;
 *         EACCES it may not be read; EBADMSG it is no text of page_owner;
 *         ENOTSUP no source here has such records (pagedet_advice() says what
 *         it would need); ENODATA what is needed to read them is not there;
 *         ENOSYS a part that is needed was not built; EIO; ENOMEM.
 * Since: 0.1
 */
int pagedet_owners(struct pagedet *pd, const struct pagedet_owners_query *query,
		   struct pagedet_owners **ret);

/**
 * pagedet_owners_compare - what has grown
 * The groups begin anew, by how many pages more they have than before; those
 * that are gone are among them, with none.
 * @owners: [in]
 * @before: [in] grouped by the same keys; not changed, and not needed
 *          afterwards
 * Return: 0, or a negative errno.
 * Errors: EINVAL the keys are others; ENOMEM.
 * Since: 0.1
 */
int pagedet_owners_compare(struct pagedet_owners *owners,
			   const struct pagedet_owners *before);

/**
 * pagedet_owners_next - the next group
 * @owners: [in]
 * @ret: [in,out] size is the caller's
 * Return: 1, or 0 at the end.
 * Errors: E2BIG size is not that of any version.
 * Since: 0.1
 */
int pagedet_owners_next(struct pagedet_owners *owners,
			struct pagedet_owner_group *ret);

/**
 * pagedet_owners_text - the text behind a value
 * @owners: [in]
 * @id: [in] a value of a key that is a text
 * @len: [out,nullable] bytes; a text may hold any byte
 * Return: the text with a NUL behind it, or NULL: it is none
 *         [nullable] [borrowed: pagedet_owners_free].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_owners_text(const struct pagedet_owners *owners,
				uint64_t id, size_t *len);

/**
 * pagedet_owners_stack - the functions behind the id of a stack
 * @owners: [in]
 * @id: [in] a value of PAGEDET_OWNER_STACK
 * @frames: [out,nullable] [len: n] innermost first, as the kernel writes them
 *          [borrowed: the next call for a stack of these owners]
 * @n: [in]
 * Return: how many there are, or a negative errno.
 * Errors: ENOENT there is no such stack; ENOMEM.
 * Since: 0.1
 */
int pagedet_owners_stack(struct pagedet_owners *owners, uint64_t id,
			 const char **frames, uint32_t n);

/**
 * pagedet_owners_total - all groups together, and what is in none
 * @owners: [in]
 * @ret: [in,out] size is the caller's
 * Return: 0, or a negative errno.
 * Errors: E2BIG size is not that of any version.
 * Since: 0.1
 */
int pagedet_owners_total(const struct pagedet_owners *owners,
			 struct pagedet_owners_total *ret);

/**
 * pagedet_owners_free - free groups
 * @owners: [in,nullable]
 * Errors: none.
 * Since: 0.1
 */
void pagedet_owners_free(struct pagedet_owners *owners);
