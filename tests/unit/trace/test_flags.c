/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests the names of flags in formats of several kernels, and in bad ones. */
#include "trace/flags.h"
#include "../unit.h"

static struct pdet_gfp_names names;

static void read_list(const char *text)
{
	pdet_trace_flags((struct pdet_scan){ text, text + strlen(text) },
			 "gfp_flags", &names);
}

static void is(unsigned i, const char *name, uint64_t mask)
{
	ck_assert_uint_lt(i, names.n);
	ck_assert_str_eq(names.entry[i].name, name);
	ck_assert_uint_eq(names.entry[i].mask, mask);
}

#define HEAD "print fmt: \"x\", __print_flags(REC->flags, \"|\", " \
	     "{ 1, \"OTHER\"}), (REC->gfp_flags) ? " \
	     "__print_flags(REC->gfp_flags, \"|\", "
#define TAIL ") : \"none\", REC->node\n"
/* Linux 2.6.32 and 4.9 */
#define OLD "{(unsigned long)(((( gfp_t)0x10u) | (( gfp_t)0x40u))), \"A\"}, " \
	    "{(unsigned long)(((gfp_t)(0x400u|0x800u)) & ~((gfp_t)0x400u)), " \
	    "\"B\"}"
/* Linux 6.12 */
#define NEW "{( unsigned long)((( gfp_t)(((((1UL))) << (10))|((((1UL))) << " \
	    "(11)))) | (( gfp_t)((((1UL))) << (6)))), \"C\"}, " \
	    "{ ( unsigned long)(( gfp_t)0), \"D\"}"

START_TEST(kernels)
{
	char text[PDET_GFP_TEXT];

	read_list(HEAD OLD ", " NEW TAIL);
	ck_assert_uint_eq(names.n, 4);
	is(0, "A", 0x50);
	is(1, "B", 0x800);
	is(2, "C", 0xc40);
	is(3, "D", 0);
	/* The list's order, and what is left. */
	text[pdet_gfp_text(&names, 0x80000c70, text)] = '\0';
	ck_assert_str_eq(text, "A|B|0x80000420");
	text[pdet_gfp_text(&names, 0xc60, text)] = '\0';
	ck_assert_str_eq(text, "B|0x460");
}
END_TEST

START_TEST(numbers)
{
	static const struct {
		const char *text;
		uint64_t value;
	} good[] = {
		{ "1 | 2 ^ 3 & 1 << 1", 1 | (2 ^ (3 & (1 << 1))) },
		{ "1 << 2 << 3 >> 1", 16 },
		{ "8 | 4 & 2", 8 },
		{ "(gfp_t)~0xfful", 0xffffff00 },
		{ "(unsigned long)~0ull", UINT64_MAX },
		{ "((unsigned int)(1) )<<63", (uint64_t)1 << 63 },
	};
	static const char *const bad[] = {
		"", "NAME", "(NAME)", "1 << (___GFP_ZERO_BIT)", "1 << 64",
		"(1", "1)", "1 |", "~", "1 + 2", "1 2", "1x", "0x",
		"18446744073709551616", "(gfp_t)", "(other_t)1",
	};
	char text[256];
	size_t i;

	for (i = 0; i < PDET_COUNT(good); i++) {
		snprintf(text, sizeof(text), HEAD "{%s, \"X\"}" TAIL,
			 good[i].text);
		read_list(text);
		is(0, "X", good[i].value);
	}
	for (i = 0; i < PDET_COUNT(bad); i++) {
		snprintf(text, sizeof(text), HEAD "{%s, \"X\"}, {1, \"Y\"}"
			 TAIL, bad[i]);
		read_list(text);
		/* The others are still there. */
		ck_assert_msg(names.n == 1, "%s", bad[i]);
		is(0, "Y", 1);
	}
}
END_TEST

START_TEST(harm)
{
	static const char *const none[] = {
		"", HEAD, HEAD "{", HEAD "{1", HEAD "{1, \"", HEAD "{1, \"X",
		HEAD "{1, \"\"}", HEAD "{1, \"a|b\"}", HEAD "{1, \"X\"",
		HEAD "{1, \"A_NAME_THAT_IS_MUCH_TOO_LONG_TO_BE_THAT_OF_A_FLAG"
		"\"}",
		"print fmt: \"x\", __print_flags(REC->gfp_flags",
		"print fmt: \"x\", __print_flags(REC->gfp_flags, \":\", "
		"{1, \"X\"})",
		"print fmt: \"x\", REC->gfp_flags",
	};
	char text[5000] = HEAD "{";
	size_t i;

	for (i = 0; i < PDET_COUNT(none); i++) {
		read_list(none[i]);
		ck_assert_msg(!names.n, "%s", none[i]);
	}
	memset(text + strlen(text), '(', 4000);
	strcat(text, "1, \"X\"}");
	read_list(text);
	ck_assert(!names.n);
	strcpy(text, HEAD);
	for (i = 0; i < 200; i++)
		strcat(text, "{1, \"X\"}, ");
	read_list(text);
	ck_assert_uint_eq(names.n, PDET_GFP_NAMES);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("flags");

	unit_test(s, kernels);
	unit_test(s, numbers);
	unit_test(s, harm);
	return unit_main(s);
}
