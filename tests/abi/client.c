/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A program built against the header of an old release, of today, or of a later
 * release, and run with today's library. It uses what the first release had,
 * but no initializers, because their form may change. Prints TAP.
 *
 *   client ROOT	a root whose pfns 0 to 7 are anonymous pages
 *
 * LATER: the header is of a later release, where pagedet_page, _query, _options
 * and _info have a last member "later".
 */
#include <errno.h>
#include <pagedet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 4
#define GUARD 64
#define GUARD_BYTE 0xa5

static int tests, failures;

static void check(int good, const char *name)
{
	tests++;
	failures += !good;
	printf("%s %d - %s\n", good ? "ok" : "not ok", tests, name);
}

static int all(const unsigned char *bytes, size_t n, unsigned char value)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (bytes[i] != value)
			return 0;
	return 1;
}

/* Checks the cell of a wanted field in a row of this header's size. */
static int cell_is_right(const struct pagedet_page *row, uint32_t id)
{
	const struct pagedet_field_info *field = pagedet_field(id);
	unsigned state = PAGEDET_CELL_STATE(row->cell[id]);

	if (!field)
		return state == PAGEDET_NOT_ASKED;
	if (field->offset + field->width > sizeof(*row))
		return state == PAGEDET_OLD_ROW;
	return state != PAGEDET_NOT_ASKED && state != PAGEDET_OLD_ROW;
}

static void check_rows(const unsigned char *memory, int n)
{
	const struct pagedet_page *row = (const void *)memory;
	int cells = 1, values = 1, i;
	uint32_t id;

	for (i = 0; i < n; i++) {
		for (id = 0; id < PAGEDET_FIELDS_MAX; id++)
			cells &= cell_is_right(&row[i], id);
		values &= row[i].pfn == (uint64_t)i &&
			  row[i].kind == PAGEDET_KIND_ANON &&
			  row[i].mapcount == 1 &&
			  PAGEDET_CELL_STATE(row[i].cell[PAGEDET_FIELD_KIND]) ==
				  PAGEDET_HAVE;
	}
	check(n == ROWS, "as many rows as fit");
	check(cells, "fields in our row are answered, others are old_row");
	check(values, "values are where our header has them");
	check(all(memory + ROWS * sizeof(*row), GUARD, GUARD_BYTE),
	      "nothing is written behind our last row");
#ifdef LATER
	for (i = 0, values = 1; i < n; i++)
		values &= row[i].later == 0;
	check(values, "what the library does not know is zero");
#endif
}

static void ask(struct pagedet *pd)
{
	struct pagedet_item item = { 0, 8, 0, 0 };
	struct pagedet_iter *it = NULL;
	struct pagedet_query query;
	unsigned char *memory;
	uint32_t id;

	pagedet_query_init(&query, sizeof(query), sizeof(struct pagedet_page));
	check(query.size == sizeof(query) &&
	      query.row_size == sizeof(struct pagedet_page) &&
	      all((unsigned char *)&query + 16, sizeof(query) - 16, 0),
	      "pagedet_query_init sets both sizes and zeroes the rest");
	query.target = PAGEDET_TARGET_PFN;
	query.items = &item;
	query.n_items = 1;
	for (id = 0; id < PAGEDET_FIELDS_MAX; id++)
		if (pagedet_field(id))
			query.fields[id / 64] |= (uint64_t)1 << id % 64;
	memory = malloc(ROWS * sizeof(struct pagedet_page) + GUARD);
	if (!memory)
		abort();
	memset(memory, GUARD_BYTE, ROWS * sizeof(struct pagedet_page) + GUARD);
	if (pagedet_query(pd, &query, &it) == 0)
		check_rows(memory, pagedet_next(it, (void *)memory, ROWS));
	else
		check(0, pagedet_error(pd));
	pagedet_iter_free(it);
	free(memory);
#ifdef LATER
	it = NULL;
	query.later = 1;
	check(pagedet_query(pd, &query, &it) == -E2BIG && !it,
	      "a query with a member that the library does not know");
	check(strstr(pagedet_error(pd), "byte ") != NULL, pagedet_error(pd));
#endif
}

static void look(struct pagedet *pd)
{
	struct {
		struct pagedet_info info;
		unsigned char guard[GUARD];
	} answer;
	int r;

	memset(&answer, GUARD_BYTE, sizeof(answer));
	answer.info.size = sizeof(answer.info);
	r = pagedet_info(pd, &answer.info);
	check(r == 0 && answer.info.page_size >= 4096 && !answer.info.live,
	      "pagedet_info answers");
	check(all(answer.guard, sizeof(answer.guard), GUARD_BYTE),
	      "and writes nothing behind our struct");
#ifdef LATER
	check(answer.info.later == 0, "what the library does not know is zero");
#endif
}

int main(int argc, char **argv)
{
	struct pagedet_options options;
	struct pagedet *pd = pagedet_new();

	if (argc != 2 || !pd)
		return 64;
	pagedet_options_init(&options, sizeof(options));
	check(options.size == sizeof(options) &&
	      all((unsigned char *)&options + 8, sizeof(options) - 8, 0),
	      "pagedet_options_init sets the size and zeroes the rest");
	options.root = argv[1];
#ifdef LATER
	options.later = 1;
	check(pagedet_open(pd, &options) == -E2BIG,
	      "options with a member that the library does not know");
	options.later = 0;
#endif
	if (pagedet_open(pd, &options) == 0) {
		look(pd);
		ask(pd);
	} else {
		check(0, pagedet_error(pd));
	}
	pagedet_free(pd);
	printf("1..%d\n", tests);
	return failures != 0;
}
