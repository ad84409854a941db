/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests how the example migration_agent parses QEMU's monitor texts, from which
 * its fuzzer starts.
 */
#include "../../../examples/migration_agent/blocks.h"
#include "../unit.h"

static size_t read_corpus(const char *name, void *bytes, size_t size)
{
	char path[4096], of[128];
	size_t n;
	FILE *f;

	snprintf(of, sizeof(of), "tests/fuzz/corpus/%s", name);
	f = fopen(unit_source(path, sizeof(path), of), "rb");
	ck_assert_msg(f != NULL, "cannot read %s", path);
	n = fread(bytes, 1, size, f);
	fclose(f);
	return n;
}

static struct block blocks[MAX_BLOCKS];
static const char *odd;

static unsigned read_blocks(const char *name)
{
	static char text[1 << 16];
	unsigned n;
	char *cut;

	memset(text, 0, sizeof(text));
	read_corpus(name, text, sizeof(text) - 1);
	cut = strchr(text, '#');
	ck_assert_ptr_nonnull(cut);
	*cut = 0;
	n = blocks_parse(text, blocks, &odd);
	blocks_parse_views(cut + 1, blocks, n);
	return n;
}

START_TEST(where_the_guest_has_memory)
{
	const struct range *r = blocks[0].ranges;

	ck_assert_uint_eq(read_blocks("blocks/pc"), 4);
	ck_assert_ptr_null(odd);
	ck_assert_str_eq(blocks[0].name, "pc.ram");
	ck_assert_uint_eq(blocks[0].used, 0x8000000);
	/* Devices have another view of these addresses. */
	ck_assert_uint_eq(blocks[0].n_ranges, 3);
	ck_assert_uint_eq(r[1].gpa, 0xc3000);
	ck_assert_uint_eq(r[1].offset, 0xc3000);
	ck_assert_uint_eq(r[1].len, 0x25000);
	ck_assert(r[1].rom && !r[0].rom && !r[2].rom);
	ck_assert_uint_eq(r[2].len, 0x8000000 - 0xe8000);
	ck_assert_str_eq(blocks[1].name, "/rom@etc/acpi/tables");
	ck_assert_uint_eq(blocks[1].used, 0x20000);
	ck_assert_uint_eq(blocks[1].total, 0x200000);
	ck_assert_uint_eq(blocks[1].n_ranges, 0);
	ck_assert_uint_eq(blocks[2].ranges[0].gpa, 0xfffc0000);
	/* The region's name lacks the device's path. */
	ck_assert_str_eq(blocks[3].name, "0000:00:02.0/vga.vram");
	ck_assert_uint_eq(blocks[3].n_ranges, 1);
}
END_TEST

START_TEST(nonsense_is_said)
{
	ck_assert_uint_eq(read_blocks("blocks/odd"), 1);
	ck_assert_pstr_eq(odd, "   4 KiB  0x0 0x1 0x2");
	ck_assert_str_eq(blocks[0].name, "a b");
	ck_assert_uint_eq(blocks[0].n_ranges, 0);
}
END_TEST

/* The host may use huge pages for the guest's memory. */
START_TEST(every_size_of_pages)
{
	ck_assert_uint_eq(read_blocks("blocks/huge"), 3);
	ck_assert_ptr_null(odd);
	ck_assert_str_eq(blocks[0].name, "ram");
	ck_assert_uint_eq(blocks[0].used, 4ull << 30);
	ck_assert_uint_eq(blocks[0].n_ranges, 2);
	ck_assert_str_eq(blocks[1].name, "dimm0");
	ck_assert_uint_eq(blocks[1].used, 512u << 20);
	ck_assert_str_eq(blocks[2].name, "pc.bios");
}
END_TEST

START_TEST(a_size_that_is_not_known_is_said)
{
	char text[] = "Block Name PSize Offset Used Total\n"
		"ram 1 TiB 0x0 0x10000000000 0x10000000000\n"
		"pc.bios 4 KiB 0x0 0x40000 0x40000\n";

	ck_assert_uint_eq(blocks_parse(text, blocks, &odd), 1);
	ck_assert_pstr_eq(odd,
			  "ram 1 TiB 0x0 0x10000000000 0x10000000000");
}
END_TEST

START_TEST(more_blocks_than_there_is_room_for_are_said)
{
	static char text[(MAX_BLOCKS + 1) * 40];
	unsigned i;

	for (i = 0; i <= MAX_BLOCKS; i++)
		sprintf(text + strlen(text), "b%u 4 KiB 0x0 0x1000 0x1000\n",
			i);
	ck_assert_uint_eq(blocks_parse(text, blocks, &odd), MAX_BLOCKS);
	ck_assert_pstr_eq(odd, "b64 4 KiB 0x0 0x1000 0x1000");
}
END_TEST

START_TEST(the_largest_block_must_be_compared)
{
	const unsigned n = read_blocks("blocks/huge");
	unsigned i;

	for (i = 0; i < n; i++)
		blocks[i].pages = blocks[i].used / PAGE_BYTES;
	ck_assert_ptr_null(blocks_missing(blocks, n));
	blocks[2].pages = 0;
	ck_assert_ptr_null(blocks_missing(blocks, n));
	blocks[0].pages = 0;
	ck_assert_ptr_eq(blocks_missing(blocks, n), &blocks[0]);
	/* One of two equal ones. */
	blocks[0].pages = 1;
	blocks[1].used = blocks[0].used;
	blocks[1].pages = 0;
	ck_assert_ptr_eq(blocks_missing(blocks, n), &blocks[1]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("migration");

	unit_test(s, where_the_guest_has_memory);
	unit_test(s, nonsense_is_said);
	unit_test(s, every_size_of_pages);
	unit_test(s, a_size_that_is_not_known_is_said);
	unit_test(s, more_blocks_than_there_is_room_for_are_said);
	unit_test(s, the_largest_block_must_be_compared);
	return unit_main(s);
}
