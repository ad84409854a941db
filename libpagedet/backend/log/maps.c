/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fills columns for mappings listed in a log: the entries, the VMAs, and the
 * mapping of the query's address. The bits of an entry depend on the
 * architecture. The driver mixes up names of VMAs.
 */
#include <errno.h>
#include <string.h>

#include "backend/log/rows.h"
#include "kernel/address/user_entry.h"

#define F(name) PAGEDET_FIELD_##name
#define PTE(name) PAGEDET_PTE(PAGEDET_PTE_##name)

/* include/linux/mm.h: this VMA is a stack, not a file mapping. */
#define VM_GROWSDOWN 0x100

const uint8_t pdet_log_of_address[PDET_LOG_OF_ADDRESS] = {
	F(VADDR), F(PID), F(COMM), F(PTE), F(PTE_KNOWN), F(PTE_LEVEL),
	F(SWAP_TYPE), F(SWAP_OFFSET), F(VMA_START), F(VMA_END), F(VMA_PROT),
	F(VMA_NAME),
};

/*
 * The page size of the log. It is the one for which the address matches the
 * page.
 */
static unsigned page_shift(const struct pdet_log_page *p)
{
	unsigned shift;

	for (shift = 12; shift <= 16 && p->pfn; shift += 2)
		if (p->phys >> shift == p->pfn)
			return shift;
	return 12;
}

/* True for a hashed kernel address: 32 bits, and not a real address. */
static bool is_hashed(const struct pdet_log_map *m)
{
	return m->map != PAGEDET_MAP_USER && m->vaddr >> 32 == 0;
}

/*
 * True for x86-64: the direct map is at an address that only x86-64 uses
 * (Documentation/arch/x86/x86_64/mm.rst), or its address is unknown. In
 * addition, the entry has the address where x86 has it, and the execute bits of
 * arm64 are clear.
 */
bool pdet_log_is_x86(const struct pdet_log_page *p)
{
	const uint64_t no_exec_of_arm64 = (uint64_t)3 << 53;
	const uint64_t addr_bits = 0xffffffffff000;
	size_t i;

	/* Kernel mappings come first; user mappings may be many. */
	for (i = 0; i < p->maps.n &&
	     p->maps.data[i].map != PAGEDET_MAP_USER; i++) {
		const struct pdet_log_map *m = &p->maps.data[i];
		uint64_t pages = (uint64_t)1 << 9 *
			(m->level - PAGEDET_LEVEL_PTE);

		if (m->map != PAGEDET_MAP_DIRECT ||
		    m->level > PAGEDET_LEVEL_PUD)
			continue;
		return (m->vaddr >> 47 == 0x1ffff ||
			m->vaddr >> 56 == 0xff || is_hashed(m)) &&
		       page_shift(p) == 12 && !(m->entry & no_exec_of_arm64) &&
		       (m->entry & addr_bits) >> 12 ==
			       (p->pfn & ~(pages - 1)) &&
		       /* in either case it is global or accessed */
		       m->entry & 0x20;
	}
	return false;
}

static void put_entry(const struct pdet_log_putting *o,
		      const struct pdet_log_map *m)
{
	const struct pdet_paging x86 = { .arch = &pdet_paging_x86_64 };
	uint32_t pte = 0, known = PTE(PRESENT);
	const bool is_x86 = pdet_log_is_x86(o->p);
	struct pdet_user_entry e;

	if (pdet_log_entry_present(m->entry, is_x86)) {
		pte |= PTE(PRESENT);
		known |= PTE(SWAPPED) | PTE(GUARD) | PTE(MIGRATION) |
			 PTE(HWPOISON) | PTE(DEVICE);
		if (is_x86) {
			e = pdet_user_entry(&x86, m->entry);
			pte |= e.pte;
			known |= e.known;
		}
		pdet_log_cell_none(o, F(SWAP_TYPE));
		pdet_log_cell_none(o, F(SWAP_OFFSET));
	}
	pdet_log_cell(o, F(PTE), pte);
	pdet_log_cell(o, F(PTE_KNOWN), known);
	pdet_log_cell(o, F(PTE_LEVEL), m->level);
}

/*
 * Whether the driver's name of a VMA is correct. It gives a file's VMA the name
 * of the last other VMA. The name is correct in two cases: the VMA is a growing
 * stack, or the page is anonymous with its address as index, which is so only
 * in anonymous VMAs (mm/rmap.c, linear_page_index()). A path comes from a
 * driver without this error, and is correct.
 */
bool pdet_log_map_name(const struct pdet_log_page *p,
		       const struct pdet_log_map *m, struct pdet_scan *ret)
{
	const unsigned shift = page_shift(p);
	const struct pdet_scan name = pdet_log_page_text(p, m->vma_name);

	if (!m->has_vma || !name.at)
		return false;
	*ret = name;
	if (*name.at == '/')
		return true;
	if (m->vma_flags & VM_GROWSDOWN && pdet_scan_is(&name, "[stack]"))
		return true;
	return p->anon && !p->ksm && p->has & PDET_LOG_INDEX &&
	       p->index + (p->pfn - p->dumped_pfn) == m->vaddr >> shift &&
	       p->has & PDET_LOG_DUMPED_PFN;
}

static void put_vma(const struct pdet_log_putting *o,
		    const struct pdet_log_map *m)
{
	struct pdet_scan name;

	if (!m->has_vma)
		return;
	pdet_log_cell(o, F(VMA_START), m->vma_start);
	pdet_log_cell(o, F(VMA_END), m->vma_end);
	/* VM_READ, VM_WRITE, VM_EXEC, VM_SHARED */
	pdet_log_cell(o, F(VMA_PROT), m->vma_flags & 15);
	if (!pdet_log_map_name(o->p, m, &name)) {
		if (pdet_fields_has(o->want, F(VMA_NAME)))
			pdet_put_lost(o->b, o->row, F(VMA_NAME),
				      PAGEDET_UNSUPPORTED, o->source);
		return;
	}
	/* /proc/PID/maps shows no name */
	if (pdet_scan_is(&name, "[anon]"))
		pdet_log_cell_none(o, F(VMA_NAME));
	else
		pdet_log_cell_text(o, F(VMA_NAME), name);
}

static void put_task(const struct pdet_log_putting *o,
		     const struct pdet_log_map *m)
{
	struct pdet_scan comm = pdet_log_page_text(o->p, m->comm);

	if (m->has_pid && comm.at)
		pdet_log_cell_text(o, F(COMM), comm);
}

const struct pdet_log_map *pdet_log_map_of(const struct pdet_log_page *p)
{
	const unsigned shift = page_shift(p);
	size_t i;

	for (i = 0; p->has & PDET_LOG_VIRT && i < p->maps.n; i++) {
		const struct pdet_log_map *m = &p->maps.data[i];

		if (m->map == PAGEDET_MAP_USER && m->has_pid &&
		    m->pid == p->pid && m->vaddr >> shift == p->virt >> shift)
			return m;
	}
	return NULL;
}

void pdet_log_put_address(const struct pdet_log_putting *o)
{
	const struct pdet_log_page *p = o->p;
	const struct pdet_log_map *m = pdet_log_map_of(p);
	size_t i;

	if (!(p->has & PDET_LOG_VIRT)) {
		for (i = 0; i < PDET_LOG_OF_ADDRESS; i++)
			pdet_log_cell_none(o, pdet_log_of_address[i]);
		pdet_log_cell_none(o, F(TGID));
		return;
	}
	pdet_log_cell(o, F(PID), p->pid);
	pdet_log_cell(o, F(VADDR), p->virt >> page_shift(p) << page_shift(p));
	if (!m)
		return;
	put_task(o, m);
	put_entry(o, m);
	put_vma(o, m);
}

void pdet_log_put_map(const struct pdet_log_page *p,
		      const struct pdet_log_map *m, struct pdet_batch *b,
		      uint32_t row, const struct pdet_fields *want,
		      unsigned source)
{
	static const uint8_t of_task[] = {
		F(PID), F(TGID), F(COMM), F(VMA_START), F(VMA_END),
		F(VMA_PROT), F(VMA_NAME),
	};
	const struct pdet_log_putting o = { p, b, row, want, source };
	size_t i;

	pdet_log_cell(&o, F(PFN), p->pfn);
	pdet_log_cell(&o, F(MAP), m->map);
	if (is_hashed(m))
		pdet_log_cell_lost(&o, F(VADDR), PAGEDET_UNSUPPORTED);
	else
		pdet_log_cell(&o, F(VADDR), m->vaddr);
	put_entry(&o, m);
	if (m->map != PAGEDET_MAP_USER) {
		for (i = 0; i < PDET_COUNT(of_task); i++)
			pdet_log_cell_none(&o, of_task[i]);
		return;
	}
	if (m->has_pid)
		pdet_log_cell(&o, F(PID), m->pid);
	put_task(&o, m);
	put_vma(&o, m);
}

int pdet_log_put_maps(const struct pdet_log_page *p, size_t *at,
		      struct pdet_batch *b, const struct pdet_fields *want,
		      unsigned source)
{
	const bool is_x86 = pdet_log_is_x86(p);

	for (; *at < p->maps.n; ++*at) {
		if (!pdet_log_entry_present(p->maps.data[*at].entry, is_x86))
			continue;
		if (b->n == b->cap)
			return 0;
		pdet_batch_grow(b, 1);
		pdet_log_put_map(p, &p->maps.data[*at], b, b->n - 1, want,
				 source);
	}
	*at = SIZE_MAX;
	return p->partial || !(p->has & PDET_LOG_USERS) ? -EAGAIN : 0;
}
