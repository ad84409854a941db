/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Pools of huge pages, by size (include/linux/hugetlb.h, struct hstate). */
#ifndef PDET_KERNEL_HUGETLB_H
#define PDET_KERNEL_HUGETLB_H

#include "kernel/fields.h"

/* HUGE_MAX_HSTATE of any architecture */
#define PDET_HSTATES 8

struct pdet_hstate {
	uint32_t order;
	uint64_t pages;		/* huge ones */
	uint64_t free, surplus, reserved;
	char name[32];		/* "hugepages-2048kB" */
};

struct pdet_hstates {
	uint32_t n;
	struct pdet_hstate hstate[PDET_HSTATES];
};

/*
 * pdet_hstates_read - by the addresses of hstates and hugetlb_max_hstate. 0, or
 * a result of memory/memory.h; -ENODATA: the kernel has none, or the types do
 * not say.
 */
int pdet_hstates_read(struct pdet_hstates *ret, struct pdet_space *space,
		      const struct pdet_btf *btf, uint64_t hstates,
		      uint64_t max_hstate);

/* pdet_hstate_find - that of a folio of that order; NULL: none. */
const struct pdet_hstate *pdet_hstate_find(const struct pdet_hstates *h,
					   uint32_t order);

#endif
