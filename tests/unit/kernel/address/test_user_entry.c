/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests bits of process page table entries of Linux 6.12 on both architectures.
 */
#include <elf.h>

#include "kernel/address/user_entry.h"
#include "pagedet.h"
#include "../../unit.h"

#define PTE(name) PAGEDET_PTE(PAGEDET_PTE_##name)

static const struct {
	uint16_t machine;
	uint64_t entry;
	bool ordinary;
	uint32_t pte;
} entries[] = {
	/*
	 * x86-64: program text; written data; unwritten data; the zero page,
	 * which is special; a written shadow stack.
	 */
	{ EM_X86_64, 0x000000000f494025, true, PTE(YOUNG) | PTE(EXEC) },
	{ EM_X86_64, 0x800000000cff5867, true,
	  PTE(YOUNG) | PTE(DIRTY) | PTE(WRITE) },
	{ EM_X86_64, 0x800000000cff5805, true, 0 },
	{ EM_X86_64, 0x8000000002a1e225, false, PTE(YOUNG) },
	{ EM_X86_64, 0x840000000cff5825, true, PTE(YOUNG) | PTE(DIRTY) },
	/*
	 * arm64: text; data that hardware marked dirty; clean writable data;
	 * dirty and write-protected; the zero page.
	 */
	{ EM_AARCH64, 0x0020000042a2cfc3, true, PTE(YOUNG) | PTE(EXEC) },
	{ EM_AARCH64, 0x00e8000042105f43, true,
	  PTE(YOUNG) | PTE(DIRTY) | PTE(WRITE) },
	{ EM_AARCH64, 0x0068000042105fc3, true, PTE(YOUNG) | PTE(WRITE) },
	{ EM_AARCH64, 0x00e0000042105fc3, true, PTE(YOUNG) | PTE(DIRTY) },
	{ EM_AARCH64, 0x0160000042349fc3, false, PTE(YOUNG) },
};

START_TEST(bits_are_told)
{
	const struct pdet_paging_arch arch = { .machine = entries[_i].machine };
	const struct pdet_paging p = { .arch = &arch };
	struct pdet_user_entry e = pdet_user_entry(&p, entries[_i].entry);

	ck_assert_int_eq(e.ordinary, entries[_i].ordinary);
	ck_assert_uint_eq(e.pte, entries[_i].pte);
	ck_assert_uint_eq(e.known, PTE(YOUNG) | PTE(DIRTY) | PTE(WRITE) |
				   PTE(EXEC));
}
END_TEST

/* A watched page, an unwatched one, and one that was swapped meanwhile. */
START_TEST(watched_pages_are_told)
{
	const struct pdet_paging_arch x86 = { .machine = EM_X86_64 };
	const struct pdet_paging_arch arm64 = { .machine = EM_AARCH64 };
	const struct pdet_paging p = { .arch = &x86 }, q = { .arch = &arm64 };

	ck_assert(pdet_user_uffd_wp(&p, 0x800000000cff5c25, true));
	ck_assert(!pdet_user_uffd_wp(&p, 0x800000000cff5867, true));
	ck_assert(pdet_user_uffd_wp(&p, 0x07fffffffff80004, false));
	ck_assert(!pdet_user_uffd_wp(&p, 0x07fffffffff80400, false));
	ck_assert(!pdet_user_uffd_wp(&q, 0x00e8000042105f43, true));
}
END_TEST

START_TEST(written_pages_are_told)
{
	const struct pdet_paging_arch x86 = { .machine = EM_X86_64 };
	const struct pdet_paging_arch arm64 = { .machine = EM_AARCH64 };
	const struct pdet_paging p = { .arch = &x86 }, q = { .arch = &arm64 };

	ck_assert(pdet_user_soft_dirty(&p, 0x800000000cff5867, true));
	ck_assert(!pdet_user_soft_dirty(&p, 0x800000000cff5467, true));
	ck_assert(pdet_user_soft_dirty(&p, 0x07fffffffff80002, false));
	ck_assert(!pdet_user_soft_dirty(&p, 0x07fffffffff80800, false));
	ck_assert(!pdet_user_soft_dirty(&q, 0x00e8000042105f43, true));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("user_entry");

	unit_loop(s, bits_are_told, sizeof(entries) / sizeof(*entries));
	unit_test(s, watched_pages_are_told);
	unit_test(s, written_pages_are_told);
	return unit_main(s);
}
