/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Part of pagedet.h: who maps a page, asked many times. */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

/* ------------------------------------------------------------------------
 * The mapping index: who maps a page, asked many times
 */

/* An element of arrays: it will not grow. */
struct pagedet_mapping {
	uint64_t pfn;
	uint64_t vaddr;
	uint32_t pid;
	uint32_t pte;		/* PAGEDET_PTE_* bits */
};

struct pagedet_index_info {
	uint64_t size;		/* sizeof(struct pagedet_index_info) */
	uint64_t mappings;
	uint64_t bytes;		/* of memory that it holds */
	uint64_t tasks;
	uint64_t tasks_gone;
	uint64_t tasks_denied;
	uint64_t first_ns;	/* CLOCK_REALTIME of the pass */
	uint64_t last_ns;
	uint64_t n_unread;
	const uint32_t *unread;	/* pids that could not be read */
};

/* How to make an index. Start from PAGEDET_INDEX_OPTIONS_INIT. */
struct pagedet_index_options {
	uint64_t size;		/* sizeof(struct pagedet_index_options) */
	uint64_t deadline_ns;	/* from the call; 0 none */
	pagedet_progress_fn *progress; /* [nullable] called on the calling
				 * thread; places are tasks */
	void *progress_user;	/* [nullable] */
	uint64_t progress_ns;	/* at most this often; 0 is 200 ms */
	uint32_t threads;	/* the caller's included; 0 and 1 are one */
	uint32_t sources;	/* PAGEDET_SOURCE_BIT()s; 0 is the handle's */
};

#define PAGEDET_INDEX_OPTIONS_INIT \
	{ sizeof(struct pagedet_index_options), 0, NULL, NULL, 0, 0, 0 }

/**
 * pagedet_index_new - one pass over the page tables of every task
 * @pd: [in] opened
 * @options: [in,nullable] NULL is one thread, no deadline
 * @ret: [out] [owned: pagedet_index_free]
 * Return: 0, or a negative errno.
 * Errors: EINVAL not open; E2BIG options has a non-zero byte that this library
 *         does not know; ENOTSUP no source here shows who maps what; EACCES
 *         page frame numbers are hidden from this process; ETIMEDOUT;
 *         ECANCELED the progress callback said so; ENOMEM; EIO.
 * Since: 0.1
 */
int pagedet_index_new(struct pagedet *pd,
		      const struct pagedet_index_options *options,
		      struct pagedet_index **ret);

/**
 * pagedet_index_find - the mappings of one page
 * @index: [in]
 * @pfn: [in]
 * @mappings: [out] [len: n] ordered by pid and address
 * @n: [in] how many fit
 * Return: how many there are; more than @n means that some did not fit.
 * Errors: none.
 * Since: 0.1
 */
uint64_t pagedet_index_find(const struct pagedet_index *index, uint64_t pfn,
			    struct pagedet_mapping *mappings, uint64_t n);

/**
 * pagedet_index_info - size and completeness of an index
 * @index: [in]
 * @ret: [in,out] size is set by the caller; unread
 *       [borrowed: pagedet_index_free]
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is too small.
 * Since: 0.1
 */
int pagedet_index_info(const struct pagedet_index *index,
		       struct pagedet_index_info *ret);

/**
 * pagedet_index_free - free an index
 * @index: [in,nullable] no query may use it any more
 * Errors: none.
 * Since: 0.1
 */
void pagedet_index_free(struct pagedet_index *index);
