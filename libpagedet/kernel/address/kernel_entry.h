/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Decodes a mapping in the kernel's own page tables. */
#ifndef PDET_KERNEL_ADDRESS_KERNEL_ENTRY_H
#define PDET_KERNEL_ADDRESS_KERNEL_ENTRY_H

#include "kernel/address/paging.h"

/* pdet_kernel_entry - PAGEDET_PTE bits of an entry that is PDET_PT_PAGE. */
uint32_t pdet_kernel_entry(const struct pdet_paging *p, uint64_t entry);

/* pdet_kernel_entry_known - the bits that are known, for an entry or for an
 * address without one. */
uint32_t pdet_kernel_entry_known(bool entry);

#endif
