/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What a kernel exports to modules, found in its image: the way to its data
 * where kallsyms has none (built without CONFIG_KALLSYMS_ALL). Reads up to all
 * of the image, twice; to be asked when nothing else helps.
 */
#ifndef PDET_KERNEL_EXPORTS_H
#define PDET_KERNEL_EXPORTS_H

#include "kernel/kallsyms.h"

/* pdet_exports_find - of @n symbols, at most 32, the addresses of those that
 * are not found yet and are exported. 0, or a result of memory/memory.h. */
int pdet_exports_find(struct pdet_space *space,
		      const struct pdet_vmcoreinfo *info,
		      struct pdet_symbol *symbols, size_t n);

#endif
