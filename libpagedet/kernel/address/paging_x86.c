/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Decodes page table entries of x86_64 with four and five levels (Linux
 * arch/x86/include/asm/pgtable_types.h, pgtable_64.h, pgtable-invert.h).
 */
#include <elf.h>
#include <errno.h>

#include "kernel/address/paging.h"

#define PRESENT ((uint64_t)1 << 0)
#define PSE ((uint64_t)1 << 7)
#define PROTNONE ((uint64_t)1 << 8) /* if PRESENT is clear */

#define PAGE_SHIFT 12
/*
 * The base of the image mapping, which phys_base shifts (__START_KERNEL_map).
 */
#define IMAGE 0xffffffff80000000

static bool set_up(struct pdet_paging *p, struct pdet_env *env,
		   const struct pdet_vmcoreinfo *info)
{
	uint64_t root, phys_base, l5 = 0, encrypted = 0;

	if (!pdet_vmcoreinfo_symbol(info, "init_top_pgt", &root) &&
	    !pdet_vmcoreinfo_symbol(info, "swapper_pg_dir", &root)) {
		pdet_fail(env, ENODATA,
			  "cannot find the kernel's page tables: VMCOREINFO has no init_top_pgt");
		return false;
	}
	if (!pdet_vmcoreinfo_number(info, "phys_base", &phys_base)) {
		pdet_fail(env, ENODATA,
			  "cannot find the kernel's image: VMCOREINFO has no phys_base");
		return false;
	}
	(void)pdet_vmcoreinfo_number(info, "pgtable_l5_enabled", &l5);
	(void)pdet_vmcoreinfo_number(info, "sme_mask", &encrypted);
	p->page_shift = PAGE_SHIFT;
	p->levels = l5 ? 5 : 4;
	p->va_bits = PAGE_SHIFT + 9 * p->levels;
	p->one_root = true;
	p->address = (((uint64_t)1 << 52) - (1 << PAGE_SHIFT)) & ~encrypted;
	/* phys_base may be negative: the subtraction wraps. */
	p->kernel_offset = IMAGE - phys_base;
	p->root = root - p->kernel_offset;
	return true;
}

/* The kernel inverts the address of a page that hardware must not see, so that
 * it points to no real memory (L1TF). */
static uint64_t address(const struct pdet_paging *p, uint64_t entry)
{
	const uint64_t highest = p->address & ~(p->address >> 1);

	if (entry & PRESENT)
		return entry & p->address;
	/* KFENCE did not always invert it. The highest bit tells: no machine
	 * has memory there. */
	return (entry & highest ? ~entry : entry) & p->address;
}

static struct pdet_paging_entry decode(const struct pdet_paging *p,
				       uint64_t entry, unsigned level)
{
	const uint64_t size = (uint64_t)1 << pdet_paging_shift(p, level);
	struct pdet_paging_entry e = { PDET_PT_NONE, 0 };
	/* At the lowest level this bit means PAT. */
	const bool large = level && entry & PSE;

	if (!entry)
		return e;
	/* There are no pages above 1 GiB, only tables. Swapped and migrating
	 * entries have neither bit set, at any level. */
	if (level > 2 ? large || !(entry & PRESENT) :
			level && !large && !(entry & PRESENT) &&
				entry & PROTNONE) {
		e.is = PDET_PT_BAD;
	} else if (large || (!level && entry & (PRESENT | PROTNONE))) {
		/* A huge page that is being split is large but not present. */
		e.is = PDET_PT_PAGE;
		e.addr = address(p, entry) & ~(size - 1);
	} else if (entry & PRESENT) {
		e.is = PDET_PT_TABLE;
		e.addr = entry & p->address;
	} else {
		e.is = PDET_PT_OTHER;
	}
	return e;
}

const struct pdet_paging_arch pdet_paging_x86_64 = {
	.machine = EM_X86_64,
	.set_up = set_up,
	.decode = decode,
};
