/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Finds a kernel's own BTF in its memory. */
#ifndef PDET_SYMBOL_FIND_BTF_H
#define PDET_SYMBOL_FIND_BTF_H

#include "symbol/kallsyms.h"

/* The symbols around BTF. Returns false if they were not found, or if they
 * cannot enclose BTF. */
#define PDET_BTF_START "__start_BTF"
#define PDET_BTF_STOP "__stop_BTF"
bool pdet_btf_between(const struct pdet_symbol *start,
		      const struct pdet_symbol *stop, size_t *len);

/*
 * pdet_find_btf - get an aligned copy of the BTF, which the caller frees. It
 * uses the symbols, or searches the image. @symbols may be NULL, because arm64
 * kernels of Debian 12 have no data symbols. Returns 0, -ENOENT if there is no
 * BTF, -ENOMEM, or a result of memory/memory.h if BTF exists but cannot be
 * read.
 */
int pdet_find_btf(struct pdet_space *space, const struct pdet_vmcoreinfo *info,
		  const struct pdet_kallsyms *symbols, void **ret,
		  size_t *len);

#endif
