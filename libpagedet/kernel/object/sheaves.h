/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads sheaves (mm/slub.c, since 6.18): arrays of free objects of a cache,
 * which processors and nodes keep, and which their slabs count as used.
 */
#ifndef PDET_KERNEL_OBJECT_SHEAVES_H
#define PDET_KERNEL_OBJECT_SHEAVES_H

#include "kernel/address/percpu.h"
#include "kernel/types/fields.h"

struct pdet_sheaves {
	struct pdet_struct cache, cpu, sheaf, barn, node;
	uint64_t node_bytes;	/* for each node in the cache */
	bool by_pointer;	/* these are pointers */
	bool known;		/* the types say all that is needed */
};

/* pdet_sheaves_init - a kernel without sheaves is known, too. */
void pdet_sheaves_init(struct pdet_sheaves *s, const struct pdet_btf *btf);

/*
 * pdet_sheaves_each - visit each free object that the cache at @cache keeps for
 * a processor or a node, but not those that wait for RCU readers. @nodes: the
 * number of NUMA nodes; 0: unknown. 0, or a result of memory/memory.h if some
 * may be missing; -ENODATA: it is unknown where they are.
 */
int pdet_sheaves_each(struct pdet_space *space, const struct pdet_sheaves *s,
		      uint64_t cache, const struct pdet_percpu *percpu,
		      uint32_t nodes,
		      void (*visit)(void *arg, uint64_t object), void *arg);

#endif
