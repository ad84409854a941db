/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests finding exported symbols in a kernel image. */
#include "../kmem.h"
#include "../structs.h"
#include "symbol/exports.h"

#define STEXT 0xffffffff81000000ull
#define MIB 0x100000ull

struct image {
	struct kmem *k;
	struct pdet_vmcoreinfo info;
};

static struct image start(void)
{
	struct image i = { .k = kmem_new() };

	structs_info(&i.info, "SYMBOL(_stext)=ffffffff81000000\n");
	return i;
}

static void end(struct image *i)
{
	pdet_vmcoreinfo_free(&i->info);
	kmem_free(i->k);
}

/* Writes an entry as struct kernel_symbol. */
static void put_export(struct image *i, uint64_t at, uint64_t value,
		       uint64_t name)
{
	kmem_u32(i->k, at, (uint32_t)(value - at));
	kmem_u32(i->k, at + 4, (uint32_t)(name - (at + 4)));
	kmem_u32(i->k, at + 8, 0);
}

START_TEST(found)
{
	struct image i = start();
	/*
	 * Names and entries across the borders of reads; entries before and
	 * behind the names.
	 */
	const uint64_t names = STEXT + 3 * MIB - 6;
	struct pdet_symbol s[] = {
		{ .name = "init_task" }, { .name = "nr_cpu_ids" },
		{ .name = "not_there" },
		{ .name = "known", .found = true, .address = 5 },
		{ .name = "task" },
	};

	kmem_text(i.k, names, "init_task");
	kmem_text(i.k, names + 10, "nr_cpu_ids");
	/* In the middle of another name, and elsewhere without an entry. */
	kmem_text(i.k, names + 21, "xinit_task");
	kmem_text(i.k, STEXT + 5000, "init_task");
	put_export(&i, STEXT + 2 * MIB - 4, STEXT + 20 * MIB, names);
	put_export(&i, STEXT + 5 * MIB, STEXT + 8, names + 10);
	/* Its name is the end of another one. */
	put_export(&i, STEXT + 5 * MIB + 12, STEXT + 16, names + 5);
	ck_assert_int_eq(pdet_exports_find(&i.k->space, &i.info, s, 5),
			 0);
	ck_assert(s[0].found && s[0].address == STEXT + 20 * MIB);
	ck_assert(s[1].found && s[1].address == STEXT + 8);
	ck_assert(!s[2].found);
	ck_assert_uint_eq(s[3].address, 5);
	ck_assert(s[4].found && s[4].address == STEXT + 16);
	end(&i);
}
END_TEST

START_TEST(no_image)
{
	struct image i = start();
	struct pdet_symbol s = { .name = "init_task" };
	struct pdet_vmcoreinfo nothing;

	structs_info(&nothing, "");
	ck_assert_int_eq(pdet_exports_find(&i.k->space, &nothing, &s, 1),
			 -ENODATA);
	pdet_vmcoreinfo_free(&nothing);
	ck_assert_int_eq(pdet_exports_find(&i.k->space, &i.info, &s, 1),
			 0);
	ck_assert(!s.found);
	end(&i);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("exports");

	unit_test(s, found);
	unit_test(s, no_image);
	return unit_main(s);
}
