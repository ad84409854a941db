/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests every class of contents with a page that belongs to it, and one that
 * nearly does.
 */
#include "content/content.h"
#include "../unit.h"

#define PAGE 4096

static unsigned char page[PAGE];

static const char *class(void)
{
	static char buf[PDET_CONTENT_NAME];

	return pdet_content_class(page, PAGE, buf);
}

#define is(name) ck_assert_str_eq(class(), name)

/* Bytes without any pattern. */
static void noise(void)
{
	uint64_t x = 88172645463325252u;
	unsigned i;

	for (i = 0; i < PAGE; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		page[i] = (unsigned char)(x >> 32);
	}
}

static void put(unsigned at, const void *bytes, unsigned n)
{
	memcpy(page + at, bytes, n);
}

static void put_u64(unsigned at, uint64_t value)
{
	unsigned i;

	for (i = 0; i < 8; i++)
		page[at + i] = (unsigned char)(value >> 8 * i);
}

/* --- one byte --- */

static const struct {
	unsigned char byte;
	const char *name;
} bytes[] = {
	{ 0, "zero" }, { 0xff, "ones" }, { 0xaa, "poison:page" },
	{ 0x6b, "poison:slab-free" }, { 0x5a, "poison:slab-unused" },
	{ 0xbb, "poison:slab-red" }, { 0xcc, "poison:init" },
	{ 0x5b, "poison:jbd" }, { 0x5c, "poison:jbd2" },
	{ 0x01, "byte:0x01" }, { 0x41, "byte:0x41" }, { 0xa5, "byte:0xa5" },
};

START_TEST(single_byte)
{
	unsigned at;

	memset(page, bytes[_i].byte, PAGE);
	is(bytes[_i].name);
	/* Slab objects need not fill the page. */
	if (bytes[_i].byte == 0x6b || bytes[_i].byte == 0x5a) {
		memset(page, 0x80, PAGE / 2 + 8);
		is("data");
		return;
	}
	/* One bit of one byte, at any place. */
	for (at = 0; at < PAGE; at++) {
		page[at] ^= 0x80;
		ck_assert_str_ne(class(), bytes[_i].name);
		page[at] ^= 0x80;
	}
}
END_TEST

START_TEST(larger_pages)
{
	static unsigned char large[65536];
	char buf[PDET_CONTENT_NAME];

	ck_assert_str_eq(pdet_content_class(large, sizeof(large), buf),
			 "zero");
	large[65535] = 1;
	ck_assert_str_eq(pdet_content_class(large, sizeof(large), buf),
			 "data");
	memset(large, 0, sizeof(large));
	memcpy(large + sizeof(large) - 10, "SWAPSPACE2", 10);
	ck_assert_str_eq(pdet_content_class(large, sizeof(large), buf),
			 "fs:swap");
}
END_TEST

START_TEST(nothing)
{
	noise();
	is("data");
}
END_TEST

/* --- text --- */

START_TEST(text)
{
	unsigned i;

	for (i = 0; i < PAGE; i++)
		page[i] = "a line of text\n"[i % 15];
	is("text");
	/* the end of a file */
	memset(page + 100, 0, PAGE - 100);
	is("text");
	page[50] = 0x80;
	is("data");
	page[50] = 0;
	is("data");
	memset(page, 0, PAGE);
	put(0, "counter\n", 8);
	is("text");
	page[7] = 0;
	is("data");
}
END_TEST

/* --- marks --- */

struct mark {
	const char *name;
	unsigned at, n;
	const char *bytes;
	unsigned near;		/* a byte that changes the class */
	unsigned char otherwise;
};

static const struct mark marks[] = {
	{ "elf", 0, 7, "\x7f" "ELF\2\1\1", 4, 3 },
	{ "stack-end", 0, 8, "\x9d\x6e\xac\x57\0\0\0\0", 7, 1 },
	{ "jbd2:descriptor", 0, 8, "\xc0\x3b\x39\x98\0\0\0\1", 7, 6 },
	{ "jbd2:commit", 0, 8, "\xc0\x3b\x39\x98\0\0\0\2", 7, 0 },
	{ "jbd2:superblock", 0, 8, "\xc0\x3b\x39\x98\0\0\0\3", 3, 0x99 },
	{ "jbd2:superblock", 0, 8, "\xc0\x3b\x39\x98\0\0\0\4", 4, 1 },
	{ "jbd2:revoke", 0, 8, "\xc0\x3b\x39\x98\0\0\0\5", 0, 0xc1 },
	{ "fs:xfs-super", 0, 4, "XFSB", 3, 'C' },
	{ "fs:xfs-agf", 0, 4, "XAGF", 3, 'H' },
	{ "fs:xfs-agi", 0, 4, "XAGI", 0, 'Y' },
	{ "fs:xfs-agfl", 0, 4, "XAFL", 3, 'M' },
	{ "fs:xfs-btree", 0, 4, "BMA3", 3, '4' },
	{ "fs:xfs-btree", 0, 4, "AB3B", 3, 'D' },
	{ "fs:xfs-btree", 0, 4, "AB3C", 3, 'D' },
	{ "fs:xfs-btree", 0, 4, "IAB3", 0, 'J' },
	{ "fs:xfs-btree", 0, 4, "FIB3", 0, 'G' },
	{ "fs:xfs-btree", 0, 4, "RMB3", 0, 'S' },
	{ "fs:xfs-btree", 0, 4, "R3FC", 3, 'D' },
	{ "fs:xfs-dir", 0, 4, "XDB3", 3, '4' },
	{ "fs:xfs-dir", 0, 4, "XDD3", 3, '4' },
	{ "fs:xfs-dir", 0, 4, "XDF3", 3, '4' },
	{ "fs:xfs-log", 0, 12, "\xfe\xed\xba\xbe\0\0\0\1\0\0\0\2", 11, 3 },
	{ "fs:xfs-inodes", 0, 6, "IN\x81\xa4\3\2", 4, 4 },
	{ "fs:ext4-extents", 0, 8, "\x0a\xf3\4\0\x54\1\0\0", 4, 0x55 },
	{ "fs:ext4-xattr", 0, 12, "\0\0\2\xea\1\0\0\0\1\0\0\0", 8, 2 },
	{ "fs:squashfs-super", 0, 4, "hsqs", 3, 't' },
	{ "fs:erofs-super", 1024, 4, "\xe2\xe1\xf5\xe0", 1025, 0 },
	{ "fs:f2fs-super", 1024, 4, "\x10\x20\xf5\xf2", 1024, 0 },
	{ "fs:btrfs-super", 64, 8, "_BHRfS_M", 71, 'N' },
	{ "fs:swap", PAGE - 10, 10, "SWAPSPACE2", PAGE - 1, '1' },
};

START_TEST(mark)
{
	const struct mark *m = &marks[_i];

	noise();
	put(m->at, m->bytes, m->n);
	is(m->name);
	page[m->near] = m->otherwise;
	is("data");
	/* The same bytes at another place are not a mark. */
	noise();
	put(m->at + 4 > PAGE - 10 ? 0 : m->at + 4, m->bytes, m->n);
	is("data");
	/* A file that mentions it is text. */
	memset(page, 0, PAGE);
	memset(page, 'x', 200);
	put(0, "XFSB and so on", 14);
	is("text");
}
END_TEST

START_TEST(ext_super)
{
	noise();
	memset(page + 1024, 0, 1024);
	put(1024 + 24, "\2\0\0\0", 4);
	put(1024 + 40, "\0\x20\0\0", 4);
	put(1024 + 56, "\x53\xef\1\0", 4);
	put(1024 + 76, "\1\0\0\0", 4);
	is("fs:ext-super");
	page[1024 + 24] = 7;	/* blocks of 128 KiB */
	is("data");
	page[1024 + 24] = 2;
	page[1024 + 57] = 0xee;
	is("data");
}
END_TEST

/* --- slab --- */

/*
 * Objects of 64 bytes with slub_debug=FZPU, 128 bytes each: red zone, object,
 * red zone, free pointer, owner.
 */
static void objects(unsigned char red, unsigned char fill)
{
	unsigned at;

	noise();
	for (at = 0; at < PAGE; at += 128) {
		memset(page + at, red, 16);
		if (fill) {
			memset(page + at + 16, fill, 63);
			page[at + 79] = 0xa5;
		}
		memset(page + at + 80, red, 8);
	}
}

START_TEST(slab_objects)
{
	unsigned at;

	objects(0xbb, 0x6b);
	is("poison:slab-free");
	objects(0xbb, 0x5a);
	is("poison:slab-unused");
	/* The last object lacks one byte. */
	objects(0xbb, 0x6b);
	page[PAGE - 128 + 79] = 0x6b;
	is("slab-redzones");
	/* Without their ends they are not slab objects. */
	noise();
	for (at = 0; at < PAGE; at += 64)
		memset(page + at, 0x6b, 48);
	is("data");
	/* The middle of larger objects, across pages. */
	noise();
	memset(page, 0x6b, 2047);
	page[2047] = 0xa5;
	is("poison:slab-free");
	page[2047] = 0x6b;
	is("data");
}
END_TEST

START_TEST(red_zones)
{
	unsigned at;

	objects(0xbb, 0);
	is("slab-redzones");
	objects(0xcc, 0);
	is("slab-redzones");
	/* One is at another place. */
	memset(page + 1024 + 88, 0xcc, 8);
	is("data");
	/* int3 between functions of the same size */
	noise();
	for (at = 0; at < PAGE; at += 64)
		memset(page + at, 0xcc, 32);
	is("data");
	/* Three objects may be chance. */
	objects(0xcc, 0);
	noise();
	for (at = 0; at < 3 * 128; at += 128) {
		memset(page + at, 0xcc, 16);
		memset(page + at + 80, 0xcc, 8);
	}
	is("data");
}
END_TEST

START_TEST(list_poison)
{
	noise();
	put_u64(808, 0xdead000000000100);
	put_u64(816, 0xdead000000000122);
	is("list-poison");
	/* In the other order, or alone. */
	put_u64(808, 0xdead000000000122);
	put_u64(816, 0xdead000000000100);
	is("data");
	put_u64(816, 0xdead000000000122);
	is("data");
	noise();
	put_u64(PAGE - 16, 0xdead000000000100);
	put_u64(PAGE - 8, 0xdead000000000122);
	is("list-poison");
	put_u64(PAGE - 16, 0);
	is("data");
}
END_TEST

/* --- page tables --- */

static void table(uint64_t bits, unsigned n)
{
	unsigned i;

	memset(page, 0, PAGE);
	for (i = 0; i < n; i++)
		put_u64(i * 24, (uint64_t)(0x1234 + 7 * i) << 12 | bits);
}

START_TEST(page_table)
{
	/* of a task: NX, dirty, accessed, user, write, present */
	table(0x8000000000000067, 100);
	is("pgtable");
	/* arm64: UXN, PXN, nG, AF, shareable, attributes, page */
	table(0x0060000000000f47 | 3, 100);
	is("pgtable");
	/* too few */
	table(0x8000000000000067, 15);
	is("data");
	/* An entry that is not present, as for a swapped page. */
	table(0x8000000000000067, 100);
	put_u64(8, 0x0000123400000200);
	is("data");
	/* An address that no machine has. */
	table(0x8000000000000067, 100);
	put_u64(8, 0x00007f0000001067);
	is("data");
	/* The page was never accessed. */
	table(0x8000000000000007, 100);
	is("data");
	/* Odd numbers. */
	table(0, 0);
	for (unsigned i = 0; i < PAGE / 8; i++)
		put_u64(i * 8, 0x1021);
	is("data");
}
END_TEST

/* --- instructions --- */

/* Functions as compilers generate them. */
static const unsigned char function[] = {
	0x55, 0x48, 0x89, 0xe5, 0x41, 0x54, 0x53, 0x48, 0x89, 0xfb, 0x48,
	0x83, 0xec, 0x10, 0x48, 0x8b, 0x47, 0x18, 0x48, 0x85, 0xc0, 0x74,
	0x1a, 0x4c, 0x8d, 0x60, 0x08, 0x4c, 0x89, 0xe7, 0xe8, 0x12, 0x34,
	0x00, 0x00, 0x48, 0x8b, 0x43, 0x20, 0x8b, 0x50, 0x04, 0x48, 0x8d,
	0x35, 0x10, 0x20, 0x30, 0x00, 0x31, 0xc0, 0xe8, 0x01, 0x02, 0xff,
	0xff, 0x48, 0x83, 0xc4, 0x10, 0x5b, 0x41, 0x5c, 0x5d, 0xc3, 0x66,
};

START_TEST(code)
{
	unsigned at;

	for (at = 0; at + sizeof(function) <= PAGE; at += sizeof(function))
		put(at, function, sizeof(function));
	is("code:x86");
	/* A few functions among other data. */
	noise();
	for (at = 0; at < 512; at += sizeof(function))
		put(at, function, sizeof(function));
	is("data");
	/* A table with the same two bytes everywhere. */
	for (at = 0; at < PAGE; at += 8)
		put_u64(at, 0x8948 | (uint64_t)(at * 2654435761u) << 16);
	is("data");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("content");

	unit_loop(s, single_byte, sizeof(bytes) / sizeof(*bytes));
	unit_test(s, larger_pages);
	unit_test(s, nothing);
	unit_test(s, text);
	unit_loop(s, mark, sizeof(marks) / sizeof(*marks));
	unit_test(s, ext_super);
	unit_test(s, slab_objects);
	unit_test(s, red_zones);
	unit_test(s, list_poison);
	unit_test(s, page_table);
	unit_test(s, code);
	return unit_main(s);
}
