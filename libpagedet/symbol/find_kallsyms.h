/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Finds the symbol tables of a kernel whose VMCOREINFO lacks them. */
#ifndef PDET_SYMBOL_FIND_KALLSYMS_H
#define PDET_SYMBOL_FIND_KALLSYMS_H

#include "symbol/kallsyms_tables.h"

/* pdet_find_kallsyms - search the image for tables as Linux until 5.19 has
 * them. 0, or a negative errno; -ENODATA: there are none. */
int pdet_find_kallsyms(struct pdet_kallsyms_tables *t,
		       struct pdet_space *space,
		       const struct pdet_vmcoreinfo *info);

#endif
