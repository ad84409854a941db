/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests entries that map nothing. Their words are from Linux 6.12, with what
 * /proc/PID/pagemap showed for them.
 */
#include "kernel/object/swap.h"
#include "../../kmem.h"
#include "../../structs.h"

static const struct pdet_swap_functions some = {
	.memory_failure = true, .migrate_pages = true,
}, all = {
	.memory_failure = true, .migrate_pages = true,
	.migrate_vma_setup = true, .make_device_exclusive_range = true,
}, all_5_10 = {
	.memory_failure = true, .migrate_pages = true,
	.migrate_vma_setup = true,
};

enum age { LINUX_5_10, LINUX_6_1, LINUX_6_8, LINUX_6_12 };

static void add_types(struct structs *s, enum age age)
{
	static const struct structs_constant flags[] = {
		{ "PG_locked", 0 }, { "PG_anon_exclusive", 11 },
	};
	static const struct structs_member folio[] = {
		{ "_entire_mapcount", 84, 0, 0, 4 },
		{ "_nr_pages_mapped", 88, 0, 0, 4 },
		{ "_large_mapcount", 80, 0, 0, 4 },
	};

	structs_init(s);
	structs_add_enum(s, "pageflags", flags, age > LINUX_5_10 ? 2 : 1);
	if (age > LINUX_5_10)
		structs_add(s, "folio", 256, folio, (size_t)age);
	structs_btf(s);
}

static void form(struct pdet_swap_form *f, uint16_t machine,
		 const struct pdet_btf *btf,
		 const struct pdet_swap_functions *functions)
{
	const struct pdet_paging p = machine == EM_X86_64 ?
		tables_x86(4) : tables_arm64(4096, 48, 16);
	struct pdet_vmcoreinfo info;

	structs_info(&info, "NUMBER(MAX_PHYSMEM_BITS)=46\n");
	pdet_swap_form_init(f, &p, &info, btf, functions);
	pdet_vmcoreinfo_free(&info);
}

static void check(const struct pdet_swap_form *f, uint64_t entry,
		  enum pdet_swap_is is, uint32_t type, uint64_t offset)
{
	const struct pdet_swap_entry e = pdet_swap_decode(f, entry);

	ck_assert_int_eq(e.is, is);
	ck_assert_uint_eq(e.type, type);
	ck_assert_uint_eq(e.offset, offset);
}

/* Encodes as __swp_entry() of x86 does. */
static uint64_t x86(uint64_t type, uint64_t offset)
{
	return ~offset << 14 >> 5 | type << 59;
}

START_TEST(on_x86_64)
{
	struct pdet_swap_form f;
	struct structs s;

	add_types(&s, LINUX_6_12);
	form(&f, EM_X86_64, s.btf, &some);
	ck_assert_uint_eq(f.hwpoison, 27);
	check(&f, 0x07fffffffffbfc0a, PDET_SWAP_FILE, 0, 0x201);
	check(&f, 0xdffffffffe62ac00, PDET_SWAP_HWPOISON, 27, 0xcea9);
	check(&f, x86(26, 5), PDET_SWAP_FILE, 26, 5);
	check(&f, x86(28, 0xabcd), PDET_SWAP_MIGRATION, 28, 0xabcd);
	/* With the former state of the entry. */
	check(&f, x86(30, 0xabcd | 3ull << 34), PDET_SWAP_MIGRATION, 30,
	      0xabcd);
	check(&f, x86(31, 1), PDET_SWAP_MARK_UFFD_WP, 31, 1);
	check(&f, x86(31, 2), PDET_SWAP_MARK_POISON, 31, 2);
	check(&f, x86(31, 4), PDET_SWAP_MARK_GUARD, 31, 4);
	check(&f, x86(31, 64), PDET_SWAP_MARK, 31, 64);
	form(&f, EM_X86_64, s.btf, &all);
	ck_assert_uint_eq(f.hwpoison, 23);
	check(&f, x86(27, 9), PDET_SWAP_DEVICE, 27, 9);
	check(&f, x86(24, 9), PDET_SWAP_MIGRATION, 24, 9);
	/* Unknown values are not guessed. */
	form(&f, EM_X86_64, s.btf, NULL);
	check(&f, x86(27, 9), PDET_SWAP_UNKNOWN, 27, 9);
	check(&f, x86(21, 9), PDET_SWAP_FILE, 21, 9);
	check(&f, x86(31, 4), PDET_SWAP_MARK_GUARD, 31, 4);
	form(&f, EM_X86_64, NULL, &all);
	check(&f, x86(31, 4), PDET_SWAP_UNKNOWN, 31, 4);
	check(&f, x86(27, 9), PDET_SWAP_UNKNOWN, 27, 9);
	check(&f, x86(21, 9), PDET_SWAP_FILE, 21, 9);
	structs_free(&s);
}
END_TEST

/* No markers, and two types of migration. */
START_TEST(before_5_19)
{
	struct pdet_swap_form f;
	struct structs s;

	add_types(&s, LINUX_5_10);
	form(&f, EM_X86_64, s.btf, &some);
	check(&f, x86(31, 1), PDET_SWAP_MIGRATION, 31, 1);
	check(&f, x86(30, 9), PDET_SWAP_MIGRATION, 30, 9);
	check(&f, x86(29, 9), PDET_SWAP_HWPOISON, 29, 9);
	check(&f, x86(28, 9), PDET_SWAP_FILE, 28, 9);
	/* device memory: two types, four since 5.14 */
	form(&f, EM_X86_64, s.btf, &all_5_10);
	check(&f, x86(31, 9), PDET_SWAP_DEVICE, 31, 9);
	check(&f, x86(30, 9), PDET_SWAP_DEVICE, 30, 9);
	check(&f, x86(29, 9), PDET_SWAP_MIGRATION, 29, 9);
	check(&f, x86(27, 9), PDET_SWAP_HWPOISON, 27, 9);
	form(&f, EM_X86_64, s.btf, &all);
	check(&f, x86(28, 9), PDET_SWAP_DEVICE, 28, 9);
	check(&f, x86(27, 9), PDET_SWAP_MIGRATION, 27, 9);
	check(&f, x86(25, 9), PDET_SWAP_HWPOISON, 25, 9);
	check(&f, x86(24, 9), PDET_SWAP_FILE, 24, 9);
	/* The type had a bit more. */
	form(&f, EM_AARCH64, s.btf, &some);
	check(&f, 0x201ull << 8 | 3 << 2, PDET_SWAP_FILE, 3, 0x201);
	check(&f, 0x4203bull << 8 | 29 << 2, PDET_SWAP_HWPOISON, 29, 0x4203b);
	structs_free(&s);
}
END_TEST

/* The last type is that of failed swap-ins; the one before it may be that of
 * markers. */
START_TEST(before_6_2)
{
	struct pdet_swap_form f;
	struct structs s;

	add_types(&s, LINUX_6_1);
	form(&f, EM_X86_64, s.btf, &some);
	check(&f, x86(31, 9), PDET_SWAP_UNKNOWN, 31, 9);
	check(&f, x86(30, 1), PDET_SWAP_UNKNOWN, 30, 1);
	check(&f, x86(29, 9), PDET_SWAP_MIGRATION, 29, 9);
	check(&f, x86(28, 9), PDET_SWAP_MIGRATION, 28, 9);
	check(&f, x86(27, 9), PDET_SWAP_UNKNOWN, 27, 9);
	check(&f, x86(26, 9), PDET_SWAP_UNKNOWN, 26, 9);
	check(&f, x86(25, 9), PDET_SWAP_FILE, 25, 9);
	/* arm64 has no markers yet. */
	form(&f, EM_AARCH64, s.btf, &some);
	check(&f, 0x4203bull << 8 | 31 << 3, PDET_SWAP_UNKNOWN, 31, 0x4203b);
	check(&f, 0x4203bull << 8 | 30 << 3, PDET_SWAP_MIGRATION, 30, 0x4203b);
	check(&f, 0x4203bull << 8 | 27 << 3, PDET_SWAP_HWPOISON, 27, 0x4203b);
	structs_free(&s);
}
END_TEST

START_TEST(on_arm64)
{
	struct pdet_swap_form f;
	struct structs s;

	add_types(&s, LINUX_6_12);
	form(&f, EM_AARCH64, s.btf, &some);
	check(&f, 0x201004, PDET_SWAP_FILE, 0, 0x201);
	check(&f, 0x4203b6c0, PDET_SWAP_HWPOISON, 27, 0x4203b);
	structs_free(&s);
	add_types(&s, LINUX_6_8);
	form(&f, EM_AARCH64, s.btf, &some);
	check(&f, 0x201ull << 8 | 3 << 3 | 4, PDET_SWAP_FILE, 3, 0x201);
	check(&f, 0x4203bull << 8 | 27 << 3, PDET_SWAP_HWPOISON, 27, 0x4203b);
	structs_free(&s);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("swap");

	unit_test(s, on_x86_64);
	unit_test(s, on_arm64);
	unit_test(s, before_5_19);
	unit_test(s, before_6_2);
	return unit_main(s);
}
