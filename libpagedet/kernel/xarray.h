/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * XArrays (include/linux/xarray.h): numbers and what belongs to each. The
 * numbers that a node is for are fewer than its parent's, so that no walk is
 * endless; what cannot be read is lost, and no more.
 */
#ifndef PDET_KERNEL_XARRAY_H
#define PDET_KERNEL_XARRAY_H

#include "kernel/fields.h"

struct pdet_xarrays {
	struct pdet_struct array, node;
	uint32_t slots;		/* of a node */
	unsigned shift;		/* slots, as a power of 2 */
};

/* pdet_xarrays_init - false: the types do not say enough. */
bool pdet_xarrays_init(struct pdet_xarrays *x, const struct pdet_btf *btf);

/* Whether an entry is a number and no pointer: in a file's, of a page that was
 * evicted. */
static inline bool pdet_xarray_is_value(uint64_t entry)
{
	return entry & 1;
}

struct pdet_xarray_visit {
	/* One entry, for all of first .. last. Not 0 ends it. */
	int (*entry)(void *arg, uint64_t first, uint64_t last, uint64_t entry);
	/* A result of memory/memory.h. The same. */
	int (*lost)(void *arg, uint64_t first, uint64_t last, int error);
	void *arg;
};

/* pdet_xarray_each - the entries with a part in first .. last, ascending, of
 * the one at @addr. 0, or what a visit returned. */
int pdet_xarray_each(struct pdet_space *space, const struct pdet_xarrays *x,
		     uint64_t addr, uint64_t first, uint64_t last,
		     const struct pdet_xarray_visit *visit);

#endif
