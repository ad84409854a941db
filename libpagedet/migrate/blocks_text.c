/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses a map of blocks, one entry per line: "block NAME BYTES SOURCE
 * DESTINATION" and "guest NAME OFFSET GUEST BYTES [ro]".
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "migrate/blocks.h"

#define LONGEST 2048u
#define WORDS 6u

struct line {
	char text[LONGEST];
	char *word[WORDS];
	unsigned n;
};

/*
 * Returns false if the line is too long, has too many words, or a byte that is
 * not text.
 */
static bool split(struct line *l, const char *text, size_t len)
{
	char *save, *word;

	l->n = 0;
	if (len >= sizeof(l->text) || memchr(text, 0, len))
		return false;
	memcpy(l->text, text, len);
	l->text[len] = 0;
	l->text[strcspn(l->text, "#")] = 0;
	for (word = strtok_r(l->text, " \t\r", &save); word;
	     word = strtok_r(NULL, " \t\r", &save)) {
		if (l->n == WORDS)
			return false;
		l->word[l->n++] = word;
	}
	return true;
}

static bool number(const char *word, uint64_t *ret)
{
	const bool hex = word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
	const char *digits = hex ? word + 2 : word;
	uintmax_t n;

	if (!*digits || strspn(digits, hex ? "0123456789abcdefABCDEF" :
			       "0123456789") != strlen(digits))
		return false;
	errno = 0;
	n = strtoumax(digits, NULL, hex ? 16 : 10);
	*ret = n;
	return !errno && n <= UINT64_MAX;
}

/* \040 is a blank, \043 a #, and \134 a backslash. */
static bool unescape(char *name)
{
	char *to = name;

	while (*name) {
		if (*name != '\\') {
			*to++ = *name++;
			continue;
		}
		if (!strncmp(name, "\\040", 4))
			*to++ = ' ';
		else if (!strncmp(name, "\\043", 4))
			*to++ = '#';
		else if (!strncmp(name, "\\134", 4))
			*to++ = '\\';
		else
			return false;
		name += 4;
	}
	*to = 0;
	return true;
}

static int take_block(struct pdet_blocks *b, struct line *l)
{
	struct pagedet_block block = { .size = sizeof(block) };

	if (l->n != 5 || !unescape(l->word[1]) ||
	    !number(l->word[2], &block.bytes) ||
	    !number(l->word[3], &block.addr[0]) ||
	    !number(l->word[4], &block.addr[1]))
		return -EBADMSG;
	block.name = l->word[1];
	return pdet_blocks_add(b, &block);
}

static int take_guest(struct pdet_blocks *b, struct line *l)
{
	const bool read_only = l->n == 6 && !strcmp(l->word[5], "ro");
	uint64_t offset, guest, bytes;

	if ((l->n != 5 && !read_only) || !unescape(l->word[1]) ||
	    !number(l->word[2], &offset) || !number(l->word[3], &guest) ||
	    !number(l->word[4], &bytes))
		return -EBADMSG;
	return pdet_blocks_add_range(b, l->word[1], offset, guest, bytes,
				     read_only);
}

static int take_line(struct pdet_blocks *b, const char *text, size_t len)
{
	struct line l;

	if (!split(&l, text, len))
		return -EBADMSG;
	if (!l.n)
		return 0;
	if (!strcmp(l.word[0], "block"))
		return take_block(b, &l);
	return strcmp(l.word[0], "guest") ? -EBADMSG : take_guest(b, &l);
}

int pdet_blocks_load(struct pdet_blocks *b, const char *text, uint64_t len,
		     uint64_t *line)
{
	int r = 0;

	for (*line = 0; !r && len; (*line)++) {
		const char *end = memchr(text, '\n', len);
		const size_t n = end ? (size_t)(end - text) : (size_t)len;

		r = take_line(b, text, n);
		text += n + (end ? 1 : 0);
		len -= n + (end ? 1 : 0);
	}
	return r;
}
