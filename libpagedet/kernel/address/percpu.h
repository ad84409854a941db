/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Finds the per-CPU area of each processor (include/asm-generic/percpu.h). */
#ifndef PDET_KERNEL_ADDRESS_PERCPU_H
#define PDET_KERNEL_ADDRESS_PERCPU_H

#include "kernel/address/space.h"

struct pdet_percpu {
	uint64_t *offset;	/* for each processor, the offset to add to a
				 * per-CPU address */
	uint32_t n;		/* 0: unknown */
};

/*
 * pdet_percpu_read - read the offsets. The arguments are the addresses of
 * __per_cpu_offset and nr_cpu_ids, or 0 if the kernel does not have the symbol.
 * Returns 0, or a result of memory/memory.h.
 */
int pdet_percpu_read(struct pdet_percpu *ret, struct pdet_space *space,
		     uint64_t offsets, uint64_t nr_cpu_ids);
void pdet_percpu_free(struct pdet_percpu *p);

#endif
