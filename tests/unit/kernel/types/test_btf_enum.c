/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests reading one enum from BTF: from a blob made here, from every damaged
 * form of it, and from the running kernel's BTF.
 */
#include "kernel/types/btf_enum.h"
#include "../../unit.h"

#define KIND_INT 1
#define KIND_ENUM 6
#define KIND_FWD 7

/* Builds a blob: header, types, strings (Documentation/bpf/btf.rst). */
struct blob {
	uint32_t words[64];
	unsigned n_words;
	char strings[256];
	uint32_t n_strings;
	char bytes[1024];
	size_t size;
};

static uint32_t string(struct blob *b, const char *text)
{
	uint32_t at = b->n_strings;

	strcpy(b->strings + at, text);
	b->n_strings += (uint32_t)strlen(text) + 1;
	return at;
}

static void word(struct blob *b, uint32_t w)
{
	b->words[b->n_words++] = w;
}

static void type(struct blob *b, uint32_t name, uint32_t kind, uint32_t vlen,
		 uint32_t size)
{
	word(b, name);
	word(b, kind << 24 | vlen);
	word(b, size);
}

static void put32(struct blob *b, size_t at, uint32_t value)
{
	memcpy(b->bytes + at, &value, sizeof(value));
}

static void finish(struct blob *b)
{
	uint32_t types = b->n_words * 4;

	put32(b, 0, 0xeb9f | 1 << 16);
	put32(b, 4, 24);
	put32(b, 8, 0);
	put32(b, 12, types);
	put32(b, 16, types);
	put32(b, 20, b->n_strings);
	memcpy(b->bytes + 24, b->words, types);
	memcpy(b->bytes + 24 + types, b->strings, b->n_strings);
	b->size = 24 + types + b->n_strings;
}

/*
 * Places enum pageflags among similar types: another enum with the same first
 * member, an int whose size equals the string's offset, a forward declaration,
 * and names that only begin or end like the wanted one.
 */
static struct blob make(void)
{
	struct blob b = { .n_strings = 1 };
	uint32_t decoy = string(&b, "notpageflags");
	uint32_t suffix = string(&b, "XPG_locked");
	uint32_t prefix = string(&b, "PG_locked_too");
	uint32_t locked = string(&b, "PG_locked");
	uint32_t dirty = string(&b, "PG_dirty");
	uint32_t lru = string(&b, "PG_lru");
	uint32_t name = string(&b, "pageflags");

	type(&b, decoy, KIND_INT, 0, locked);
	word(&b, locked);
	type(&b, name, KIND_FWD, 0, 0);
	type(&b, decoy, KIND_ENUM, 1, 4);
	word(&b, locked);
	word(&b, 99);
	type(&b, name, KIND_ENUM, 1, 4);
	word(&b, prefix);
	word(&b, 98);
	type(&b, name, KIND_ENUM, 3, 4);
	word(&b, locked);
	word(&b, 0);
	word(&b, dirty);
	word(&b, 4);
	word(&b, lru);
	word(&b, 0x80000005);
	type(&b, suffix, KIND_ENUM, 1, 4);
	word(&b, suffix);
	word(&b, 97);
	finish(&b);
	return b;
}

struct file {
	const char *bytes;
	size_t size;
	size_t most;		/* limit of one read */
	unsigned reads;
};

static ssize_t read_file(void *arg, void *buf, size_t n, uint64_t offset)
{
	struct file *f = arg;

	f->reads++;
	if (offset >= f->size)
		return 0;
	if (n > f->size - offset)
		n = f->size - offset;
	if (n > f->most)
		n = f->most;
	memcpy(buf, f->bytes + offset, n);
	return (ssize_t)n;
}

static bool find_of(const char *bytes, size_t size, const char *name,
		    const char *first, struct pdet_btf_enum *e)
{
	struct file f = { bytes, size, 4096, 0 };
	const struct pdet_btf_reader reader = { read_file, &f };

	return pdet_btf_enum_find(&reader, name, first, 1, e);
}

static bool find(const char *bytes, size_t size, struct pdet_btf_enum *e)
{
	return find_of(bytes, size, "pageflags", "PG_locked", e);
}

START_TEST(right_enum_among_others)
{
	struct blob b = make();
	char *bytes = unit_exact(b.bytes, b.size);
	struct pdet_btf_enum e;
	uint32_t value = 55;

	ck_assert(find(bytes, b.size, &e));
	ck_assert_uint_eq(e.n, 3);
	ck_assert(pdet_btf_enum_value(&e, "PG_locked", &value));
	ck_assert_uint_eq(value, 0);
	ck_assert(pdet_btf_enum_value(&e, "PG_dirty", &value));
	ck_assert_uint_eq(value, 4);
	ck_assert(pdet_btf_enum_value(&e, "PG_lru", &value));
	ck_assert_uint_eq(value, 0x80000005);
	value = 55;
	ck_assert(!pdet_btf_enum_value(&e, "PG_lr", &value));
	ck_assert(!pdet_btf_enum_value(&e, "G_lru", &value));
	ck_assert(!pdet_btf_enum_value(&e, "PG_error", &value));
	ck_assert(!pdet_btf_enum_value(&e, "", &value));
	ck_assert_uint_eq(value, 55);
	free(bytes);
}
END_TEST

START_TEST(what_is_not_there_is_not_found)
{
	struct blob b = make();
	struct pdet_btf_enum e;

	ck_assert(!find_of(b.bytes, b.size, "pageflag", "PG_locked",
			   &e));
	ck_assert(!find_of(b.bytes, b.size, "zone_type", "PG_locked",
			   &e));
	/* It is not the first member. */
	ck_assert(!find_of(b.bytes, b.size, "pageflags", "PG_dirty",
			   &e));
	ck_assert(!find_of(b.bytes, b.size, "pageflags", "PG_none",
			   &e));
	ck_assert(!find("", 0, &e));
}
END_TEST

START_TEST(cut_at_every_byte)
{
	struct blob b = make();
	size_t cut;

	for (cut = 0; cut < b.size; cut++) {
		char *bytes = unit_exact(b.bytes, cut);
		struct pdet_btf_enum e;

		ck_assert_msg(!find(bytes, cut, &e), "found in %zu of %zu",
			      cut, b.size);
		free(bytes);
	}
}
END_TEST

/* The result of a damaged blob has an end. */
static void ck_bounded(const struct pdet_btf_enum *e)
{
	uint32_t value, i;

	ck_assert(e->n > 0 && e->n <= PDET_BTF_MEMBERS);
	for (i = 0; i < e->n; i++)
		ck_assert_uint_lt(strlen(e->member[i].name),
				  sizeof(e->member[i].name));
	pdet_btf_enum_value(e, "PG_lru", &value);
}

START_TEST(every_byte_damaged)
{
	static const unsigned char masks[] = { 0x01, 0x80, 0xff, 0x7f };
	struct blob b = make();
	size_t at;
	unsigned m;

	for (at = 0; at < b.size; at++)
		for (m = 0; m < sizeof(masks); m++) {
			char *bytes = unit_exact(b.bytes, b.size);
			struct pdet_btf_enum e;

			bytes[at] ^= (char)masks[m];
			if (find(bytes, b.size, &e))
				ck_bounded(&e);
			free(bytes);
		}
}
END_TEST

static const struct {
	size_t at;
	uint32_t value;
} headers[] = {
	{ 0, 0x1eb9f ^ 1 },	/* another magic */
	{ 0, 0xeb9f | 2 << 16 },
	{ 4, 0 }, { 4, 20 }, { 4, 26 }, { 4, 25 }, { 4, 0xffffffff },
	{ 8, 0xffffffff }, { 8, 0xfffffffc }, { 8, 2 }, { 8, 0x7ffffffc },
	{ 12, 0xffffffff }, { 12, 0 }, { 12, 8 },
	{ 16, 0xffffffff }, { 16, 0x10000 },
	{ 20, 0xffffffff }, { 20, 0 }, { 20, 1 },
};

START_TEST(header_that_lies)
{
	struct blob b = make();
	struct pdet_btf_enum e;
	char *bytes;

	put32(&b, headers[_i].at, headers[_i].value);
	bytes = unit_exact(b.bytes, b.size);
	ck_assert(!find(bytes, b.size, &e));
	free(bytes);
}
END_TEST

START_TEST(vlen_past_the_types)
{
	struct blob b = make();
	struct pdet_btf_enum e;
	unsigned i;

	/* Claims more members than there are types left. */
	for (i = 0; i < b.n_words; i++)
		if (b.words[i] == (KIND_ENUM << 24 | 3))
			put32(&b, 24 + 4 * i, KIND_ENUM << 24 | 0xffff);
	ck_assert(!find(b.bytes, b.size, &e));
}
END_TEST

START_TEST(wherever_blocks_end)
{
	const size_t most = 1 << 16;
	char *bytes = malloc(most);
	const unsigned before = 1000 + (unsigned)_i;
	struct blob b = make();
	const uint32_t types = b.n_words * 4, pad = before * 4;
	struct file f = { bytes, 24 + pad + types + b.n_strings,
			  _i % 2 ? 4096 : 100, 0 };
	const struct pdet_btf_reader reader = { read_file, &f };
	struct pdet_btf_enum e;
	uint32_t value;

	/* Invalid words shift the types across the blocks. */
	ck_assert_ptr_nonnull(bytes);
	put32(&b, 12, pad + types);
	put32(&b, 16, pad + types);
	memcpy(bytes, b.bytes, 24);
	memset(bytes + 24, 0, pad);
	memcpy(bytes + 24 + pad, b.words, types);
	memcpy(bytes + 24 + pad + types, b.strings, b.n_strings);
	ck_assert(pdet_btf_enum_find(&reader, "pageflags", "PG_locked", 3,
				     &e));
	ck_assert_uint_eq(e.n, 3);
	ck_assert(pdet_btf_enum_value(&e, "PG_lru", &value));
	ck_assert_uint_eq(value, 0x80000005);
	/* Fewer than that. */
	ck_assert(!pdet_btf_enum_find(&reader, "pageflags", "PG_locked", 4,
				      &e));
	free(bytes);
}
END_TEST

START_TEST(a_name_that_does_not_fit_is_no_other)
{
	struct blob b = { .n_strings = 1 };
	uint32_t locked = string(&b, "PG_locked");
	uint32_t longer = string(&b, "PG_a_name_of_more_than_thirty_one");
	uint32_t name = string(&b, "pageflags"), value;
	struct pdet_btf_enum e;

	type(&b, name, KIND_ENUM, 2, 4);
	word(&b, locked);
	word(&b, 0);
	word(&b, longer);
	word(&b, 1);
	finish(&b);
	ck_assert(find(b.bytes, b.size, &e));
	ck_assert_uint_eq(e.n, 2);
	ck_assert(!pdet_btf_enum_value(&e, "", &value));
	ck_assert(!pdet_btf_enum_value(&e, "PG_a_name_of_more_than_thirty_o",
				       &value));
}
END_TEST

/* Hostile bytes: only headers, each of which must be examined. */
START_TEST(work_is_bounded)
{
	const uint32_t types = 1 << 20;
	char *bytes = calloc(1, 24 + types + 16);
	const uint32_t header[] = { 0xeb9f | 1 << 16, 24, 0, types, types,
				    16 };
	uint32_t entry[] = { 1, KIND_ENUM << 24 | 1, 4, 1, 0 };
	struct file f = { bytes, 24 + types + 16, 4096, 0 };
	const struct pdet_btf_reader reader = { read_file, &f };
	struct pdet_btf_enum e;
	size_t at;

	ck_assert_ptr_nonnull(bytes);
	memcpy(bytes, header, 24);
	for (at = 24; at + sizeof(entry) <= 24 + types; at += sizeof(entry)) {
		entry[0] = 1 + at % 15;
		memcpy(bytes + at, entry, sizeof(entry));
	}
	ck_assert(!pdet_btf_enum_find(&reader, "pageflags", "PG_locked", 1,
				      &e));
	ck_assert_uint_le(f.reads, 30000);
	free(bytes);
}
END_TEST

static ssize_t read_kernel(void *arg, void *buf, size_t n, uint64_t offset)
{
	FILE *f = arg;

	fseek(f, (long)offset, SEEK_SET);
	return (ssize_t)fread(buf, 1, n, f);
}

static bool find_in_kernel(FILE *f, const char *name, const char *first,
			   uint32_t least, struct pdet_btf_enum *e)
{
	const struct pdet_btf_reader reader = { read_kernel, f };

	return pdet_btf_enum_find(&reader, name, first, least, e);
}

START_TEST(the_running_kernel)
{
	static const char *const members[] = {
		"PG_locked", "PG_referenced", "PG_uptodate", "PG_dirty",
		"PG_lru", "PG_active", "PG_writeback", "PG_reclaim",
		"PG_swapbacked", "PG_unevictable", "PG_private",
	};
	FILE *f = fopen("/sys/kernel/btf/vmlinux", "r");
	uint32_t value, count, seen = 0;
	struct pdet_btf_enum e;
	unsigned i;

	if (!f)
		unit_skip("cannot read /sys/kernel/btf/vmlinux");
	ck_assert(find_in_kernel(f, "pageflags", "PG_locked", 16, &e));
	ck_assert(pdet_btf_enum_value(&e, "__NR_PAGEFLAGS", &count));
	ck_assert(count >= 15 && count < 64);
	ck_assert_uint_gt(e.n, count);
	for (i = 0; i < sizeof(members) / sizeof(*members); i++) {
		ck_assert_msg(pdet_btf_enum_value(&e, members[i], &value),
			      "no %s", members[i]);
		ck_assert_uint_lt(value, count);
		/* Each has a number of its own. */
		ck_assert(!(seen >> value & 1));
		seen |= 1u << value;
	}
	ck_assert(pdet_btf_enum_value(&e, "PG_locked", &value));
	ck_assert_uint_eq(value, 0);
	ck_assert(find_in_kernel(f, "zone_type", "ZONE_DMA", 2, &e) ||
		  find_in_kernel(f, "zone_type", "ZONE_DMA32", 2, &e) ||
		  find_in_kernel(f, "zone_type", "ZONE_NORMAL", 2, &e));
	fclose(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("btf_enum");

	unit_test(s, right_enum_among_others);
	unit_test(s, what_is_not_there_is_not_found);
	unit_test(s, cut_at_every_byte);
	unit_test(s, every_byte_damaged);
	unit_loop(s, header_that_lies, sizeof(headers) / sizeof(*headers));
	unit_test(s, vlen_past_the_types);
	unit_loop(s, wherever_blocks_end, 60);
	unit_test(s, a_name_that_does_not_fit_is_no_other);
	unit_test(s, work_is_bounded);
	unit_test(s, the_running_kernel);
	return unit_main(s);
}
