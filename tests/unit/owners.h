/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Builds a kernel's memory with page_owner: its types, one section of records,
 * stack pools, and tables of names.
 */
#ifndef TESTS_UNIT_OWNERS_H
#define TESTS_UNIT_OWNERS_H

#include "kernel/owner/names.h"
#include "kernel/owner/page_owner.h"
#include "kernel/owner/stackdepot.h"
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
	uint64_t gfp, reasons;	/* tables of names */
	uint64_t frames[PDET_STACK_FRAMES];
};

/* @owner: the members of struct page_owner. */
static inline void owners_types_of(struct structs *s, bool newer,
				   const struct structs_member *owner,
				   unsigned n_owner)
{
	static const struct structs_member section[] = {
		{ "page_ext", 16, 0, 0, 8 },
	}, ext[] = {
		{ "flags", 0, 0, 0, 8 },
	}, ops[] = {
		{ "offset", 0, 0, 0, 8 },
	}, print[] = {
		{ "mask", 0, 0, 0, 8 }, { "name", 8, 0, 0, 8 },
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
	}, reasons[] = {
		{ "MR_COMPACTION", 0 }, { "MR_MEMORY_FAILURE", 1 },
		{ "MR_TYPES", 2 },
	};

#define ADD(name, size, m) \
	structs_add(s, name, size, m, sizeof(m) / sizeof(*m))
	structs_init(s);
	ADD("mem_section", 32, section);
	ADD("page_ext", 8, ext);
	ADD("page_ext_operations", 16, ops);
	structs_add(s, "page_owner", 64, owner, n_owner);
	ADD("stack_record", 544, record);
	ADD("trace_print_flags", 16, print);
	if (newer)
		ADD("handle_parts", 4, newer_parts);
	else
		ADD("handle_parts", 4, older_parts);
#undef ADD
	structs_add_enum(s, "page_ext_flags", flags, 2);
	structs_add_enum(s, "migrate_reason", reasons, 3);
	structs_btf(s);
}

static inline void owners_types(struct structs *s, bool newer)
{
	static const struct structs_member owner[] = {
		{ "order", 0, 16, 0, 8 },
		{ "last_migrate_reason", 0, 16, 16, 8 },
		{ "gfp_mask", 4, 0, 0, 4 }, { "handle", 8, 0, 0, 4 },
		{ "free_handle", 12, 0, 0, 4 }, { "ts_nsec", 16, 0, 0, 8 },
		{ "free_ts_nsec", 24, 0, 0, 8 }, { "comm", 32, 0, 0, 16 },
		{ "pid", 48, 0, 0, 4 }, { "tgid", 52, 0, 0, 4 },
		{ "free_pid", 56, 0, 0, 4 }, { "free_tgid", 60, 0, 0, 4 },
	};

	owners_types_of(s, newer, owner, sizeof(owner) / sizeof(*owner));
}

static inline void owners_types_5_10(struct structs *s)
{
	static const struct structs_member owner[] = {
		{ "order", 0, 16, 0, 8 },
		{ "last_migrate_reason", 0, 16, 16, 8 },
		{ "gfp_mask", 4, 0, 0, 4 }, { "handle", 8, 0, 0, 4 },
		{ "free_handle", 12, 0, 0, 4 },
	};

	owners_types_of(s, true, owner, sizeof(owner) / sizeof(*owner));
}

static inline uint64_t owners_text(struct owners *o, const char *text)
{
	uint64_t va = kmem_object(o->k, strlen(text) + 1);

	kmem_text(o->k, va, text);
	return va;
}

static inline void owners_names(struct owners *o)
{
	static const struct {
		uint64_t mask;
		const char *name;
	} gfp[] = {
		{ 0xcc0, "GFP_KERNEL" }, { 0x20, "__GFP_HIGH" },
		{ 0x40, "__GFP_IO" }, { 0x100, "__GFP_ZERO" },
	};
	unsigned i;

	o->gfp = kmem_object(o->k, 5 * 16);
	for (i = 0; i < 4; i++) {
		kmem_u64(o->k, o->gfp + i * 16, gfp[i].mask);
		kmem_u64(o->k, o->gfp + i * 16 + 8,
			 owners_text(o, gfp[i].name));
	}
	o->reasons = kmem_object(o->k, 16);
	kmem_u64(o->k, o->reasons, owners_text(o, "compaction"));
	kmem_u64(o->k, o->reasons + 8, owners_text(o, "memory_failure"));
}

/*
 * @newer: pool numbers begin with 1. @elsewhere: the table has its own place.
 */
static inline struct owners *owners_new(bool newer, bool elsewhere)
{
	struct owners *o = calloc(1, sizeof(*o));
	struct pdet_vmcoreinfo info;
	uint64_t roots, table;
	char text[256];
	unsigned i;

	ck_assert_ptr_nonnull(o);
	o->k = kmem_new();
	owners_types(&o->s, newer);
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
	owners_names(o);
	ck_assert(pdet_stackdepot_init(&o->depot, o->s.btf, o->pools));
	return o;
}

static inline void owners_free(struct owners *o)
{
	pdet_memmap_free(&o->m);
	structs_free(&o->s);
	kmem_free(o->k);
	free(o);
}

/* Adds a stack of @n frames to a pool. Returns its handle. */
static inline uint32_t owners_stack(struct owners *o, bool newer,
				    uint32_t pool, uint32_t offset, uint32_t n,
				    uint64_t first)
{
	const uint32_t number = newer ? (pool + 1) | offset << 17 :
				pool | offset << 16 | 1u << 26;
	const uint64_t record = o->pool[pool] + offset * 16;
	uint32_t i;

	kmem_u32(o->k, record + R_SIZE, n);
	kmem_u32(o->k, record + R_HANDLE, number);
	for (i = 0; i < n && i < 64; i++)
		kmem_u64(o->k, record + R_ENTRIES + i * 8, first + i);
	return number;
}

#endif
