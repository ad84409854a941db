/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Quotes words for a shell, so that a command that is suggested can be pasted.
 * Names of files, tasks and cgroups may be anything.
 */
#include <string.h>

#include "cli.h"

/* What no shell takes for anything but itself. */
static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			    "0123456789_@%+=:,./-";

/* No terminal shows these as they are. */
static bool has_control(const char *word)
{
	for (; *word; word++)
		if ((unsigned char)*word < ' ' || *word == 0x7f)
			return true;
	return false;
}

static bool quote(const char *word, char *ret, size_t size)
{
	size_t n = 0;

	ret[n++] = '\'';
	for (; *word; word++) {
		/* The longest piece, the last quote and the end. */
		if (n + strlen("'\\''") + 2 > size)
			return false;
		if (*word == '\'') {
			memcpy(ret + n, "'\\''", strlen("'\\''"));
			n += strlen("'\\''");
		} else {
			ret[n++] = *word;
		}
	}
	ret[n++] = '\'';
	ret[n] = '\0';
	return true;
}

const char *cli_quoted(const char *word, const char *instead, char *ret,
		       size_t size)
{
	const size_t len = strlen(word);

	if (len + sizeof("''") > size || has_control(word))
		return instead;
	if (len && strspn(word, plain) == len)
		return memcpy(ret, word, len + 1);
	return quote(word, ret, size) ? ret : instead;
}
