/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Walks maple trees (include/linux/maple_tree.h, 6.1), which map ranges of
 * numbers to entries. A node must be its parent's child; otherwise it is
 * damaged, or the kernel is changing it. No walk is therefore endless, and only
 * the range of that node is lost.
 */
#ifndef PDET_KERNEL_CONTAINER_MAPLE_H
#define PDET_KERNEL_CONTAINER_MAPLE_H

#include "kernel/types/fields.h"

struct pdet_maple {
	struct pdet_struct tree;
	struct pdet_maple_form {
		uint32_t pivot, slot;	/* bytes */
		uint32_t slots;
	} range, arange;
	uint32_t parent;	/* bytes */
};

/*
 * pdet_maple_init - returns false if the kernel has no maple trees, or if the
 * types lack them.
 */
bool pdet_maple_init(struct pdet_maple *m, const struct pdet_btf *btf);

struct pdet_maple_visit {
	/* Any value but 0 ends the walk. */
	int (*entry)(void *arg, uint64_t first, uint64_t last, uint64_t entry);
	/* This range cannot be read; @error is a result of memory/memory.h. Any
	 * value but 0 ends the walk. */
	int (*lost)(void *arg, uint64_t first, uint64_t last, int error);
	void *arg;
};

/* pdet_maple_each - visit the entries of the tree at @tree that overlap first
 * .. last, ascending. Returns 0, or the result of a visit. */
int pdet_maple_each(struct pdet_space *space, const struct pdet_maple *m,
		    uint64_t tree, uint64_t first, uint64_t last,
		    const struct pdet_maple_visit *visit);

#endif
