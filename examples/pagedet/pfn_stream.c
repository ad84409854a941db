/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Page frame numbers from standard input: FIRST or FIRST+COUNT, separated by
 * blanks or newlines. Read in steps, so that a list of any length needs little
 * memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

#define LONGEST_WORD 64

int cli_pfn_stream_open(struct cli_pfn_stream *s)
{
	memset(s, 0, sizeof(*s));
	s->line = 1;
	return CLI_ANSWERED;
}

void cli_pfn_stream_close(struct cli_pfn_stream *s)
{
	free(s->items);
	s->items = NULL;
}

/* The next byte, or -1 at the end; *status says if that is a failure. */
static int next_byte(struct cli_pfn_stream *s, int *status)
{
	ssize_t n;

	if (s->at < s->len)
		return (unsigned char)s->buf[s->at++];
	if (s->ended)
		return -1;
	do {
		n = read(STDIN_FILENO, s->buf, sizeof(s->buf));
	} while (n < 0 && errno == EINTR && !cli_interrupted());
	if (n <= 0)
		s->ended = true;
	if (n < 0 && !cli_interrupted())
		*status = cli_fail_errno("cannot read standard input");
	if (n <= 0)
		return -1;
	s->at = 0;
	s->len = (size_t)n;
	return (unsigned char)s->buf[s->at++];
}

static int add(struct cli_pfn_stream *s, const struct pagedet_item *item)
{
	if (s->n == s->max) {
		size_t max = s->max ? 2 * s->max : 1024;
		struct pagedet_item *more;

		more = realloc(s->items, max * sizeof(*more));
		if (!more)
			return cli_fail_errno("standard input");
		s->items = more;
		s->max = max;
	}
	s->items[s->n++] = *item;
	return CLI_ANSWERED;
}

static int take_word(struct cli_pfn_stream *s, const char *word, size_t len)
{
	struct pagedet_item item = { 0, 0, 0, 0 };
	const char *wrong = "is not a number";

	/* A NUL byte would hide what stands behind it. */
	if (len <= LONGEST_WORD && strlen(word) == len)
		wrong = cli_range(word, CLI_DECIMAL, &item);
	if (!wrong)
		return add(s, &item);
	cli_say("standard input, line %llu: '%s' %s",
		(unsigned long long)s->line, word, wrong);
	return CLI_MALFORMED;
}

int cli_pfn_stream_next(struct cli_pfn_stream *s, size_t most)
{
	char word[LONGEST_WORD + 1];
	size_t len = 0;
	int status = CLI_ANSWERED;

	s->n = 0;
	while (!status && s->n < most) {
		int c = next_byte(s, &status);
		bool blank = c < 0 || c == ' ' || c == '\n' || c == '\t' ||
			     c == '\r';

		if (!blank) {
			if (len < LONGEST_WORD)
				word[len] = (char)c;
			len++;
			continue;
		}
		word[len < LONGEST_WORD ? len : LONGEST_WORD] = '\0';
		if (len && !status)
			status = take_word(s, word, len);
		len = 0;
		s->line += c == '\n';
		if (c < 0)
			break;
	}
	return status;
}
