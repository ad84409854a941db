/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Two keys of a KMAP as the rows and columns of a table: CSV of all, or a
 * picture of the largest.
 */
#include <stdlib.h>
#include <string.h>

#include "kmap.h"

/* More cells than a spreadsheet can show. */
#define MOST_CELLS ((size_t)1 << 24)
/* Lines of a picture in each direction, with the one for the rest. */
#define MOST_LINES 64u
#define CELL 18
#define NAMES 220		/* room for a name */
#define LETTERS 32		/* in that room */

struct cell {
	char *row, *column;
	uint64_t value;
};

/* The names of rows, or of columns, the largest first. */
struct line {
	const char *name;
	uint64_t sum;
};

struct lines {
	struct line *line;
	size_t n;
};

struct matrix {
	struct cell *cell;
	size_t n;
	struct lines rows, columns;
	uint64_t *value;	/* by row and column */
	const char *what;	/* the cells are */
};

/* --- the cells --- */

static const struct {
	const char *name;
	size_t at;
} numbers[] = {
#define NUMBER(name) { #name, offsetof(struct pagedet_kmap_group, name) }
	NUMBER(objects), NUMBER(bytes), NUMBER(nested), NUMBER(catch_all),
	NUMBER(live), NUMBER(live_bytes), NUMBER(freed), NUMBER(missed),
	NUMBER(unknown), NUMBER(accesses), NUMBER(reads), NUMBER(writes),
#undef NUMBER
};

/* What --sort names; NULL: reads and writes. */
static int find_number(const char *sort, size_t *ret)
{
	size_t i;

	*ret = CLI_COUNT(numbers);
	if (!sort)
		return CLI_ANSWERED;
	for (i = 0; i < CLI_COUNT(numbers); i++)
		if (!strcmp(sort, numbers[i].name)) {
			*ret = i;
			return CLI_ANSWERED;
		}
	return cli_usage("--matrix: '%s' of --sort is not a number of groups",
			 sort);
}

/* Without a wrap; the command says that a sum is too large. */
static uint64_t add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t value_of(const struct pagedet_kmap_group *g, size_t number)
{
	uint64_t v;

	if (number == CLI_COUNT(numbers))
		return add(g->reads, g->writes);
	memcpy(&v, (const char *)g + numbers[number].at, sizeof(v));
	return v;
}

/* Returns NULL without memory. */
static char *name_of(const struct pagedet_kmap *kmap,
		     const struct pagedet_kmap_group *g, unsigned key)
{
	const char *text = g->state[key] == PAGEDET_NONE ? "-" : "?";
	char digits[32];

	if (g->state[key] == PAGEDET_HAVE) {
		text = pagedet_kmap_text(kmap, g->value[key], NULL);
		snprintf(digits, sizeof(digits), "%llu",
			 (unsigned long long)g->value[key]);
	}
	return strdup(text ? text : digits);
}

static int read_cells(struct matrix *m, struct pagedet_kmap *kmap,
		      uint64_t groups, size_t number)
{
	struct pagedet_kmap_group g = { .size = sizeof(g) };

	m->cell = calloc(groups + 1, sizeof(*m->cell));
	while (m->cell && m->n < groups &&
	       pagedet_kmap_next_group(kmap, &g) == 1) {
		struct cell *c = &m->cell[m->n++];

		c->row = name_of(kmap, &g, 0);
		c->column = name_of(kmap, &g, 1);
		c->value = value_of(&g, number);
		if (!c->row || !c->column)
			return cli_fail_errno("--matrix");
	}
	return m->cell ? CLI_ANSWERED : cli_fail_errno("--matrix");
}

/* --- rows and columns --- */

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->name,
		      ((const struct line *)b)->name);
}

static int by_sum(const void *pa, const void *pb)
{
	const struct line *a = pa, *b = pb;

	if (a->sum != b->sum)
		return a->sum < b->sum ? 1 : -1;
	return by_name(pa, pb);
}

static bool find_lines(const struct matrix *m, bool columns, struct lines *ret)
{
	struct line *l = calloc(m->n + 1, sizeof(*l));
	size_t i, n = 0;

	ret->line = l;
	if (!l)
		return false;
	for (i = 0; i < m->n; i++)
		l[i] = (struct line){ columns ? m->cell[i].column :
						m->cell[i].row,
				      m->cell[i].value };
	qsort(l, m->n, sizeof(*l), by_name);
	for (i = 0; i < m->n; i++)
		if (n && !by_name(&l[n - 1], &l[i]))
			l[n - 1].sum = add(l[n - 1].sum, l[i].sum);
		else
			l[n++] = l[i];
	ret->n = n;
	qsort(l, n, sizeof(*l), by_sum);
	return true;
}

/* Names of lines, sorted to be found, with their places. */
struct place {
	const char *name;
	size_t at;
};

static int compare_places(const void *a, const void *b)
{
	return strcmp(((const struct place *)a)->name,
		      ((const struct place *)b)->name);
}

static struct place *sort_places(const struct lines *l)
{
	struct place *p = calloc(l->n + 1, sizeof(*p));
	size_t i;

	for (i = 0; p && i < l->n; i++)
		p[i] = (struct place){ l->line[i].name, i };
	if (p)
		qsort(p, l->n, sizeof(*p), compare_places);
	return p;
}

static size_t find(const struct place *p, size_t n, const char *name)
{
	const struct place key = { name, 0 };
	const struct place *found = bsearch(&key, p, n, sizeof(*p),
					    compare_places);

	return found->at;
}

static bool fill(struct matrix *m)
{
	struct place *rows = sort_places(&m->rows);
	struct place *columns = sort_places(&m->columns);
	size_t i;

	m->value = calloc(m->rows.n * m->columns.n + 1, sizeof(*m->value));
	for (i = 0; rows && columns && m->value && i < m->n; i++) {
		const struct cell *c = &m->cell[i];
		uint64_t *v = &m->value[find(rows, m->rows.n, c->row) *
					m->columns.n +
					find(columns, m->columns.n,
					     c->column)];

		*v = add(*v, c->value);
	}
	free(rows);
	free(columns);
	return rows && columns && m->value;
}

static int arrange(struct matrix *m)
{
	if (!find_lines(m, false, &m->rows) ||
	    !find_lines(m, true, &m->columns))
		return cli_fail_errno("--matrix");
	if (m->rows.n && m->columns.n > MOST_CELLS / m->rows.n)
		return cli_usage("--matrix: %zu rows and %zu columns are too "
				 "many: --by names other keys", m->rows.n,
				 m->columns.n);
	return fill(m) ? CLI_ANSWERED : cli_fail_errno("--matrix");
}

/* --- CSV --- */

/* What is not known is not a name. */
static void put_name(FILE *f, const char *name)
{
	if (strcmp(name, "?"))
		cli_csv_text(f, name);
	else
		putc('?', f);
}

static void put_csv(FILE *f, const struct matrix *m, const char *corner)
{
	size_t r, c;

	cli_csv_text(f, corner);
	for (c = 0; c < m->columns.n; c++) {
		putc(',', f);
		put_name(f, m->columns.line[c].name);
	}
	putc('\n', f);
	for (r = 0; r < m->rows.n; r++) {
		put_name(f, m->rows.line[r].name);
		for (c = 0; c < m->columns.n; c++)
			fprintf(f, ",%llu", (unsigned long long)
				m->value[r * m->columns.n + c]);
		putc('\n', f);
	}
}

/* --- a picture --- */

/* The last line of a picture stands for all that have no line of their own. */
static size_t shown(const struct lines *l)
{
	return l->n < MOST_LINES ? l->n : MOST_LINES;
}

static const char *shown_name(const struct lines *l, size_t i)
{
	return i + 1 == MOST_LINES && l->n > MOST_LINES ? "others" :
							  l->line[i].name;
}

/* One past the last line that line @i of the picture stands for. */
static size_t shown_end(const struct lines *l, size_t i)
{
	return i + 1 == MOST_LINES ? l->n : i + 1;
}

static uint64_t shown_value(const struct matrix *m, size_t row, size_t column)
{
	uint64_t sum = 0;
	size_t r, c;

	for (r = row; r < shown_end(&m->rows, row); r++)
		for (c = column; c < shown_end(&m->columns, column); c++)
			sum = add(sum, m->value[r * m->columns.n + c]);
	return sum;
}

/* Each colour is for ten times as much. */
static unsigned shade(uint64_t value)
{
	unsigned shade = 230;

	for (; value >= 10 && shade > 20; value /= 10)
		shade -= 20;
	return shade;
}

static void put_names(FILE *f, const struct lines *l, bool columns)
{
	size_t i;

	for (i = 0; i < shown(l); i++) {
		const int at = NAMES + (int)i * CELL + CELL - 5;

		if (columns)
			fprintf(f, "<text transform=\"translate(%d,%d) "
				"rotate(-90)\">", at, NAMES - 4);
		else
			fprintf(f, "<text x=\"%d\" y=\"%d\" "
				"text-anchor=\"end\">", NAMES - 4, at);
		cli_xml_text(f, shown_name(l, i), LETTERS);
		fprintf(f, "</text>\n");
	}
}

static void put_cell(FILE *f, const struct matrix *m, size_t r, size_t c)
{
	const uint64_t value = shown_value(m, r, c);
	const unsigned v = shade(value);

	if (!value)
		return;
	fprintf(f, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
		"fill=\"rgb(%u,%u,255)\"><title>",
		NAMES + (int)c * CELL, NAMES + (int)r * CELL, CELL - 1,
		CELL - 1, v, v);
	cli_xml_text(f, shown_name(&m->rows, r), SIZE_MAX);
	fprintf(f, ", ");
	cli_xml_text(f, shown_name(&m->columns, c), SIZE_MAX);
	fprintf(f, ": %llu %s</title></rect>\n", (unsigned long long)value,
		m->what);
}

static void put_picture(FILE *f, const struct matrix *m, const char *corner)
{
	const size_t rows = shown(&m->rows), columns = shown(&m->columns);
	const int width = NAMES + (int)columns * CELL + 10;
	const int height = NAMES + (int)rows * CELL + 10;
	size_t r, c;

	fprintf(f, "<?xml version=\"1.0\"?>\n<svg version=\"1.1\" "
		"xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
		"height=\"%d\" viewBox=\"0 0 %d %d\" "
		"font-family=\"monospace\" font-size=\"11\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
		"<text x=\"4\" y=\"16\">", width, height, width, height);
	cli_xml_text(f, corner, SIZE_MAX);
	fprintf(f, "</text>\n<text x=\"4\" y=\"32\">%s</text>\n", m->what);
	put_names(f, &m->rows, false);
	put_names(f, &m->columns, true);
	for (r = 0; r < rows; r++)
		for (c = 0; c < columns; c++)
			put_cell(f, m, r, c);
	fprintf(f, "</svg>\n");
}

/* --- */

static void free_matrix(struct matrix *m)
{
	size_t i;

	for (i = 0; i < m->n; i++) {
		free(m->cell[i].row);
		free(m->cell[i].column);
	}
	free(m->cell);
	free(m->rows.line);
	free(m->columns.line);
	free(m->value);
}

static bool ends_with(const char *path, const char *ending)
{
	const size_t n = strlen(path), m = strlen(ending);

	return n >= m && !strcmp(path + n - m, ending);
}

/* A lifetime has its unit in its name. */
static void name_keys(const struct cli_job *job, const char *by, char *text,
		      size_t size)
{
	static const char lifetime[] = "lifetime";
	const char *at = strstr(by, lifetime);

	if (at)
		snprintf(text, size, "%.*s%s_%s%s", (int)(at - by), by,
			 lifetime, job->hz ? "ns" : "jiffies",
			 at + strlen(lifetime));
	else
		snprintf(text, size, "%s", by);
}

static int write_matrix(const struct cli_job *job, const struct matrix *m,
			const char *by, int fd)
{
	char corner[128]; /* more than two keys need */
	const bool drawn = ends_with(job->matrix, ".svg") ||
			   ends_with(job->matrix, ".png");
	FILE *f = cli_output_stream(fd);

	if (!f)
		return cli_fail_errno("cannot write the output");
	name_keys(job, by, corner, sizeof(corner));
	(drawn ? put_picture : put_csv)(f, m, corner);
	return fclose(f) ? cli_fail_errno("cannot write the output") :
			   CLI_ANSWERED;
}

int cli_kmap_matrix(const struct cli_job *job, struct pagedet_kmap *kmap,
		    uint64_t groups, const char *by)
{
	struct matrix m = { .what = job->sort ? job->sort :
				    "reads and writes" };
	struct cli_output out;
	size_t number;
	int status = find_number(job->sort, &number);

	if (!status)
		status = read_cells(&m, kmap, groups, number);
	if (!status)
		status = arrange(&m);
	if (!status) {
		status = cli_picture_open(&out, job->matrix);
		if (!status)
			status = write_matrix(job, &m, by, out.fd);
		status = cli_output_close(&out, !status && !cli_interrupted(),
					  status);
	}
	free_matrix(&m);
	return status;
}
