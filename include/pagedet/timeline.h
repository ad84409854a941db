/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Part of pagedet.h: what happened to page frames, by a trace. */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

/* ------------------------------------------------------------------------
 * Timeline: the events of a trace of allocations that concern some pages
 */

struct pagedet_timeline;

/* What an event is. The numbers are part of the ABI, as the next ones. */
enum pagedet_event {
	PAGEDET_EVENT_LOST = 0,	/* events were lost here */
	PAGEDET_EVENT_KMALLOC = 1,
	PAGEDET_EVENT_CACHE_ALLOC = 2, /* kmem_cache_alloc */
	PAGEDET_EVENT_KFREE = 3,
	PAGEDET_EVENT_CACHE_FREE = 4, /* kmem_cache_free */
	PAGEDET_EVENT_PAGE_ALLOC = 5, /* mm_page_alloc */
	PAGEDET_EVENT_PAGE_FREE = 6, /* mm_page_free */
	PAGEDET_EVENT_PAGE_FREE_BATCHED = 7 /* mm_page_free_batched: a second
				 * event of the same free, which timelines do
				 * not have */
};

/*
 * What an event does. Of a block it is about those of its pages that were asked
 * about: one of them is enough for "while allocated" and for "freed".
 */
enum pagedet_effect {
	PAGEDET_EFFECT_LOST = 0,
	PAGEDET_EFFECT_ALLOCATED = 1,
	PAGEDET_EFFECT_ALLOCATED_AGAIN = 2, /* while allocated: its free has no
				 * event, or was lost */
	PAGEDET_EFFECT_FREED = 3,
	PAGEDET_EFFECT_FREED_UNKNOWN = 4, /* it was not allocated in the trace
				 */
	PAGEDET_EFFECT_OBJECT_ALLOCATED = 5,
	PAGEDET_EFFECT_OBJECT_AGAIN = 6, /* while allocated, likewise */
	PAGEDET_EFFECT_OBJECT_FREED = 7,
	PAGEDET_EFFECT_OBJECT_UNKNOWN = 8 /* freed, not allocated in the trace
				 */
};

/*
 * struct pagedet_timeline_query - start from PAGEDET_TIMELINE_QUERY_INIT, and
 * set trace and pages.
 */
struct pagedet_timeline_query {
	uint64_t size;		/* sizeof(struct pagedet_timeline_query) */
	const struct pagedet_allocs_query *trace; /* which one, what names it,
				 * and when to stop; its keys are what is told
				 * of each event */
	uint64_t first_pfn;
	uint64_t pages;		/* how many: 1 to 67108864 */
	uint64_t max_events;	/* how many are kept; 0: 1000000 */
	uint32_t first;		/* 1: of more events, the first ones are kept;
				 * 0: the last ones */
	uint32_t any_boot;	/* 1: objects are placed although nothing says
				 * that the trace is of this boot */
	uint32_t pages_only;	/* 1: events of objects are left out */
	uint32_t reserved;	/* 0 */
};

#define PAGEDET_TIMELINE_QUERY_INIT \
	{ sizeof(struct pagedet_timeline_query), NULL, 0, 0, 0, 0, 0, 0, 0 }

struct pagedet_timeline_event {
	uint64_t size;		/* sizeof(struct pagedet_timeline_event) */
	uint64_t ns;		/* in the clock of the trace; UINT64_MAX of a
				 * loss: not known */
	uint64_t pfn;		/* first one of the block, or the one that the
				 * object begins in; of a loss 0 */
	uint64_t address;	/* of the object; 0 of others */
	uint64_t bytes;		/* that the object or block has */
	uint64_t lifetime_ns;	/* of a free: since the allocation. Not known if
				 * the trace tells of a loss between them */
	uint64_t lost;		/* of a loss: events, UINT64_MAX not known */
	uint32_t kind;		/* PAGEDET_EVENT_* */
	uint32_t effect;	/* PAGEDET_EFFECT_* */
	uint32_t order;		/* of a block */
	uint32_t bytes_state;	/* PAGEDET_HAVE, PAGEDET_NONE, or why it is not
				 * known */
	uint32_t lifetime_state; /* the same */
	uint32_t reserved;	/* 0 */
	uint64_t value[PAGEDET_ALLOC_KEYS]; /* by the keys, as in struct
				 * pagedet_alloc_group */
	uint32_t state[PAGEDET_ALLOC_KEYS];
};

struct pagedet_timeline_total {
	uint64_t size;		/* sizeof(struct pagedet_timeline_total) */
	uint64_t events;	/* that concern the pages */
	uint64_t page_events;	/* of these: of blocks of pages */
	uint64_t object_events;	/* of these: of objects */
	uint64_t losses;	/* places between them where events were lost,
				 * as far as the trace tells where */
	uint64_t rows;		/* events and losses that there are to get */
	uint64_t left_out;	/* the others: there were too many */
	uint64_t unplaced;	/* events of objects of which it is not known
				 * in which pages they are: they are not among
				 * the events */
	uint32_t objects;	/* PAGEDET_HAVE: all are placed;
				 * PAGEDET_NOT_ASKED: pages_only;
				 * PAGEDET_UNSUPPORTED: pagedet_timeline_why()
				 * tells why not */
	uint32_t no_ns;		/* 1: the clock of the trace counts something
				 * else */
	uint32_t no_pages;	/* 1: the trace has no event of pages at all:
				 * perhaps they were not recorded */
	uint32_t reserved;	/* 0 */
};

/**
 * pagedet_allocs_timeline - list the events that concern pages
 * Reads a trace once, in the order of times, and keeps the allocations and
 * frees of blocks that have one of the pages, and of objects that lie in them.
 * The events of blocks tell page frame numbers. Those of objects tell
 * addresses, so the handle is asked where the kernel maps memory; it must be of
 * the boot that was traced. Otherwise they are left out, counted in unplaced.
 * @pd: [in] opened, or objects are not placed
 * @query: [in] the query
 * @ret: [out] [owned: pagedet_timeline_free] the answer
 * Return: 0, or a negative errno.
 * Errors: EINVAL there is no trace, pages is 0 or too large, the pages go past
 *         2^52, or PAGEDET_ALLOC_LIFETIME is a key; E2BIG query has a non-zero
 *         byte that this library does not know; and those of
 *         pagedet_allocs().
 * Since: 0.1
 */
int pagedet_allocs_timeline(struct pagedet *pd,
			    const struct pagedet_timeline_query *query,
			    struct pagedet_timeline **ret);

/**
 * pagedet_timeline_next - get the next event
 * @timeline: [in] from pagedet_allocs_timeline()
 * @ret: [in,out] the caller sets size
 * Return: 1, 0 at the end, or a negative errno.
 * Errors: EINVAL size is not that of any version.
 * Since: 0.1
 */
int pagedet_timeline_next(struct pagedet_timeline *timeline,
			  struct pagedet_timeline_event *ret);

/**
 * pagedet_timeline_text - get the text of a value
 * @timeline: [in] from pagedet_allocs_timeline()
 * @id: [in] a value of a key that is a text
 * @len: [out,nullable] bytes; a text may contain any byte
 * Return: the text, followed by a NUL, or NULL if the id has no text [nullable]
 *         [borrowed: pagedet_timeline_free].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_timeline_text(const struct pagedet_timeline *timeline,
				  uint64_t id, size_t *len);

/**
 * pagedet_timeline_gfp - name the flags of an allocation
 * @timeline: [in] from pagedet_allocs_timeline()
 * @gfp: [in] a value of PAGEDET_ALLOC_GFP
 * Return: as pagedet_allocs_gfp() [nullable] [borrowed: the next call].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_timeline_gfp(struct pagedet_timeline *timeline,
				 uint64_t gfp);

/**
 * pagedet_timeline_why - get the reason why objects are not placed
 * @timeline: [in] from pagedet_allocs_timeline()
 * Return: the reason, or NULL if there is none [nullable]
 *         [borrowed: pagedet_timeline_free].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_timeline_why(const struct pagedet_timeline *timeline);

/**
 * pagedet_timeline_total - get what the events add up to
 * @timeline: [in] from pagedet_allocs_timeline()
 * @ret: [in,out] the caller sets size
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is not that of any version.
 * Since: 0.1
 */
int pagedet_timeline_total(const struct pagedet_timeline *timeline,
			   struct pagedet_timeline_total *ret);

/**
 * pagedet_timeline_trace - get what the trace has, and what it lost
 * @timeline: [in] from pagedet_allocs_timeline()
 * @ret: [in,out] the caller sets size; there are no groups, and all their sums
 *       are 0
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is not that of any version.
 * Since: 0.1
 */
int pagedet_timeline_trace(const struct pagedet_timeline *timeline,
			   struct pagedet_allocs_total *ret);

/**
 * pagedet_timeline_free - free the answer
 * @timeline: [in,nullable] NULL does nothing
 * Errors: none.
 * Since: 0.1
 */
void pagedet_timeline_free(struct pagedet_timeline *timeline);
