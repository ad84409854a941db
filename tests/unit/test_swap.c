/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What entries that map nothing say; words are those of Linux 6.12, beside what
 * /proc/PID/pagemap said of them. */
#include "kernel/swap.h"
#include "kmem.h"
#include "structs.h"

enum { FLAGS = 16, FILE_AT = 168, MAX = 76, INUSE = 124, SWAP = 256 };

static const struct pdet_swap_functions some = {
	.memory_failure = true, .migrate_pages = true,
}, all = {
	.memory_failure = true, .migrate_pages = true,
	.make_device_exclusive_range = true,
};

static void add_types(struct structs *s, bool newer)
{
	static const struct structs_member folio[] = {
		{ "_entire_mapcount", 84, 0, 0, 4 },
		{ "_large_mapcount", 80, 0, 0, 4 },
	}, swap[] = {
		{ "flags", FLAGS, 0, 0, 8 }, { "swap_file", FILE_AT, 0, 0, 8 },
		{ "max", MAX, 0, 0, 4 }, { "inuse_pages", INUSE, 0, 0, 4 },
	};

	structs_init(s);
	structs_add(s, "folio", 256, folio, newer ? 2 : 1);
	structs_add(s, "swap_info_struct", SWAP, swap, 4);
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

/* As __swp_entry() of x86 writes it. */
static uint64_t x86(uint64_t type, uint64_t offset)
{
	return ~offset << 14 >> 5 | type << 59;
}

START_TEST(on_x86_64)
{
	struct pdet_swap_form f;

	form(&f, EM_X86_64, NULL, &some);
	ck_assert_uint_eq(f.hwpoison, 27);
	check(&f, 0x07fffffffffbfc0a, PDET_SWAP_FILE, 0, 0x201);
	check(&f, 0xdffffffffe62ac00, PDET_SWAP_HWPOISON, 27, 0xcea9);
	check(&f, x86(26, 5), PDET_SWAP_FILE, 26, 5);
	check(&f, x86(28, 0xabcd), PDET_SWAP_MIGRATION, 28, 0xabcd);
	/* with what the entry was before */
	check(&f, x86(30, 0xabcd | 3ull << 34), PDET_SWAP_MIGRATION, 30,
	      0xabcd);
	check(&f, x86(31, 1), PDET_SWAP_MARK_UFFD_WP, 31, 1);
	check(&f, x86(31, 2), PDET_SWAP_MARK_POISON, 31, 2);
	check(&f, x86(31, 4), PDET_SWAP_MARK_GUARD, 31, 4);
	check(&f, x86(31, 64), PDET_SWAP_MARK, 31, 64);
	form(&f, EM_X86_64, NULL, &all);
	ck_assert_uint_eq(f.hwpoison, 23);
	check(&f, x86(27, 9), PDET_SWAP_DEVICE, 27, 9);
	check(&f, x86(24, 9), PDET_SWAP_MIGRATION, 24, 9);
	/* what is not known is not guessed */
	form(&f, EM_X86_64, NULL, NULL);
	check(&f, x86(27, 9), PDET_SWAP_UNKNOWN, 27, 9);
	check(&f, x86(22, 9), PDET_SWAP_FILE, 22, 9);
	check(&f, x86(31, 4), PDET_SWAP_MARK_GUARD, 31, 4);
}
END_TEST

START_TEST(on_arm64)
{
	struct pdet_swap_form f;
	struct structs s;

	add_types(&s, true);
	form(&f, EM_AARCH64, s.btf, &some);
	check(&f, 0x201004, PDET_SWAP_FILE, 0, 0x201);
	check(&f, 0x4203b6c0, PDET_SWAP_HWPOISON, 27, 0x4203b);
	structs_free(&s);
	add_types(&s, false);
	form(&f, EM_AARCH64, s.btf, &some);
	check(&f, 0x201ull << 8 | 3 << 3 | 4, PDET_SWAP_FILE, 3, 0x201);
	check(&f, 0x4203bull << 8 | 27 << 3, PDET_SWAP_HWPOISON, 27, 0x4203b);
	structs_free(&s);
}
END_TEST

START_TEST(files)
{
	struct kmem *k = kmem_new();
	const uint64_t table = kmem_object(k, 33 * 8), n = table + 32 * 8;
	const uint64_t swap = kmem_object(k, SWAP);
	struct pdet_swaps got;
	struct structs s;

	add_types(&s, true);
	kmem_u64(k, table + 8, swap);
	kmem_u32(k, n, 2);
	kmem_u64(k, swap + FLAGS, 3);
	kmem_u64(k, swap + FILE_AT, 0xffff888000004000);
	kmem_u32(k, swap + MAX, 4096);
	kmem_u32(k, swap + INUSE, 64);
	ck_assert_int_eq(pdet_swaps_read(&got, &k->space, s.btf, table, n), 0);
	ck_assert_uint_eq(got.n, 2);
	ck_assert(!got.swap[0].used && got.swap[1].used);
	ck_assert(got.swap[1].pages == 4096 && got.swap[1].pages_used == 64 &&
		  got.swap[1].file == 0xffff888000004000);
	kmem_u64(k, swap + FILE_AT, 0x1234);
	ck_assert_int_eq(pdet_swaps_read(&got, &k->space, s.btf, table, n),
			 -EBADMSG);
	kmem_u32(k, n, 1000);
	ck_assert_int_eq(pdet_swaps_read(&got, &k->space, s.btf, table, n),
			 -EBADMSG);
	ck_assert_uint_eq(got.n, 0);
	ck_assert_int_eq(pdet_swaps_read(&got, &k->space, s.btf, 0, 0),
			 -ENODATA);
	structs_free(&s);
	kmem_free(k);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("swap");

	unit_test(s, on_x86_64);
	unit_test(s, on_arm64);
	unit_test(s, files);
	return unit_main(s);
}
