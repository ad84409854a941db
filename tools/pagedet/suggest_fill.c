/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Puts the words that were typed into a suggestion, in place of PFN, PID, FILE
 * and so on: "show 12" leads to "page 12", not to "page PFN".
 */
#include <limits.h>
#include <string.h>

#include "cli.h"

/* So many of the words are looked at. */
#define MOST 8

static bool is_pfn(const char *word)
{
	struct pagedet_item item;

	return !cli_range(word, CLI_PFN, &item);
}

static bool is_address(const char *word)
{
	struct pagedet_item item;

	return !cli_range(word, CLI_HEX, &item);
}

/* A number, or a name as ps shows it. */
static bool is_task(const char *word)
{
	uint64_t n;

	if (*word < '0' || *word > '9')
		return *word != '-' && !strchr(word, '/');
	return strspn(word, "0123456789") == strlen(word) &&
	       !cli_number(word, CLI_DECIMAL, &n) && n && n <= INT_MAX;
}

static bool is_name(const char *word)
{
	return !is_pfn(word);
}

static bool is_any(const char *word)
{
	return *word != '\0';
}

/* What stands for a word in a suggestion, and which words it may be. */
static const struct place {
	const char *name;
	bool (*fits)(const char *word);
} places[] = {
	{ "PFN", is_pfn }, { "PID", is_task }, { "ADDR", is_address },
	{ "FILE", is_any }, { "PATH", is_any }, { "DIR", is_any },
	{ "DEV", is_any }, { "EXPR", is_any }, { "SYMBOL", is_name },
	{ "TRACE", is_name }, { "DUMP", is_name }, { "VMCORE", is_name },
	{ "NAME", is_name },
};

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The place at @at, which begins a word; NULL: none. "FILE.svg" is a name. */
static const struct place *place_at(const char *at)
{
	size_t i, len = 0;

	while (is_letter(at[len]))
		len++;
	for (i = 0; i < CLI_COUNT(places); i++)
		if (strlen(places[i].name) == len &&
		    !memcmp(places[i].name, at, len) && at[len] != '.')
			return &places[i];
	return NULL;
}

struct filling {
	char *const *words;
	int n;
	int of[CLI_COUNT(places)]; /* number of the word + 1; 0: none yet */
	bool used[MOST];
};

/* The number of the word for the place; 0: none fits. */
static int choose(struct filling *f, const struct place *place)
{
	const size_t at = (size_t)(place - places);
	int i;

	for (i = 0; i < f->n && !f->of[at]; i++) {
		if (f->used[i] || !place->fits(f->words[i]))
			continue;
		f->used[i] = true;
		f->of[at] = i + 1;
	}
	return f->of[at];
}

/*
 * Replaces each place that has a word by the number of the word, a control
 * character, which no text here has: a word must not be taken for a command.
 */
static void mark(struct filling *f, const char *text, char ret[CLI_HINT])
{
	const struct place *place;
	size_t n = 0;
	int word;

	while (*text && n + 1 < CLI_HINT) {
		place = n && is_letter(text[-1]) ? NULL : place_at(text);
		word = place ? choose(f, place) : 0;
		if (word) {
			ret[n++] = (char)word;
			text += strlen(place->name);
			continue;
		}
		ret[n++] = *text++;
	}
	ret[n] = '\0';
}

/* The place that has word number @word. */
static const char *name_of(const struct filling *f, int word)
{
	size_t i;

	for (i = 0; i < CLI_COUNT(places) && f->of[i] != word; i++)
		;
	return i < CLI_COUNT(places) ? places[i].name : "WORD";
}

static void unmark(const struct filling *f, const char *text,
		   char ret[CLI_HINT])
{
	char quoted[CLI_QUOTED];
	const char *word;
	size_t n = 0, len;

	for (; *text; text++) {
		const char one[2] = { *text, '\0' };
		const bool marked = *text > 0 && *text <= MOST;

		word = !marked ? one :
			cli_argument(f->words[*text - 1], name_of(f, *text),
				     quoted);
		len = strlen(word);
		if (n + len >= CLI_HINT)
			break;
		memcpy(ret + n, word, len);
		n += len;
	}
	ret[n] = '\0';
}

int cli_fill(const struct cli_job *job, char *const *words, int n,
	     const char *text, char ret[CLI_HINT])
{
	struct filling f = { words, n < MOST ? n : MOST, { 0 }, { false } };
	char marked[CLI_HINT], whole[CLI_HINT];
	int used = 0, i;

	mark(&f, text, marked);
	cli_commands_of(job, marked, whole);
	unmark(&f, whole, ret);
	for (i = 0; i < f.n; i++)
		used += f.used[i];
	return used;
}
