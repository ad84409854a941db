/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The areas of kernel addresses that mm/vmalloc.c gives away, of which
 * /proc/vmallocinfo is the list. */
#ifndef PDET_KERNEL_VMAP_H
#define PDET_KERNEL_VMAP_H

#include "kernel/fields.h"

/* Where they are kept, by symbol; 0: the kernel has none, or nobody knows. */
struct pdet_vmap_symbols {
	uint64_t nodes, n_nodes; /* vmap_nodes, nr_vmap_nodes; since 6.9 */
	uint64_t root;		/* vmap_area_root; until then */
	uint64_t list;		/* vmap_area_list; the same */
};

struct pdet_vmaps {
	struct pdet_vmap_symbols at;
	struct pdet_struct area, vm, node, rb;
	uint64_t node_size;	/* bytes of a struct vmap_node */
};

/* pdet_vmaps_init - false: types or symbols do not say enough. */
bool pdet_vmaps_init(struct pdet_vmaps *v, const struct pdet_btf *btf,
		     const struct pdet_vmap_symbols *at);

struct pdet_vmap {
	uint64_t start, end;	/* with the page behind that guards it */
	bool has_vm;		/* else it is of vm_map_ram() */
	uint64_t flags;		/* PDET_VMAP_* */
	uint64_t caller;	/* who asked for it; 0: unknown */
	uint64_t pages;		/* that it was given */
	uint64_t phys;		/* of what was remapped */
};

/* Bits that have not changed since they are (include/linux/vmalloc.h). */
#define PDET_VMAP_IOREMAP 1
#define PDET_VMAP_ALLOC 2
#define PDET_VMAP_MAP 4
#define PDET_VMAP_USERMAP 8
#define PDET_VMAP_DMA_COHERENT 16

/* pdet_vmap_find - the one around an address. 0, -ENOENT there is none, or a
 * result of memory/memory.h: -EBADMSG what says where they are is damaged. */
int pdet_vmap_find(struct pdet_space *space, const struct pdet_vmaps *v,
		   uint64_t va, struct pdet_vmap *ret);

/* pdet_vmap_kind - what /proc/vmallocinfo calls it. */
const char *pdet_vmap_kind(const struct pdet_vmap *m);

#endif
