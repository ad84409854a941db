/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses numbers that users write. strtoull() cannot be used: it reads a
 * leading zero as octal, accepts a minus sign and blanks, and ignores what
 * follows the number.
 */
#include <string.h>

#include "cli.h"

static unsigned digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (unsigned)(c - 'A') + 10;
	return 99;
}

/* Parses the number in [s, end). */
static const char *number(const char *s, const char *end, enum cli_radix radix,
			  uint64_t *ret)
{
	uint64_t base = radix == CLI_HEX ? 16 : 10;
	bool prefixed = end - s >= 2 && s[0] == '0' && (s[1] | 0x20) == 'x';
	bool too_big = false;
	uint64_t n = 0;

	if (prefixed) {
		base = 16;
		s += 2;
	}
	if (s == end)
		return "lacks a number";
	for (; s < end; s++) {
		uint64_t d = digit_value(*s);

		if (d >= base && d < 16)
			return "is not decimal; hex is written with 0x";
		if (d >= base)
			return radix == CLI_HEX ?
				"is not a hex number" : "is not a number";
		if (n > (UINT64_MAX - d) / base)
			too_big = true;
		n = n * base + d;
	}
	if (too_big)
		return "does not fit in 64 bits";
	*ret = n;
	return NULL;
}

const char *cli_number(const char *word, enum cli_radix radix, uint64_t *ret)
{
	return number(word, word + strlen(word), radix, ret);
}

/* A number that may have one of the units k, M and G. */
static const char *bytes(const char *word, const char *end, uint64_t *ret)
{
	static const char units[] = "kmg";
	const char *unit = end > word ? strchr(units, end[-1] | 0x20) : NULL;
	const unsigned shift = unit ? (unsigned)(unit - units + 1) * 10 : 0;
	const char *wrong = number(word, end - (unit != NULL), CLI_DECIMAL,
				   ret);

	if (!wrong && *ret > UINT64_MAX >> shift)
		return "is not a number that fits in 64 bits";
	if (!wrong)
		*ret <<= shift;
	return wrong;
}

const char *cli_range(const char *word, enum cli_radix radix,
		      struct pagedet_item *ret)
{
	static const char pfn[] = "pfn:";
	const char *plus = strchr(word, '+');
	const char *end = word + strlen(word);
	const bool is_address = radix == CLI_HEX;
	uint64_t first, count = 1;
	const char *wrong;

	/* As in a log of the kernel, which writes hex with 0x or without. */
	if (radix == CLI_PFN && !strncmp(word, pfn, strlen(pfn))) {
		word += strlen(pfn);
		radix = CLI_HEX;
	}
	wrong = number(word, plus ? plus : end, radix, &first);
	if (!wrong && plus)
		wrong = is_address ? bytes(plus + 1, end, &count) :
				     number(plus + 1, end, CLI_DECIMAL, &count);
	if (wrong)
		return wrong;
	if (!count)
		return "asks for nothing: the count is 0";
	if (count - 1 > UINT64_MAX - first)
		return "goes past 2^64";
	ret->first = first;
	ret->count = count;
	return NULL;
}

const char *cli_bytes(const char *word, uint64_t *ret)
{
	return bytes(word, word + strlen(word), ret);
}

const char *cli_seconds(const char *word, uint64_t *ret_ns)
{
	static const uint64_t second = 1000000000;
	const char *point = strchr(word, '.');
	const char *end = word + strlen(word);
	uint64_t whole = 0, ns = 0, unit = second;
	const char *s;

	if (!*word || !strcmp(word, "."))
		return "is not a number of seconds";
	for (s = word; s < (point ? point : end); s++) {
		if (digit_value(*s) > 9)
			return "is not a number of seconds";
		if (whole > second)	/* 31 years */
			return "is too long";
		whole = whole * 10 + digit_value(*s);
	}
	for (s = point ? point + 1 : end; s < end; s++) {
		if (digit_value(*s) > 9)
			return "is not a number of seconds";
		unit /= 10;
		ns += unit * digit_value(*s);
	}
	if (whole > second)
		return "is too long";
	if (!(whole * second + ns))
		return "leaves no time at all";
	*ret_ns = whole * second + ns;
	return NULL;
}
