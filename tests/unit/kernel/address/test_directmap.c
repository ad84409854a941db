/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests that the direct map is where the page tables say. */
#include "kernel/address/directmap.h"
#include "../../tables.h"

#define BASE 0xffff9c4000000000ull
#define IMAGE 0xffffffff81000000ull

static void map(struct physical *m, const struct pdet_paging *p, uint64_t va,
		uint64_t addr)
{
	tables_map(m, p, p->root, va, 1, tables_page(p, addr, 1));
}

START_TEST(found)
{
	struct pdet_paging p = _i ? tables_arm64(4096, 48, 16) : tables_x86(4);
	struct physical *m = physical_new(12);
	const uint64_t base = _i ? 0xffff000000000000ull - 0x10000000 : BASE;
	const uint64_t start = _i ? 0x10000000 : 0, huge = 1 << 21;
	uint64_t got, at;

	/* Memory before the tables may be missing. */
	for (at = start ? start : 2 * huge; at < start + 16 * huge; at += huge)
		map(m, &p, base + at, at);
	map(m, &p, base + (p.root & -huge), p.root & -huge);
	map(m, &p, IMAGE, 0x1000000);
	ck_assert_int_eq(pdet_directmap_find(&m->reader, &p, &got), 0);
	ck_assert_uint_eq(got, base);
	physical_free(m);
}
END_TEST

START_TEST(not_found)
{
	struct pdet_paging p = tables_x86(4);
	struct physical *m = physical_new(12);
	uint64_t got = 5;

	physical_at(m, p.root);
	ck_assert_int_eq(pdet_directmap_find(&m->reader, &p, &got), -EBADMSG);
	/* The first mapped page is something else. */
	map(m, &p, 0xffff800000000000, 64 << 21);
	map(m, &p, BASE + (p.root & -(1ull << 21)), p.root & -(1ull << 21));
	ck_assert_int_eq(pdet_directmap_find(&m->reader, &p, &got), -EBADMSG);
	physical_fail(m, p.root, -ENODATA);
	ck_assert_int_eq(pdet_directmap_find(&m->reader, &p, &got), -ENODATA);
	ck_assert_uint_eq(got, 5);
	physical_free(m);
}
END_TEST

/* Wherever it was put, the kernel's image is not in it. */
START_TEST(its_end)
{
	const struct pdet_paging x86 = tables_x86(4), la57 = tables_x86(5);
	const struct pdet_paging arm64 = tables_arm64(4096, 48, 16);
	const struct pdet_paging small = tables_arm64(4096, 39, 25);
	const struct pdet_paging large = tables_arm64(65536, 52, 12);
	const uint64_t kaslr = 0xffff6dd080000000, image = 0xffffaace14b04348;

	ck_assert_uint_eq(pdet_directmap_end(&x86, BASE),
			  BASE + ((uint64_t)1 << 46));
	ck_assert_uint_eq(pdet_directmap_end(&la57, 0xff11000000000000),
			  0xff91000000000000);
	ck_assert_uint_eq(pdet_directmap_end(&arm64, kaslr),
			  0xffff800000000000);
	ck_assert_uint_lt(pdet_directmap_end(&arm64, kaslr), image);
	ck_assert_uint_eq(pdet_directmap_end(&small, 0xffffff8000000000),
			  0xffffffc000000000);
	ck_assert_uint_eq(pdet_directmap_end(&large, 0xfff0000000000000),
			  0xffff800000000000);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("directmap");

	unit_loop(s, found, 2);
	unit_test(s, not_found);
	unit_test(s, its_end);
	return unit_main(s);
}
