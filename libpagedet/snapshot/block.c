/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Decodes a block of rows: parses and checks the runs of each column, and makes
 * rows from runs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/codec/codec.h"
#include "base/vec.h"
#include "snapshot/format.h"
#include "snapshot/numbers.h"
#include "snapshot/read.h"

#define COLUMN_SIZE 8

/* The runs of a column. Their numbers are in arrays of the block. */
struct column {
	bool there;
	bool text;
	uint32_t n_cells, n_values;
	size_t cell_end;	/* behind its last row */
	size_t cell;
	size_t value_end;
	size_t stride;
	size_t first;
};

struct pdet_snapshot_block {
	struct column column[PDET_FIELDS];
	uint32_t rows;
	struct { uint64_t *data; size_t n, cap; } numbers;
	struct { const char **data; size_t n, cap; } texts;
	struct pdet_snapshot_loaded loaded;
};

struct pdet_snapshot_block *pdet_snapshot_block_new(void)
{
	return calloc(1, sizeof(struct pdet_snapshot_block));
}

struct pdet_snapshot_loaded *
pdet_snapshot_loaded(struct pdet_snapshot_block *b)
{
	return &b->loaded;
}

void pdet_snapshot_block_free(struct pdet_snapshot_block *b)
{
	if (!b)
		return;
	pdet_vec_free(&b->numbers);
	pdet_vec_free(&b->texts);
	pdet_vec_free(&b->loaded.stored);
	pdet_vec_free(&b->loaded.raw);
	pdet_codec_close(b->loaded.codec);
	free(b);
}

/* --- from bytes to runs --- */

static int get_texts(struct pdet_snapshot_block *b, const char **at,
		     const char *end)
{
	uint32_t n, bytes, i;
	const char *p = *at, *nul;

	if (end - p < 8)
		return -EBADMSG;
	n = pdet_get32(p);
	bytes = pdet_get32(p + 4);
	p += 8;
	/* Each text has at least its NUL. */
	if (bytes > (size_t)(end - p) || n > bytes)
		return -EBADMSG;
	end = p + bytes;
	b->texts.n = 0;
	if (!pdet_vec_reserve(&b->texts, (size_t)n + 1))
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		nul = memchr(p, '\0', (size_t)(end - p));
		if (!nul)
			return -EBADMSG;
		b->texts.data[b->texts.n++] = p;
		p = nul + 1;
	}
	*at = end;
	return p == end ? 0 : -EBADMSG;
}

/* Appends @n numbers. */
static bool get_numbers(struct pdet_snapshot_block *b, const char **p,
			const char *end, uint32_t n, size_t *at)
{
	*at = b->numbers.n;
	b->numbers.n += n;
	return pdet_numbers_get(p, end, b->numbers.data + *at, n);
}

/*
 * Turns the length of each run into the row after its end. Together the runs
 * must have all rows.
 */
static bool get_ends(struct pdet_snapshot_block *b, const char **p,
		     const char *end, uint32_t n, size_t *at)
{
	uint64_t rows = 0, *number;
	uint32_t i;

	if (!get_numbers(b, p, end, n, at))
		return false;
	number = b->numbers.data + *at;
	for (i = 0; i < n; i++) {
		if (!number[i] || number[i] > b->rows - rows)
			return false;
		rows += number[i];
		number[i] = rows;
	}
	return rows == b->rows;
}

/*
 * If a later version wrote a state that is unknown here, the cell has no
 * answer.
 */
static uint16_t known_cell(uint64_t cell)
{
	const unsigned state = cell & 0xff;
	unsigned source = cell >> 8 & 0xff;

	if (!pdet_source_name(source))
		source = PAGEDET_SOURCE_NOBODY;
	if (state == PAGEDET_HAVE || state == PAGEDET_NONE ||
	    (pdet_is_reason(state) && pdet_state_name(state)))
		return PDET_CELL(state, source);
	return PDET_CELL(PAGEDET_UNSUPPORTED, source);
}

static int get_column(struct pdet_snapshot_block *b, unsigned f, const char *p,
		      const char *end)
{
	const unsigned type = pdet_field_info(f)->type;
	struct column *c = &b->column[f];
	uint64_t *cell, *first, *stride;
	uint32_t i;

	if (c->there || end - p < 8)
		return -EBADMSG;
	c->n_cells = pdet_get32(p);
	c->n_values = pdet_get32(p + 4);
	p += 8;
	if (!c->n_cells || c->n_cells > b->rows || !c->n_values ||
	    c->n_values > b->rows)
		return -EBADMSG;
	if (!pdet_vec_reserve(&b->numbers, (size_t)c->n_cells * 2 +
					   (size_t)c->n_values * 3))
		return -ENOMEM;
	if (!get_ends(b, &p, end, c->n_cells, &c->cell_end) ||
	    !get_numbers(b, &p, end, c->n_cells, &c->cell) ||
	    !get_ends(b, &p, end, c->n_values, &c->value_end) ||
	    !get_numbers(b, &p, end, c->n_values, &c->stride) ||
	    !get_numbers(b, &p, end, c->n_values, &c->first) || p != end)
		return -EBADMSG;
	cell = b->numbers.data + c->cell;
	for (i = 0; i < c->n_cells; i++)
		cell[i] = known_cell(cell[i]);
	c->text = type == PAGEDET_TYPE_STRING || type == PAGEDET_TYPE_LIST;
	first = b->numbers.data + c->first;
	stride = b->numbers.data + c->stride;
	for (i = 0; c->text && i < c->n_values; i++)
		if (stride[i] || first[i] > b->texts.n)
			return -EBADMSG;
	c->there = true;
	return 0;
}

int pdet_snapshot_decode(struct pdet_snapshot_block *b, const char *p, size_t n,
			 uint32_t rows, const struct pdet_fields *fields)
{
	const char *end = p + n;
	unsigned f;
	uint32_t len;
	int r;

	memset(b->column, 0, sizeof(b->column));
	b->rows = rows;
	b->numbers.n = 0;
	r = get_texts(b, &p, end);
	while (r == 0 && p < end) {
		if (end - p < COLUMN_SIZE)
			return -EBADMSG;
		f = pdet_get16(p);
		len = pdet_get32(p + 4);
		p += COLUMN_SIZE;
		if (len > (size_t)(end - p))
			return -EBADMSG;
		if (f < PDET_FIELDS && pdet_fields_has(fields, f))
			r = get_column(b, f, p, p + len);
		p += len;
	}
	pdet_fields_for(f, fields)
		if (!b->column[f].there)
			r = r ? r : -EBADMSG;
	return r;
}

/* --- from runs to rows --- */

/* The first of @n ascending ends that is after @row. There must be one. */
static uint32_t run_of(const uint64_t *end, uint32_t n, uint64_t row)
{
	uint32_t low = 0, high = n - 1;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (end[mid] <= row)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void put_text(const struct pdet_snapshot_block *b, uint64_t number,
		     uint32_t n, unsigned f, struct pdet_batch *to,
		     uint32_t row, unsigned source)
{
	const char *text = number ? b->texts.data[number - 1] : NULL;

	if (text)
		pdet_put_text_run(to, row, n, f, text, strlen(text), source);
	else
		pdet_put_lost_run(to, row, n, f, PAGEDET_NO_MEMORY, source);
}

/* Writes the values of rows @at .. @end - 1, and for texts their cells. */
static void put_values(const struct pdet_snapshot_block *b, uint32_t at,
		       uint32_t end, unsigned f, struct pdet_batch *to,
		       uint32_t row, unsigned source)
{
	const struct column *c = &b->column[f];
	const uint64_t *ends = b->numbers.data + c->value_end;
	const uint64_t *first = b->numbers.data + c->first;
	const uint64_t *stride = b->numbers.data + c->stride;
	uint32_t run = run_of(ends, c->n_values, at);
	uint64_t begins = run ? ends[run - 1] : 0;

	for (; at < end; run++) {
		uint32_t n = (uint32_t)PDET_MIN(ends[run], end) - at;

		if (c->text)
			put_text(b, first[run], n, f, to, row, source);
		else
			pdet_put_values(to, row, n, f, first[run] +
					(at - begins) * stride[run],
					stride[run]);
		at += n;
		row += n;
		begins = ends[run];
	}
}

static void put_column(const struct pdet_snapshot_block *b, uint32_t at,
		       uint32_t n, unsigned f, struct pdet_batch *to,
		       uint32_t row, unsigned source)
{
	const struct column *c = &b->column[f];
	const uint64_t *ends = b->numbers.data + c->cell_end;
	const uint64_t *cell = b->numbers.data + c->cell;
	const uint32_t end = at + n;
	uint32_t run = run_of(ends, c->n_cells, at);

	for (; at < end; run++) {
		uint16_t is = (uint16_t)cell[run];
		const bool have = (is & 0xff) == PAGEDET_HAVE;

		n = (uint32_t)PDET_MIN(ends[run], end) - at;
		if (is >> 8 != PAGEDET_SOURCE_NOBODY)
			is = PDET_CELL(is & 0xff, source);
		if (have)
			put_values(b, at, at + n, f, to, row, source);
		if (!have || !c->text)
			pdet_put_cell(to, row, n, f, is);
		at += n;
		row += n;
	}
}

void pdet_snapshot_get(const struct pdet_snapshot_block *b, uint32_t at,
		       uint32_t n, const struct pdet_fields *fields,
		       struct pdet_batch *to, uint32_t row, unsigned source)
{
	unsigned f;

	pdet_fields_for(f, fields)
		if (n && b->column[f].there && pdet_batch_has(to, f))
			put_column(b, at, n, f, to, row, source);
}

/* --- direct access to runs --- */

static void look_at_values(struct pdet_snapshot_runs *r, const struct column *c)
{
	const struct pdet_snapshot_block *b = r->block;
	const uint64_t *ends = b->numbers.data + c->value_end;
	uint64_t begins;

	while (ends[r->value_run] <= r->at)
		r->value_run++;
	begins = r->value_run ? ends[r->value_run - 1] : 0;
	r->end = (uint32_t)PDET_MIN(r->end, ends[r->value_run]);
	r->stride = b->numbers.data[c->stride + r->value_run];
	r->value = b->numbers.data[c->first + r->value_run] +
		   (r->at - begins) * r->stride;
	if (!c->text)
		return;
	r->text = r->value ? b->texts.data[r->value - 1] : NULL;
	if (!r->text)
		r->state = PAGEDET_NO_MEMORY;
}

static void look(struct pdet_snapshot_runs *r)
{
	const struct pdet_snapshot_block *b = r->block;
	const struct column *c = &b->column[r->field];
	const uint64_t *ends = b->numbers.data + c->cell_end;

	while (ends[r->cell_run] <= r->at)
		r->cell_run++;
	r->end = (uint32_t)ends[r->cell_run];
	r->state = b->numbers.data[c->cell + r->cell_run] & 0xff;
	r->text = NULL;
	if (r->state == PAGEDET_HAVE && r->values)
		look_at_values(r, c);
}

void pdet_snapshot_first_run(const struct pdet_snapshot_block *b,
			     unsigned field, bool values,
			     struct pdet_snapshot_runs *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->block = b;
	ret->values = values || b->column[field].text;
	ret->field = field;
	look(ret);
}

void pdet_snapshot_pass(struct pdet_snapshot_runs *r, uint32_t to)
{
	r->value += (to - r->at) * r->stride;
	r->at = to;
	if (to == r->end && to < r->block->rows)
		look(r);
}

int64_t pdet_snapshot_find(const struct pdet_snapshot_block *b, uint64_t pfn)
{
	const struct column *c = &b->column[PAGEDET_FIELD_PFN];
	const uint64_t *ends = b->numbers.data + c->value_end;
	const uint64_t *first = b->numbers.data + c->first;
	const uint64_t *stride = b->numbers.data + c->stride;
	uint32_t low = 0, high = c->n_values;
	uint64_t begins;

	/* The last run that begins at or before the row. */
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (first[mid] <= pfn)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low--)
		return -1;
	begins = low ? ends[low - 1] : 0;
	if (pfn == first[low])
		return (int64_t)begins;
	if (stride[low] != 1 || pfn - first[low] >= ends[low] - begins)
		return -1;
	return (int64_t)(begins + (pfn - first[low]));
}
