/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests look-ups of types by name: in blobs with every kind of type, in every
 * damaged form of them, in recursive types, and in the running kernel's BTF.
 */
#include <stddef.h>

#include "../../blob.h"
#include "kernel/types/btf.h"

/*
 * Builds one type of every kind, and the types that are looked up between them.
 */
static void make(struct blob *b)
{
	uint32_t i32, u64, u3, pointer, array, matrix, inner, outer, tag;

	blob_init(b);
	/* 1 .. 4 */
	i32 = blob_int(b, "int", 4, 1u << 24 | 32);
	u64 = blob_int(b, "long unsigned int", 8, 64);
	u3 = blob_int(b, "unsigned int", 4, 2 << 16 | 3);
	pointer = blob_type(b, "", BLOB_PTR, 0, 0);
	/* 5: int[7]; 6: int[3][7] */
	array = blob_array(b, i32, i32, 7);
	matrix = blob_array(b, array, i32, 3);
	/* 7: a forward declaration with the name of a struct */
	blob_type(b, "page", BLOB_FWD, 0, 0);
	/* 8: typedef of const volatile restrict type_tag int: 9 .. 12 */
	blob_type(b, "number_t", BLOB_TYPEDEF, 0, 9);
	blob_type(b, "", BLOB_CONST, 0, 10);
	blob_type(b, "", BLOB_VOLATILE, 0, 11);
	blob_type(b, "", BLOB_RESTRICT, 0, 12);
	tag = blob_type(b, "user", BLOB_TYPE_TAG, 0, i32);
	ck_assert_uint_eq(tag, 12);
	/* 13, 14: function and its prototype with two parameters */
	blob_type(b, "page", BLOB_FUNC, 1, 14);
	blob_type(b, "", BLOB_FUNC_PROTO, 2, i32);
	blob_word(b, blob_string(b, "page"));
	blob_word(b, i32);
	blob_word(b, 0);
	blob_word(b, 0);
	/* 15, 16: variable and its section */
	blob_type(b, "page", BLOB_VAR, 0, i32);
	blob_word(b, 1);
	blob_type(b, ".data", BLOB_DATASEC, 2, 100);
	for (int i = 0; i < 6; i++)
		blob_word(b, 15);
	/* 17, 18 */
	blob_type(b, "double", BLOB_FLOAT, 0, 8);
	blob_type(b, "page", BLOB_DECL_TAG, 0, 19);
	blob_word(b, 0xffffffff);
	/* 19: unnamed struct { int deep; unsigned a : 3, b : 5; } */
	inner = blob_type(b, "", BLOB_STRUCT | BLOB_FLAG, 3, 8);
	blob_member(b, "deep", i32, 0);
	blob_member(b, "a", i32, 3u << 24 | 32);
	blob_member(b, "b", i32, 5u << 24 | 35);
	/* 20: unnamed union of it and a pointer */
	outer = blob_type(b, "", BLOB_UNION, 2, 8);
	blob_member(b, "", inner, 0);
	blob_member(b, "next", pointer, 0);
	/* 21: the struct */
	blob_type(b, "page", BLOB_STRUCT, 7, 152);
	blob_member(b, "flags", u64, 0);
	blob_member(b, "", outer, 64);
	blob_member(b, "grid", matrix, 128);
	blob_member(b, "count", 8, 800);
	/*
	 * A bit-field of three bits at bit two of its int, in the old encoding.
	 */
	blob_member(b, "old", u3, 832);
	blob_member(b, "more", 22, 864);
	blob_member(b, "end", array, 1216);
	/* 22: named struct within it */
	blob_type(b, "inside", BLOB_STRUCT | BLOB_FLAG, 2, 40);
	blob_member(b, "hundred", 25, 0);
	blob_member(b, "bit", i32, 1u << 24 | 260);
	/* 23, 24: unsigned and signed enums; 25: of 64 bits */
	blob_type(b, "page", BLOB_ENUM, 2, 4);
	blob_word(b, blob_string(b, "PG_locked"));
	blob_word(b, 0);
	blob_word(b, blob_string(b, "PG_high"));
	blob_word(b, 0xfffffff0);
	blob_type(b, "signs", BLOB_ENUM | BLOB_FLAG, 2, 4);
	blob_word(b, blob_string(b, "MINUS"));
	blob_word(b, 0xfffffff0);
	blob_word(b, blob_string(b, "PLUS"));
	blob_word(b, 16);
	blob_type(b, "wide", BLOB_ENUM64, 2, 8);
	blob_member(b, "WIDE", 0x9abcdef0, 0x12345678);
	blob_member(b, "WIDEST", 0xffffffff, 0xffffffff);
	/* 26: an enum without a name; 27: a second struct with the same name */
	blob_type(b, "", BLOB_ENUM, 1, 4);
	blob_word(b, blob_string(b, "NAMELESS"));
	blob_word(b, 42);
	blob_type(b, "page", BLOB_STRUCT, 0, 9999);
	/* 28: a struct of size 0 */
	blob_type(b, "empty", BLOB_STRUCT, 1, 0);
	blob_member(b, "flexible", array, 0);
}

static struct pdet_btf *open_blob(const char *bytes, size_t size)
{
	bool damaged;
	struct pdet_btf *btf = pdet_btf_new(bytes, size, &damaged);

	ck_assert_ptr_nonnull(btf);
	ck_assert(!damaged);
	return btf;
}

static const struct {
	const char *path;
	struct pdet_btf_member m;
} members[] = {
	{ "page.flags", { 2, 0, 0 } },
	{ "page.deep", { 1, 64, 0 } },
	{ "page.a", { 1, 96, 3 } },
	{ "page.b", { 1, 99, 5 } },
	{ "page.next", { 4, 64, 0 } },
	{ "page.grid", { 6, 128, 0 } },
	{ "page.count", { 8, 800, 0 } },
	{ "page.old", { 3, 834, 3 } },
	{ "page.more", { 22, 864, 0 } },
	{ "page.more.hundred", { 25, 864, 0 } },
	{ "page.more.bit", { 1, 1124, 1 } },
	{ "page.end", { 5, 1216, 0 } },
	{ "inside.bit", { 1, 260, 1 } },
	{ "empty.flexible", { 5, 0, 0 } },
};

START_TEST(members_by_path)
{
	struct pdet_btf_member m;
	struct pdet_btf *btf;
	struct blob b;
	size_t size;
	char *bytes;

	make(&b);
	bytes = blob_bytes(&b, &size);
	btf = open_blob(bytes, size);
	ck_assert(pdet_btf_member(btf, members[_i].path, &m));
	ck_assert_uint_eq(m.type, members[_i].m.type);
	ck_assert_uint_eq(m.bit_offset, members[_i].m.bit_offset);
	ck_assert_uint_eq(m.bit_size, members[_i].m.bit_size);
	pdet_btf_free(btf);
	free(bytes);
	blob_free(&b);
}
END_TEST

START_TEST(what_is_not_there)
{
	static const char *const paths[] = {
		"", ".", "page", "page.", "page..flags", ".flags", "pag.flags",
		"page.flag", "page.flags2", "page.flags.", "page.flags.x",
		"page.grid.x", "page.more.", "page.more.deep", "page.inside",
		"signs.PLUS", "number_t.x", ".data.page", "int.x", "wide.WIDE",
		"page.next.flags", "user.x", "double.x",
		"a_name_of_more_than_sixty_three_characters_is_no_struct_of_linux.x",
	};
	struct pdet_btf_member m = { 55, 55, 55 };
	const char *constant = "none";
	uint64_t value = 55;
	struct pdet_btf *btf;
	struct blob b;
	size_t size, i;
	char *bytes;

	make(&b);
	bytes = blob_bytes(&b, &size);
	btf = open_blob(bytes, size);
	for (i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		ck_assert_msg(!pdet_btf_member(btf, paths[i], &m), "%s",
			      paths[i]);
	ck_assert_uint_eq(m.type, 55);
	/* Neither enums nor types without members. */
	ck_assert(!pdet_btf_struct_size(btf, "signs", &value));
	ck_assert(!pdet_btf_struct_size(btf, "int", &value));
	ck_assert(!pdet_btf_struct_size(btf, "number_t", &value));
	ck_assert(!pdet_btf_struct_size(btf, "", &value));
	ck_assert(!pdet_btf_enumerator(btf, "page", "PLUS", &value));
	ck_assert(!pdet_btf_enumerator(btf, "inside", "PG_locked", &value));
	ck_assert(!pdet_btf_enumerator(btf, "", "NAMELESS", &value));
	ck_assert(!pdet_btf_enumerator(btf, NULL, "PG_lock", &value));
	ck_assert(!pdet_btf_enum_at(btf, "page", 2, &constant, &value));
	ck_assert(!pdet_btf_enum_at(btf, "none", 0, &constant, &value));
	/* Types without a size, and invalid ones. */
	ck_assert(!pdet_btf_type_size(btf, 0, &value));
	ck_assert(!pdet_btf_type_size(btf, 7, &value));
	ck_assert(!pdet_btf_type_size(btf, 13, &value));
	ck_assert(!pdet_btf_type_size(btf, 14, &value));
	ck_assert(!pdet_btf_type_size(btf, 15, &value));
	ck_assert(!pdet_btf_type_size(btf, 16, &value));
	ck_assert(!pdet_btf_type_size(btf, 18, &value));
	ck_assert(!pdet_btf_type_size(btf, 29, &value));
	ck_assert(!pdet_btf_type_size(btf, 0xffffffff, &value));
	ck_assert(!pdet_btf_array_length(btf, 1, &value));
	ck_assert(!pdet_btf_array_length(btf, 0, &value));
	ck_assert(!pdet_btf_array_length(btf, 1000, &value));
	ck_assert_uint_eq(value, 55);
	ck_assert_str_eq(constant, "none");
	pdet_btf_free(btf);
	free(bytes);
	blob_free(&b);
}
END_TEST

START_TEST(sizes)
{
	static const struct {
		uint32_t type;
		uint64_t size;
	} types[] = {
		{ 1, 4 }, { 2, 8 }, { 4, 8 }, { 5, 28 }, { 6, 84 }, { 8, 4 },
		{ 9, 4 }, { 12, 4 }, { 17, 8 }, { 19, 8 }, { 20, 8 },
		{ 21, 152 }, { 23, 4 }, { 24, 4 }, { 25, 8 }, { 28, 0 },
	};
	struct pdet_btf *btf;
	uint64_t value;
	struct blob b;
	size_t size, i;
	char *bytes;

	make(&b);
	bytes = blob_bytes(&b, &size);
	btf = open_blob(bytes, size);
	ck_assert_uint_eq(pdet_btf_length(bytes, size), size);
	ck_assert_uint_eq(pdet_btf_length(bytes, 24), size);
	ck_assert_uint_eq(pdet_btf_length(bytes, 23), 0);
	for (i = 0; i < sizeof(types) / sizeof(*types); i++) {
		ck_assert(pdet_btf_type_size(btf, types[i].type, &value));
		ck_assert_uint_eq(value, types[i].size);
	}
	/* The first of two with the same name. */
	ck_assert(pdet_btf_struct_size(btf, "page", &value));
	ck_assert_uint_eq(value, 152);
	ck_assert(pdet_btf_array_length(btf, 6, &value));
	ck_assert_uint_eq(value, 3);
	ck_assert(pdet_btf_array_length(btf, 5, &value));
	ck_assert_uint_eq(value, 7);
	pdet_btf_free(btf);
	free(bytes);
	blob_free(&b);
}
END_TEST

START_TEST(constants)
{
	static const struct {
		const char *name, *constant;
		uint64_t value;
	} all[] = {
		{ "page", "PG_locked", 0 },
		{ "page", "PG_high", 0xfffffff0 },
		{ "signs", "MINUS", -16ull },
		{ "signs", "PLUS", 16 },
		{ "wide", "WIDE", 0x123456789abcdef0 },
		{ "wide", "WIDEST", -1ull },
		{ NULL, "NAMELESS", 42 },
		{ NULL, "WIDE", 0x123456789abcdef0 },
		{ NULL, "MINUS", -16ull },
	};
	struct pdet_btf *btf;
	const char *constant;
	uint64_t value;
	struct blob b;
	size_t size, i;
	char *bytes;

	make(&b);
	bytes = blob_bytes(&b, &size);
	btf = open_blob(bytes, size);
	for (i = 0; i < sizeof(all) / sizeof(*all); i++) {
		ck_assert(pdet_btf_enumerator(btf, all[i].name,
					      all[i].constant, &value));
		ck_assert_uint_eq(value, all[i].value);
	}
	ck_assert(pdet_btf_enum_at(btf, "signs", 0, &constant, &value));
	ck_assert_str_eq(constant, "MINUS");
	ck_assert_uint_eq(value, -16ull);
	ck_assert(pdet_btf_enum_at(btf, "wide", 1, &constant, &value));
	ck_assert_str_eq(constant, "WIDEST");
	ck_assert_uint_eq(value, -1ull);
	pdet_btf_free(btf);
	free(bytes);
	blob_free(&b);
}
END_TEST

/* --- damage --- */

/* Makes every look-up; each answer must be within bounds. */
static void ask_all(const struct pdet_btf *btf, const char *bytes, size_t size)
{
	static const char *const enums[] = { "page", "signs", "wide" };
	struct pdet_btf_member m;
	const char *constant;
	uint64_t value;
	uint32_t i, j;

	for (i = 0; i < sizeof(members) / sizeof(*members); i++)
		if (pdet_btf_member(btf, members[i].path, &m)) {
			pdet_btf_type_size(btf, m.type, &value);
			pdet_btf_array_length(btf, m.type, &value);
		}
	pdet_btf_struct_size(btf, "page", &value);
	for (i = 0; i < 40; i++) {
		pdet_btf_type_size(btf, i, &value);
		pdet_btf_array_length(btf, i, &value);
	}
	for (i = 0; i < 3; i++)
		for (j = 0; j < 0x10001 &&
			    pdet_btf_enum_at(btf, enums[i], j, &constant,
					     &value); j++)
			if (*constant &&
			    (constant < bytes || constant >= bytes + size))
				ck_abort_msg("a name from elsewhere");
	pdet_btf_enumerator(btf, NULL, "WIDEST", &value);
	pdet_btf_enumerator(btf, "signs", "PLUS", &value);
}

START_TEST(every_byte_damaged)
{
	static const unsigned char masks[] = { 0x01, 0x80, 0xff, 0x7f };
	struct pdet_btf *btf;
	size_t size, at;
	struct blob b;
	bool damaged;
	char *bytes;
	unsigned m;

	make(&b);
	bytes = blob_bytes(&b, &size);
	for (at = 0; at < size; at++)
		for (m = 0; m < sizeof(masks); m++) {
			bytes[at] ^= (char)masks[m];
			btf = pdet_btf_new(bytes, size, &damaged);
			if (!btf && !damaged)
				ck_abort_msg("no reason at byte %zu", at);
			if (btf)
				ask_all(btf, bytes, size);
			pdet_btf_free(btf);
			bytes[at] ^= (char)masks[m];
		}
	free(bytes);
	blob_free(&b);
}
END_TEST

START_TEST(cut_anywhere)
{
	size_t size, cut;
	struct blob b;
	bool damaged;
	char *bytes;

	make(&b);
	bytes = blob_bytes(&b, &size);
	for (cut = 0; cut < size; cut++) {
		char *copy = unit_exact(bytes, cut);

		damaged = false;
		ck_assert_ptr_null(pdet_btf_new(copy, cut, &damaged));
		ck_assert(damaged);
		free(copy);
	}
	free(bytes);
	blob_free(&b);
}
END_TEST

/* Types that are truncated anywhere: earlier types stay valid. */
START_TEST(types_cut_anywhere)
{
	struct pdet_btf_member m;
	struct pdet_btf *btf;
	uint64_t value;
	struct blob b;
	unsigned words, i;
	size_t size;
	char *bytes;

	make(&b);
	words = b.n_words;
	for (i = 0; i < words; i++) {
		b.n_words = i;
		bytes = blob_bytes(&b, &size);
		btf = open_blob(bytes, size);
		ask_all(btf, bytes, size);
		/* The struct is the 21st type, and has 24 words. */
		if (pdet_btf_member(btf, "page.end", &m))
			ck_assert_uint_eq(m.bit_offset, 1216);
		else
			ck_assert(!pdet_btf_struct_size(btf, "page", &value));
		pdet_btf_free(btf);
		free(bytes);
	}
	blob_free(&b);
}
END_TEST

static const struct {
	unsigned word;
	uint32_t value;
} headers[] = {
	{ 0, 0x1eb9e }, { 0, 0x2eb9f }, { 0, 0x9feb0100 }, { 1, 0 }, { 1, 20 },
	{ 1, 26 }, { 1, 0xfffffffc }, { 2, 2 }, { 2, 0xfffffffc },
	{ 2, 0x7ffffffc }, { 3, 0xffffffff }, { 3, 0xfffffffc }, { 4, 0 },
	{ 4, 0xffffffff }, { 4, 0x10000 }, { 5, 0 }, { 5, 0xffffffff },
	{ 5, 2 },
};

START_TEST(header_that_lies)
{
	bool damaged = false;
	struct blob b;
	size_t size;
	char *bytes;

	make(&b);
	bytes = blob_bytes(&b, &size);
	memcpy(bytes + headers[_i].word * 4, &headers[_i].value, 4);
	ck_assert_ptr_null(pdet_btf_new(bytes, size, &damaged));
	ck_assert(damaged);
	free(bytes);
	blob_free(&b);
}
END_TEST

/* The form and length of a future kind are not known. */
START_TEST(kinds_of_tomorrow)
{
	struct pdet_btf *btf;
	uint64_t value;
	struct blob b;
	size_t size;
	char *bytes;

	blob_init(&b);
	blob_type(&b, "before", BLOB_STRUCT, 0, 11);
	blob_type(&b, "new", 20 + (unsigned)_i, 2, 0);
	/* Its words look like a type. */
	blob_type(&b, "never", BLOB_STRUCT, 0, 12);
	blob_type(&b, "behind", BLOB_STRUCT, 0, 13);
	bytes = blob_bytes(&b, &size);
	btf = open_blob(bytes, size);
	ck_assert(pdet_btf_struct_size(btf, "before", &value));
	ck_assert_uint_eq(value, 11);
	ck_assert(!pdet_btf_struct_size(btf, "never", &value));
	ck_assert(!pdet_btf_struct_size(btf, "behind", &value));
	pdet_btf_free(btf);
	free(bytes);
	blob_free(&b);
}
END_TEST

START_TEST(a_member_beyond_its_struct_is_none)
{
	struct pdet_btf_member m;
	struct pdet_btf *btf;
	struct blob b;
	size_t size;
	char *bytes;

	blob_init(&b);
	blob_int(&b, "int", 4, 32);
	blob_type(&b, "inner", BLOB_STRUCT, 2, 8);
	blob_member(&b, "good", 1, 32);
	blob_member(&b, "bad", 1, 0xfffffff8);
	blob_type(&b, "outer", BLOB_STRUCT, 3, 0x30000000);
	blob_member(&b, "", 2, 64);
	blob_member(&b, "in", 2, 128);
	blob_member(&b, "far", 4, 0xfffffff0);
	blob_type(&b, "far", BLOB_STRUCT, 1, 64);
	blob_member(&b, "wraps", 1, 32);
	bytes = blob_bytes(&b, &size);
	btf = open_blob(bytes, size);
	ck_assert(pdet_btf_member(btf, "outer.good", &m));
	ck_assert_uint_eq(m.bit_offset, 96);
	ck_assert(pdet_btf_member(btf, "outer.in.good", &m));
	ck_assert_uint_eq(m.bit_offset, 160);
	ck_assert(!pdet_btf_member(btf, "outer.bad", &m));
	ck_assert(!pdet_btf_member(btf, "outer.in.bad", &m));
	/* Larger than a number holds. */
	ck_assert(!pdet_btf_member(btf, "outer.far.wraps", &m));
	pdet_btf_free(btf);
	free(bytes);
	blob_free(&b);
}
END_TEST

/* --- types without end --- */

START_TEST(types_that_contain_themselves)
{
	struct pdet_btf_member m;
	struct pdet_btf *btf;
	uint64_t value;
	struct blob b;
	size_t size;
	char *bytes;
	uint32_t i;

	blob_init(&b);
	/* 1: contains itself two hundred times, unnamed */
	blob_type(&b, "itself", BLOB_STRUCT, 200, 8);
	for (i = 0; i < 200; i++)
		blob_member(&b, "", 1, 0);
	/*
	 * 2, 3: typedefs of each other; 4: an array of itself; 5: an array of
	 * that
	 */
	blob_type(&b, "ping", BLOB_TYPEDEF, 0, 3);
	blob_type(&b, "pong", BLOB_TYPEDEF, 0, 2);
	blob_array(&b, 4, 4, 2);
	blob_array(&b, 4, 4, 0);
	/* 6: 70000 members exceed the limit */
	blob_type(&b, "wide", BLOB_UNION, 65535, 8);
	for (i = 0; i < 65535; i++)
		blob_member(&b, i % 2 ? "" : "x", 6, 0);
	bytes = blob_bytes(&b, &size);
	btf = open_blob(bytes, size);
	ck_assert(!pdet_btf_member(btf, "itself.x", &m));
	ck_assert(!pdet_btf_member(btf, "wide.y", &m));
	ck_assert(pdet_btf_member(btf, "wide.x", &m));
	ck_assert(!pdet_btf_member(btf, "wide.x.x.x.x.x.y", &m));
	for (i = 2; i < 6; i++)
		ck_assert(!pdet_btf_type_size(btf, i, &value));
	ck_assert(!pdet_btf_array_length(btf, 2, &value));
	ck_assert(pdet_btf_array_length(btf, 4, &value));
	pdet_btf_free(btf);
	free(bytes);
	blob_free(&b);
}
END_TEST

START_TEST(sizes_beyond_numbers)
{
	struct pdet_btf *btf;
	uint64_t value = 55;
	struct blob b;
	size_t size;
	char *bytes;
	uint32_t i;

	blob_init(&b);
	blob_int(&b, "int", 0xffffffff, 32);
	for (i = 1; i < 4; i++)
		blob_array(&b, i, 1, 0xffffffff);
	bytes = blob_bytes(&b, &size);
	btf = open_blob(bytes, size);
	ck_assert(pdet_btf_type_size(btf, 2, &value));
	ck_assert_uint_eq(value, 0xfffffffe00000001);
	ck_assert(!pdet_btf_type_size(btf, 3, &value));
	ck_assert(!pdet_btf_type_size(btf, 4, &value));
	pdet_btf_free(btf);
	free(bytes);
	blob_free(&b);
}
END_TEST

/*
 * Each contains ten of the next, unnamed; the last one is complete. Visiting
 * all of them would take years.
 */
START_TEST(types_of_types_of_types)
{
	struct pdet_btf *btf;
	struct blob b;
	size_t size;
	char *bytes, name[16];
	uint32_t i, k;

	blob_init(&b);
	for (i = 1; i <= 15; i++) {
		snprintf(name, sizeof(name), "s%u", i);
		blob_type(&b, name, BLOB_STRUCT, 10, 8);
		for (k = 0; k < 10; k++)
			blob_member(&b, "", i + 1, 0);
	}
	blob_type(&b, "s16", BLOB_STRUCT, 0, 8);
	bytes = blob_bytes(&b, &size);
	btf = open_blob(bytes, size);
	ck_assert(pdet_btf_is_whole(btf, "s16"));
	ck_assert(pdet_btf_is_whole(btf, "s15"));
	ck_assert(pdet_btf_is_whole(btf, "s13"));
	ck_assert(!pdet_btf_is_whole(btf, "s1"));
	pdet_btf_free(btf);
	free(bytes);
	blob_free(&b);
}
END_TEST

/* --- many names --- */

/*
 * Overlapping names: megabytes of text. Reading each of them fully would take
 * minutes.
 */
START_TEST(names_without_end)
{
	const uint32_t n = 300000, text = 4 << 20;
	const uint32_t header[] = { 0xeb9f | 1 << 16, 24, 0, n * 12, n * 12,
				    text };
	char *bytes = malloc(24 + n * 12 + text), *strings;
	struct pdet_btf *btf;
	uint64_t value = 55;
	uint32_t i;

	ck_assert_ptr_nonnull(bytes);
	memcpy(bytes, header, 24);
	strings = bytes + 24 + n * 12;
	memset(strings, 'a', text);
	memcpy(strings, "\0real", 6);
	strings[text - 1] = '\0';
	for (i = 0; i < n; i++) {
		const uint32_t type[] = { i ? i * 13 + 6 : 1, 4u << 24, 16 };

		memcpy(bytes + 24 + i * 12, type, 12);
	}
	btf = open_blob(bytes, 24 + n * 12 + text);
	ck_assert(pdet_btf_struct_size(btf, "real", &value));
	ck_assert_uint_eq(value, 16);
	ck_assert(!pdet_btf_struct_size(btf, "aaaa", &value));
	pdet_btf_free(btf);
	free(bytes);
}
END_TEST

START_TEST(ten_thousand_names)
{
	struct pdet_btf *btf;
	uint64_t value;
	struct blob b;
	size_t size, i;
	char *bytes, name[16];
	/* The strings are made here: "s0", "s1" ... */
	const unsigned n = 10000;
	char *strings = calloc(n, 8), *with;
	uint32_t header[6], at = 1;

	ck_assert_ptr_nonnull(strings);
	blob_init(&b);
	for (i = 0; i < n; i++) {
		blob_type(&b, "", i % 2 ? BLOB_STRUCT : BLOB_ENUM, 0,
			  (uint32_t)i * 3);
		b.words[b.n_words - 3] = at;
		at += (uint32_t)sprintf(strings + at, "s%zu", i / 2) + 1;
	}
	bytes = blob_bytes(&b, &size);
	memcpy(header, bytes, sizeof(header));
	header[5] = at;
	with = malloc(24 + header[3] + at);
	ck_assert_ptr_nonnull(with);
	memcpy(with, header, 24);
	memcpy(with + 24, bytes + 24, header[3]);
	memcpy(with + 24 + header[3], strings, at);
	btf = open_blob(with, 24 + header[3] + at);
	for (i = 0; i < n / 2; i++) {
		snprintf(name, sizeof(name), "s%zu", i);
		/* A struct and an enum may have the same name. */
		if (!pdet_btf_struct_size(btf, name, &value) ||
		    value != (i * 2 + 1) * 3)
			ck_abort_msg("%s: %llu", name,
				     (unsigned long long)value);
	}
	ck_assert(!pdet_btf_struct_size(btf, "s5000", &value));
	pdet_btf_free(btf);
	free(with);
	free(strings);
	free(bytes);
	blob_free(&b);
}
END_TEST

/* --- the running kernel --- */

static char *read_all(const char *path, size_t *size)
{
	FILE *f = fopen(path, "r");
	size_t cap = 1 << 20, n;
	char *bytes = malloc(cap);

	*size = 0;
	while (f && bytes && (n = fread(bytes + *size, 1, cap - *size, f))) {
		*size += n;
		if (*size == cap)
			bytes = realloc(bytes, cap *= 2);
	}
	if (f)
		fclose(f);
	return bytes;
}

START_TEST(the_running_kernel)
{
	size_t size;
	char *bytes = read_all("/sys/kernel/btf/vmlinux", &size);
	struct pdet_btf_member m, other;
	struct pdet_btf *btf;
	uint64_t value;

	if (!size)
		unit_skip("cannot read /sys/kernel/btf/vmlinux");
	ck_assert_uint_eq(pdet_btf_length(bytes, size), size);
	btf = open_blob(bytes, size);
	/* Every 64-bit kernel has these. */
	ck_assert(pdet_btf_struct_size(btf, "list_head", &value));
	ck_assert_uint_eq(value, 16);
	ck_assert(pdet_btf_member(btf, "list_head.prev", &m));
	ck_assert_uint_eq(m.bit_offset, 64);
	ck_assert(pdet_btf_type_size(btf, m.type, &value));
	ck_assert_uint_eq(value, 8);
	ck_assert(pdet_btf_struct_size(btf, "page", &value));
	ck_assert_uint_eq(value % 8, 0);
	ck_assert(pdet_btf_member(btf, "page.flags", &m));
	ck_assert_uint_eq(m.bit_offset, 0);
	/* Within unnamed unions; the name also belongs to a struct. */
	ck_assert(pdet_btf_member(btf, "page._refcount", &m));
	ck_assert(pdet_btf_member(btf, "page._refcount.counter", &other));
	ck_assert_uint_eq(m.bit_offset, other.bit_offset);
	ck_assert(pdet_btf_member(btf, "page.lru", &m));
	ck_assert(pdet_btf_member(btf, "page.lru.prev", &other));
	ck_assert_uint_eq(m.bit_offset + 64, other.bit_offset);
	ck_assert(pdet_btf_member(btf, "task_struct.comm", &m));
	ck_assert(pdet_btf_array_length(btf, m.type, &value));
	ck_assert_uint_eq(value, 16);
	ck_assert(pdet_btf_type_size(btf, m.type, &value));
	ck_assert_uint_eq(value, 16);
	ck_assert(pdet_btf_enumerator(btf, "pageflags", "PG_locked", &value));
	ck_assert_uint_eq(value, 0);
	ck_assert(pdet_btf_enumerator(btf, NULL, "__NR_PAGEFLAGS", &value));
	ck_assert(value > 15 && value < 64);
	/* User space knows the same struct: iovec. */
	ck_assert(pdet_btf_member(btf, "iovec.iov_len", &m));
	ck_assert_uint_eq(m.bit_offset, 64);
	pdet_btf_free(btf);
	free(bytes);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("btf");

	unit_loop(s, members_by_path, sizeof(members) / sizeof(*members));
	unit_test(s, what_is_not_there);
	unit_test(s, sizes);
	unit_test(s, constants);
	unit_test(s, every_byte_damaged);
	unit_test(s, cut_anywhere);
	unit_test(s, types_cut_anywhere);
	unit_loop(s, header_that_lies, sizeof(headers) / sizeof(*headers));
	unit_loop(s, kinds_of_tomorrow, 12);
	unit_test(s, a_member_beyond_its_struct_is_none);
	unit_test(s, types_that_contain_themselves);
	unit_test(s, sizes_beyond_numbers);
	unit_test(s, types_of_types_of_types);
	unit_test(s, names_without_end);
	unit_test(s, ten_thousand_names);
	unit_test(s, the_running_kernel);
	return unit_main(s);
}
