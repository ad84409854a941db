/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Finds VMCOREINFO in a dump whose headers do not have it. */
#ifndef PDET_MEMORY_FIND_VMCOREINFO_H
#define PDET_MEMORY_FIND_VMCOREINFO_H

#include "memory/memory.h"

/* pdet_find_vmcoreinfo - search physical memory. m->vmcoreinfo stays NULL if it
 * is not found. 0, -ENOMEM, or -ETIMEDOUT if the caller no longer waits. */
int pdet_find_vmcoreinfo(struct pdet_memory *m, struct pdet_env *env);

/* pdet_vmcoreinfo_at - the same at a known physical address. */
int pdet_vmcoreinfo_at(struct pdet_memory *m, struct pdet_reader *r,
		       uint64_t addr);

#endif
