/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Stores rows as columns. It does not know the sources of values. */
#include <stdlib.h>
#include <string.h>

#include "schema/batch.h"
#include "schema/page_bytes.h"

/* Below this size, clearing all cells at once is faster than by column. */
#define FEW_BYTES 1024

bool pdet_batch_init(struct pdet_batch *b, const struct pdet_fields *fields,
		     uint32_t cap, size_t max)
{
	size_t columns = 0, at = 0;
	char *memory;
	unsigned f;

	memset(b, 0, sizeof(*b));
	pdet_strtab_init(&b->strings, 1, max);
	pdet_fields_for(f, fields)
		columns++;
	memory = malloc(columns * cap * (sizeof(uint64_t) + sizeof(uint16_t)) +
			1);
	if (!memory)
		return false;
	b->memory = memory;
	b->cap = cap;
	b->have = *fields;
	pdet_fields_for(f, fields) {
		b->value[f] = (uint64_t *)(memory + at);
		at += cap * sizeof(uint64_t);
	}
	b->cells = (uint16_t *)(memory + at);
	b->cells_size = columns * cap * sizeof(uint16_t);
	pdet_fields_for(f, fields) {
		b->cell[f] = (uint16_t *)(memory + at);
		at += cap * sizeof(uint16_t);
	}
	return true;
}

void pdet_batch_free(struct pdet_batch *b)
{
	pdet_strtab_free(&b->strings);
	pdet_page_bytes_free(b->bytes);
	free(b->memory);
	memset(b, 0, sizeof(*b));
}

void pdet_batch_clear(struct pdet_batch *b, uint64_t base)
{
	b->n = 0;
	b->series = b->bare = false;
	pdet_strtab_clear(&b->strings, base);
	if (b->bytes)
		pdet_page_bytes_clear(b->bytes);
}

int64_t pdet_batch_grow(struct pdet_batch *b, uint32_t n)
{
	uint32_t first = b->n;
	unsigned f;

	if (n > b->cap - b->n)
		return -1;
	pdet_batch_write_out(b);
	b->series = false;
	b->n += n;
	/* Whoever writes a cell also writes its value, so only cells are
	 * cleared. */
	if (!first && b->cells_size <= FEW_BYTES) {
		memset(b->cells, 0, b->cells_size);
		return first;
	}
	pdet_fields_for(f, &b->have)
		memset(b->cell[f] + first, 0, n * sizeof(uint16_t));
	return first;
}

void pdet_batch_cut(struct pdet_batch *b, uint32_t n)
{
	if (n < b->n)
		b->n = n;
}

static bool is_text(unsigned field)
{
	unsigned type = pdet_field_info(field)->type;

	return type == PAGEDET_TYPE_STRING || type == PAGEDET_TYPE_LIST;
}

unsigned pdet_batch_copy_cell(struct pdet_batch *to, uint32_t to_row,
			  const struct pdet_batch *from, uint32_t from_row,
			  unsigned field)
{
	uint64_t value = from->value[field][from_row];
	uint16_t cell = from->cell[field][from_row];
	const char *text;
	size_t len;

	if (to != from && (cell & 0xff) == PAGEDET_HAVE && is_text(field)) {
		text = pdet_strtab_get(&from->strings, value, &len);
		if (text)
			pdet_put_text(to, to_row, field, text, len,
				      cell >> 8);
		else
			pdet_put_lost(to, to_row, field, PAGEDET_NO_MEMORY,
				      cell >> 8);
		return pdet_batch_state(to, to_row, field) != PAGEDET_HAVE;
	}
	to->value[field][to_row] = value;
	to->cell[field][to_row] = cell;
	if (field == PAGEDET_FIELD_CONTENT && to == from && to->bytes)
		pdet_page_bytes_move(to->bytes, to_row, from_row);
	return 0;
}

unsigned pdet_batch_copy_row(struct pdet_batch *to, uint32_t to_row,
			     const struct pdet_batch *from, uint32_t from_row)
{
	unsigned f, lost = 0;

	pdet_fields_for(f, &to->have)
		if (from->value[f])
			lost += pdet_batch_copy_cell(to, to_row, from,
						     from_row, f);
	return lost;
}

void pdet_batch_keep(struct pdet_batch *b, const uint8_t *keep)
{
	uint32_t in, out = 0;

	for (in = 0; in < b->n; in++) {
		if (!keep[in])
			continue;
		if (in != out)
			pdet_batch_copy_row(b, out, b, in);
		out++;
	}
	b->series &= out == b->n;
	b->n = out;
}

void pdet_put_note(struct pdet_batch *b, uint32_t row, unsigned note)
{
	const unsigned f = PAGEDET_FIELD_NOTES;

	if (!b->value[f])
		return;
	if (!b->cell[f][row])
		b->value[f][row] = 0;
	b->value[f][row] |= PAGEDET_NOTE(note);
	b->cell[f][row] = PDET_CELL(PAGEDET_HAVE, PAGEDET_SOURCE_DERIVED);
}

void pdet_put_text(struct pdet_batch *b, uint32_t row, unsigned field,
		   const char *text, size_t len, unsigned source)
{
	pdet_put_text_run(b, row, 1, field, text, len, source);
}

void pdet_put_text_run(struct pdet_batch *b, uint32_t row, uint32_t n,
		       unsigned field, const char *text, size_t len,
		       unsigned source)
{
	uint64_t id;

	if (!b->value[field])
		return;
	id = pdet_strtab_add(&b->strings, text, len);
	if (id)
		pdet_put_run(b, row, n, field, id, source);
	else
		pdet_put_lost_run(b, row, n, field, PAGEDET_NO_MEMORY, source);
}

/* Process a few at a time with wide instructions: this is the most expensive
 * part of a row that is only counted. */
typedef uint64_t values __attribute__((vector_size(32), aligned(8), may_alias));
typedef uint16_t cells __attribute__((vector_size(16), aligned(2), may_alias));

static void count_up(uint64_t *to, uint32_t n, uint64_t first)
{
	values v = { first, first + 1, first + 2, first + 3 };
	uint32_t i;

	for (i = 0; i + 4 <= n; i += 4, v += 4)
		*(values *)(to + i) = v;
	for (; i < n; i++)
		to[i] = first + i;
}

static void repeat_value(uint64_t *to, uint32_t n, uint64_t value)
{
	const values v = (values){ 0 } + value;
	uint32_t i;

	for (i = 0; i + 4 <= n; i += 4)
		*(values *)(to + i) = v;
	for (; i < n; i++)
		to[i] = value;
}

static void repeat_cell(uint16_t *to, uint32_t n, uint16_t cell)
{
	const cells c = (cells){ 0 } + cell;
	uint32_t i;

	for (i = 0; i + 8 <= n; i += 8)
		*(cells *)(to + i) = c;
	for (; i < n; i++)
		to[i] = cell;
}

void pdet_put_cells(struct pdet_batch *b, uint32_t row, uint32_t n,
		    unsigned field, uint64_t value, uint16_t cell)
{
	uint64_t *v = b->value[field] + row;
	uint16_t *c = b->cell[field] + row;

	if (n == 1) {
		*v = value;
		*c = cell;
		return;
	}
	repeat_value(v, n, value);
	repeat_cell(c, n, cell);
}

void pdet_put_values(struct pdet_batch *b, uint32_t row, uint32_t n,
		     unsigned field, uint64_t first, uint64_t stride)
{
	uint64_t *v = b->value[field] + row;
	uint32_t i;

	if (!stride)
		repeat_value(v, n, first);
	else if (stride == 1)
		count_up(v, n, first);
	else
		for (i = 0; i < n; i++)
			v[i] = first + i * stride;
}

void pdet_put_cell(struct pdet_batch *b, uint32_t row, uint32_t n,
		   unsigned field, uint16_t cell)
{
	uint16_t *c = b->cell[field] + row;

	if ((cell & 0xff) != PAGEDET_HAVE)
		memset(b->value[field] + row, 0, n * sizeof(uint64_t));
	repeat_cell(c, n, cell);
}

void pdet_put_series(struct pdet_batch *b, uint32_t row, uint32_t n,
		     unsigned field, uint64_t first, unsigned source)
{
	const uint16_t cell = PDET_CELL(PAGEDET_HAVE, source);
	uint64_t *v = b->value[field];
	uint16_t *c = b->cell[field];

	if (!v)
		return;
	if (field == PAGEDET_FIELD_PFN)
		b->series = row == 0 && n == b->n;
	count_up(v + row, n, first);
	repeat_cell(c + row, n, cell);
}

void pdet_batch_series(struct pdet_batch *b, uint32_t n, uint64_t first,
		       unsigned source)
{
	b->n = n;
	b->series = b->bare = true;
	pdet_put(b, 0, PAGEDET_FIELD_PFN, first, source);
}

void pdet_batch_write_out(struct pdet_batch *b)
{
	const uint32_t n = b->n;
	uint64_t first;
	unsigned source;

	if (!b->bare)
		return;
	first = b->value[PAGEDET_FIELD_PFN][0];
	source = b->cell[PAGEDET_FIELD_PFN][0] >> 8;
	b->bare = false;
	b->n = 0;
	pdet_batch_grow(b, n);
	pdet_put_series(b, 0, n, PAGEDET_FIELD_PFN, first, source);
}

void pdet_batch_folded(struct pdet_batch *b, uint32_t n,
		       const struct pdet_fields *written, unsigned source)
{
	unsigned f;

	b->n = n;
	b->series = b->bare = false;
	pdet_fields_for(f, &b->have)
		if (f != PAGEDET_FIELD_PFN && !pdet_fields_has(written, f))
			memset(b->cell[f], 0, n * sizeof(uint16_t));
	repeat_cell(b->cell[PAGEDET_FIELD_PFN], n,
		    b->cell[PAGEDET_FIELD_PFN][0]);
	repeat_cell(b->cell[PAGEDET_FIELD_PAGES], n,
		    PDET_CELL(PAGEDET_HAVE, source));
}
