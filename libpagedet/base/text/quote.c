/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Quotes words for a shell. The names of files may be anything, and must not
 * become something else when a command is pasted.
 */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/text/quote.h"

/* What no shell takes for anything but itself. */
static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:,@%";

static bool has_control(const char *word)
{
	for (; *word; word++)
		if ((unsigned char)*word < ' ' || *word == 0x7f)
			return true;
	return false;
}

static const char quote[] = "'\\''";

/* Bytes of the word in quotes, without its NUL. */
static size_t length(const char *word)
{
	size_t n = 2;

	for (; *word; word++)
		n += *word == '\'' ? sizeof(quote) - 1 : 1;
	return n;
}

const char *pdet_quoted(const char *word, const char *instead, char *ret,
			size_t size)
{
	const bool is_plain = *word && !word[strspn(word, plain)];
	size_t n = 0;

	if ((is_plain ? strlen(word) : length(word)) >= size ||
	    has_control(word))
		return instead;
	if (is_plain)
		return strcpy(ret, word);
	ret[n++] = '\'';
	for (; *word; word++) {
		if (*word != '\'') {
			ret[n++] = *word;
			continue;
		}
		memcpy(ret + n, quote, sizeof(quote) - 1);
		n += sizeof(quote) - 1;
	}
	ret[n++] = '\'';
	ret[n] = '\0';
	return ret;
}
