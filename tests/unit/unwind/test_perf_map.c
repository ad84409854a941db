/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests map files of compilers at run time. */
#include <errno.h>

#include "../unit.h"
#include "unwind/perf_map.h"

static struct pdet_perf_map parse(const char *text, size_t n, int error)
{
	struct pdet_perf_map m = { .text = { malloc(n + 1), n } };

	ck_assert_ptr_nonnull(m.text.data);
	memcpy(m.text.data, text, n);
	m.text.data[n] = '\0';
	ck_assert_int_eq(pdet_perf_map_parse(&m), error);
	return m;
}

static const char *name_at(const struct pdet_perf_map *m, uint64_t addr)
{
	const struct pdet_perf_entry *e = pdet_perf_map_find(m, addr);

	return e ? m->text.data + e->name : "-";
}

START_TEST(names)
{
	static const char text[] = "7f0010 b py::f g:/a b.py\n0x20 0x8 low\n"
				   "FF 1 x\n";
	struct pdet_perf_map m = parse(text, strlen(text), 0);

	ck_assert_uint_eq(m.bad, 0);
	ck_assert_str_eq(name_at(&m, 0x7f0010), "py::f g:/a b.py");
	ck_assert_str_eq(name_at(&m, 0x7f001a), "py::f g:/a b.py");
	ck_assert_str_eq(name_at(&m, 0x7f001b), "-");
	ck_assert_str_eq(name_at(&m, 0x7f000f), "-");
	ck_assert_str_eq(name_at(&m, 0x1f), "-");
	ck_assert_str_eq(name_at(&m, 0x27), "low");
	ck_assert_str_eq(name_at(&m, 0x28), "-");
	ck_assert_str_eq(name_at(&m, 0xff), "x");
	ck_assert_str_eq(name_at(&m, UINT64_MAX), "-");
	pdet_perf_map_free(&m);
}
END_TEST

/* A line that is not understood costs no other one. */
START_TEST(wrong_lines)
{
	static const struct {
		const char *line;
		size_t n;
	} cases[] = {
#define LINE(text) { text, sizeof(text) - 1 }
		LINE(""), LINE("1"), LINE("1 2"), LINE("1 2 "), LINE(" 1 2 a"),
		LINE("1  2 a"), LINE("g 2 a"), LINE("1 g a"), LINE("1 0 a"),
		LINE("-1 2 a"), LINE("ffffffffffffffff 1 a"),
		LINE("1 ffffffffffffffff a"), LINE("10000000000000000 1 a"),
		LINE("1 2 a\0b"), LINE("\xff\xfe"), LINE("0x 1 a"),
	};
	char text[256];
	struct pdet_perf_map m;
	size_t n = 0;

	memcpy(text, "8 2 good\n", n = 9);
	memcpy(text + n, cases[_i].line, cases[_i].n);
	n += cases[_i].n;
	memcpy(text + n, "\nc 2 more\n", 10);
	m = parse(text, n + 10, 0);
	ck_assert_uint_eq(m.bad, 1);
	ck_assert_uint_eq(m.entries.n, 2);
	ck_assert_str_eq(name_at(&m, 1), "-");
	ck_assert_str_eq(name_at(&m, 9), "good");
	ck_assert_str_eq(name_at(&m, 0xd), "more");
	pdet_perf_map_free(&m);
}
END_TEST

/* Somebody may be writing the last line. */
START_TEST(last_line)
{
	struct pdet_perf_map m = parse("1 2 whole\n4 2 par", 17, 0);

	ck_assert_uint_eq(m.bad, 1);
	ck_assert_str_eq(name_at(&m, 2), "whole");
	ck_assert_str_eq(name_at(&m, 5), "-");
	pdet_perf_map_free(&m);
	m = parse("", 0, 0);
	ck_assert_str_eq(name_at(&m, 0), "-");
	pdet_perf_map_free(&m);
}
END_TEST

START_TEST(long_names)
{
	static char text[PDET_PERF_NAME + 16];
	struct pdet_perf_map m;
	const size_t n = PDET_PERF_NAME + (size_t)_i;

	memcpy(text, "1 2 ", 4);
	memset(text + 4, 'a', n);
	text[4 + n] = '\n';
	m = parse(text, 5 + n, 0);
	ck_assert_uint_eq(m.bad, (size_t)_i);
	ck_assert_uint_eq(strlen(name_at(&m, 1)), _i ? 1 : n);
	pdet_perf_map_free(&m);
}
END_TEST

/* Addresses are used again: the last entry counts, and what it left of another
 * one is not that function any more. */
START_TEST(overlap)
{
	static const char text[] = "10 10 a\n20 10 b\n18 10 c\n40 8 d\n"
				   "40 8 e\n50 10 f\n54 4 g\n50 10 h\n";
	static const struct {
		uint64_t addr;
		const char *name;
		bool cut;
	} cases[] = {
		{ 0x10, "a", true }, { 0x17, "a", true }, { 0x18, "c", false },
		{ 0x27, "c", false }, { 0x28, "b", true }, { 0x30, "-", false },
		{ 0x40, "e", false }, { 0x47, "e", false },
		{ 0x50, "h", false }, { 0x54, "h", false },
		{ 0x5f, "h", false },
	};
	struct pdet_perf_map m = parse(text, strlen(text), 0);
	const struct pdet_perf_entry *e;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ck_assert_str_eq(name_at(&m, cases[i].addr), cases[i].name);
		e = pdet_perf_map_find(&m, cases[i].addr);
		ck_assert((e && e->cut) == cases[i].cut);
	}
	pdet_perf_map_free(&m);
}
END_TEST

START_TEST(many_lines)
{
	const size_t n = PDET_PERF_LINES + (size_t)_i;
	char *text = malloc(n * 6);
	struct pdet_perf_map m;
	size_t i;

	ck_assert_ptr_nonnull(text);
	for (i = 0; i < n; i++)
		memcpy(text + 6 * i, "1 1 a\n", 6);
	m = parse(text, n * 6, _i ? -EFBIG : 0);
	pdet_perf_map_free(&m);
	free(text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("perf_map");

	unit_test(s, names);
	unit_loop(s, wrong_lines, 16);
	unit_test(s, last_line);
	unit_loop(s, long_names, 2);
	unit_test(s, overlap);
	unit_loop(s, many_lines, 2);
	return unit_main(s);
}
