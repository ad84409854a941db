/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Where a kernel's own BTF is in its memory. */
#ifndef PDET_KERNEL_FIND_BTF_H
#define PDET_KERNEL_FIND_BTF_H

#include "kernel/kallsyms.h"

/* Its symbols, and what they say: false if they were not found, or are no
 * place of BTF. */
#define PDET_BTF_START "__start_BTF"
#define PDET_BTF_STOP "__stop_BTF"
bool pdet_btf_between(const struct pdet_symbol *start,
		      const struct pdet_symbol *stop, size_t *len);

/*
 * pdet_find_btf - its bytes, aligned, to be freed. By its symbols (@symbols may
 * be NULL: arm64 kernels of Debian 12 have none of data), and where they do not
 * lead to it, in the kernel's image. 0; -ENOENT there is none; -ENOMEM, or a
 * result of memory/memory.h where it is known to be and cannot be read.
 */
int pdet_find_btf(struct pdet_space *space, const struct pdet_vmcoreinfo *info,
		  const struct pdet_kallsyms *symbols, void **ret,
		  size_t *len);

#endif
