/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests finding modules by any of their addresses, and the symbol there as the
 * kernel names it.
 */
#include <elf.h>

#include "../kmem.h"
#include "../structs.h"
#include "symbol/modules.h"

enum { M_LIST = 8, M_NAME = 24, M_MEM = 128, M_INIT = 192, M_KALLSYMS = 512,
       MODULE = 640, PARTS = 3, PART = 32, P_BASE = 0, P_SIZE = 8,
       K_TABLE = 0, K_N = 8, K_NAMES = 16 };

#define TEXT 0xffffffffc0400000ull
#define DATA 0xffffffffc0500000ull

struct modules {
	struct kmem *k;
	struct structs s;
	struct pdet_modules m;
	uint64_t head;
};

static struct modules *start(bool old)
{
	static const struct structs_member part[] = {
		{ "base", P_BASE, 0, 0, 8 }, { "size", P_SIZE, 0, 0, 4 },
	}, kallsyms[] = {
		{ "symtab", K_TABLE, 0, 0, 8 },
		{ "num_symtab", K_N, 0, 0, 4 },
		{ "strtab", K_NAMES, 0, 0, 8 },
	};
	const struct structs_member parts[] = {
		{ "list", M_LIST, 0, 0, 16 }, { "name", M_NAME, 0, 0, 56 },
		{ "mem", M_MEM, 0, 0, PARTS * PART },
		{ "kallsyms", M_KALLSYMS, 0, 0, 8 },
	}, layouts[] = {
		{ "list", M_LIST, 0, 0, 16 }, { "name", M_NAME, 0, 0, 56 },
		{ "core_layout", M_MEM, 0, 0, PART },
		{ "init_layout", M_INIT, 0, 0, PART },
		{ "kallsyms", M_KALLSYMS, 0, 0, 8 },
	};
	struct modules *t = calloc(1, sizeof(*t));

	ck_assert_ptr_nonnull(t);
	t->k = kmem_new();
	structs_init(&t->s);
	if (old)
		structs_add(&t->s, "module", MODULE, layouts, 5);
	else
		structs_add(&t->s, "module", MODULE, parts, 4);
	structs_add(&t->s, old ? "module_layout" : "module_memory", PART, part,
		    2);
	structs_add(&t->s, "mod_kallsyms", 24, kallsyms, 3);
	t->head = kmem_object(t->k, 16);
	kmem_u64(t->k, t->head, t->head);
	kmem_u64(t->k, t->head + 8, t->head);
	ck_assert(pdet_modules_init(&t->m, structs_btf(&t->s), t->head));
	return t;
}

static void end(struct modules *t)
{
	structs_free(&t->s);
	kmem_free(t->k);
	free(t);
}

static uint64_t add(struct modules *t, const char *name)
{
	const uint64_t module = kmem_object(t->k, MODULE);
	uint64_t last = 0;

	ck_assert_int_eq(pdet_space_u64(&t->k->space, t->head + 8, &last), 0);
	kmem_u64(t->k, last, module + M_LIST);
	kmem_u64(t->k, module + M_LIST + 8, last);
	kmem_u64(t->k, module + M_LIST, t->head);
	kmem_u64(t->k, t->head + 8, module + M_LIST);
	kmem_text(t->k, module + M_NAME, name);
	return module;
}

static void part(struct modules *t, uint64_t module, uint64_t at,
		 uint64_t base, uint32_t size)
{
	kmem_u64(t->k, module + at + P_BASE, base);
	kmem_u32(t->k, module + at + P_SIZE, size);
}

static int find(struct modules *t, uint64_t va, struct pdet_module *m)
{
	return pdet_module_find(&t->k->space, &t->m, va, m);
}

START_TEST(found)
{
	struct modules *t = start(_i);
	const uint64_t second = _i ? M_INIT : M_MEM + 2 * PART;
	struct pdet_module m;
	uint64_t a, b;

	ck_assert_int_eq(find(t, TEXT, &m), -ENOENT);
	a = add(t, "zram");
	part(t, a, M_MEM, TEXT, 0x5000);
	part(t, a, second, DATA, 0x123);
	b = add(t, "lz4_compress");
	part(t, b, M_MEM, TEXT + 0x5000, 0x1000);
	ck_assert_int_eq(find(t, TEXT + 0x4fff, &m), 0);
	ck_assert_str_eq(m.name, "zram");
	ck_assert_uint_eq(m.addr, a);
	ck_assert_uint_eq(m.start, TEXT);
	ck_assert_uint_eq(m.end, TEXT + 0x5000);
	ck_assert_int_eq(find(t, DATA + 0x122, &m), 0);
	ck_assert_str_eq(m.name, "zram");
	ck_assert_uint_eq(m.end, DATA + 0x123);
	ck_assert_int_eq(find(t, DATA + 0x123, &m), -ENOENT);
	ck_assert_int_eq(find(t, TEXT + 0x5000, &m), 0);
	ck_assert_str_eq(m.name, "lz4_compress");
	ck_assert_int_eq(find(t, TEXT - 1, &m), -ENOENT);
	end(t);
}
END_TEST

/* --- symbols --- */

static const struct {
	const char *name;
	uint64_t value;
	uint16_t section;
} table[] = {
	{ "", 0, SHN_UNDEF },
	{ "printk", 0, SHN_UNDEF },
	{ "$x", TEXT + 0x10, 1 },
	{ "second", TEXT + 0x40, 1 },
	{ "first", TEXT + 0x10, 1 },
	{ "alias", TEXT + 0x40, 1 },
	{ ".LC3", TEXT + 0x50, 1 },
	{ "$d", TEXT + 0x48, 1 },
	{ "L0\001", TEXT + 0x58, 1 },
	{ "third", TEXT + 0x80, 1 },
	{ "variable", DATA + 8, 2 },
};

static void add_symbols(struct modules *t, uint64_t module)
{
	const uint64_t kallsyms = kmem_object(t->k, 24);
	const uint64_t symbols = kmem_object(t->k, PDET_COUNT(table) * 24);
	const uint64_t names = kmem_object(t->k, 256);
	uint32_t at = 0;
	unsigned i;

	for (i = 0; i < PDET_COUNT(table); i++) {
		Elf64_Sym e = { .st_name = at, .st_value = table[i].value,
				.st_shndx = table[i].section };

		kmem_text(t->k, names + at, table[i].name);
		kmem_write(t->k, symbols + i * 24, &e, sizeof(e));
		at += (uint32_t)strlen(table[i].name) + 1;
	}
	kmem_u64(t->k, kallsyms + K_TABLE, symbols);
	kmem_u32(t->k, kallsyms + K_N, PDET_COUNT(table));
	kmem_u64(t->k, kallsyms + K_NAMES, names);
	kmem_u64(t->k, module + M_KALLSYMS, kallsyms);
}

START_TEST(symbols)
{
	static const struct {
		uint64_t va;
		const char *name;
		uint64_t address, size;
	} are[] = {
		{ TEXT + 0x10, "first", TEXT + 0x10, 0x30 },
		{ TEXT + 0x3f, "first", TEXT + 0x10, 0x30 },
		{ TEXT + 0x40, "second", TEXT + 0x40, 0x40 },
		{ TEXT + 0x5f, "second", TEXT + 0x40, 0x40 },
		{ TEXT + 0x80, "third", TEXT + 0x80, 0xf80 },
		{ TEXT + 0xfff, "third", TEXT + 0x80, 0xf80 },
		{ DATA + 0x10, "variable", DATA + 8, 0xf8 },
	};
	struct modules *t = start(_i);
	const uint64_t second = _i ? M_INIT : M_MEM + PART;
	struct pdet_module_symbol s;
	struct pdet_module m;
	uint64_t a;
	unsigned i;

	a = add(t, "zram");
	part(t, a, M_MEM, TEXT, 0x1000);
	part(t, a, second, DATA, 0x100);
	add_symbols(t, a);
	for (i = 0; i < PDET_COUNT(are); i++) {
		ck_assert_int_eq(find(t, are[i].va, &m), 0);
		ck_assert_int_eq(pdet_module_symbol(&t->k->space, &t->m, &m,
						    are[i].va, &s), 0);
		ck_assert_str_eq(s.name, are[i].name);
		ck_assert_uint_eq(s.address, are[i].address);
		ck_assert_uint_eq(s.size, are[i].size);
	}
	/* Before the first one. */
	ck_assert_int_eq(find(t, TEXT, &m), 0);
	ck_assert_int_eq(pdet_module_symbol(&t->k->space, &t->m, &m, TEXT + 1,
					    &s), -ENOENT);
	end(t);
}
END_TEST

static int named(struct modules *t, const char *name, uint64_t *ret)
{
	*ret = 0;
	return pdet_module_named(&t->k->space, &t->m, name, ret);
}

START_TEST(by_name)
{
	static const char *const none[] = {
		"printk", "", "fir", "firs", "first1", "variables", "irst",
	};
	struct modules *t = start(_i);
	char much[PDET_MODULE_SYMBOL + 1];
	uint64_t a, b, at, kallsyms = 0;
	size_t i;

	ck_assert_int_eq(named(t, "first", &at), -ENOENT);
	a = add(t, "zram");
	add_symbols(t, a);
	b = add(t, "lz4_compress");
	add_symbols(t, b);
	ck_assert_int_eq(named(t, "first", &at), 0);
	ck_assert_uint_eq(at, TEXT + 0x10);
	ck_assert_int_eq(named(t, "alias", &at), 0);
	ck_assert_uint_eq(at, TEXT + 0x40);
	ck_assert_int_eq(named(t, "variable", &at), 0);
	ck_assert_uint_eq(at, DATA + 8);
	for (i = 0; i < PDET_COUNT(none); i++)
		ck_assert_int_eq(named(t, none[i], &at), -ENOENT);
	memset(much, 'a', sizeof(much));
	much[sizeof(much) - 1] = '\0';
	ck_assert_int_eq(named(t, much, &at), -ENOENT);
	/* One module is damaged: another one may have it, or nobody knows. */
	ck_assert_int_eq(pdet_space_u64(&t->k->space, a + M_KALLSYMS,
					&kallsyms), 0);
	kmem_u32(t->k, kallsyms + K_N, 0x41414141);
	ck_assert_int_eq(named(t, "first", &at), 0);
	ck_assert_int_eq(named(t, "none", &at), -EBADMSG);
	end(t);
}
END_TEST

/* Nobody knows what the name of a symbol is that cannot be read; names before
 * it are known, and a name may be the last one before a hole. */
START_TEST(unread_names)
{
	static const int errors[] = { -ENODATA, -ENOENT };
	struct modules *t = start(false);
	const uint64_t a = add(t, "zram");
	const uint64_t page = kmem_object_at(t->k, 4096, 4096);
	const uint64_t hole = page + 4096;
	uint64_t kallsyms = 0, all = 0, at;
	unsigned i;

	t->k->next = hole + 4096;
	add_symbols(t, a);
	ck_assert_int_eq(pdet_space_u64(&t->k->space, a + M_KALLSYMS,
					&kallsyms), 0);
	ck_assert_int_eq(pdet_space_u64(&t->k->space, kallsyms + K_TABLE,
					&all), 0);
	kmem_u64(t->k, kallsyms + K_NAMES, page);
	kmem_u32(t->k, kallsyms + K_N, 2);
	kmem_text(t->k, hole - 3, "ab");
	for (i = 0; i < 2; i++) {
		const Elf64_Sym e = { .st_name = i ? 4096 : 4096 - 3,
				      .st_value = TEXT + 8 * i,
				      .st_shndx = 1 };

		kmem_write(t->k, all + i * 24, &e, sizeof(e));
	}
	if (errors[_i] == -ENODATA)
		kmem_fail(t->k, hole, errors[_i]);
	ck_assert_int_eq(named(t, "ab", &at), 0);
	ck_assert_uint_eq(at, TEXT);
	ck_assert_int_eq(named(t, "first", &at),
			 errors[_i] == -ENOENT ? -EBADMSG : errors[_i]);
	/* Without the symbol whose name is lost. */
	kmem_u32(t->k, kallsyms + K_N, 1);
	ck_assert_int_eq(named(t, "first", &at), -ENOENT);
	end(t);
}
END_TEST

START_TEST(damaged)
{
	struct modules *t = start(false);
	struct pdet_module_symbol s;
	struct pdet_module m;
	uint64_t a = add(t, "zram"), kallsyms = 0;

	part(t, a, M_MEM, TEXT, 0x1000);
	ck_assert_int_eq(find(t, TEXT, &m), 0);
	/* A module without a table. */
	ck_assert_int_eq(pdet_module_symbol(&t->k->space, &t->m, &m, TEXT, &s),
			 -EBADMSG);
	add_symbols(t, a);
	ck_assert_int_eq(pdet_space_u64(&t->k->space, a + M_KALLSYMS,
					&kallsyms), 0);
	kmem_u32(t->k, kallsyms + K_N, 0x41414141);
	ck_assert_int_eq(pdet_module_symbol(&t->k->space, &t->m, &m,
					    TEXT + 0x40, &s), -EBADMSG);
	kmem_u32(t->k, kallsyms + K_N, PDET_COUNT(table));
	kmem_u64(t->k, kallsyms + K_TABLE, 0xffff8880dead0000);
	ck_assert_int_eq(pdet_module_symbol(&t->k->space, &t->m, &m,
					    TEXT + 0x40, &s), -EBADMSG);
	/* A list with an invalid pointer. */
	kmem_u64(t->k, t->head, 0x4141414141414141);
	kmem_u64(t->k, t->head + 8, 0x4141414141414141);
	ck_assert_int_eq(find(t, TEXT, &m), -EBADMSG);
	end(t);
}
END_TEST

START_TEST(unknown)
{
	struct modules *t = start(false);
	struct pdet_modules m;
	struct structs s;

	/* Kernels without module support have no list. */
	ck_assert(!pdet_modules_init(&m, t->s.btf, 0));
	end(t);
	structs_init(&s);
	ck_assert(!pdet_modules_init(&m, structs_btf(&s), TEXT));
	structs_free(&s);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("modules");

	unit_loop(s, found, 2);
	unit_loop(s, symbols, 2);
	unit_loop(s, by_name, 2);
	unit_loop(s, unread_names, 2);
	unit_test(s, damaged);
	unit_test(s, unknown);
	return unit_main(s);
}
