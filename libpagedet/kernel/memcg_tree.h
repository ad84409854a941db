/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* All memory cgroups there are (include/linux/cgroup-defs.h). */
#ifndef PDET_KERNEL_MEMCG_TREE_H
#define PDET_KERNEL_MEMCG_TREE_H

#include "kernel/memcg.h"

struct pdet_memcg_tree {
	struct pdet_struct css, set;
	uint64_t index;		/* of the memory controller in a css_set */
};

/* pdet_memcg_tree_init - false: the types do not say enough. */
bool pdet_memcg_tree_init(struct pdet_memcg_tree *t,
			  const struct pdet_btf *btf);

/* pdet_memcg_root - the one above all others, from the css_set of any task.
 * 0, or a result of memory/memory.h. */
int pdet_memcg_root(struct pdet_space *space, const struct pdet_memcgs *m,
		    const struct pdet_memcg_tree *t, uint64_t css_set,
		    uint64_t *ret);

/*
 * pdet_memcgs_each - the address of each mem_cgroup, parents first, those that
 * are offline, too. Not 0 ends the walk. 0, what a visit returned, or why some
 * may be missing, a result of memory/memory.h.
 */
int pdet_memcgs_each(struct pdet_space *space, const struct pdet_memcgs *m,
		     const struct pdet_memcg_tree *t, uint64_t root,
		     int (*visit)(void *arg, uint64_t memcg), void *arg);

#endif
