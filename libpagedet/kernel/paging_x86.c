/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Entries of x86_64, four and five levels (Linux arch/x86/include/asm/
 * pgtable_types.h, pgtable_64.h, pgtable-invert.h).
 */
#include <elf.h>
#include <errno.h>

#include "kernel/paging.h"

#define PRESENT ((uint64_t)1 << 0)
#define PSE ((uint64_t)1 << 7)
#define PROTNONE ((uint64_t)1 << 8) /* where PRESENT is clear */

#define PAGE_SHIFT 12
/* Where the image is mapped that phys_base moves (__START_KERNEL_map). */
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
	p->address = (((uint64_t)1 << 52) - (1 << PAGE_SHIFT)) & ~encrypted;
	/* phys_base may be negative: sums wrap. */
	p->image_offset = IMAGE - phys_base;
	p->root = root - p->image_offset;
	return true;
}

/* A page of this level, or what was said of one. */
static struct pdet_paging_entry page(const struct pdet_paging *p,
				     uint64_t entry, unsigned level)
{
	const uint64_t size = (uint64_t)1 << pdet_paging_shift(p, level);

	/* Where hardware must not see a page, it is not shown where it is
	 * either (L1TF). */
	if (!(entry & PRESENT))
		entry = ~entry;
	return (struct pdet_paging_entry){
		PDET_PT_PAGE, entry & p->address & ~(size - 1)
	};
}

static struct pdet_paging_entry decode(const struct pdet_paging *p,
				       uint64_t entry, unsigned level)
{
	struct pdet_paging_entry e = { PDET_PT_NONE, 0 };
	/* In the lowest level the bit means something else. */
	const bool large = level && entry & PSE;

	if (!entry)
		return e;
	if (large && level > 2) {
		e.is = PDET_PT_BAD;
		return e;
	}
	/* A huge page that is being split is not present, and large. */
	if (entry & PRESENT ? large || !level : large || entry & PROTNONE)
		return page(p, entry, level);
	e.is = entry & PRESENT ? PDET_PT_TABLE : PDET_PT_OTHER;
	e.addr = entry & p->address;
	return e;
}

const struct pdet_paging_arch pdet_paging_x86_64 = {
	.machine = EM_X86_64,
	.set_up = set_up,
	.decode = decode,
};
