/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Part of pagedet.h: what is wrong with a trace of allocations. */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

/* ------------------------------------------------------------------------
 * Findings: whether a trace is in order, and what it shows of errors
 */

enum pagedet_found {
	PAGEDET_FOUND_DISORDER = 0, /* events with an earlier time than one in
				 * front of them */
	PAGEDET_FOUND_KFREE = 1, /* kfree() of an object of a cache: allowed
				 * since Linux 6.4 */
	PAGEDET_FOUND_CACHE_FREE = 2, /* kmem_cache_free() of what kmalloc()
				 * gave */
	PAGEDET_FOUND_TOO_SMALL = 3, /* allocations that got fewer bytes than
				 * requested */
	PAGEDET_FOUND_LOST = 4,	/* events that the trace does not have */
	PAGEDET_FOUND_CUT = 5,	/* places where the trace was cut, or cannot be
				 * read */
	PAGEDET_FOUND_FORMAT = 6 /* events whose format the trace does not
				 * have */
};

enum pagedet_judged {
	PAGEDET_JUDGED_WRONG = 1, /* the kernel, or the trace, is wrong */
	PAGEDET_JUDGED_ALLOWED = 2, /* by the kernel that was traced */
	PAGEDET_JUDGED_UNKNOWN = 3 /* it cannot be told: the trace is not
				 * whole or has no real addresses, the kernel
				 * is not known, or it frees some objects
				 * without an event, so that the address may
				 * belong to another object meanwhile */
};

/* Findings of one kind and processor. */
struct pagedet_alloc_finding {
	uint64_t size;		/* sizeof(struct pagedet_alloc_finding) */
	uint32_t found;		/* PAGEDET_FOUND_* */
	uint32_t verdict;	/* PAGEDET_JUDGED_* */
	uint64_t times;
	uint64_t first_ns;	/* in the clock of the trace: the first of these
				 * events. Of a loss: the event in front of
				 * it */
	uint64_t cpu;
	uint32_t times_state;	/* PAGEDET_HAVE, or PAGEDET_UNSUPPORTED: there
				 * may be more */
	uint32_t first_state;	/* PAGEDET_HAVE, or why it is not known */
	uint32_t cpu_state;	/* PAGEDET_HAVE, PAGEDET_NONE: those of all
				 * processors, or PAGEDET_UNSUPPORTED: the trace
				 * does not tell them */
	uint32_t reserved;	/* 0 */
	uint64_t value[PAGEDET_ALLOC_KEYS]; /* of the first allocation, as in
				 * struct pagedet_alloc_group */
	uint32_t state[PAGEDET_ALLOC_KEYS]; /* PAGEDET_NONE if it is not about
				 * allocations */
};

/**
 * pagedet_found_name - name a kind of finding
 * @found: [in] PAGEDET_FOUND_*
 * Return: "disorder", "family" (of KFREE and CACHE_FREE), "too_small", "lost",
 *         "cut", "format", or NULL if the number is not a kind [nullable]
 *         [borrowed: forever].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_found_name(uint32_t found);

/**
 * pagedet_allocs_next_finding - get the next finding
 * They come in the order of kinds, then of processors. After the end they start
 * again.
 * @allocs: [in] from pagedet_allocs()
 * @ret: [in,out] the caller sets size
 * Return: 1, 0 at the end, or a negative errno.
 * Errors: EINVAL size is not that of any version, or allocs has no events.
 * Since: 0.1
 */
int pagedet_allocs_next_finding(struct pagedet_allocs *allocs,
				struct pagedet_alloc_finding *ret);

/**
 * pagedet_allocs_release - get the release of the traced kernel
 * A trace.dat and a perf.data tell it; streams of kmemtrace are of "2.6".
 * @allocs: [in] from pagedet_allocs()
 * Return: what uname -r prints there, or NULL if the trace does not tell it
 *         [nullable] [borrowed: until pagedet_allocs_free()].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_allocs_release(const struct pagedet_allocs *allocs);
