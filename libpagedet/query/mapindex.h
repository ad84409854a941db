/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The mapping index: every user mapping of every task, sorted by frame, with at
 * most 16 bytes each. It serves many searches for the mappers of a page.
 */
#ifndef PDET_QUERY_MAPINDEX_H
#define PDET_QUERY_MAPINDEX_H

#include "backend/backend.h"

struct pdet_mapindex;

struct pdet_mapindex_args {
	struct pdet_env *env;
	struct pdet_backend *backend;
	uint64_t page_size;
	unsigned threads;
	uint64_t deadline_ns;	/* CLOCK_MONOTONIC, 0 no deadline */
	const volatile int *stop; /* may be NULL */
	pagedet_progress_fn *progress; /* may be NULL; on the caller's thread */
	void *progress_user;
	uint64_t progress_ns;	/* 0 is 200 ms */
};

/* The first backend that can list mappings, or NULL. */
struct pdet_backend *pdet_mapindex_backend(struct pdet_backend *const *list,
					   size_t n, uint32_t sources);

struct pdet_mapindex_info {
	uint64_t mappings;
	uint64_t bytes;
	uint64_t tasks, tasks_gone, tasks_denied, tasks_damaged;
	uint64_t first_ns, last_ns;
	const uint32_t *unread;
	size_t n_unread;
};

/* Returns 0 or negative errno. EACCES: frame numbers are hidden. */
int pdet_mapindex_new(const struct pdet_mapindex_args *args,
		      struct pdet_mapindex **ret);
void pdet_mapindex_free(struct pdet_mapindex *ix);

/*
 * Copies the first @n mappings of @pfn to @ret. Returns the number of all
 * mappings.
 */
uint64_t pdet_mapindex_find(const struct pdet_mapindex *ix, uint64_t pfn,
			    struct pagedet_mapping *ret, uint64_t n);
/*
 * Returns their number as the kernel counts: those of one address space count
 * once, also if several processes have it. *unsure: how many more there are,
 * for which that is not known.
 */
uint64_t pdet_mapindex_count(const struct pdet_mapindex *ix, uint64_t pfn,
			     uint64_t *unsure);
/*
 * The reason why mappings may be missing, PAGEDET_NO_ACCESS or PAGEDET_CORRUPT;
 * 0 if all tasks were read.
 */
unsigned pdet_mapindex_partial(const struct pdet_mapindex *ix);
/* PDET_BLIND_* of mappings that the source of the index could not see. */
unsigned pdet_mapindex_blind(const struct pdet_mapindex *ix);
void pdet_mapindex_info(const struct pdet_mapindex *ix,
			struct pdet_mapindex_info *ret);

#endif
