/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Decodes entries of the kernel's own page tables. The kernel's half has no
 * swapped or migrating pages and no userfaultfd. The hardware bits are the same
 * as for users (arch/x86/include/asm/pgtable_types.h,
 * arch/arm64/include/asm/pgtable-hwdef.h, pgtable-prot.h).
 */
#include <elf.h>

#include "kernel/address/kernel_entry.h"
#include "pagedet.h"

#define BIT(n) ((uint64_t)1 << (n))
#define PTE(name) PAGEDET_PTE(PAGEDET_PTE_##name)

#define PRESENT BIT(0)		/* both architectures */
#define X86_WRITE BIT(1)
#define X86_YOUNG BIT(5)
#define X86_DIRTY BIT(6)
#define X86_NX BIT(63)
#define ARM64_READ_ONLY BIT(7)
#define ARM64_YOUNG BIT(10)
#define ARM64_WRITE BIT(51)
#define ARM64_NO_EXEC BIT(53)	/* PXN: not executable by the kernel */
#define ARM64_DIRTY BIT(55)

static uint32_t bits(bool present, bool young, bool dirty, bool write,
		     bool exec)
{
	return (present ? PTE(PRESENT) : 0) | (young ? PTE(YOUNG) : 0) |
	       (dirty ? PTE(DIRTY) : 0) | (write ? PTE(WRITE) : 0) |
	       (exec ? PTE(EXEC) : 0);
}

uint32_t pdet_kernel_entry(const struct pdet_paging *p, uint64_t entry)
{
	/* Writable now, or hardware may make it writable. */
	const bool write = !(entry & ARM64_READ_ONLY) || entry & ARM64_WRITE;

	if (p->arch->machine == EM_X86_64)
		return bits(entry & PRESENT, entry & X86_YOUNG,
			    entry & X86_DIRTY, entry & X86_WRITE,
			    !(entry & X86_NX));
	return bits(entry & PRESENT, entry & ARM64_YOUNG,
		    entry & ARM64_DIRTY || !(entry & ARM64_READ_ONLY), write,
		    !(entry & ARM64_NO_EXEC));
}

uint32_t pdet_kernel_entry_known(bool entry)
{
	const uint32_t all = PTE(EXEC) | (PTE(EXEC) - 1);

	/* These bits describe the page, not the mapping. */
	return entry ? all & ~(PTE(FILE) | PTE(ZERO) | PTE(EXCLUSIVE)) : all;
}
