/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Finds areas of kernel addresses that mm/vmalloc.c allocated, as in
 * /proc/vmallocinfo. */
#ifndef PDET_KERNEL_OBJECT_VMAP_H
#define PDET_KERNEL_OBJECT_VMAP_H

#include "kernel/types/fields.h"

/*
 * Addresses of symbols. 0: the kernel does not have the symbol, or it is
 * unknown.
 */
struct pdet_vmap_symbols {
	uint64_t nodes, n_nodes; /* vmap_nodes, nr_vmap_nodes; since 6.9 */
	uint64_t root;		/* vmap_area_root; until 6.8 */
	uint64_t list;		/* vmap_area_list; until 6.8 */
};

struct pdet_vmaps {
	struct pdet_vmap_symbols at;
	struct pdet_struct area, vm, node, rb;
	uint64_t node_size;	/* bytes of a struct vmap_node */
};

/*
 * pdet_vmaps_init - returns false if the types or symbols lack something that
 * is needed.
 */
bool pdet_vmaps_init(struct pdet_vmaps *v, const struct pdet_btf *btf,
		     const struct pdet_vmap_symbols *at);

struct pdet_vmap {
	uint64_t start, end;	/* including the guard page at the end */
	bool has_vm;		/* otherwise it is from vm_map_ram() */
	uint64_t flags;		/* PDET_VMAP_* */
	uint64_t caller;	/* the caller of the allocation; 0: unknown */
	uint64_t pages;		/* allocated pages */
	uint64_t phys;		/* physical address for ioremap() */
};

/* These bits have never changed (include/linux/vmalloc.h). */
#define PDET_VMAP_IOREMAP 1
#define PDET_VMAP_ALLOC 2
#define PDET_VMAP_MAP 4
#define PDET_VMAP_USERMAP 8
#define PDET_VMAP_DMA_COHERENT 16

/* pdet_vmap_find - find the area that contains an address. Returns 0, -ENOENT
 * if there is none, or a result of memory/memory.h. -EBADMSG: the tree or list
 * is damaged. */
int pdet_vmap_find(struct pdet_space *space, const struct pdet_vmaps *v,
		   uint64_t va, struct pdet_vmap *ret);

/* pdet_vmaps_check - compare the trees with the lists of the same areas, as far
 * as the kernel has both. Returns 0, or a result of memory/memory.h. -EBADMSG:
 * a tree lacks an area that a list has, so that an area which is not found may
 * exist. It is of use only where nothing changes: in a dump. */
int pdet_vmaps_check(struct pdet_space *space, const struct pdet_vmaps *v);

/* pdet_vmap_kind - the kind of the area, as in /proc/vmallocinfo. */
const char *pdet_vmap_kind(const struct pdet_vmap *m);

#endif
