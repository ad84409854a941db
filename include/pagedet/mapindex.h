/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Part of pagedet.h: an index of all mappings, for many look-ups of pages. */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

/* ------------------------------------------------------------------------
 * The mapping index: who maps a page, asked many times
 */

/* One mapping. Used as an array element, so it will never grow. */
struct pagedet_mapping {
	uint64_t pfn;
	uint64_t vaddr;
	uint32_t pid;
	uint32_t pte;		/* PAGEDET_PTE_* bits */
};

struct pagedet_index_info {
	uint64_t size;		/* sizeof(struct pagedet_index_info) */
	uint64_t mappings;
	uint64_t bytes;		/* memory that the index takes */
	uint64_t tasks;
	uint64_t tasks_gone;
	uint64_t tasks_denied;
	uint64_t first_ns;	/* CLOCK_REALTIME at begin and end of the
				 * walk */
	uint64_t last_ns;
	uint64_t n_unread;
	const uint32_t *unread;	/* pids that could not be read */
	uint64_t tasks_damaged;	/* see struct pagedet_coverage */
};

/* How to build an index. Start from PAGEDET_INDEX_OPTIONS_INIT. */
struct pagedet_index_options {
	uint64_t size;		/* sizeof(struct pagedet_index_options) */
	uint64_t deadline_ns;	/* from the call; 0 no deadline */
	pagedet_progress_fn *progress; /* [nullable] called on the calling
				 * thread; places are tasks */
	void *progress_user;	/* [nullable] */
	uint64_t progress_ns;	/* shortest interval; 0 is 200 ms */
	uint32_t threads;	/* including the caller's; 0 and 1 are one */
	uint32_t sources;	/* PAGEDET_SOURCE_BIT()s; 0 as the handle's */
};

#define PAGEDET_INDEX_OPTIONS_INIT \
	{ sizeof(struct pagedet_index_options), 0, NULL, NULL, 0, 0, 0 }

/**
 * pagedet_index_new - walk the page tables of all tasks and build an index
 * @pd: [in] opened
 * @options: [in,nullable] NULL is one thread and no deadline
 * @ret: [out] [owned: pagedet_index_free] the new index
 * Return: 0, or a negative errno.
 * Errors: EINVAL not open; E2BIG options has a non-zero byte that this library
 *         does not know; ENOTSUP no source here shows who maps what; EACCES
 *         page frame numbers are hidden from this process, or no task may be
 *         read; ETIMEDOUT; ECANCELED the progress callback returned non-zero;
 *         EOVERFLOW there are too many tasks; EBADMSG a dump contradicts itself
 *         about its tasks; ENODATA its types or symbols are not known; ENOSYS a
 *         part that is needed was not built; ENOMEM; EIO.
 * Since: 0.1
 */
int pagedet_index_new(struct pagedet *pd,
		      const struct pagedet_index_options *options,
		      struct pagedet_index **ret);

/**
 * pagedet_index_find - find the mappings of one page
 * @index: [in] from pagedet_index_new()
 * @pfn: [in] page frame number
 * @mappings: [out] [len: n] ordered by pid and address
 * @n: [in] size of @mappings, in elements
 * Return: how many mappings there are. If it is more than @n, the rest did not
 *         fit.
 * Errors: none.
 * Since: 0.1
 */
uint64_t pagedet_index_find(const struct pagedet_index *index, uint64_t pfn,
			    struct pagedet_mapping *mappings, uint64_t n);

/**
 * pagedet_index_info - get the size and completeness of an index
 * @index: [in] from pagedet_index_new()
 * @ret: [in,out] the caller sets size; unread [borrowed: pagedet_index_free]
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is too small.
 * Since: 0.1
 */
int pagedet_index_info(const struct pagedet_index *index,
		       struct pagedet_index_info *ret);

/**
 * pagedet_index_free - free an index
 * @index: [in,nullable] must no longer be in use by any query
 * Errors: none.
 * Since: 0.1
 */
void pagedet_index_free(struct pagedet_index *index);
