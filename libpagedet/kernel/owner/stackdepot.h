/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Reads the stack depot, which stores each stack once and returns a handle
 * (lib/stackdepot.c). */
#ifndef PDET_KERNEL_OWNER_STACKDEPOT_H
#define PDET_KERNEL_OWNER_STACKDEPOT_H

#include "kernel/types/fields.h"

/* CONFIG_STACKDEPOT_MAX_FRAMES is at most 256. */
#define PDET_STACK_FRAMES 256

struct pdet_stackdepot {
	struct pdet_struct parts, record;
	bool plus_1;		/* pool numbers begin at 1 */
	uint64_t pools;		/* address of the table of pools, or of a
				 * pointer to it */
};

/* pdet_stackdepot_init - @stack_pools is the address of stack_pools, or of
 * stack_slabs until 6.2. Returns false if the kernel or the types lack it. */
bool pdet_stackdepot_init(struct pdet_stackdepot *d, const struct pdet_btf *btf,
			  uint64_t stack_pools);

/* pdet_stackdepot_read - the frames of a stack, innermost first. Returns their
 * number, or a result of memory/memory.h. */
ssize_t pdet_stackdepot_read(struct pdet_space *space,
			     const struct pdet_stackdepot *d, uint32_t handle,
			     uint64_t frames[PDET_STACK_FRAMES]);

#endif
