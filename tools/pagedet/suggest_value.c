/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * After a filter that no page matched: whether FIELD=WORD in it has another
 * case than the values of the field, or is only a part of one. If so, suggests
 * the filter that matches.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

/* A suggestion is not worth more time. */
#define MOST_NS 2000000000u
/* The longest word, and a pattern of it. */
#define WORD 128
#define PATTERN (4 * WORD)

/* FIELD=WORD in a filter, which is cut in three: before, this test, after. */
struct test {
	const char *name, *value, *end;
	size_t name_len;
	uint32_t field;
	char word[WORD];
};

/* --- the filter --- */

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Where the value at @s ends; it may have quotes. */
static const char *end_of_value(const char *s)
{
	const char *end;

	if (*s != '\'' && *s != '"')
		return s + strcspn(s, " \t\n)");
	end = strchr(s + 1, *s);
	return end ? end + 1 : s + strlen(s);
}

/* Takes the test at t->name, if it is FIELD=WORD of a text. */
static bool take_test(struct test *t, const char *op, size_t op_len)
{
	const bool quoted = *t->value == '\'' || *t->value == '"';
	const size_t len = (size_t)(t->end - t->value) - 2 * quoted;
	char name[32];
	int field;

	if (*op != '=' || (op_len == 2 && op[1] != '=') || op_len > 2 ||
	    t->name_len >= sizeof(name) || !len || len >= sizeof(t->word))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)t->name_len, t->name);
	field = pagedet_field_by_name(name);
	if (field < 0 ||
	    pagedet_field((uint32_t)field)->type != PAGEDET_TYPE_STRING)
		return false;
	t->field = (uint32_t)field;
	snprintf(t->word, sizeof(t->word), "%.*s", (int)len,
		 t->value + quoted);
	return strcmp(t->word, "none") != 0;
}

/* Finds the next such test from @at on. */
static bool find_test(const char *at, struct test *t)
{
	const char *op;
	size_t len;

	while (*at) {
		t->name = at;
		while (is_name(*at))
			at++;
		t->name_len = (size_t)(at - t->name);
		op = at + strspn(at, " \t\n");
		len = strspn(op, "=!<>~:");
		if (!t->name_len || !len) {
			at += !t->name_len;
			continue;
		}
		t->value = op + len + strspn(op + len, " \t\n");
		t->end = at = end_of_value(t->value);
		if (take_test(t, op, len))
			return true;
	}
	return false;
}

/* --- patterns --- */

/* A regular expression for the text. @any_case: for its letters in any case. */
static void pattern_of(const char *text, bool any_case, char ret[PATTERN])
{
	size_t n = 0;

	for (; *text && n + 5 < PATTERN; text++) {
		if (any_case && isalpha((unsigned char)*text)) {
			ret[n++] = '[';
			ret[n++] = (char)tolower((unsigned char)*text);
			ret[n++] = (char)toupper((unsigned char)*text);
			ret[n++] = ']';
			continue;
		}
		if (strchr("[]()*+?{}|^$\\", *text) ||
		    (any_case && *text == '.'))
			ret[n++] = '\\';
		ret[n++] = *text;
	}
	ret[n] = '\0';
}

/* The filter with another test in that place; false if it cannot be written. */
static bool put_test(const char *expr, const struct test *t, const char *op,
		     const char *value, char *ret, size_t size)
{
	const char *quote = !value[strcspn(value, " \t\n()'\"")] ? "" :
			    !strchr(value, '\'') ? "'" : "\"";
	int n;

	if (*quote && strchr(value, *quote))
		return false;
	n = snprintf(ret, size, "%.*s%s%s%s%s%s",
		     (int)(t->name + t->name_len - expr), expr, op, quote,
		     value, quote, t->end);
	return n > 0 && (size_t)n < size;
}

/* --- values --- */

struct found {
	char value[512];	/* "" nothing was found */
	uint64_t pages;
	bool same;		/* the word, but for its case */
};

static void compare(struct found *f, const struct test *t, const char *value,
		    uint64_t pages)
{
	const bool same = !strcasecmp(value, t->word);

	if (!strcasestr(value, t->word) || strlen(value) >= sizeof(f->value) ||
	    same < f->same || (same == f->same && pages <= f->pages))
		return;
	snprintf(f->value, sizeof(f->value), "%s", value);
	f->pages = pages;
	f->same = same;
}

static void look_at(struct found *f, const struct test *t,
		    struct pagedet_iter *it)
{
	const struct pagedet_field_info *info = pagedet_field(t->field);
	struct pagedet_page row;
	const char *value;
	uint64_t id;

	while (pagedet_next(it, &row, 1) > 0) {
		if (PAGEDET_CELL_STATE(row.cell[t->field]) != PAGEDET_HAVE)
			continue;
		memcpy(&id, (const char *)&row + info->offset, sizeof(id));
		value = pagedet_string(it, id, NULL);
		if (value)
			compare(f, t, value, row.pages);
	}
}

/* Finds the values of the field that match @where. */
static void find_values(const struct cli_job *job, struct pagedet *pd,
			const struct test *t, const char *where,
			struct found *ret)
{
	const uint64_t left = cli_deadline_left(job);
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_iter *it;

	q.target = job->command->target;
	q.items = job->items;
	q.n_items = job->n_items;
	q.path = job->path;
	q.where = where;
	q.group_by = &t->field;
	q.n_group_by = 1;
	q.threads = cli_threads(job);
	q.deadline_ns = left && left < MOST_NS ? left : MOST_NS;
	if (pagedet_query(pd, &q, &it))
		return;
	cli_interrupt_cancels(it);
	look_at(ret, t, it);
	cli_interrupt_cancels(NULL);
	pagedet_iter_free(it);
}

static bool try_test(const struct cli_job *job, struct pagedet *pd,
		     const struct test *t)
{
	char pattern[PATTERN], where[4096], quoted[CLI_QUOTED];
	struct found f = { .pages = 0 };
	const char *word;
	char part[WORD];

	pattern_of(t->word, true, pattern);
	if (!put_test(job->where, t, "~", pattern, where, sizeof(where)))
		return false;
	find_values(job, pd, t, where, &f);
	if (!*f.value)
		return false;
	snprintf(part, sizeof(part), "%.*s", (int)strlen(t->word),
		 strcasestr(f.value, t->word));
	pattern_of(part, false, pattern);
	if (!put_test(job->where, t, f.same ? "=" : "~",
		      f.same ? part : pattern, where, sizeof(where)))
		return false;
	word = pagedet_quoted(where, NULL, quoted, sizeof(quoted));
	if (!word)
		return false;
	cli_say("hint: of %" PRIu64 " page%s %s is '%s'; try: --where %s",
		f.pages, cli_plural(f.pages), pagedet_field(t->field)->name,
		f.value, word);
	return true;
}

void cli_suggest_value(const struct cli_job *job, struct pagedet *pd)
{
	const char *at = job->where;
	struct test t;

	/* A list of standard input cannot be asked again. */
	if (job->quiet || !at || !job->command->rows || job->list ||
	    job->format != PAGEDET_FORMAT_TEXT || job->watching ||
	    job->from_stdin || cli_interrupted())
		return;
	while (find_test(at, &t)) {
		if (try_test(job, pd, &t))
			return;
		at = t.end;
	}
}
