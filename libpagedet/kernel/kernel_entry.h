/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What an entry of the kernel's own page tables says of a mapping. */
#ifndef PDET_KERNEL_KERNEL_ENTRY_H
#define PDET_KERNEL_KERNEL_ENTRY_H

#include "kernel/paging.h"

/* pdet_kernel_entry - PAGEDET_PTE bits of one that is PDET_PT_PAGE. */
uint32_t pdet_kernel_entry(const struct pdet_paging *p, uint64_t entry);

/* pdet_kernel_entry_known - which of them are known, of an entry, or of an
 * address that has none. */
uint32_t pdet_kernel_entry_known(bool entry);

#endif
