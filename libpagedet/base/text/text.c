/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Parses characters and numbers, and never reads past the end. */
#include <string.h>

#include "base/text/text.h"

/* The value of a hex digit + 1. Most of the time of a large text goes into
 * numbers. */
static const uint8_t hex[256] = {
	['0'] = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
	['A'] = 11, 12, 13, 14, 15, 16,
	['a'] = 11, 12, 13, 14, 15, 16,
};

int pdet_hex_digit(char c)
{
	const int digit = hex[(unsigned char)c];

	return digit ? digit - 1 : 16;
}

bool pdet_scan_hex(struct pdet_scan *s, uint64_t *ret)
{
	const char *p = s->at;
	uint64_t value = 0;

	for (; p < s->end; p++) {
		const unsigned digit = hex[(unsigned char)*p];

		if (!digit)
			break;
		if (value >> 60)
			return false;
		value = value << 4 | (digit - 1);
	}
	if (p == s->at)
		return false;
	s->at = p;
	*ret = value;
	return true;
}

bool pdet_scan_dec(struct pdet_scan *s, uint64_t *ret)
{
	const char *p = s->at;
	uint64_t value = 0;

	for (; p < s->end && *p >= '0' && *p <= '9'; p++) {
		uint64_t d = (uint64_t)(*p - '0');

		if (value > (UINT64_MAX - d) / 10)
			return false;
		value = value * 10 + d;
	}
	if (p == s->at)
		return false;
	s->at = p;
	*ret = value;
	return true;
}

bool pdet_scan_char(struct pdet_scan *s, char c)
{
	if (s->at == s->end || *s->at != c)
		return false;
	s->at++;
	return true;
}

bool pdet_scan_word(struct pdet_scan *s, const char *word)
{
	size_t len;

	/* Most words are not there. */
	if (*word && (s->at == s->end || *s->at != *word))
		return false;
	len = strlen(word);
	if ((size_t)(s->end - s->at) < len || memcmp(s->at, word, len))
		return false;
	s->at += len;
	return true;
}

void pdet_scan_blanks(struct pdet_scan *s)
{
	while (s->at < s->end && (*s->at == ' ' || *s->at == '\t'))
		s->at++;
}

bool pdet_scan_line(struct pdet_scan *text, struct pdet_scan *line)
{
	const char *nl;

	if (text->at == text->end)
		return false;
	line->at = text->at;
	nl = memchr(text->at, '\n', (size_t)(text->end - text->at));
	line->end = nl ? nl : text->end;
	text->at = nl ? nl + 1 : text->end;
	return true;
}

struct pdet_scan pdet_scan_token(struct pdet_scan *s)
{
	struct pdet_scan token;

	pdet_scan_blanks(s);
	token.at = s->at;
	while (s->at < s->end && *s->at != ' ' && *s->at != '\t' &&
	       *s->at != '\n')
		s->at++;
	token.end = s->at;
	return token;
}

bool pdet_scan_is(const struct pdet_scan *s, const char *word)
{
	size_t len = strlen(word);

	/* Nothing may be nowhere: memcmp() must not be given NULL. */
	return (size_t)(s->end - s->at) == len &&
	       (!len || !memcmp(s->at, word, len));
}

bool pdet_scan_is_device(struct pdet_scan s, uint64_t *ret)
{
	uint64_t major, minor;

	if (!pdet_scan_dec(&s, &major) || !pdet_scan_char(&s, ':') ||
	    !pdet_scan_dec(&s, &minor) || s.at != s.end ||
	    major > UINT32_MAX || minor > UINT32_MAX)
		return false;
	*ret = major << 32 | minor;
	return true;
}

size_t pdet_shortened(char *to, size_t size, struct pdet_scan text)
{
	static const char more[] = " ...";
	size_t len = (size_t)(text.end - text.at), word;
	const char *dots = more;

	if (len < size) {
		if (len)
			memcpy(to, text.at, len);
		to[len] = 0;
		return len;
	}
	len = size - sizeof(more);
	for (word = len; word && text.at[word] != ' ';)
		word--;
	while (word && text.at[word - 1] == ' ')
		word--;
	if (word) {
		len = word;
	} else {
		dots++;
		while (len && ((unsigned char)text.at[len] & 0xc0) == 0x80)
			len--;
	}
	memcpy(to, text.at, len);
	memcpy(to + len, dots, strlen(dots) + 1);
	return len + strlen(dots);
}

size_t pdet_unescape_octal(char *text, size_t len)
{
	size_t in, out = 0;

	for (in = 0; in < len; in++) {
		if (text[in] == '\\' && in + 3 < len &&
		    text[in + 1] >= '0' && text[in + 1] <= '3' &&
		    text[in + 2] >= '0' && text[in + 2] <= '7' &&
		    text[in + 3] >= '0' && text[in + 3] <= '7') {
			text[out++] = (char)((text[in + 1] - '0') << 6 |
					     (text[in + 2] - '0') << 3 |
					     (text[in + 3] - '0'));
			in += 3;
		} else {
			text[out++] = text[in];
		}
	}
	return out;
}
