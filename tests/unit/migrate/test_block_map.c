/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests the map of a guest's memory: by blocks, from text, and in both
 * directions.
 */
#include <errno.h>

#include <pagedet.h>

#include "../unit.h"

static const char map[] =
	"# made up\n"
	"block pc.ram 0x100000 0x7f0000000000 0x7e0000000000 # 1 MiB\n"
	"\n"
	"guest pc.ram 0 0 0xa0000\r\n"
	"  guest pc.ram 0xc0000 0x1c0000 0x40000 ro\n"
	"block rom\\040one\\043\\134 8192 65536 131072";

static struct pagedet_blocks *new_blocks(void)
{
	struct pagedet_blocks *b;

	ck_assert_int_eq(pagedet_blocks_new(4096, &b), 0);
	return b;
}

START_TEST(a_text_says_where_pages_are)
{
	struct pagedet_page_at at = { .size = sizeof(at) };
	struct pagedet_blocks *b = new_blocks();

	ck_assert_int_eq(pagedet_blocks_load(b, map, strlen(map), NULL), 0);
	ck_assert_uint_eq(pagedet_blocks_count(b), 256 + 2);
	ck_assert_int_eq(pagedet_blocks_at(b, 0xc1, &at), 0);
	ck_assert_str_eq(at.name, "pc.ram");
	ck_assert_uint_eq(at.offset, 0xc1000);
	ck_assert_uint_eq(at.addr[PAGEDET_END_SOURCE], 0x7f00000c1000);
	ck_assert_uint_eq(at.addr[PAGEDET_END_DESTINATION], 0x7e00000c1000);
	ck_assert_uint_eq(at.guest, 0x1c1000);
	ck_assert_uint_eq(at.has_guest, 1);
	ck_assert_uint_eq(at.read_only, 1);
	ck_assert_int_eq(pagedet_blocks_at(b, 0xa0, &at), 0);
	ck_assert_uint_eq(at.has_guest, 0);
	ck_assert_int_eq(pagedet_blocks_at(b, 257, &at), 0);
	ck_assert_str_eq(at.name, "rom one#\\");
	ck_assert_uint_eq(at.block, 1);
	ck_assert_uint_eq(at.addr[0], 65536 + 4096);
	ck_assert_int_eq(pagedet_blocks_at(b, 258, &at), -ENOENT);
	pagedet_blocks_free(b);
}
END_TEST

START_TEST(pages_are_found)
{
	struct pagedet_item items[2];
	struct pagedet_blocks *b = new_blocks();

	ck_assert_int_eq(pagedet_blocks_load(b, map, strlen(map), NULL), 0);
	ck_assert_uint_eq(pagedet_blocks_page(b, "pc.ram", 0x2fff), 2);
	ck_assert_uint_eq(pagedet_blocks_page(b, "pc.ram", 0x100000),
			  PAGEDET_NO_PAGE);
	ck_assert_uint_eq(pagedet_blocks_page(b, "rom one#\\", 4096), 257);
	ck_assert_uint_eq(pagedet_blocks_page(b, "vga", 0), PAGEDET_NO_PAGE);
	ck_assert_uint_eq(pagedet_blocks_guest(b, 0x9ffff), 0x9f);
	ck_assert_uint_eq(pagedet_blocks_guest(b, 0xa0000), PAGEDET_NO_PAGE);
	ck_assert_uint_eq(pagedet_blocks_guest(b, 0x1c0000), 0xc0);
	ck_assert_int_eq(pagedet_blocks_items(b, 1, 42, items, 1), 2);
	ck_assert_int_eq(pagedet_blocks_items(b, 1, 42, items, 2), 2);
	ck_assert_uint_eq(items[1].first, 131072);
	ck_assert_uint_eq(items[1].count, 8192);
	ck_assert_uint_eq(items[1].pid, 42);
	ck_assert_int_eq(pagedet_blocks_items(b, 2, 42, items, 2), -EINVAL);
	pagedet_blocks_free(b);
}
END_TEST

static const struct {
	const char *text;
	int error;
	unsigned line;
} wrong[] = {
	{ "block a 4096 0\n", -EBADMSG, 1 },
	{ "\nblok a 4096 0 0\n", -EBADMSG, 2 },
	{ "block a 4096 0 0 0 0\n", -EBADMSG, 1 },
	{ "block a 4096 0x 0\n", -EBADMSG, 1 },
	{ "block a -4096 0 0\n", -EBADMSG, 1 },
	{ "block a\\x 4096 0 0\n", -EBADMSG, 1 },
	{ "block a 0x10000000000000000 0 0\n", -EBADMSG, 1 },
	{ "block a 4097 0 0\n", -EINVAL, 1 },
	{ "block a 0 0 0\n", -EINVAL, 1 },
	{ "block a 4096 0 1\n", -EINVAL, 1 },
	{ "block a 0x2000 0xfffffffffffff000 0\n", -EINVAL, 1 },
	{ "block a 4096 0 0\nblock a 4096 0 0\n", -EINVAL, 2 },
	{ "block a 0x8000000000000000 0 0\n", -EOVERFLOW, 1 },
	{ "block a 4096 0 0\nguest b 0 0 4096\n", -ENOENT, 2 },
	{ "block a 4096 0 0\nguest a 4096 0 4096\n", -EINVAL, 2 },
	{ "block a 4096 0 0\nguest a 0 0 4096 rw\n", -EBADMSG, 2 },
};

START_TEST(what_is_wrong_is_refused_with_its_line)
{
	struct pagedet_blocks *b = new_blocks();
	const char *text = wrong[_i].text;
	uint64_t line = 0;

	ck_assert_int_eq(pagedet_blocks_load(b, text, strlen(text), &line),
			 wrong[_i].error);
	ck_assert_uint_eq(line, wrong[_i].line);
	pagedet_blocks_free(b);
}
END_TEST

START_TEST(arguments_are_checked)
{
	struct pagedet_block block = { .size = sizeof(block), .bytes = 4096 };
	struct pagedet_blocks *b;

	ck_assert_int_eq(pagedet_blocks_new(0, &b), -EINVAL);
	ck_assert_int_eq(pagedet_blocks_new(6144, &b), -EINVAL);
	b = new_blocks();
	ck_assert_int_eq(pagedet_blocks_add(b, &block), -EINVAL);
	ck_assert_int_eq(pagedet_blocks_add(b, NULL), -EINVAL);
	block.name = "a";
	ck_assert_int_eq(pagedet_blocks_add(b, &block), 0);
	pagedet_blocks_free(b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("block_map");

	unit_test(s, a_text_says_where_pages_are);
	unit_test(s, pages_are_found);
	unit_loop(s, what_is_wrong_is_refused_with_its_line,
		  (int)(sizeof(wrong) / sizeof(*wrong)));
	unit_test(s, arguments_are_checked);
	return unit_main(s);
}
