/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Decodes page table entries of arm64 with pages of 4, 16 and 64 KiB (Linux
 * arch/arm64/include/asm/pgtable-hwdef.h, pgtable-prot.h, pgtable.h; Arm ARM
 * D8.3).
 */
#include <elf.h>
#include <errno.h>

#include "kernel/address/paging.h"

#define VALID ((uint64_t)1 << 0)
#define TABLE ((uint64_t)1 << 1) /* at the lowest level: a page */
#define NOT_GLOBAL ((uint64_t)1 << 11)
#define KERNEL_XN ((uint64_t)1 << 53) /* set in all user mappings */

/* Where an entry keeps the high bits of a 52-bit address. */
#define HIGH_64K ((uint64_t)0xf << 12)	/* bits 51 .. 48 */
#define HIGH_LPA2 ((uint64_t)3 << 8)	/* bits 51 .. 50 */

static bool need(struct pdet_env *env, bool found, const char *key)
{
	if (!found)
		pdet_fail(env, ENODATA,
			  "cannot find the kernel's page tables: VMCOREINFO has no %s",
			  key);
	return found;
}

static uint64_t bits(unsigned last, unsigned first)
{
	return ((uint64_t)2 << last) - ((uint64_t)1 << first);
}

static bool set_up(struct pdet_paging *p, struct pdet_env *env,
		   const struct pdet_vmcoreinfo *info)
{
	uint64_t root, voffset, t1sz, va_bits, page_size;
	struct pdet_scan s;

	if (!need(env, pdet_vmcoreinfo_text(info, "PAGESIZE", &s) &&
		       pdet_scan_dec(&s, &page_size), "PAGESIZE") ||
	    !need(env, pdet_vmcoreinfo_symbol(info, "swapper_pg_dir", &root),
		  "swapper_pg_dir") ||
	    !need(env, pdet_vmcoreinfo_number(info, "kimage_voffset",
					      &voffset), "kimage_voffset") ||
	    !need(env, pdet_vmcoreinfo_number(info, "VA_BITS", &va_bits),
		  "VA_BITS"))
		return false;
	/* va_bits is what the kernel was built for; T1SZ is what this machine
	 * supports. With 64 KiB pages the tables keep the built geometry:
	 * hardware gets only the last part of the root table. */
	if (page_size != 65536 &&
	    pdet_vmcoreinfo_number(info, "TCR_EL1_T1SZ", &t1sz))
		va_bits = 64 - t1sz;
	if ((page_size != 4096 && page_size != 16384 && page_size != 65536) ||
	    va_bits < 36 || va_bits > 52) {
		pdet_fail(env, EBADMSG,
			  "cannot translate addresses: pages of %llu bytes, %llu bits of address",
			  (unsigned long long)page_size,
			  (unsigned long long)va_bits);
		return false;
	}
	p->page_shift = (unsigned)__builtin_ctzll(page_size);
	p->va_bits = (unsigned)va_bits;
	/* each level translates page_shift - 3 bits; round up */
	p->levels = (p->va_bits - 4) / (p->page_shift - 3);
	p->address = bits(47, p->page_shift);
	if (p->page_shift == 16)
		p->address |= HIGH_64K;
	else if (p->va_bits > 48)
		p->address |= bits(49, 48) | HIGH_LPA2;
	p->kernel_offset = voffset;
	p->root = root - voffset;
	return true;
}

static uint64_t address(const struct pdet_paging *p, uint64_t entry)
{
	uint64_t in = entry & p->address;

	if (p->page_shift == 16)
		return (in & ~HIGH_64K) | (in & HIGH_64K) << 36;
	return (in & ~HIGH_LPA2) | (in & HIGH_LPA2) << 42;
}

/* Linux uses blocks of up to 1 GiB with 4 KiB pages. With larger pages only the
 * level above the lowest has blocks. */
static bool may_be_page(const struct pdet_paging *p, unsigned level)
{
	return level <= (p->page_shift == 12 ? 2 : 1);
}

/*
 * True for a page that is not valid for hardware, as for PROT_NONE or while a
 * huge page is split. The bit that marks it has moved (58 and 59 before 6.10,
 * then 11), but the rest is a user page's entry. With bit 11, swap entries have
 * it clear. With the older bits, 11 and 53 would be a swap offset beyond any
 * device, and lie above the bits of migration entries.
 */
static bool hidden_page(uint64_t entry)
{
	return !(entry & VALID) && entry & NOT_GLOBAL && entry & KERNEL_XN;
}

static struct pdet_paging_entry decode(const struct pdet_paging *p,
				       uint64_t entry, unsigned level)
{
	const uint64_t size = (uint64_t)1 << pdet_paging_shift(p, level);
	struct pdet_paging_entry e = { PDET_PT_NONE, 0 };

	if (!entry)
		return e;
	if (entry & VALID && level && entry & TABLE) {
		e.is = PDET_PT_TABLE;
		e.addr = address(p, entry);
	} else if (!may_be_page(p, level) ||
		   (entry & VALID && !level && !(entry & TABLE))) {
		e.is = PDET_PT_BAD;
	} else if (entry & VALID || hidden_page(entry)) {
		e.is = PDET_PT_PAGE;
		e.addr = address(p, entry) & ~(size - 1);
	} else {
		e.is = PDET_PT_OTHER;
	}
	return e;
}

const struct pdet_paging_arch pdet_paging_arm64 = {
	.machine = EM_AARCH64,
	.set_up = set_up,
	.decode = decode,
};
