/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Where the kernel has all of physical memory behind each other. */
#ifndef PDET_KERNEL_DIRECTMAP_H
#define PDET_KERNEL_DIRECTMAP_H

#include "kernel/paging.h"

/*
 * pdet_directmap_find - what to add to a physical address, modulo 2^64, found
 * in the page tables and not assumed. 0, or a result of memory/memory.h:
 * -EBADMSG what is found there is none.
 */
int pdet_directmap_find(struct pdet_reader *r, const struct pdet_paging *p,
			uint64_t *ret);

/*
 * pdet_directmap_end - behind the last address that it can have, however much
 * memory there is, where it was found at @base. On arm64 it ends where the half
 * of the smallest kernel does (PAGE_END, arch/arm64/include/asm/memory.h), and
 * with KASLR it may begin shortly before that.
 */
uint64_t pdet_directmap_end(const struct pdet_paging *p, uint64_t base);

#endif
