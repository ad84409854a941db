/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Finds where the kernel maps all physical memory linearly. */
#ifndef PDET_KERNEL_ADDRESS_DIRECTMAP_H
#define PDET_KERNEL_ADDRESS_DIRECTMAP_H

#include "kernel/address/paging.h"

/*
 * pdet_directmap_find - the offset from physical to virtual addresses, modulo
 * 2^64. It is read from the page tables and not assumed. Returns 0, or a result
 * of memory/memory.h. -EBADMSG: the first mapping is not the direct map.
 */
int pdet_directmap_find(struct pdet_reader *r, const struct pdet_paging *p,
			uint64_t *ret);

/*
 * pdet_directmap_end - the end of the addresses that it can have with any
 * amount of memory, if it was found at @base. On arm64 it ends where the half
 * of the smallest kernel does (PAGE_END, arch/arm64/include/asm/memory.h), and
 * with KASLR it may begin shortly before that.
 */
uint64_t pdet_directmap_end(const struct pdet_paging *p, uint64_t base);

#endif
