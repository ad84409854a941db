/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Stacks that the kernel keeps, each once, and gives out by number
 * (lib/stackdepot.c). */
#ifndef PDET_KERNEL_STACKDEPOT_H
#define PDET_KERNEL_STACKDEPOT_H

#include "kernel/fields.h"

/* CONFIG_STACKDEPOT_MAX_FRAMES is at most 256. */
#define PDET_STACK_FRAMES 256

struct pdet_stackdepot {
	struct pdet_struct parts, record;
	bool plus_1;		/* numbers of pools begin with 1 */
	uint64_t pools;		/* address of a table of pools, or of what
				 * points to it */
};

/* pdet_stackdepot_init - by the address of stack_pools, until 6.2 stack_slabs.
 * False: the kernel has none, or the types do not say enough. */
bool pdet_stackdepot_init(struct pdet_stackdepot *d, const struct pdet_btf *btf,
			  uint64_t stack_pools);

/* pdet_stackdepot_read - the frames of a stack, innermost first; their number,
 * or a result of memory/memory.h. */
ssize_t pdet_stackdepot_read(struct pdet_space *space,
			     const struct pdet_stackdepot *d, uint32_t handle,
			     uint64_t frames[PDET_STACK_FRAMES]);

#endif
