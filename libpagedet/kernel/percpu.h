/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Where each processor has what is its own (include/asm-generic/percpu.h). */
#ifndef PDET_KERNEL_PERCPU_H
#define PDET_KERNEL_PERCPU_H

#include "kernel/space.h"

struct pdet_percpu {
	uint64_t *offset;	/* by processor, to add to an address */
	uint32_t n;		/* 0: unknown */
};

/*
 * pdet_percpu_read - by the addresses of __per_cpu_offset and nr_cpu_ids, 0
 * where the kernel has none. 0, or a result of memory/memory.h.
 */
int pdet_percpu_read(struct pdet_percpu *ret, struct pdet_space *space,
		     uint64_t offsets, uint64_t nr_cpu_ids);
void pdet_percpu_free(struct pdet_percpu *p);

#endif
