/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * file-cache - which parts of a file are cached, dirty or mapped?
 *
 *   file-cache FILE
 *
 * Teaches: batches as columns, the form for many pages. Each field has an array
 * of values and an array of cells. The program reads nothing into the cache.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <pagedet.h>

/* The pages of one MiB of the file. */
struct part {
	uint64_t number;
	uint64_t cached, dirty, mapped;
	uint64_t unknown;	/* pages whose flags could not be read */
};

/* Prints the error. Returns the exit status. */
static int failed(const struct pagedet *pd, int error, const char *what)
{
	fprintf(stderr, "file-cache: %s: %s\n", what, pagedet_error(pd));
	if (*pagedet_advice(pd))
		fprintf(stderr, "file-cache: hint: %s\n", pagedet_advice(pd));
	/* A missing privilege is an answer, not a failure of this program. */
	return error == -EACCES ? 0 : 1;
}

/* Finds a column: the library chooses their order. */
static const struct pagedet_column *column(const struct pagedet_columns *b,
					   uint32_t field)
{
	uint64_t i;

	for (i = 0; i < b->n_columns; i++)
		if (b->columns[i].field == field)
			return &b->columns[i];
	return NULL;
}

static int answered(const struct pagedet_column *c, uint64_t row)
{
	return PAGEDET_CELL_STATE(c->cell[row]) == PAGEDET_HAVE;
}

static void print_part(const struct part *p)
{
	if (!p->cached)
		return;
	printf("%8" PRIu64 " %8" PRIu64, p->number, p->cached);
	/* A count without these pages would look complete. */
	if (p->unknown)
		printf("        ?        ?\n");
	else
		printf(" %8" PRIu64 " %8" PRIu64 "\n", p->dirty, p->mapped);
}

static void add_page(struct part *p, const struct pagedet_column *flags,
		     const struct pagedet_column *mapcount, uint64_t row)
{
	p->cached++;
	if (!answered(flags, row) || !answered(mapcount, row)) {
		p->unknown++;
		return;
	}
	/*
	 * "dirty" belongs to the folio: one stored byte sets it for all its
	 * pages.
	 */
	p->dirty += flags->value[row] >> PAGEDET_PF_DIRTY & 1;
	p->mapped += mapcount->value[row] > 0;
}

/* Rows come in the order of the file, so only one part is open. */
static int add_batch(const struct pagedet_columns *b, uint64_t pages_per_mib,
		     struct part *p)
{
	const struct pagedet_column *index = column(b, PAGEDET_FIELD_INDEX);
	const struct pagedet_column *flags = column(b, PAGEDET_FIELD_FLAGS);
	const struct pagedet_column *mapcount;
	uint64_t i, number;

	mapcount = column(b, PAGEDET_FIELD_MAPCOUNT);
	if (!index || !flags || !mapcount)
		return -1;
	for (i = 0; i < b->rows; i++) {
		if (!answered(index, i))
			continue;
		number = index->value[i] / pages_per_mib;
		if (number != p->number) {
			print_part(p);
			*p = (struct part){ .number = number };
		}
		add_page(p, flags, mapcount, i);
	}
	return 0;
}

static int walk(struct pagedet *pd, struct pagedet_iter *it,
		uint64_t pages_per_mib)
{
	struct pagedet_columns b = { .size = sizeof(b) };
	struct pagedet_coverage c = { .size = sizeof(c) };
	struct part part = { .number = 0 };
	int n, error;

	n = pagedet_next_columns(it, &b);
	if (n > 0)
		printf("%8s %8s %8s %8s  (pages)\n", "MiB", "cached", "dirty",
		       "mapped");
	for (; n > 0; n = pagedet_next_columns(it, &b))
		if (add_batch(&b, pages_per_mib, &part)) {
			fprintf(stderr, "file-cache: a column is missing\n");
			return 1;
		}
	print_part(&part);
	if (n < 0)
		return failed(pd, n, "stopped");
	error = pagedet_coverage(it, &c);
	if (error)
		return failed(pd, error, "no coverage");
	printf("%" PRIu64 " of %" PRIu64 " pages are cached\n", c.rows,
	       c.wanted);
	if (pagedet_why(it, PAGEDET_FIELD_FLAGS) != PAGEDET_HAVE)
		printf("dirty and mapped are not known: %s; %s\n",
		       pagedet_state_text(pagedet_why(it,
						      PAGEDET_FIELD_FLAGS)),
		       pagedet_why_advice(it, PAGEDET_FIELD_FLAGS));
	return 0;
}

static int run(struct pagedet *pd, const char *path)
{
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_info info = { .size = sizeof(info) };
	struct pagedet_iter *it;
	int r;

	r = pagedet_open(pd, NULL);
	if (!r)
		r = pagedet_info(pd, &info);
	if (r)
		return failed(pd, r, "cannot open the running kernel");
	q.target = PAGEDET_TARGET_FILE;
	q.path = path;
	r = pagedet_fields_parse(pd, "index,flags,mapcount", &q);
	if (!r)
		r = pagedet_query(pd, &q, &it);
	if (r)
		return failed(pd, r, "cannot look at the file");
	r = walk(pd, it, (1 << 20) / info.page_size);
	pagedet_iter_free(it);
	return r;
}

int main(int argc, char **argv)
{
	struct pagedet *pd;
	int r;

	if (argc != 2) {
		fprintf(stderr, "usage: file-cache FILE\n");
		return 2;
	}
	pd = pagedet_new();
	if (!pd) {
		fprintf(stderr, "file-cache: out of memory\n");
		return 1;
	}
	r = run(pd, argv[1]);
	pagedet_free(pd);
	return r;
}
