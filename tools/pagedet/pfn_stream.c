/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads page frame numbers from standard input: FIRST or FIRST+COUNT, separated
 * by blanks or newlines. It reads in steps, so that a list of any length needs
 * little memory.
 */
#include <stdlib.h>
#include <string.h>

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

	/* A NUL byte would hide what follows it. */
	if (len <= LONGEST_WORD && strlen(word) == len)
		wrong = cli_range(word, CLI_PFN, &item);
	if (!wrong && cli_is_kernel_address(item.first))
		wrong = "is a kernel address, not a page frame number; the "
			"command kaddr takes it";
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
		int c = cli_input_byte(&s->in, &status);
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
