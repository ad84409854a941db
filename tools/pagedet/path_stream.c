/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads a list of files: as arguments PATH [FIRST[+COUNT]]..., or from standard
 * input as PATH [FIRST [COUNT]]. There, each record is a line, or ends with a
 * NUL byte. A name may contain blanks and end with a number. A number is
 * therefore a range only if no file has the whole name. In a record with a TAB,
 * everything before the first TAB is the path.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

void cli_path_stream_open(struct cli_path_stream *s, const struct cli_job *job)
{
	memset(s, 0, sizeof(*s));
	s->job = job;
	s->end = job->nul ? '\0' : '\n';
	s->quiet = job->quiet;
	/* Files of a dump or a captured tree are not on this machine. */
	s->here = !job->open.n_files && !job->open.root;
}

/*
 * Reads the next record that is not empty to s->text. Returns 1, or 0 at the
 * end.
 */
static int next_record(struct cli_path_stream *s)
{
	size_t len;
	int c;

	do {
		len = 0;
		s->line++;
		s->odd = false;
		for (;;) {
			c = cli_input_byte(&s->in, &s->status);
			if (c < 0 || c == s->end)
				break;
			if (len < sizeof(s->text) - 1)
				s->text[len] = (char)c;
			s->odd |= !c;
			len++;
		}
		if (s->status || cli_interrupted())
			return 0;
	} while (!len && c >= 0);
	s->too_long = len >= sizeof(s->text);
	s->text[s->too_long ? sizeof(s->text) - 1 : len] = '\0';
	return len != 0;
}

static bool exists(const struct cli_path_stream *s)
{
	struct stat st;

	return s->here && !lstat(s->text, &st);
}

/* The last word of @text if there is something before it; otherwise NULL. */
static char *last_word(char *text)
{
	char *blank = strrchr(text, ' ');

	return blank && blank > text && blank[1] ? blank + 1 : NULL;
}

/* Cuts a text before the blanks that precede @word. */
static void cut(const char *text, char *word)
{
	while (word > text && word[-1] == ' ')
		word--;
	*word = '\0';
}

/* "PATH FIRST", "PATH FIRST+COUNT", "PATH FIRST COUNT" */
static void take_blanks(struct cli_path_stream *s, struct pagedet_item *range)
{
	struct pagedet_item last = { 0, 0, 0, 0 };
	char *word = last_word(s->text);
	uint64_t first;
	bool one;

	if (!word || cli_range(word, CLI_DECIMAL, &last) || exists(s))
		return;
	one = strchr(word, '+');
	*range = last;
	cut(s->text, word);
	word = last_word(s->text);
	if (one || !word || cli_number(word, CLI_DECIMAL, &first) || exists(s))
		return;
	range->first = first;
	range->count = last.first;
	cut(s->text, word);
}

/* "PATH<TAB>FIRST<TAB>COUNT". Returns what is wrong with it, or NULL. */
static const char *take_tabs(struct cli_path_stream *s,
			     struct pagedet_item *range)
{
	char *first = strchr(s->text, '\t'), *count;
	const char *wrong;

	*first++ = '\0';
	count = strchr(first, '\t');
	if (count)
		*count++ = '\0';
	if (!*first && (!count || !*count))
		return NULL;
	wrong = cli_range(first, CLI_DECIMAL, range);
	if (!wrong && count && *count)
		wrong = cli_number(count, CLI_DECIMAL, &range->count);
	return wrong;
}

/* Returns what is wrong with the record, or NULL. */
static const char *take_record(struct cli_path_stream *s,
			       struct pagedet_item *range)
{
	const char *wrong = NULL;

	if (s->too_long)
		return "the name is too long";
	if (s->odd)
		return "a name cannot contain a NUL byte; --null takes names "
		       "that end with one";
	if (strchr(s->text, '\t') && !exists(s))
		wrong = take_tabs(s, range);
	else
		take_blanks(s, range);
	if (wrong)
		return "what follows the TAB is not FIRST and COUNT";
	return range->count ? NULL : "the range has no pages";
}

/* A row of JSON. A list may have any number of them. */
static void put_lost(struct cli_path_stream *s, const char *why)
{
	const char *path = s->job->several ? s->path : s->text;

	if (!s->lost)
		s->lost = tmpfile();
	if (!s->lost) {
		cli_fail_errno("cannot keep what could not be opened");
		return;
	}
	fputc('{', s->lost);
	if (!s->job->several)
		fprintf(s->lost, "\"line\":%llu,",
			(unsigned long long)s->line);
	cli_json_member(s->lost, "path", path, strlen(path));
	fputc(',', s->lost);
	cli_json_member(s->lost, "error", why, strlen(why));
	fputs("}\n", s->lost);
}

int cli_path_stream_lost(struct cli_path_stream *s, int fd)
{
	int status = CLI_ANSWERED;
	char text[4096];
	size_t n;

	if (!s->lost)
		return CLI_ANSWERED;
	rewind(s->lost);
	while (!status && (n = fread(text, 1, sizeof(text), s->lost)))
		status = cli_output_write(fd, text, n);
	if (!status && ferror(s->lost))
		status = cli_fail_errno("cannot keep what could not be opened");
	return status;
}

void cli_path_stream_close(struct cli_path_stream *s)
{
	if (s && s->lost)
		fclose(s->lost);
	free(s);
}

static void tell(struct cli_path_stream *s, const char *why)
{
	s->failed++;
	if (s->job->format == PAGEDET_FORMAT_JSON)
		put_lost(s, why);
	if (s->job->several && !s->quiet)
		cli_say("%s", why);
	else if (!s->quiet)
		cli_say("standard input, %s %llu: %s",
			s->end ? "line" : "record",
			(unsigned long long)s->line, why);
}

/* --- arguments --- */

static bool is_there(const struct cli_job *job, const char *word)
{
	struct stat st;

	return !job->open.n_files && !job->open.root && !lstat(word, &st);
}

bool cli_is_file(const struct cli_job *job, const char *word)
{
	struct pagedet_item range;

	return strchr(word, '/') || (cli_range(word, CLI_DECIMAL, &range) &&
				     is_there(job, word));
}

bool cli_is_path(const struct cli_job *job, const char *word)
{
	struct pagedet_item range;

	/* A valid range is a range, even if such a file exists. */
	if (!cli_range(word, CLI_DECIMAL, &range))
		return false;
	/* A word that begins like a number is a wrong range. */
	return is_there(job, word) ||
	       ((*word < '0' || *word > '9') && *word != '+' && *word);
}

/* Returns 1, or 0 behind the last one. */
static int next_word(struct cli_path_stream *s, struct pagedet_place *ret)
{
	const struct cli_job *job = s->job;
	struct pagedet_item range = { 0, PAGEDET_TO_END, 0, 0 };
	const char *word;

	if (s->word == job->n_words)
		return 0;
	word = job->words[s->word++];
	if (s->word == 1 || cli_is_path(job, word)) {
		s->path = word;
		word = s->word < job->n_words ? job->words[s->word] : NULL;
		if (word && !cli_is_path(job, word))
			return next_word(s, ret);
	} else {
		cli_range(word, CLI_DECIMAL, &range);
	}
	s->places++;
	ret->path = s->path;
	ret->first = range.first;
	ret->count = range.count;
	return 1;
}

/* --- both --- */

int cli_path_stream_next(void *user, int error, const char *why,
			 struct pagedet_place *ret)
{
	struct cli_path_stream *s = user;
	struct pagedet_item range;
	const char *wrong;

	if (error)
		tell(s, *why ? why : strerror(-error));
	if (s->job->several)
		return cli_interrupted() ? -ECANCELED : next_word(s, ret);
	while (next_record(s)) {
		range = (struct pagedet_item){ 0, PAGEDET_TO_END, 0, 0 };
		s->places++;
		wrong = take_record(s, &range);
		if (wrong) {
			tell(s, wrong);
			continue;
		}
		ret->path = s->text;
		ret->first = range.first;
		ret->count = range.count;
		return 1;
	}
	return s->status || cli_interrupted() ? -ECANCELED : 0;
}
