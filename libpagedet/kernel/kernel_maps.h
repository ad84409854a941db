/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Where the kernel's own page tables map frames. */
#ifndef PDET_KERNEL_KERNEL_MAPS_H
#define PDET_KERNEL_KERNEL_MAPS_H

#include "kernel/paging.h"

struct pdet_kernel_maps_visit {
	/* For each entry that hardware follows to a page, ascending by virtual
	 * address. Not 0 ends the walk. */
	int (*leaf)(void *arg, const struct pdet_leaf *leaf);
	void *arg;
};

/*
 * pdet_kernel_maps_each - all of the kernel's half; every table is read once.
 * *lost: some tables could not be read, or led to themselves. 0, what a visit
 * returned, or -ENOMEM.
 */
int pdet_kernel_maps_each(struct pdet_reader *r, const struct pdet_paging *p,
			  const struct pdet_kernel_maps_visit *visit,
			  bool *lost);

/* How often frames are mapped: by the first and behind the last frame of every
 * mapping, sorted. */
struct pdet_kernel_counts {
	uint64_t *first, *end;
	size_t n, cap;
	bool lost;		/* there may be more */
	bool too_many;		/* so many that they were not kept */
};

/* pdet_kernel_counts_read - of all frames. 0, or -ENOMEM. */
int pdet_kernel_counts_read(struct pdet_kernel_counts *ret,
			    struct pdet_reader *r,
			    const struct pdet_paging *p);
void pdet_kernel_counts_free(struct pdet_kernel_counts *c);

/* pdet_kernel_counts_of - mappings of one frame. */
uint64_t pdet_kernel_counts_of(const struct pdet_kernel_counts *c,
			       uint64_t pfn);

#endif
