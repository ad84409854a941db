/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The library's side of a comparison: ask, take every column, end. */
#include <string.h>

#include "compare.h"

void drain_die(const struct drain *d, const char *what)
{
	probe_die("%s: %s %s", what, pagedet_error(d->pd),
		  pagedet_advice(d->pd));
}

void drain_open(struct drain *d)
{
	drain_open_from(d, NULL, 0);
}

void drain_open_from(struct drain *d, const char *file, uint32_t sources)
{
	struct pagedet_options options = PAGEDET_OPTIONS_INIT;

	memset(d, 0, sizeof(*d));
	d->pd = pagedet_new();
	if (!d->pd)
		probe_die("no memory");
	options.files = &file;
	options.n_files = file ? 1 : 0;
	options.sources = sources;
	if (pagedet_open(d->pd, &options) < 0)
		drain_die(d, "pagedet_open");
	pagedet_query_init(&d->query, sizeof(d->query),
			   sizeof(struct pagedet_page));
}

void drain_close(struct drain *d)
{
	pagedet_free(d->pd);
}

void drain_want(struct drain *d, uint32_t field)
{
	d->query.fields[field / 64] |= (uint64_t)1 << field % 64;
}

static void take(struct drain *d, const struct pagedet_columns *columns)
{
	const struct pagedet_column *c;
	uint64_t i, row;

	d->rows += columns->rows;
	for (i = 0; i < columns->n_columns; i++) {
		c = &columns->columns[i];
		if (c->field != PAGEDET_FIELD_PAGES)
			continue;
		for (row = 0; row < columns->rows; row++)
			d->pages += c->value[row];
	}
}

uint64_t drain_run(void *arg)
{
	struct drain *d = arg;
	struct pagedet_columns columns = { .size = sizeof(columns) };
	struct pagedet_iter *it;
	uint64_t start = probe_ns();
	int n;

	d->rows = 0;
	d->pages = 0;
	if (pagedet_query(d->pd, &d->query, &it) < 0)
		drain_die(d, "pagedet_query");
	while ((n = pagedet_next_columns(it, &columns)) > 0)
		take(d, &columns);
	if (n < 0)
		drain_die(d, "pagedet_next_columns");
	pagedet_iter_free(it);
	return probe_ns() - start;
}
