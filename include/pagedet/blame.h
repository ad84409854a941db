/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Part of pagedet.h: who holds blocks of memory. */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

/* ------------------------------------------------------------------------
 * Blame: whose allocations keep blocks of 2 MB from being free
 */

struct pagedet_blame;

/* struct pagedet_blame_query - start from PAGEDET_BLAME_QUERY_INIT. */
struct pagedet_blame_query {
	uint64_t size;		/* sizeof(struct pagedet_blame_query) */
	uint64_t first_pfn;	/* of the pages whose blocks are looked at */
	uint64_t pages;		/* how many; 0: all of memory */
	uint64_t deadline_ns;	/* from the call; 0 no deadline */
	pagedet_progress_fn *progress; /* [nullable] called on the calling
				 * thread; places are pages, then live objects
				 * and blocks of pages */
	void *progress_user;	/* [nullable] */
	uint64_t progress_ns;	/* shortest interval; 0 is 200 ms */
	uint32_t any_boot;	/* 1: ask although nothing says that the trace
				 * is of this boot */
	uint32_t reserved;	/* 0 */
};

#define PAGEDET_BLAME_QUERY_INIT \
	{ sizeof(struct pagedet_blame_query), 0, 0, 0, NULL, NULL, 0, 0, 0 }

/* A block that is held, and who has most of it. */
struct pagedet_blame_block {
	uint64_t size;		/* sizeof(struct pagedet_blame_block) */
	uint64_t first_pfn;
	uint64_t free;		/* pages */
	uint64_t movable;	/* pages that the kernel can usually move: of
				 * tasks and files, hugetlb and zsmalloc.
				 * Pinned ones are among them */
	uint64_t perhaps_free;	/* of no known kind, and with a count of 0: most
				 * of them are free, kept by a processor */
	uint64_t held;		/* all others: slabs, page tables, and those of
				 * which no kind is known */
	uint64_t explained;	/* of the held: something in them is live by the
				 * trace, and in use */
	uint64_t holders;	/* groups that have something in it */
	uint64_t holder_pages;	/* explained pages that the group with most of
				 * them has something in */
	uint64_t value[PAGEDET_ALLOC_KEYS]; /* of this group, as in struct
				 * pagedet_alloc_group */
	uint32_t state[PAGEDET_ALLOC_KEYS]; /* PAGEDET_NONE if there is none */
};

/* A group of allocations, and what it holds. */
struct pagedet_blame_holder {
	uint64_t size;		/* sizeof(struct pagedet_blame_holder) */
	uint64_t blocks;	/* that it has something in */
	uint64_t blocks_alone;	/* of these: nobody else is known to hold any
				 * page of the block */
	uint64_t pages;		/* explained pages that it has something in */
	uint64_t pages_alone;	/* of these: nobody else is known there */
	uint64_t objects;	/* objects and blocks of pages in use */
	uint64_t bytes;		/* of these */
	uint64_t value[PAGEDET_ALLOC_KEYS]; /* as in struct
				 * pagedet_alloc_group */
	uint32_t state[PAGEDET_ALLOC_KEYS];
};

struct pagedet_blame_total {
	uint64_t size;		/* sizeof(struct pagedet_blame_total) */
	uint64_t block_pages;	/* pages of a block: 2 MB */
	uint64_t blocks;	/* with memory */
	uint64_t blocks_held;	/* with a held page */
	uint64_t blocks_explained; /* of these: all held pages are explained */
	uint64_t free;		/* pages, as in struct pagedet_blame_block */
	uint64_t movable;
	uint64_t perhaps_free;
	uint64_t held;
	uint64_t explained;
	uint64_t used;		/* live objects and blocks of pages that are in
				 * use */
	uint64_t unverified;	/* live ones of which it is not known whether
				 * they are in use: they explain nothing */
	uint64_t holders;
};

/**
 * pagedet_allocs_blame - find out who holds blocks of memory
 * A block of 2 MB can become free as a whole, as a huge page needs it, only if
 * all its pages are free or can be moved. Counts the pages that hold a block,
 * and explains them by what is live by the trace and in use by the kernel's own
 * lists: objects of slabs, by the slab that they are in, and blocks of pages.
 * What was allocated before the trace began is not explained.
 * @pd: [in] opened: the running kernel, or a dump of the traced boot
 * @allocs: [in] from pagedet_allocs(); its groups are the holders. Must exist
 *          until pagedet_blame_free()
 * @query: [in] the query
 * @ret: [out] [owned: pagedet_blame_free] the answer
 * Return: 0, or a negative errno.
 * Errors: EINVAL the handle is not open, there is no such page, or allocs has
 *         no events; E2BIG query
 *         has a non-zero byte that this library does not know; EBADMSG the
 *         trace is not known to be of this boot, or hides addresses; ETIMEDOUT
 *         the deadline passed; ECANCELED progress returned non-zero; ENOTSUP no
 *         open source knows kernel addresses, or how much memory there is; EIO;
 *         ENOMEM.
 * Since: 0.1
 */
int pagedet_allocs_blame(struct pagedet *pd, struct pagedet_allocs *allocs,
			 const struct pagedet_blame_query *query,
			 struct pagedet_blame **ret);

/**
 * pagedet_blame_next_holder - get the next holder
 * Those that hold most blocks alone come first, then those in most blocks.
 * @blame: [in] from pagedet_allocs_blame()
 * @ret: [in,out] the caller sets size
 * Return: 1, 0 at the end, or a negative errno.
 * Errors: EINVAL size is not that of any version.
 * Since: 0.1
 */
int pagedet_blame_next_holder(struct pagedet_blame *blame,
			      struct pagedet_blame_holder *ret);

/**
 * pagedet_blame_next_block - get the next block that is held
 * Those with fewest held pages that nobody explains come first, then those with
 * fewest held pages.
 * @blame: [in] from pagedet_allocs_blame()
 * @ret: [in,out] the caller sets size
 * Return: 1, 0 at the end, or a negative errno.
 * Errors: EINVAL size is not that of any version.
 * Since: 0.1
 */
int pagedet_blame_next_block(struct pagedet_blame *blame,
			     struct pagedet_blame_block *ret);

/**
 * pagedet_blame_total - get the sums of all blocks
 * @blame: [in] from pagedet_allocs_blame()
 * @ret: [in,out] the caller sets size
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is not that of any version.
 * Since: 0.1
 */
int pagedet_blame_total(const struct pagedet_blame *blame,
			struct pagedet_blame_total *ret);

/**
 * pagedet_blame_free - free the answer
 * @blame: [in,nullable] NULL does nothing
 * Errors: none.
 * Since: 0.1
 */
void pagedet_blame_free(struct pagedet_blame *blame);
