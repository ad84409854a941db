/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Walks XArrays (include/linux/xarray.h), which map numbers to entries. A node
 * covers fewer numbers than its parent, and stores its slot in the parent. No
 * walk is therefore endless or visits a node twice. Only what cannot be read is
 * lost, and in a dump the empty slots of a node that should have more entries.
 */
#ifndef PDET_KERNEL_CONTAINER_XARRAY_H
#define PDET_KERNEL_CONTAINER_XARRAY_H

#include "kernel/types/fields.h"

struct pdet_xarrays {
	struct pdet_struct array, node;
	uint32_t slots;		/* in a node */
	unsigned shift;		/* log2 of slots */
};

/*
 * pdet_xarrays_init - returns false if the types lack something that is needed.
 */
bool pdet_xarrays_init(struct pdet_xarrays *x, const struct pdet_btf *btf);

/* True if an entry is a value and not a pointer. In a file's array it stands
 * for an evicted page. */
static inline bool pdet_xarray_is_value(uint64_t entry)
{
	return entry & 1;
}

/* A visit must not gather pieces of the same space. */
struct pdet_xarray_visit {
	/*
	 * One entry, which covers first .. last. Any value but 0 ends the walk.
	 */
	int (*entry)(void *arg, uint64_t first, uint64_t last, uint64_t entry);
	/*
	 * @error is a result of memory/memory.h. Any value but 0 ends the walk.
	 */
	int (*lost)(void *arg, uint64_t first, uint64_t last, int error);
	void *arg;
	/* The array may change during the walk. Then the range of a node that
	 * is being removed is lost. Otherwise it is empty. */
	bool changes;
};

/* pdet_xarray_empty - true: it has no entry. */
bool pdet_xarray_empty(struct pdet_space *space, const struct pdet_xarrays *x,
		       uint64_t addr);

/* pdet_xarray_last - no number above it has an entry; UINT64_MAX: unknown. */
uint64_t pdet_xarray_last(struct pdet_space *space,
			  const struct pdet_xarrays *x, uint64_t addr);

/* pdet_xarray_each - visit the entries of the array at @addr that overlap first
 * .. last, ascending. Returns 0, or the result of a visit. */
int pdet_xarray_each(struct pdet_space *space, const struct pdet_xarrays *x,
		     uint64_t addr, uint64_t first, uint64_t last,
		     const struct pdet_xarray_visit *visit);

#endif
