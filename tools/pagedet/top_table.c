/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Prints a table of memory users that fits the terminal. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

#define SIZE_COLUMN 11		/* width of "1023.9 MiB" and a blank */
#define PID_WIDTH 8
#define MIN_NAME 10
/* Paths are longer than names of processes. */
#define MIN_KEY 32

const char *cli_sum_name(uint32_t sum)
{
	size_t i;

	for (i = 0; cli_sums[i].name; i++)
		if (cli_sums[i].sum == sum)
			return cli_sums[i].name;
	return "?";
}

struct cli_entry *cli_table_add(struct cli_table *t, const char *name)
{
	struct cli_entry *e;

	if (t->n == t->max) {
		const size_t max = t->max ? 2 * t->max : 256;
		struct cli_entry *more = realloc(t->entries,
						 max * sizeof(*more));

		if (!more) {
			cli_fail_errno("top");
			return NULL;
		}
		t->entries = more;
		t->max = max;
	}
	e = &t->entries[t->n];
	memset(e, 0, sizeof(*e));
	if (name) {
		e->name = strdup(name);
		if (!e->name) {
			cli_fail_errno("top");
			return NULL;
		}
	}
	t->n++;
	return e;
}

/* FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv). */
static size_t hash(const char *text)
{
	uint64_t h = 0xcbf29ce484222325;

	for (; text && *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3;
	return (size_t)h;
}

struct cli_entry *cli_table_entry(struct cli_table *t, const char *name)
{
	size_t i;

	if (t->slots < 2 * (t->n + 1)) {
		const size_t slots = t->slots ? 4 * t->slots : 1024;
		size_t *slot = calloc(slots, sizeof(*slot));

		if (!slot) {
			cli_fail_errno("top");
			return NULL;
		}
		for (i = 0; i < t->n; i++) {
			size_t at = hash(t->entries[i].name) & (slots - 1);

			while (slot[at])
				at = (at + 1) & (slots - 1);
			slot[at] = i + 1;
		}
		free(t->slot);
		t->slot = slot;
		t->slots = slots;
	}
	for (i = hash(name) & (t->slots - 1); t->slot[i];
	     i = (i + 1) & (t->slots - 1)) {
		struct cli_entry *e = &t->entries[t->slot[i] - 1];

		if (e->name && name ? !strcmp(e->name, name) : e->name == name)
			return e;
	}
	t->slot[i] = t->n + 1;
	return cli_table_add(t, name);
}

void cli_table_free(struct cli_table *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		free(t->entries[i].name);
	free(t->entries);
	free(t->slot);
	memset(t, 0, sizeof(*t));
}

/*
 * Whether any entry has the sum. If all values of a rare sum are zero, the sum
 * gets no column.
 */
static bool is_shown(const struct cli_table *t, uint32_t sum)
{
	size_t i;

	if (t->processes && sum != PAGEDET_SUM_HUGETLB)
		return true;
	for (i = 0; i < t->n; i++)
		if (t->entries[i].state[sum] == PAGEDET_HAVE &&
		    t->entries[i].value[sum])
			return true;
	return false;
}

/* @how: "~" roughly, ">" at least, or "". */
static void put_size(FILE *f, uint64_t bytes, const char *how)
{
	char size[32], text[40];

	cli_size(size, sizeof(size), bytes);
	snprintf(text, sizeof(text), "%s%s", how, size);
	fprintf(f, "%*s", SIZE_COLUMN, text);
}

static void put_sum(FILE *f, const struct cli_entry *e, uint32_t sum)
{
	if (e->state[sum] == PAGEDET_HAVE)
		put_size(f, e->value[sum], e->estimated >> sum & 1 ? "~" : "");
	else
		fprintf(f, "%*s", SIZE_COLUMN,
			e->state[sum] == PAGEDET_NONE ? "-" : "?");
}

struct layout {
	uint32_t sums[PAGEDET_SUMS]; /* sums in order of columns */
	size_t n;
	uint32_t no_room[PAGEDET_SUMS];
	size_t n_no_room;
	int name_width;		/* 0: unlimited, in the last column */
	bool colour;
};

/* Chooses as many sums as fit on the terminal, the most informative first. */
static void lay_out(struct layout *l, const struct cli_table *t, uint32_t width)
{
	const int head = t->processes ? PID_WIDTH : SIZE_COLUMN;
	const int least = t->processes ? MIN_NAME : MIN_KEY;
	int left = width ? (int)width - head - least - 2 : 1 << 20;
	size_t i;

	l->n = l->n_no_room = 0;
	for (i = 0; cli_sums[i].name; i++) {
		if (!is_shown(t, cli_sums[i].sum))
			continue;
		if (left < SIZE_COLUMN) {
			l->no_room[l->n_no_room++] = cli_sums[i].sum;
			continue;
		}
		l->sums[l->n++] = cli_sums[i].sum;
		left -= SIZE_COLUMN;
	}
	l->name_width = width ? left + least : 0;
	if (width && l->name_width < 1)
		l->name_width = 1;
}

static void put_head(FILE *f, const struct layout *l,
		     const struct cli_table *t)
{
	const char *key = t->processes ? "comm" : pagedet_field(t->key)->name;
	char name[32];
	size_t i, j;

	fputs(l->colour ? "\033[1m" : "", f);
	if (t->processes)
		fprintf(f, "%*s", PID_WIDTH - 1, "PID");
	else
		fprintf(f, "%*s", SIZE_COLUMN, "BYTES");
	for (i = 0; i <= l->n; i++) {
		snprintf(name, sizeof(name), "%s", i < l->n ?
			 cli_sum_name(l->sums[i]) : key);
		for (j = 0; name[j]; j++)
			name[j] -= name[j] >= 'a' && name[j] <= 'z' ? 32 : 0;
		if (i < l->n)
			fprintf(f, "%*s", SIZE_COLUMN, name);
		else
			fprintf(f, "  %s%s\n", name,
				l->colour ? "\033[0m" : "");
	}
}

static void put_line(FILE *f, const struct layout *l,
		     const struct cli_table *t, const struct cli_entry *e)
{
	size_t i;

	if (t->processes)
		fprintf(f, "%*" PRIu32, PID_WIDTH - 1, e->pid);
	else
		put_size(f, e->bytes, "");
	for (i = 0; i < l->n; i++)
		put_sum(f, e, l->sums[i]);
	fputs("  ", f);
	/*
	 * The column before the value, which is a blank, is a part of the
	 * width.
	 */
	cli_clipped_text(f, e->name ? e->name : "?", (uint32_t)l->name_width);
	fputc('\n', f);
}

/* Whether a sum over all processes counts each page once. */
static bool adds_up(const struct cli_table *t, uint32_t sum)
{
	return !t->processes || sum == PAGEDET_SUM_PSS ||
	       sum == PAGEDET_SUM_USS || sum == PAGEDET_SUM_SWAP;
}

static void put_total(FILE *f, const struct layout *l,
		      const struct cli_table *t)
{
	uint64_t sum, bytes = 0;
	const char *how;
	size_t i, j;

	for (j = 0; j < t->n; j++)
		bytes += t->entries[j].bytes;
	if (t->processes)
		fprintf(f, "%*s", PID_WIDTH - 1, "total");
	else
		put_size(f, bytes, "");
	for (i = 0; i < l->n; i++) {
		how = "";
		for (j = 0, sum = 0; j < t->n; j++) {
			const struct cli_entry *e = &t->entries[j];

			if (e->same_as_state == PAGEDET_HAVE)
				continue;
			sum += e->value[l->sums[i]];
			if (e->same_as_state > PAGEDET_NONE &&
			    e->value[l->sums[i]] && !*how)
				how = "~";
			if (e->state[l->sums[i]] != PAGEDET_HAVE &&
			    e->state[l->sums[i]] != PAGEDET_NONE)
				how = ">";
			else if (e->estimated >> l->sums[i] & 1 && !*how)
				how = "~";
		}
		if (adds_up(t, l->sums[i]))
			put_size(f, sum, how);
		else
			fprintf(f, "%*s", SIZE_COLUMN, "");
	}
	if (t->processes)
		fprintf(f, "  %zu process%s\n", t->n, t->n == 1 ? "" : "es");
	else
		fprintf(f, "  total\n");
}

/* Explains why the total is less than the sum of the lines. */
static void put_same(FILE *f, size_t same, uint32_t width)
{
	struct cli_wrap w = { f, width, 2, 0 };
	char words[96];

	if (!same)
		return;
	w.at = (uint32_t)fprintf(f, "not in the total:");
	snprintf(words, sizeof(words), "%zu process%s with another's address "
		 "space (vfork, CLONE_VM)", same, same == 1 ? "" : "es");
	cli_wrap_words(&w, words);
	fputc('\n', f);
}

static size_t count_same(const struct cli_table *t)
{
	size_t i, n = 0;

	for (i = 0; i < t->n; i++)
		n += t->entries[i].same_as_state == PAGEDET_HAVE;
	return n;
}

/* Reports columns that the terminal had no room for. */
static void put_no_room(FILE *f, const struct layout *l, uint32_t width)
{
	struct cli_wrap w = { f, width, 2, 0 };
	char name[64];
	size_t i;

	if (!l->n_no_room)
		return;
	w.at = (uint32_t)fprintf(f, "no room:");
	for (i = 0; i < l->n_no_room; i++) {
		snprintf(name, sizeof(name), "%s%s",
			 cli_sum_name(l->no_room[i]),
			 i + 1 < l->n_no_room ? "," : "");
		cli_wrap_item(&w, name);
	}
	cli_wrap_words(&w, "(--json has them)");
	fputc('\n', f);
}

void cli_table_text(FILE *f, const struct cli_job *job,
		    const struct cli_table *t, size_t n)
{
	const bool file = job->output && strcmp(job->output, "-");
	const int fd = file ? -1 : STDOUT_FILENO;
	const uint32_t width = cli_answer_width(job);
	const uint32_t height = job->all ? 0 : cli_height(fd);
	const size_t same = count_same(t), bounded = n;
	struct layout l;
	uint32_t more;
	size_t i;

	/*
	 * These are the heading, the total, the number of further lines, the
	 * message about denied processes, and the prompt.
	 */
	lay_out(&l, t, width);
	l.colour = cli_colour(fd);
	more = !!l.n_no_room + !!same;
	if (!cli_bound(job) && height && n + 4 + more > height)
		n = height > 10 ? height - 6 - more : 4;
	if (n > bounded)
		n = bounded;
	put_head(f, &l, t);
	for (i = 0; i < n; i++)
		put_line(f, &l, t, &t->entries[i]);
	put_total(f, &l, t);
	put_same(f, same, width);
	if (n < bounded)
		fprintf(f, "%zu more: --all lists them\n", bounded - n);
	else if (n < t->n)
		fprintf(f, "%zu more\n", t->n - n);
	put_no_room(f, &l, width);
}
