/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds symbols that a kernel exports to modules, in its image. This finds data
 * symbols if kallsyms has none (without CONFIG_KALLSYMS_ALL). It may read the
 * whole image twice, so call it last.
 */
#ifndef PDET_SYMBOL_EXPORTS_H
#define PDET_SYMBOL_EXPORTS_H

#include "symbol/kallsyms.h"

/* pdet_exports_find - find addresses of exported symbols: those of the @n
 * symbols, at most 32, that do not have an address yet. Returns 0, or a result
 * of memory/memory.h. */
int pdet_exports_find(struct pdet_space *space,
		      const struct pdet_vmcoreinfo *info,
		      struct pdet_symbol *symbols, size_t n);

#endif
