/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Who allocated a page, and the stacks of it. */
#include "kernel/page_owner.h"
#include "kernel/stackdepot.h"
#include "kmem.h"
#include "structs.h"

enum { EXT_SIZE = 96, OWNER_AT = 24, RECORD = 64, R_SIZE = 20, R_HANDLE = 24,
       R_ENTRIES = 32 };

#define FIRST_PFN 32768ull

struct owners {
	struct kmem *k;
	struct structs s;
	struct pdet_page_owners o;
	struct pdet_page_owner_symbols symbols;
	struct pdet_memmap m;
	struct pdet_stackdepot depot;
	uint64_t ext, pools, pool[3], root;
	uint64_t frames[PDET_STACK_FRAMES];
};

static void add_types(struct structs *s, bool newer)
{
	static const struct structs_member section[] = {
		{ "page_ext", 16, 0, 0, 8 },
	}, ext[] = {
		{ "flags", 0, 0, 0, 8 },
	}, ops[] = {
		{ "offset", 0, 0, 0, 8 },
	}, owner[] = {
		{ "order", 0, 16, 0, 8 },
		{ "last_migrate_reason", 0, 16, 16, 8 },
		{ "gfp_mask", 4, 0, 0, 4 }, { "handle", 8, 0, 0, 4 },
		{ "free_handle", 12, 0, 0, 4 }, { "ts_nsec", 16, 0, 0, 8 },
		{ "free_ts_nsec", 24, 0, 0, 8 }, { "comm", 32, 0, 0, 16 },
		{ "pid", 48, 0, 0, 4 }, { "tgid", 52, 0, 0, 4 },
		{ "free_pid", 56, 0, 0, 4 }, { "free_tgid", 60, 0, 0, 4 },
	}, record[] = {
		{ "size", R_SIZE, 0, 0, 4 }, { "handle", R_HANDLE, 0, 0, 4 },
		{ "entries", R_ENTRIES, 0, 0, 512 },
	}, older_parts[] = {
		{ "slabindex", 0, 16, 0, 4 }, { "offset", 0, 10, 16, 4 },
		{ "valid", 0, 1, 26, 4 }, { "extra", 0, 5, 27, 4 },
	}, newer_parts[] = {
		{ "pool_index_plus_1", 0, 17, 0, 4 },
		{ "offset", 0, 10, 17, 4 }, { "extra", 0, 5, 27, 4 },
	};
	static const struct structs_constant flags[] = {
		{ "PAGE_EXT_OWNER", 0 }, { "PAGE_EXT_OWNER_ALLOCATED", 1 },
	};

#define ADD(name, size, m) \
	structs_add(s, name, size, m, sizeof(m) / sizeof(*m))
	structs_init(s);
	ADD("mem_section", 32, section);
	ADD("page_ext", 8, ext);
	ADD("page_ext_operations", 16, ops);
	ADD("page_owner", 64, owner);
	ADD("stack_record", 544, record);
	if (newer)
		ADD("handle_parts", 4, newer_parts);
	else
		ADD("handle_parts", 4, older_parts);
#undef ADD
	structs_add_enum(s, "page_ext_flags", flags, 2);
	structs_btf(s);
}

/* @newer: numbers of pools begin with 1. @elsewhere: the table has a place of
 * its own. */
static struct owners *start(bool newer, bool elsewhere)
{
	struct owners *o = calloc(1, sizeof(*o));
	struct pdet_vmcoreinfo info;
	uint64_t roots, table;
	char text[256];
	unsigned i;

	ck_assert_ptr_nonnull(o);
	o->k = kmem_new();
	add_types(&o->s, newer);
	roots = kmem_object(o->k, 8);
	o->root = kmem_object_at(o->k, 4096, 4096);
	kmem_u64(o->k, roots, o->root);
	kmem_u64(o->k, o->root + 32, 0xffffea0000000007);
	o->ext = kmem_object(o->k, 100 * EXT_SIZE);
	kmem_u64(o->k, o->root + 32 + 16, o->ext - FIRST_PFN * EXT_SIZE);
	snprintf(text, sizeof(text), "SYMBOL(mem_section)=%llx\n"
		 "LENGTH(mem_section)=1\nSIZE(mem_section)=32\n"
		 "OFFSET(mem_section.section_mem_map)=0\n"
		 "NUMBER(SECTION_SIZE_BITS)=27\nSIZE(page)=64\n",
		 (unsigned long long)roots);
	structs_info(&info, text);
	ck_assert_int_eq(pdet_memmap_read(&o->m, &o->k->env, &o->k->space,
					  &info, 12), 0);
	pdet_vmcoreinfo_free(&info);
	o->symbols.page_ext_size = kmem_object(o->k, 8);
	o->symbols.page_owner_ops = kmem_object(o->k, 16);
	kmem_u64(o->k, o->symbols.page_ext_size, EXT_SIZE);
	kmem_u64(o->k, o->symbols.page_owner_ops, OWNER_AT);
	o->pools = kmem_object(o->k, 64);
	table = elsewhere ? kmem_object(o->k, 64) : o->pools;
	if (elsewhere)
		kmem_u64(o->k, o->pools, table);
	for (i = 0; i < 3; i++) {
		o->pool[i] = kmem_object_at(o->k, 16384, 16384);
		kmem_u64(o->k, table + i * 8, o->pool[i]);
	}
	ck_assert(pdet_stackdepot_init(&o->depot, o->s.btf, o->pools));
	return o;
}

static void end(struct owners *o)
{
	pdet_memmap_free(&o->m);
	structs_free(&o->s);
	kmem_free(o->k);
	free(o);
}

static int init(struct owners *o)
{
	return pdet_page_owners_init(&o->o, &o->k->space, o->s.btf,
				     &o->symbols);
}

START_TEST(owner)
{
	struct owners *o = start(true, false);
	const uint64_t ext = o->ext + 5 * EXT_SIZE, at = ext + OWNER_AT;
	struct pdet_page_owner got;

#define READ(pfn) \
	pdet_page_owner_read(&o->k->space, &o->o, &o->m, pfn, &got)
	ck_assert_int_eq(init(o), 0);
	ck_assert_int_eq(READ(FIRST_PFN + 5), -ENOENT);
	kmem_u64(o->k, ext, 1 | 2);
	kmem_u32(o->k, at, 9 | 0xffffu << 16);
	kmem_u32(o->k, at + 4, 0x140dca);
	kmem_u32(o->k, at + 8, 77);
	kmem_u64(o->k, at + 16, 1234567890123);
	kmem_text(o->k, at + 32, "a) ts (comm");
	kmem_u32(o->k, at + 48, 4321);
	kmem_u32(o->k, at + 52, 4300);
	ck_assert_int_eq(READ(FIRST_PFN + 5), 0);
	ck_assert(got.allocated && got.order == 9 && got.gfp == 0x140dca);
	ck_assert(got.stack == 77 && !got.free_stack && got.pid == 4321 &&
		  got.tgid == 4300 && got.has_tgid);
	ck_assert_uint_eq(got.ns, 1234567890123);
	ck_assert_str_eq(got.comm, "a) ts (comm");
	ck_assert_int_eq(got.migrate_reason, -1);
	/* freed since */
	kmem_u64(o->k, ext, 1);
	kmem_u32(o->k, at, 9 | 3 << 16);
	kmem_u32(o->k, at + 12, 78);
	kmem_u32(o->k, at + 56, 99);
	ck_assert_int_eq(READ(FIRST_PFN + 5), 0);
	ck_assert(!got.allocated && got.free_stack == 78 &&
		  got.free_pid == 99 && got.migrate_reason == 3);
	kmem_u32(o->k, at, 5000);
	ck_assert_int_eq(READ(FIRST_PFN + 5), -EBADMSG);
	ck_assert_int_eq(READ(5), -ENOENT);
	/* its array goes away, is damaged, is not in the dump */
	kmem_u64(o->k, o->root + 48, (o->ext - FIRST_PFN * EXT_SIZE) | 1);
	ck_assert_int_eq(READ(FIRST_PFN + 5), -ENOENT);
	kmem_u64(o->k, o->root + 48, 0x4141414141414140);
	ck_assert_int_eq(READ(FIRST_PFN + 5), -EBADMSG);
	kmem_fail(o->k, o->root, -ENODATA);
	ck_assert_int_eq(READ(FIRST_PFN + 5), -ENODATA);
#undef READ
	end(o);
}
END_TEST

START_TEST(turned_off)
{
	struct owners *o = start(true, false);
	struct structs s;

	kmem_u64(o->k, o->symbols.page_owner_ops, 0);
	ck_assert_int_eq(init(o), -ENOTSUP);
	kmem_u64(o->k, o->symbols.page_owner_ops, EXT_SIZE - 8);
	ck_assert_int_eq(init(o), -EBADMSG);
	o->symbols.page_owner_ops = 0;
	ck_assert_int_eq(init(o), -ENODATA);
	structs_init(&s);
	ck_assert_int_eq(pdet_page_owners_init(&o->o, &o->k->space,
					       structs_btf(&s), &o->symbols),
			 -ENOTSUP);
	structs_free(&s);
	end(o);
}
END_TEST

START_TEST(stacks)
{
	const bool newer = _i & 1;
	struct owners *o = start(newer, _i & 2);
	const uint32_t pool = 2, offset = 40;
	const uint32_t handle = newer ? (pool + 1) | offset << 17 :
				pool | offset << 16 | 1u << 26;
	const uint64_t record = o->pool[pool] + offset * 16;
	unsigned i;

#define READ(h) \
	pdet_stackdepot_read(&o->k->space, &o->depot, h, o->frames)
	kmem_u32(o->k, record + R_SIZE, 3);
	kmem_u32(o->k, record + R_HANDLE, handle);
	for (i = 0; i < 3; i++)
		kmem_u64(o->k, record + R_ENTRIES + i * 8,
			 0xffffffff81000000 + i);
	ck_assert_int_eq(READ(handle), 3);
	for (i = 0; i < 3; i++)
		ck_assert_uint_eq(o->frames[i], 0xffffffff81000000 + i);
	/* with bits of who keeps it */
	ck_assert_int_eq(READ(handle | 5u << 27), 3);
	/* another one's, and what is none */
	ck_assert_int_eq(READ(handle + (1u << 17)), -EBADMSG);
	ck_assert_int_eq(READ(handle + 1), -EBADMSG);
	ck_assert_int_eq(READ(0xffff), -EBADMSG);
	kmem_u32(o->k, record + R_SIZE, 100000);
	ck_assert_int_eq(READ(handle), -EBADMSG);
	kmem_u32(o->k, record + R_SIZE, 3);
	kmem_fail(o->k, record, -ENODATA);
	ck_assert_int_eq(READ(handle), -ENODATA);
#undef READ
	end(o);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("page_owner");

	unit_test(s, owner);
	unit_test(s, turned_off);
	unit_loop(s, stacks, 4);
	return unit_main(s);
}
