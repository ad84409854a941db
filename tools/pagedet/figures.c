/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Formats sizes, texts for tables of the command, and wrapped lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

void cli_size(char *ret, size_t size, uint64_t bytes)
{
	static const char units[] = "KMGTPE";
	double n = (double)bytes / 1024;
	size_t i = 0;

	if (!bytes) {
		snprintf(ret, size, "0");
		return;
	}
	for (; n >= 1023.95 && units[i + 1]; i++)
		n /= 1024;
	snprintf(ret, size, "%.1f %ciB", n, units[i]);
}

/* A line break and a TAB stay as they are, as in the library's CSV. */
static void csv_part(FILE *f, const char *text, size_t len)
{
	const char *quote;

	while ((quote = memchr(text, '"', len))) {
		cli_plain_text(f, text, (size_t)(quote - text));
		fputs("\"\"", f);
		len -= (size_t)(quote + 1 - text);
		text = quote + 1;
	}
	cli_plain_text(f, text, len);
}

void cli_csv_text(FILE *f, const char *text)
{
	const bool quotes = !*text || *text == '?' ||
			    strpbrk(text, ",\"\n\r");

	if (quotes)
		fputc('"', f);
	/* A spreadsheet would take it for a formula. */
	if (strchr("=+-@\t\r", *text) && text[0] && text[1])
		fputc('\'', f);
	while (*text) {
		const size_t len = strcspn(text, "\n\t");

		csv_part(f, text, len);
		text += len;
		if (*text)
			fputc(*text++, f);
	}
	if (quotes)
		fputc('"', f);
}

/* A character begins with any byte but 10xxxxxx. */
static uint32_t count_columns(const char *s)
{
	uint32_t columns = 0;

	for (; *s; s++)
		columns += (*s & 0xc0) != 0x80;
	return columns;
}

static const char *skip_columns(const char *s, uint32_t columns)
{
	for (; *s && (columns || (*s & 0xc0) == 0x80); s++)
		columns -= (*s & 0xc0) != 0x80;
	return s;
}

void cli_clipped_text(FILE *f, const char *text, uint32_t width)
{
	static const char dots[] = "...";
	const uint32_t n_dots = sizeof(dots) - 1;
	char *plain = NULL;
	size_t len = 0;
	FILE *memory = open_memstream(&plain, &len);
	const char *s = "?";
	uint32_t columns;

	if (memory) {
		cli_plain_text(memory, text, strlen(text));
		s = fclose(memory) ? s : plain;
	}
	columns = count_columns(s);
	if (!width || columns <= width)
		fputs(s, f);
	else if (width <= n_dots)
		fwrite(s, 1, (size_t)(skip_columns(s, width) - s), f);
	else if (strchr(s, '/'))
		/* Paths differ at their ends, so keep the end. */
		fprintf(f, "%s%s", dots,
			skip_columns(s, columns - width + n_dots));
	else
		fprintf(f, "%.*s%s",
			(int)(skip_columns(s, width - n_dots) - s), s, dots);
	free(plain);
}

uint32_t cli_answer_width(const struct cli_job *job)
{
	const bool file = job->output && strcmp(job->output, "-");

	return cli_width(file ? -1 : STDOUT_FILENO);
}

void cli_wrap_item(struct cli_wrap *w, const char *item)
{
	const uint32_t columns = count_columns(item);

	if (w->at > w->indent) {
		if (w->width && w->at + 1 + columns > w->width) {
			fprintf(w->f, "\n%*s", (int)w->indent, "");
			w->at = w->indent;
		} else {
			fputc(' ', w->f);
			w->at++;
		}
	}
	fputs(item, w->f);
	w->at += columns;
}

void cli_wrap_words(struct cli_wrap *w, const char *text)
{
	char word[CLI_HINT];
	size_t len;

	for (; *text; text += len + (text[len] == ' ')) {
		len = (size_t)(cli_item_end(text) - text);
		snprintf(word, sizeof(word), "%.*s", (int)len, text);
		cli_wrap_item(w, word);
	}
}
