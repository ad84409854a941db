/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* VMCOREINFO of a dump whose headers have none. */
#ifndef PDET_MEMORY_FIND_VMCOREINFO_H
#define PDET_MEMORY_FIND_VMCOREINFO_H

#include "memory/memory.h"

/* pdet_find_vmcoreinfo - looks through physical memory; without success
 * m->vmcoreinfo stays NULL. 0 or -ENOMEM. */
int pdet_find_vmcoreinfo(struct pdet_memory *m, struct pdet_env *env);

/* pdet_vmcoreinfo_at - the same where it should be, at a physical address. */
int pdet_vmcoreinfo_at(struct pdet_memory *m, struct pdet_reader *r,
		       uint64_t addr);

#endif
