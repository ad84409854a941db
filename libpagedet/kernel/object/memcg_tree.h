/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Finds all memory cgroups (include/linux/cgroup-defs.h). */
#ifndef PDET_KERNEL_OBJECT_MEMCG_TREE_H
#define PDET_KERNEL_OBJECT_MEMCG_TREE_H

#include "kernel/object/memcg.h"

struct pdet_memcg_tree {
	struct pdet_struct css, set;
	uint64_t index;		/* index of the memory controller in a
				 * css_set */
};

/*
 * pdet_memcg_tree_init - returns false if the types lack something that is
 * needed.
 */
bool pdet_memcg_tree_init(struct pdet_memcg_tree *t,
			  const struct pdet_btf *btf);

/* pdet_memcg_root - the root memcg, from the css_set of any task. Returns 0, or
 * a result of memory/memory.h. */
int pdet_memcg_root(struct pdet_space *space, const struct pdet_memcgs *m,
		    const struct pdet_memcg_tree *t, uint64_t css_set,
		    uint64_t *ret);

/*
 * pdet_memcgs_each - visit the address of each mem_cgroup, including offline
 * ones. Parents come first. A visit that returns another value than 0 ends the
 * walk. Returns 0, the result of a visit, or the reason why some may be
 * missing, as in memory/memory.h.
 */
int pdet_memcgs_each(struct pdet_space *space, const struct pdet_memcgs *m,
		     const struct pdet_memcg_tree *t, uint64_t root,
		     int (*visit)(void *arg, uint64_t memcg), void *arg);

#endif
