/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A batch of rows, stored as one array of values and one array of cells for
 * each field. All values enter through these functions. They ensure that a cell
 * has exactly one state and one source, and a value only if its state is HAVE.
 *
 * Writing to a column that the batch lacks does nothing. Sources write all they
 * know, and the plan decides which columns exist.
 */
#ifndef PDET_SCHEMA_BATCH_H
#define PDET_SCHEMA_BATCH_H

#include "base/text/strtab.h"
#include "schema/schema.h"

#define PDET_CELL(state, source) ((uint16_t)((source) << 8 | (state)))

struct pdet_batch {
	uint32_t n;		/* rows in use */
	uint32_t cap;
	bool series;		/* pfn of row i is that of row 0 plus i */
	bool bare;		/* in addition, only that pfn is written; no
				 * other cell is initialised */
	struct pdet_fields have; /* columns that exist */
	uint64_t *value[PDET_FIELDS];
	uint16_t *cell[PDET_FIELDS];
	struct pdet_strtab strings; /* texts that the string ids of these rows
				     * refer to */
	void *memory;
	uint16_t *cells;	/* of all columns, one column after the other */
	size_t cells_size;
	struct pdet_page_bytes *bytes; /* NULL: no page was read */
};

/* pdet_batch_init - returns false if memory is short. @max limits the text. */
bool pdet_batch_init(struct pdet_batch *b, const struct pdet_fields *fields,
		     uint32_t cap, size_t max);

void pdet_batch_free(struct pdet_batch *b);

/*
 * pdet_batch_clear - remove all rows and strings; string ids continue at @base.
 */
void pdet_batch_clear(struct pdet_batch *b, uint64_t base);

/* pdet_batch_grow - add @n rows in the state NOT_ASKED in every column. Returns
 * the first one, or -1 if they do not fit. */
int64_t pdet_batch_grow(struct pdet_batch *b, uint32_t n);

/*
 * pdet_batch_series - add @n rows of consecutive frames to an empty batch,
 * which then has no cells yet. It is for sources that fold these rows into a
 * few. Other callers call pdet_batch_write_out() first. A source that folds
 * writes rows, and then calls pdet_batch_folded() with their number and the
 * columns whose cells it wrote, beside pfn and pages.
 */
void pdet_batch_series(struct pdet_batch *b, uint32_t n, uint64_t first,
		       unsigned source);
void pdet_batch_write_out(struct pdet_batch *b);
void pdet_batch_folded(struct pdet_batch *b, uint32_t n,
		       const struct pdet_fields *written, unsigned source);

/* pdet_batch_cut - keep only the first @n rows. */
void pdet_batch_cut(struct pdet_batch *b, uint32_t n);

/* pdet_batch_keep - keep the rows where keep[row] is not 0, in order. */
void pdet_batch_keep(struct pdet_batch *b, const uint8_t *keep);

/* pdet_batch_copy_row - copy all columns that both batches have. If the batches
 * differ, texts are copied, too. Returns the number of texts for which there
 * was no room. */
unsigned pdet_batch_copy_row(struct pdet_batch *to, uint32_t to_row,
			 const struct pdet_batch *from, uint32_t from_row);

/* pdet_batch_copy_cell - copy one column that both batches have. Returns 1 if
 * its text had no room. */
unsigned pdet_batch_copy_cell(struct pdet_batch *to, uint32_t to_row,
			  const struct pdet_batch *from, uint32_t from_row,
			  unsigned field);

static inline bool pdet_batch_has(const struct pdet_batch *b, unsigned field)
{
	return b->value[field] != NULL;
}

static inline unsigned pdet_batch_state(const struct pdet_batch *b,
					uint32_t row, unsigned field)
{
	return b->cell[field] ? b->cell[field][row] & 0xff :
				PAGEDET_NOT_ASKED;
}

/* pdet_batch_answered - true if every column of row 0 has a value or the state
 * NONE. */
static inline bool pdet_batch_answered(const struct pdet_batch *b)
{
	const uint16_t *cell = b->cells;
	const uint16_t *end = cell + b->cells_size / sizeof(*cell);
	bool all = true;

	for (; cell < end && all; cell += b->cap)
		all = (*cell & 0xff) - 1u < PAGEDET_NONE;
	return all;
}

/* The value, or @otherwise if the cell does not have one. */
static inline uint64_t pdet_batch_get(const struct pdet_batch *b, uint32_t row,
				      unsigned field, uint64_t otherwise)
{
	return pdet_batch_state(b, row, field) == PAGEDET_HAVE ?
		       b->value[field][row] : otherwise;
}

/* Set a value. */
static inline void pdet_put(struct pdet_batch *b, uint32_t row, unsigned field,
			    uint64_t value, unsigned source)
{
	if (!b->value[field])
		return;
	b->value[field][row] = value;
	b->cell[field][row] = PDET_CELL(PAGEDET_HAVE, source);
}

/* Record that there is definitely nothing. */
static inline void pdet_put_none(struct pdet_batch *b, uint32_t row,
				 unsigned field, unsigned source)
{
	if (!b->value[field])
		return;
	b->value[field][row] = 0;
	b->cell[field][row] = PDET_CELL(PAGEDET_NONE, source);
}

/* Record why there is no answer. */
static inline void pdet_put_lost(struct pdet_batch *b, uint32_t row,
				 unsigned field, unsigned reason,
				 unsigned source)
{
	if (!b->value[field])
		return;
	b->value[field][row] = 0;
	b->cell[field][row] = PDET_CELL(reason, source);
}

/* Add bits to a mask that already has a value; otherwise do nothing. */
static inline void pdet_put_bits(struct pdet_batch *b, uint32_t row,
				 unsigned field, uint64_t bits)
{
	if (pdet_batch_state(b, row, field) == PAGEDET_HAVE)
		b->value[field][row] |= bits;
}

/* Add a note to a row. */
void pdet_put_note(struct pdet_batch *b, uint32_t row, unsigned note);

/*
 * Set a text. If the batch's limit for text is reached, the cell is lost with
 * no_memory.
 */
void pdet_put_text(struct pdet_batch *b, uint32_t row, unsigned field,
		   const char *text, size_t len, unsigned source);

/* The same for @n rows. */
void pdet_put_text_run(struct pdet_batch *b, uint32_t row, uint32_t n,
		       unsigned field, const char *text, size_t len,
		       unsigned source);

/* Set one value and cell in @n rows of a column that exists. */
void pdet_put_cells(struct pdet_batch *b, uint32_t row, uint32_t n,
		    unsigned field, uint64_t value, uint16_t cell);

/* pdet_put_cell - set one cell in @n rows of a column that exists and already
 * has the values. The values become 0 if the cell is not an answer. */
void pdet_put_cell(struct pdet_batch *b, uint32_t row, uint32_t n,
		   unsigned field, uint16_t cell);

/* pdet_put_values - set @n values of a column that exists, each @stride more
 * than the one before. The caller sets their cells. */
void pdet_put_values(struct pdet_batch *b, uint32_t row, uint32_t n,
		     unsigned field, uint64_t first, uint64_t stride);

/* Set the same answer in @n rows. */
static inline void pdet_put_run(struct pdet_batch *b, uint32_t row, uint32_t n,
				unsigned field, uint64_t value,
				unsigned source)
{
	if (b->value[field])
		pdet_put_cells(b, row, n, field, value,
			       PDET_CELL(PAGEDET_HAVE, source));
}

static inline void pdet_put_none_run(struct pdet_batch *b, uint32_t row,
				     uint32_t n, unsigned field,
				     unsigned source)
{
	if (b->value[field])
		pdet_put_cells(b, row, n, field, 0,
			       PDET_CELL(PAGEDET_NONE, source));
}

static inline void pdet_put_lost_run(struct pdet_batch *b, uint32_t row,
				     uint32_t n, unsigned field,
				     unsigned reason, unsigned source)
{
	if (b->value[field])
		pdet_put_cells(b, row, n, field, 0, PDET_CELL(reason, source));
}

/* first, first + 1, first + 2 ... */
void pdet_put_series(struct pdet_batch *b, uint32_t row, uint32_t n,
		     unsigned field, uint64_t first, unsigned source);

#endif
