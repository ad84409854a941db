/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Decodes the flag bits of user page table entries, for each architecture. */
#include <elf.h>

#include "kernel/address/user_entry.h"
#include "pagedet.h"

#define BIT(n) ((uint64_t)1 << (n))
#define PTE(name) PAGEDET_PTE(PAGEDET_PTE_##name)

/* Linux arch/x86/include/asm/pgtable_types.h */
#define X86_WRITE BIT(1)
#define X86_YOUNG BIT(5)
#define X86_DIRTY BIT(6)
#define X86_SPECIAL BIT(9)
#define X86_UFFD_WP BIT(10)
#define X86_SOFT_DIRTY BIT(11)
/* the same in an entry that is not present */
#define X86_SWAP_SOFT_DIRTY BIT(1)
#define X86_SWAP_UFFD_WP BIT(2)
/* Dirty, while a shadow stack uses the hardware bit (since 6.6). */
#define X86_SAVED_DIRTY BIT(58)
#define X86_NX BIT(63)

/* arch/arm64/include/asm/pgtable-hwdef.h, pgtable-prot.h */
#define ARM64_READ_ONLY BIT(7)
#define ARM64_YOUNG BIT(10)
#define ARM64_WRITE BIT(51)
#define ARM64_NO_EXEC BIT(54)
#define ARM64_DIRTY BIT(55)
#define ARM64_SPECIAL BIT(56)

static uint32_t bits(bool young, bool dirty, bool write, bool exec)
{
	return (young ? PTE(YOUNG) : 0) | (dirty ? PTE(DIRTY) : 0) |
	       (write ? PTE(WRITE) : 0) | (exec ? PTE(EXEC) : 0);
}

static struct pdet_user_entry of_x86(uint64_t entry)
{
	return (struct pdet_user_entry){
		.ordinary = !(entry & X86_SPECIAL),
		.pte = bits(entry & X86_YOUNG,
			    entry & (X86_DIRTY | X86_SAVED_DIRTY),
			    entry & X86_WRITE, !(entry & X86_NX)),
	};
}

static struct pdet_user_entry of_arm64(uint64_t entry)
{
	const bool by_hardware = entry & ARM64_WRITE &&
				 !(entry & ARM64_READ_ONLY);

	return (struct pdet_user_entry){
		.ordinary = !(entry & ARM64_SPECIAL),
		.pte = bits(entry & ARM64_YOUNG,
			    entry & ARM64_DIRTY || by_hardware,
			    entry & ARM64_WRITE, !(entry & ARM64_NO_EXEC)),
	};
}

struct pdet_user_entry pdet_user_entry(const struct pdet_paging *p,
				       uint64_t entry)
{
	struct pdet_user_entry e = p->arch->machine == EM_X86_64 ?
				   of_x86(entry) : of_arm64(entry);

	e.known = bits(true, true, true, true);
	return e;
}

bool pdet_user_uffd_wp(const struct pdet_paging *p, uint64_t entry, bool page)
{
	return p->arch->machine == EM_X86_64 &&
	       entry & (page ? X86_UFFD_WP : X86_SWAP_UFFD_WP);
}

bool pdet_user_soft_dirty(const struct pdet_paging *p, uint64_t entry,
			  bool page)
{
	return p->arch->machine == EM_X86_64 &&
	       entry & (page ? X86_SOFT_DIRTY : X86_SWAP_SOFT_DIRTY);
}
