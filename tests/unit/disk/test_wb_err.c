/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests trace lines about failed writeback, as a 6.18 kernel wrote them, and
 * others.
 */
#include "disk/wb_err.h"
#include "../unit.h"

static bool parse(const char *line, struct pdet_wb_err *ret)
{
	const size_t len = strlen(line);
	char *copy = unit_exact(line, len);
	const bool ok = pdet_wb_err_line((struct pdet_scan){ copy, copy + len },
					 ret);

	free(copy);
	return ok;
}

static const struct {
	const char *line;
	struct pdet_wb_err is;
} good[] = {
	{ "     ksoftirqd/0-14      [000] .Ns.. 12254.508805: "
	  "filemap_set_wb_err: dev=7:0 ino=0xc errseq=0x0",
	  { 7ull << 32, 12, false, 0 } },
	{ "    kworker/u8:2-16438   [001] .Ns1. 12254.535000: "
	  "filemap_set_wb_err: dev=253:17 ino=0xffffffffff errseq=0x1c",
	  { 253ull << 32 | 17, 0xffffffffff, false, 28 } },
	{ "         python3-6930    [001] ...1. 12254.567634: "
	  "file_check_and_advance_wb_err: file=000000006d71a927 dev=0:1048575 "
	  "ino=0xc old=0x0 new=0x101c",
	  { 1048575, 12, true, 28 } },
	{ "  dev=1:1 ino=0x1-6 [001] ...1. 1.5: file_check_and_advance_wb_err: "
	  "file=00000000279f3e9c dev=7:3 ino=0xd old=0x101c new=0x3005",
	  { 7ull << 32 | 3, 13, true, 5 } },
};

START_TEST(what_is_said)
{
	struct pdet_wb_err e;

	ck_assert(parse(good[_i].line, &e));
	ck_assert_uint_eq(e.dev, good[_i].is.dev);
	ck_assert_uint_eq(e.ino, good[_i].is.ino);
	ck_assert_uint_eq(e.told, good[_i].is.told);
	ck_assert_uint_eq(e.error, good[_i].is.error);
}
END_TEST

START_TEST(every_truncation)
{
	const size_t whole = strlen(good[_i].line);
	struct pdet_wb_err e = { .ino = 99 };
	char text[256];
	size_t len;

	/* Except for digits of the last number. */
	for (len = 0; len < whole - 4; len++) {
		memcpy(text, good[_i].line, len);
		text[len] = '\0';
		if (!strchr(text, '=') || text[len - 1] == '=' ||
		    !strstr(text, _i < 2 ? "errseq=0x" : "new=0x"))
			ck_assert(!parse(text, &e));
	}
	ck_assert_uint_eq(e.ino, 99);
}
END_TEST

static const char *const bad[] = {
	"", "# tracer: nop",
	"  x-1 [000] ..... 1.0: filemap_set_wb_error: dev=7:0 ino=0xc "
	"errseq=0x0",
	"  x-1 [000] ..... 1.0: filemap_set_wb_err: dev=4096:0 ino=0xc "
	"errseq=0x0",
	"  x-1 [000] ..... 1.0: filemap_set_wb_err: dev=7:1048576 ino=0xc "
	"errseq=0x0",
	"  x-1 [000] ..... 1.0: filemap_set_wb_err: dev=7:0 ino=12 errseq=0x0",
	"  x-1 [000] ..... 1.0: filemap_set_wb_err: dev=7:0 ino=0xc "
	"errseq=0x0 more",
	"  x-1 [000] ..... 1.0: filemap_set_wb_err: dev=7:0 "
	"ino=0x10000000000000000 errseq=0x0",
	"  x-1 [000] ..... 1.0: file_check_and_advance_wb_err: dev=7:0 "
	"ino=0xc old=0x0 new=0x1",
	"  x-1 [000] ..... 1.0: file_check_and_advance_wb_err: file=1 dev=7:0 "
	"ino=0xc new=0x1",
};

START_TEST(something_else)
{
	struct pdet_wb_err e = { .ino = 99 };

	ck_assert(!parse(bad[_i], &e));
	ck_assert_uint_eq(e.ino, 99);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("wb_err");

	unit_loop(s, what_is_said, (int)(sizeof(good) / sizeof(*good)));
	unit_loop(s, every_truncation, (int)(sizeof(good) / sizeof(*good)));
	unit_loop(s, something_else, (int)(sizeof(bad) / sizeof(*bad)));
	return unit_main(s);
}
