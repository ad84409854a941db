/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Maple trees (include/linux/maple_tree.h, 6.1): ranges of numbers and what
 * belongs to each. A node that is not its parent's child is damage or a kernel
 * that moves, so that no walk is endless; its range is lost, and no other.
 */
#ifndef PDET_KERNEL_MAPLE_H
#define PDET_KERNEL_MAPLE_H

#include "kernel/fields.h"

struct pdet_maple {
	struct pdet_struct tree;
	struct pdet_maple_form {
		uint32_t pivot, slot;	/* bytes */
		uint32_t slots;
	} range, arange;
	uint32_t parent;	/* bytes */
};

/* pdet_maple_init - false: the kernel has none, or the types do not say. */
bool pdet_maple_init(struct pdet_maple *m, const struct pdet_btf *btf);

struct pdet_maple_visit {
	/* Not 0 ends it. */
	int (*entry)(void *arg, uint64_t first, uint64_t last, uint64_t entry);
	/* What is there cannot be read; a result of memory/memory.h. The
	 * same. */
	int (*lost)(void *arg, uint64_t first, uint64_t last, int error);
	void *arg;
};

/* pdet_maple_each - the entries of the tree at @tree that have a part in
 * first .. last, ascending. 0, or what a visit returned. */
int pdet_maple_each(struct pdet_space *space, const struct pdet_maple *m,
		    uint64_t tree, uint64_t first, uint64_t last,
		    const struct pdet_maple_visit *visit);

#endif
