/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests scanning of numbers, words and lines in untrusted text. */
#include "base/text/quote.h"
#include "base/text/text.h"
#include "../../unit.h"

static struct pdet_scan scan(const char *text)
{
	struct pdet_scan s = { text, text + strlen(text) };

	return s;
}

struct number {
	const char *text;
	bool good;
	uint64_t value;
	size_t used;
};

static const struct number hex_numbers[] = {
	{ "0", true, 0, 1 },
	{ "00000000000000000000000000", true, 0, 26 },
	{ "deadBEEF", true, 0xdeadbeef, 8 },
	{ "ffffffffffffffff", true, UINT64_MAX, 16 },
	{ "0ffffffffffffffff", true, UINT64_MAX, 17 },
	{ "10000000000000000", false, 0, 0 },
	{ "ffffffffffffffff0", false, 0, 0 },
	{ "12-", true, 0x12, 2 },
	{ "0x12", true, 0, 1 },
	{ "12g", true, 0x12, 2 },
	{ "", false, 0, 0 },
	{ "g", false, 0, 0 },
	{ " 1", false, 0, 0 },
	{ "-1", false, 0, 0 },
	{ "+1", false, 0, 0 },
};

START_TEST(hex)
{
	const struct number *n = &hex_numbers[_i];
	struct pdet_scan s = scan(n->text);
	uint64_t value = 4711;

	ck_assert_int_eq(pdet_scan_hex(&s, &value), n->good);
	ck_assert_uint_eq(value, n->good ? n->value : 4711);
	ck_assert_ptr_eq(s.at, n->text + n->used);
}
END_TEST

static const struct number dec_numbers[] = {
	{ "0", true, 0, 1 },
	{ "007", true, 7, 3 },
	{ "18446744073709551615", true, UINT64_MAX, 20 },
	{ "018446744073709551615", true, UINT64_MAX, 21 },
	{ "18446744073709551616", false, 0, 0 },
	{ "18446744073709551620", false, 0, 0 },
	{ "99999999999999999999", false, 0, 0 },
	{ "12a", true, 12, 2 },
	{ "0x12", true, 0, 1 },
	{ "", false, 0, 0 },
	{ "a", false, 0, 0 },
	{ "-1", false, 0, 0 },
	{ " 1", false, 0, 0 },
};

START_TEST(decimal)
{
	const struct number *n = &dec_numbers[_i];
	struct pdet_scan s = scan(n->text);
	uint64_t value = 4711;

	ck_assert_int_eq(pdet_scan_dec(&s, &value), n->good);
	ck_assert_uint_eq(value, n->good ? n->value : 4711);
	ck_assert_ptr_eq(s.at, n->text + n->used);
}
END_TEST

START_TEST(numbers_end_where_the_text_ends)
{
	char *text = unit_exact("1234", 4);
	struct pdet_scan s = { text, text + 4 };
	uint64_t value;

	ck_assert(pdet_scan_hex(&s, &value));
	ck_assert_uint_eq(value, 0x1234);
	ck_assert(!pdet_scan_hex(&s, &value));
	ck_assert(!pdet_scan_dec(&s, &value));
	ck_assert(!pdet_scan_char(&s, '5'));
	ck_assert(!pdet_scan_word(&s, "5"));
	ck_assert(pdet_scan_word(&s, ""));
	pdet_scan_blanks(&s);
	ck_assert_ptr_eq(s.at, s.end);
	free(text);
}
END_TEST

START_TEST(words)
{
	struct pdet_scan s = scan("Node 0");

	ck_assert(!pdet_scan_word(&s, "Nodes"));
	ck_assert(!pdet_scan_word(&s, "Node 0, zone"));
	ck_assert(pdet_scan_word(&s, "Node"));
	ck_assert(!pdet_scan_char(&s, '0'));
	ck_assert(pdet_scan_char(&s, ' '));
	ck_assert(pdet_scan_is(&s, "0"));
	ck_assert(!pdet_scan_is(&s, "0 "));
	ck_assert(!pdet_scan_is(&s, ""));
}
END_TEST

START_TEST(lines)
{
	struct pdet_scan text = scan("one\n\ntwo\n \nlast"), line;

	ck_assert(pdet_scan_line(&text, &line));
	ck_assert(pdet_scan_is(&line, "one"));
	ck_assert(pdet_scan_line(&text, &line));
	ck_assert(pdet_scan_is(&line, ""));
	ck_assert(pdet_scan_line(&text, &line));
	ck_assert(pdet_scan_is(&line, "two"));
	ck_assert(pdet_scan_line(&text, &line));
	ck_assert(pdet_scan_is(&line, " "));
	ck_assert(pdet_scan_line(&text, &line));
	ck_assert(pdet_scan_is(&line, "last"));
	ck_assert(!pdet_scan_line(&text, &line));
	text = scan("x\n");
	ck_assert(pdet_scan_line(&text, &line));
	ck_assert(!pdet_scan_line(&text, &line));
	text = scan("");
	ck_assert(!pdet_scan_line(&text, &line));
}
END_TEST

START_TEST(tokens)
{
	struct pdet_scan s = scan(" \tone two\tthree\n four"), t;

	t = pdet_scan_token(&s);
	ck_assert(pdet_scan_is(&t, "one"));
	t = pdet_scan_token(&s);
	ck_assert(pdet_scan_is(&t, "two"));
	t = pdet_scan_token(&s);
	ck_assert(pdet_scan_is(&t, "three"));
	/* The end of the line is not skipped. */
	t = pdet_scan_token(&s);
	ck_assert(pdet_scan_is(&t, ""));
	ck_assert_int_eq(*s.at, '\n');
}
END_TEST

static const struct {
	const char *from;
	const char *to;
} octal[] = {
	{ "", "" },
	{ "/plain", "/plain" },
	{ "/a\\012b", "/a\nb" },
	{ "\\040\\011\\134", " \t\\" },
	{ "\\377", "\377" },
	{ "\\400", "\\400" },	/* not a byte */
	{ "\\08", "\\08" },
	{ "\\01", "\\01" },	/* cut short */
	{ "\\", "\\" },
	{ "\\\\012", "\\\n" },	/* the first is not an escape, the second one
				 * is */
	{ "\\012012", "\n012" },
	{ "\\n", "\\n" },
};

START_TEST(octal_escapes_are_undone)
{
	size_t len = strlen(octal[_i].from);
	char *text = unit_exact(octal[_i].from, len);
	size_t out = pdet_unescape_octal(text, len);

	ck_assert_uint_eq(out, strlen(octal[_i].to));
	ck_assert_int_eq(memcmp(text, octal[_i].to, out), 0);
	free(text);
}
END_TEST

static const struct {
	const char *word;
	const char *quoted;
} shell_words[] = {
	{ "", "''" },
	{ "/a/b-c_d.1", "/a/b-c_d.1" },
	{ "a b", "'a b'" },
	{ "a$(x)", "'a$(x)'" },
	{ "a`b`", "'a`b`'" },
	{ "a;b", "'a;b'" },
	{ "~", "'~'" },
	{ "it's", "'it'\\''s'" },
	{ "'", "''\\'''" },
	{ "a\nb", "FILE" },	/* no terminal shows it as it is */
	{ "a\033b", "FILE" },
	{ "a\177", "FILE" },
};

START_TEST(long_text_is_cut)
{
	static const struct { const char *text, *cut; } cases[] = {
		{ "", "" }, { "two words", "two words" },
		{ "elf letters", "elf letters" },
		{ "twelf letters", "twelf ..." },
		{ "abc def ghijk", "abc def ..." },
		{ "a bc      defghij", "a bc ..." },
		{ "abcdefghijklmnop", "abcdefg..." },
		/* not within a letter of several bytes */
		{ "abcdef\303\244hijklm", "abcdef..." },
	};
	char to[13];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		memset(to, 'x', sizeof(to));
		ck_assert_uint_eq(pdet_shortened(to, 12, scan(cases[i].text)),
				  strlen(cases[i].cut));
		ck_assert_str_eq(to, cases[i].cut);
		ck_assert_int_eq(to[12], 'x');
	}
	ck_assert_uint_eq(pdet_shortened(to, 12, (struct pdet_scan){ 0 }), 0);
	ck_assert_str_eq(to, "");
}
END_TEST

START_TEST(words_are_quoted_for_a_shell)
{
	char quoted[PDET_QUOTED];

	ck_assert_str_eq(pdet_quoted(shell_words[_i].word, "FILE",
				     quoted, sizeof(quoted)),
			 shell_words[_i].quoted);
}
END_TEST

START_TEST(words_that_fit_are_quoted)
{
	static const char *const fitting[] = {
		"abc", "/x/y", "", "a b", "'", "it's", "'a'", "''''",
	};
	char quoted[PDET_QUOTED], small[PDET_QUOTED];
	size_t i, size;

	for (i = 0; i < sizeof(fitting) / sizeof(*fitting); i++) {
		pdet_quoted(fitting[i], NULL, quoted, sizeof(quoted));
		for (size = 1; size < 32; size++)
			ck_assert_pstr_eq(pdet_quoted(fitting[i], NULL, small,
						      size),
					  size > strlen(quoted) ? quoted :
								  NULL);
	}
}
END_TEST

/* A word is quoted as a whole or not at all. */
START_TEST(long_words_are_not_quoted)
{
	char quoted[PDET_QUOTED], word[PDET_QUOTED + 1];
	const char *q;
	size_t len;

	for (len = 1; len < sizeof(word); len++) {
		memset(word, 'a', len);
		word[len] = '\0';
		q = pdet_quoted(word, "FILE", quoted, sizeof(quoted));
		ck_assert_str_eq(q, len < PDET_QUOTED ? word : "FILE");
		memset(word, '\'', len);
		q = pdet_quoted(word, "FILE", quoted, sizeof(quoted));
		ck_assert(!strcmp(q, "FILE") || strlen(q) == 4 * len + 2);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("text");

	unit_loop(s, hex, sizeof(hex_numbers) / sizeof(*hex_numbers));
	unit_loop(s, decimal, sizeof(dec_numbers) / sizeof(*dec_numbers));
	unit_test(s, numbers_end_where_the_text_ends);
	unit_test(s, words);
	unit_test(s, lines);
	unit_test(s, tokens);
	unit_test(s, long_text_is_cut);
	unit_loop(s, octal_escapes_are_undone,
		  sizeof(octal) / sizeof(*octal));
	unit_loop(s, words_are_quoted_for_a_shell,
		  sizeof(shell_words) / sizeof(*shell_words));
	unit_test(s, words_that_fit_are_quoted);
	unit_test(s, long_words_are_not_quoted);
	return unit_main(s);
}
