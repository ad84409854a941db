/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Finds which frames the kernel's own page tables map. */
#ifndef PDET_KERNEL_ADDRESS_KERNEL_MAPS_H
#define PDET_KERNEL_ADDRESS_KERNEL_MAPS_H

#include "kernel/address/paging.h"

struct pdet_kernel_maps_visit {
	/* Called for each present mapping of a page, ascending by virtual
	 * address. Any value but 0 ends the walk. */
	int (*leaf)(void *arg, const struct pdet_leaf *leaf);
	void *arg;
};

/*
 * pdet_kernel_maps_each - visit the whole kernel half. Every table is read
 * once. *@lost: some tables could not be read, or form a loop. Returns 0, the
 * result of a visit, or -ENOMEM.
 */
int pdet_kernel_maps_each(struct pdet_reader *r, const struct pdet_paging *p,
			  const struct pdet_kernel_maps_visit *visit,
			  bool *lost);

/* Mapping counts of frames: the first frame of every mapping, and the frame
 * after its last, each sorted. */
struct pdet_kernel_counts {
	uint64_t *first, *end;
	size_t n, cap;
	bool lost;		/* some mappings may be missing */
	bool too_many;		/* too many mappings; none was kept */
};

/*
 * pdet_kernel_counts_read - count the mappings of all frames. Returns 0, or
 * -ENOMEM.
 */
int pdet_kernel_counts_read(struct pdet_kernel_counts *ret,
			    struct pdet_reader *r,
			    const struct pdet_paging *p);
void pdet_kernel_counts_free(struct pdet_kernel_counts *c);

/* pdet_kernel_counts_of - the number of mappings of one frame. */
uint64_t pdet_kernel_counts_of(const struct pdet_kernel_counts *c,
			       uint64_t pfn);

#endif
