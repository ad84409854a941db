/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Builds page tables in a simulated memory. The encoding of addresses in
 * entries is written here independently, from the manuals and the kernel's
 * macros (__phys_to_pte_val).
 */
#ifndef TESTS_UNIT_TABLES_H
#define TESTS_UNIT_TABLES_H

#include <elf.h>

#include "kernel/address/paging.h"
#include "physical.h"

#define X86_PRESENT 0x1ull
#define X86_TABLE 0x67ull	/* present, writable, user, accessed, dirty */
#define X86_HUGE 0x80ull
#define ARM64_TABLE 0x3ull
#define ARM64_PAGE 0x703ull	/* valid, page, shared, accessed */
#define ARM64_BLOCK 0x701ull

/* Sets up paging of a kernel with this VMCOREINFO. */
static inline bool tables_set_up(struct pdet_paging *ret, struct pdet_env *env,
				 uint16_t machine, const char *text)
{
	struct pdet_vmcoreinfo info;
	bool ok;

	ck_assert(pdet_vmcoreinfo_parse(&info, text, strlen(text)));
	ok = pdet_paging_set_up(ret, env, machine, &info);
	pdet_vmcoreinfo_free(&info);
	return ok;
}

static inline struct pdet_paging tables_of(uint16_t machine, const char *text)
{
	static struct pdet_env env;
	struct pdet_paging p;

	ck_assert_msg(tables_set_up(&p, &env, machine, text), "%s", env.error);
	return p;
}

static inline struct pdet_paging tables_x86(unsigned levels)
{
	return tables_of(EM_X86_64, levels == 5 ?
		"SYMBOL(init_top_pgt)=ffffffff80200000\n"
		"NUMBER(phys_base)=16777216\n"
		"NUMBER(pgtable_l5_enabled)=1\n"
		"NUMBER(sme_mask)=0\n" :
		"SYMBOL(init_top_pgt)=ffffffff80200000\n"
		"NUMBER(phys_base)=16777216\n"
		"NUMBER(pgtable_l5_enabled)=0\n"
		"NUMBER(sme_mask)=0\n");
}

/* @t1sz 0: an old kernel that does not export it. */
static inline struct pdet_paging tables_arm64(unsigned page_size,
					      unsigned va_bits, unsigned t1sz)
{
	char text[512], more[64] = "";

	if (t1sz)
		snprintf(more, sizeof(more), "NUMBER(TCR_EL1_T1SZ)=0x%x\n",
			 t1sz);
	snprintf(text, sizeof(text),
		 "PAGESIZE=%u\n"
		 "SYMBOL(swapper_pg_dir)=ffff800010200000\n"
		 "NUMBER(VA_BITS)=%u\n"
		 "NUMBER(kimage_voffset)=0xffff800000000000\n%s",
		 page_size, va_bits, more);
	return tables_of(EM_AARCH64, text);
}

/* Encodes @addr as in an entry. */
static inline uint64_t tables_address(const struct pdet_paging *p,
				      uint64_t addr)
{
	if (p->arch->machine == EM_X86_64)
		return addr;
	if (p->page_shift == 16)
		return (addr & 0x0000ffffffff0000) | (addr >> 48 & 15) << 12;
	return (addr & 0x0003fffffffff000) | (addr >> 50 & 3) << 8;
}

static inline uint64_t tables_table(const struct pdet_paging *p, uint64_t addr)
{
	return tables_address(p, addr) |
	       (p->arch->machine == EM_X86_64 ? X86_TABLE : ARM64_TABLE);
}

/* An entry for a page with all permissions. */
static inline uint64_t tables_page(const struct pdet_paging *p, uint64_t addr,
				   unsigned level)
{
	if (p->arch->machine == EM_X86_64)
		return addr | X86_TABLE | (level ? X86_HUGE : 0);
	return tables_address(p, addr) |
	       ((level ? ARM64_BLOCK : ARM64_PAGE) &
		(p->page_shift < 16 && p->va_bits > 48 ? ~0x300ull : ~0ull));
}

static inline unsigned tables_index(const struct pdet_paging *p,
				    unsigned level, uint64_t va)
{
	const unsigned shift = pdet_paging_shift(p, level);
	const unsigned bits = level == p->levels - 1 ? p->va_bits - shift :
						       p->page_shift - 3;

	return (unsigned)(va >> shift & ((1ull << bits) - 1));
}

/*
 * Writes @entry of @level for @va, and adds missing tables. Returns the address
 * of its table.
 */
static inline uint64_t tables_map(struct physical *m,
				  const struct pdet_paging *p, uint64_t root,
				  uint64_t va, unsigned level, uint64_t entry)
{
	unsigned at = p->levels - 1, i;
	uint64_t table = root, next, word;

	physical_at(m, root);
	for (; at > level; at--, table = next) {
		i = tables_index(p, at, va);
		word = physical_word(m, table, i);
		next = word ? p->arch->decode(p, word, at).addr :
			      physical_page(m);
		if (!word)
			physical_set(m, table, i, tables_table(p, next));
	}
	physical_set(m, table, tables_index(p, level, va), entry);
	return table;
}

#endif
