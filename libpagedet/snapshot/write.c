/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes a snapshot. Neighbours in memory are mostly alike. Columns are
 * therefore kept as runs while rows come in: runs of the same cell, and runs of
 * values that are equal or go up by one. A full block of runs is quickly turned
 * into bytes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/codec/packer.h"
#include "base/hash.h"
#include "base/text/words.h"
#include "base/vec.h"
#include "snapshot/format.h"
#include "snapshot/numbers.h"
#include "snapshot/write.h"

/* A block ends early at this much text. */
#define TEXT_BYTES ((size_t)4 << 20)

struct value_run {
	uint64_t first;
	uint64_t stride;
	uint32_t n;
};

struct cell_run {
	uint16_t cell;
	uint32_t n;
};

struct column {
	unsigned field;
	bool text;
	uint64_t step;		/* increment of values that go up; 0 */
	struct { struct value_run *data; size_t n, cap; } values;
	struct { struct cell_run *data; size_t n, cap; } cells;
};

struct pdet_snapshot_writer {
	struct pdet_snapshot_sink sink;
	struct pdet_packer *packer;
	struct column column[PDET_FIELDS];
	unsigned n_columns;
	uint32_t rows;		/* of the current block */
	struct pdet_strtab texts; /* of the current block */
	struct { uint64_t *data; size_t n, cap; } numbers;
	struct pdet_snapshot_bytes raw, packed;
	struct pdet_snapshot_places places;
	uint64_t at;		/* bytes so far */
	uint64_t all_rows;
	bool any_pfn, all_pfn, sorted;
	uint64_t last_pfn;
};

static void put(struct pdet_snapshot_writer *w, const void *data, size_t n)
{
	w->sink.put(w->sink.arg, data, n);
	w->at += n;
}

/* --- from rows to runs --- */

/*
 * The number of elements of @value, counted from the first, that continue from
 * @next by steps of @stride. Tests four in each branch.
 */
static uint32_t count_up(const uint64_t *value, uint32_t n, uint64_t next,
			 uint64_t stride)
{
	uint32_t i = 0;

	while (n - i >= 4) {
		const uint64_t *v = value + i;

		if ((v[0] ^ next) | (v[1] ^ (next + stride)) |
		    (v[2] ^ (next + 2 * stride)) | (v[3] ^ (next + 3 * stride)))
			break;
		next += 4 * stride;
		i += 4;
	}
	while (i < n && value[i] == next) {
		next += stride;
		i++;
	}
	return i;
}

/* If @series, each value is one more than the one before. */
static bool add_values(struct column *c, const uint64_t *value, uint32_t n,
		       bool series)
{
	const bool same = !series &&
		!memcmp(value, value + 1, (n - 1) * sizeof(*value));
	struct value_run *run;
	uint32_t i = 0, more;

	/* Each value may be a run of its own. */
	if (!pdet_vec_reserve(&c->values, n + 1))
		return false;
	if (!c->values.n) {
		c->values.data[c->values.n++] =
			(struct value_run){ value[0], 0, 1 };
		i = 1;
	}
	run = &c->values.data[c->values.n - 1];
	while (i < n) {
		const uint64_t next = run->first + run->stride * run->n;

		if (value[i] == next) {
			if (run->stride)
				more = series ? n - i :
					count_up(value + i, n - i, next,
						 run->stride);
			else
				more = same ? n - i :
					pdet_words_equal(value + i, n - i);
			run->n += more;
			i += more;
			continue;
		}
		if (run->n == 1 && c->step && value[i] == next + c->step) {
			run->stride = c->step;
			run->n = 2;
		} else {
			*++run = (struct value_run){ value[i], 0, 1 };
		}
		i++;
	}
	c->values.n = (size_t)(run - c->values.data) + 1;
	return true;
}

static uint32_t cells_equal(const uint16_t *cell, uint32_t n)
{
	uint32_t i = 1;

	if (!memcmp(cell, cell + 1, (n - 1) * sizeof(*cell)))
		return n;
	while (i < n && cell[i] == cell[0])
		i++;
	return i;
}

static bool add_cells(struct column *c, const uint16_t *cell, uint32_t n)
{
	uint32_t i, more;

	for (i = 0; i < n; i += more) {
		more = cells_equal(cell + i, n - i);
		if (c->cells.n &&
		    c->cells.data[c->cells.n - 1].cell == cell[i])
			c->cells.data[c->cells.n - 1].n += more;
		else if (!pdet_vec_push(&c->cells,
					(struct cell_run){ cell[i], more }))
			return false;
	}
	return true;
}

/*
 * Turns ids of a batch into indexes of the block's table. A text that the batch
 * no longer has gets 0.
 */
static bool number_texts(struct pdet_snapshot_writer *w,
			 const struct pdet_strtab *strings,
			 const uint64_t *value, const uint16_t *cell,
			 uint32_t n)
{
	uint64_t id = 0, number = 0;
	const char *text;
	uint32_t i;
	size_t len;

	w->numbers.n = 0;
	if (!pdet_vec_reserve(&w->numbers, n))
		return false;
	for (i = 0; i < n; i++) {
		if (PAGEDET_CELL_STATE(cell[i]) != PAGEDET_HAVE) {
			w->numbers.data[i] = number;
			continue;
		}
		if (!number || value[i] != id) {
			id = value[i];
			text = pdet_strtab_get(strings, id, &len);
			number = text ? pdet_strtab_add(&w->texts, text, len) :
					0;
			if (text && !number)
				return false;
		}
		w->numbers.data[i] = number;
	}
	return true;
}

/* Adds rows @at .. @at + @n - 1 to the current block. */
static bool add_rows(struct pdet_snapshot_writer *w,
		     const struct pdet_snapshot_columns *from, uint32_t at,
		     uint32_t n)
{
	unsigned i;

	for (i = 0; i < w->n_columns; i++) {
		struct column *c = &w->column[i];
		const uint64_t *value = from->value[c->field] + at;
		const uint16_t *cell = from->cell[c->field] + at;

		if (c->text) {
			if (!number_texts(w, from->strings, value, cell, n))
				return false;
			value = w->numbers.data;
		}
		if (!add_values(c, value, n, from->series &&
				c->field == PAGEDET_FIELD_PFN) ||
		    !add_cells(c, cell, n))
			return false;
	}
	w->rows += n;
	w->all_rows += n;
	return true;
}

/* --- from runs to bytes --- */

/* Encodes one member of all runs of a column. */
#define PUT_MEMBER(w, p, runs, member) __extension__({                    \
	size_t i_;                                                        \
	for (i_ = 0; i_ < (runs)->n; i_++)                                \
		(w)->numbers.data[i_] = (runs)->data[i_].member;          \
	pdet_numbers_put((p), (w)->numbers.data, (uint32_t)(runs)->n);    \
})

static bool put_column(struct pdet_snapshot_writer *w, struct column *c)
{
	static const uint64_t none;
	const size_t most = 16 + 2 * PDET_NUMBERS_MOST(c->cells.n) +
			    3 * PDET_NUMBERS_MOST(c->values.n);
	char *begin, *p;

	w->numbers.n = 0;
	begin = pdet_snapshot_put(&w->raw, NULL, most);
	if (!begin || !pdet_vec_reserve(&w->numbers,
					c->cells.n + c->values.n))
		return false;
	p = pdet_put16(begin, (uint16_t)c->field);
	p = pdet_put16(p, 0);
	p = pdet_put32(p, 0);
	p = pdet_put32(p, (uint32_t)c->cells.n);
	p = pdet_put32(p, (uint32_t)c->values.n);
	p = PUT_MEMBER(w, p, &c->cells, n);
	p = PUT_MEMBER(w, p, &c->cells, cell);
	p = PUT_MEMBER(w, p, &c->values, n);
	p = c->step ? PUT_MEMBER(w, p, &c->values, stride) :
		      pdet_numbers_put(p, &none, 1);
	p = PUT_MEMBER(w, p, &c->values, first);
	pdet_put32(begin + 4, (uint32_t)(p - begin) - 8);
	w->raw.n -= most - (size_t)(p - begin);
	return true;
}

static bool put_texts(struct pdet_snapshot_writer *w)
{
	char size[8];

	pdet_put32(size, (uint32_t)w->texts.entry.n);
	pdet_put32(size + 4, (uint32_t)w->texts.len);
	return pdet_snapshot_put(&w->raw, size, sizeof(size)) &&
	       pdet_snapshot_put(&w->raw, w->texts.text, w->texts.len);
}

static uint64_t last_of(const struct value_run *run)
{
	return run->first + run->stride * (run->n - 1);
}

/* Finds the frames of the current block. */
static void see_pfns(struct pdet_snapshot_writer *w,
		     struct pdet_snapshot_place *place)
{
	const struct column *c = NULL;
	size_t i;

	place->first = UINT64_MAX;
	place->last = 0;
	for (i = 0; i < w->n_columns; i++)
		if (w->column[i].field == PAGEDET_FIELD_PFN)
			c = &w->column[i];
	if (!c || c->cells.n != 1 ||
	    PAGEDET_CELL_STATE(c->cells.data[0].cell) != PAGEDET_HAVE) {
		w->all_pfn = w->sorted = false;
		return;
	}
	for (i = 0; i < c->values.n; i++) {
		const struct value_run *run = &c->values.data[i];

		if ((w->any_pfn && run->first <= w->last_pfn) ||
		    (run->n > 1 && !run->stride) || last_of(run) < run->first)
			w->sorted = false;
		place->first = PDET_MIN(place->first, run->first);
		place->last = PDET_MAX(place->last, last_of(run));
		w->last_pfn = last_of(run);
		w->any_pfn = true;
	}
}

/*
 * Makes the bytes that follow a block's head. They are compressed if that saves
 * space.
 */
static unsigned pack(struct pdet_snapshot_writer *w)
{
	size_t n = pdet_packer_run(w->packer, w->raw.data, w->raw.n,
				   w->packed.data + PDET_SNAPSHOT_BLOCK_SIZE,
				   w->raw.n);

	if (n) {
		w->packed.n = PDET_SNAPSHOT_BLOCK_SIZE + n;
		return pdet_packer_id(w->packer) == PDET_CODEC_ZSTD ?
			PDET_SNAPSHOT_ZSTD : PDET_SNAPSHOT_ZLIB;
	}
	memcpy(w->packed.data + PDET_SNAPSHOT_BLOCK_SIZE, w->raw.data,
	       w->raw.n);
	return PDET_SNAPSHOT_PLAIN;
}

static int put_block(struct pdet_snapshot_writer *w)
{
	struct pdet_snapshot_place place = { .at = w->at, .rows = w->rows };
	unsigned codec;
	char *p;

	w->packed.n = 0;
	p = pdet_snapshot_put(&w->packed, NULL,
			      PDET_SNAPSHOT_BLOCK_SIZE + w->raw.n);
	if (!p)
		return -ENOMEM;
	codec = pack(w);
	see_pfns(w, &place);
	place.bytes = (uint32_t)w->packed.n;
	p = pdet_put32(p + 8, PDET_SNAPSHOT_BLOCK);
	p = pdet_put32(p, (uint32_t)w->places.n);
	p = pdet_put32(p, w->rows);
	p = pdet_put32(p, codec);
	p = pdet_put32(p, (uint32_t)w->packed.n - PDET_SNAPSHOT_BLOCK_SIZE);
	pdet_put32(p, (uint32_t)w->raw.n);
	pdet_put64(w->packed.data, pdet_hash(w->packed.data + 8,
					     w->packed.n - 8));
	put(w, w->packed.data, w->packed.n);
	return pdet_vec_push(&w->places, place) ? 0 : -ENOMEM;
}

/* Writes the current block to the sink, and begins the next one. */
static int flush(struct pdet_snapshot_writer *w)
{
	unsigned i;
	int r;

	if (!w->rows)
		return 0;
	w->raw.n = 0;
	if (!put_texts(w))
		return -ENOMEM;
	for (i = 0; i < w->n_columns; i++)
		if (!put_column(w, &w->column[i]))
			return -ENOMEM;
	if (w->raw.n > PDET_SNAPSHOT_MAX_BYTES ||
	    w->places.n == UINT32_MAX)
		return -EOVERFLOW;
	r = put_block(w);
	for (i = 0; i < w->n_columns; i++)
		w->column[i].values.n = w->column[i].cells.n = 0;
	pdet_strtab_clear(&w->texts, 1);
	w->rows = 0;
	return r;
}

int pdet_snapshot_add(struct pdet_snapshot_writer *w,
		      const struct pdet_snapshot_columns *columns)
{
	uint32_t at, n;
	int r = 0;

	if (w->texts.len && w->texts.len + columns->strings->len > TEXT_BYTES)
		r = flush(w);
	for (at = 0; at < columns->n && r == 0; at += n) {
		n = PDET_MIN(columns->n - at,
			     PDET_SNAPSHOT_ROWS_PER_BLOCK - w->rows);
		if (!add_rows(w, columns, at, n))
			return -ENOMEM;
		if (w->rows == PDET_SNAPSHOT_ROWS_PER_BLOCK)
			r = flush(w);
	}
	return r;
}

/* --- both ends --- */

static int put_head(struct pdet_snapshot_writer *w,
		    const struct pdet_snapshot_about *about)
{
	struct pdet_snapshot_bytes *b = &w->raw;
	char *p = pdet_snapshot_put(b, NULL, PDET_SNAPSHOT_HEAD_SIZE);

	if (!p)
		return -ENOMEM;
	memcpy(p, PDET_SNAPSHOT_MAGIC, PDET_SNAPSHOT_MAGIC_LEN);
	pdet_snapshot_put_about(b, about);
	if (b->bad)
		return -ENOMEM;
	p = pdet_put16(b->data + 16, PDET_SNAPSHOT_MAJOR);
	p = pdet_put16(p, PDET_SNAPSHOT_MINOR);
	pdet_put32(p, (uint32_t)(b->n - PDET_SNAPSHOT_HEAD_SIZE));
	pdet_put64(b->data + 8, pdet_hash(b->data + 16, b->n - 16));
	put(w, b->data, b->n);
	return 0;
}

static uint64_t step_of(unsigned field, uint64_t page_size)
{
	switch (field) {
	case PAGEDET_FIELD_PFN:
	case PAGEDET_FIELD_HEAD_PFN:
	case PAGEDET_FIELD_INDEX:
	case PAGEDET_FIELD_SWAP_OFFSET:
	case PAGEDET_FIELD_ASK:
		return 1;
	case PAGEDET_FIELD_VADDR:
		return page_size;
	default:
		return 0;
	}
}

int pdet_snapshot_write(struct pdet_env *env,
			const struct pdet_snapshot_about *about,
			const struct pdet_snapshot_sink *sink,
			struct pdet_snapshot_writer **ret)
{
	struct pdet_snapshot_writer *w = calloc(1, sizeof(*w));
	unsigned f, type;
	int r;

	if (!w)
		return pdet_fail(env, ENOMEM, "no memory");
	w->sink = *sink;
	w->all_pfn = w->sorted = true;
	pdet_strtab_init(&w->texts, 1, UINT32_MAX / 2);
	pdet_fields_for(f, &about->fields) {
		struct column *c = &w->column[w->n_columns++];

		type = pdet_field_info(f)->type;
		c->field = f;
		c->text = type == PAGEDET_TYPE_STRING ||
			  type == PAGEDET_TYPE_LIST;
		c->step = step_of(f, about->page_size);
	}
	r = pdet_packer_open(env, &w->packer);
	if (r == 0 && put_head(w, about) < 0)
		r = pdet_fail(env, ENOMEM, "no memory");
	if (r < 0) {
		pdet_snapshot_write_free(w);
		return r;
	}
	*ret = w;
	return 0;
}

int pdet_snapshot_finish(struct pdet_snapshot_writer *w,
			 const struct pagedet_coverage *coverage,
			 uint64_t last_ns)
{
	struct pdet_snapshot_end end = {
		.coverage = *coverage, .last_ns = last_ns,
		.rows = w->all_rows,
	};
	struct pdet_snapshot_bytes *b = &w->raw;
	int r = flush(w);
	char *p;

	if (r < 0)
		return r;
	end.flags = (w->all_pfn ? PDET_SNAPSHOT_ALL_PFN : 0) |
		    (w->sorted ? PDET_SNAPSHOT_SORTED : 0);
	b->n = 0;
	pdet_snapshot_put(b, NULL, PDET_SNAPSHOT_END_SIZE);
	pdet_snapshot_put_end(b, &end, &w->places);
	p = pdet_snapshot_put(b, NULL, PDET_SNAPSHOT_TAIL_SIZE);
	if (!p)
		return -ENOMEM;
	p = pdet_put64(p, w->at);
	memcpy(p, PDET_SNAPSHOT_TAIL, PDET_SNAPSHOT_MAGIC_LEN);
	pdet_put32(b->data + 8, PDET_SNAPSHOT_END);
	pdet_put32(b->data + 12, (uint32_t)(b->n - PDET_SNAPSHOT_END_SIZE -
					    PDET_SNAPSHOT_TAIL_SIZE));
	pdet_put64(b->data, pdet_hash(b->data + 8, b->n - 8));
	put(w, b->data, b->n);
	return 0;
}

void pdet_snapshot_write_free(struct pdet_snapshot_writer *w)
{
	unsigned i;

	if (!w)
		return;
	for (i = 0; i < w->n_columns; i++) {
		pdet_vec_free(&w->column[i].values);
		pdet_vec_free(&w->column[i].cells);
	}
	pdet_strtab_free(&w->texts);
	pdet_vec_free(&w->numbers);
	pdet_vec_free(&w->raw);
	pdet_vec_free(&w->packed);
	pdet_vec_free(&w->places);
	pdet_packer_close(w->packer);
	free(w);
}
