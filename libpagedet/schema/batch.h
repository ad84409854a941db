/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A batch: some rows as columns, one array of values and one of cells per
 * field. The only door through which values get in, so that a cell always has
 * exactly one state and one source, and a value only where the state is HAVE.
 *
 * Writing to a column that the batch does not have does nothing: callers say
 * what they know, the plan decides what is kept.
 */
#ifndef PDET_SCHEMA_BATCH_H
#define PDET_SCHEMA_BATCH_H

#include "base/strtab.h"
#include "schema/schema.h"

#define PDET_CELL(state, source) ((uint16_t)((source) << 8 | (state)))

struct pdet_batch {
	uint32_t n;		/* rows in use */
	uint32_t cap;
	bool series;		/* pfn of row i is that of row 0 + i, for all */
	struct pdet_fields have; /* columns that exist */
	uint64_t *value[PDET_FIELDS];
	uint16_t *cell[PDET_FIELDS];
	struct pdet_strtab strings; /* text behind string ids of these rows */
	void *memory;
	uint16_t *cells;	/* of all columns, one after the other */
	size_t cells_size;
	struct pdet_page_bytes *bytes; /* NULL: none were read */
};

/* pdet_batch_init - false without memory. @max bounds the text. */
bool pdet_batch_init(struct pdet_batch *b, const struct pdet_fields *fields,
		     uint32_t cap, size_t max);

void pdet_batch_free(struct pdet_batch *b);

/* pdet_batch_clear - no rows; strings forgotten, ids go on from @base. */
void pdet_batch_clear(struct pdet_batch *b, uint64_t base);

/* pdet_batch_grow - @n more rows, not asked in every column; -1 if they do not
 * fit, else the first of them. */
int64_t pdet_batch_grow(struct pdet_batch *b, uint32_t n);

/* pdet_batch_cut - keep only the first @n rows. */
void pdet_batch_cut(struct pdet_batch *b, uint32_t n);

/* pdet_batch_keep - keep the rows where keep[row] is not 0, in order. */
void pdet_batch_keep(struct pdet_batch *b, const uint8_t *keep);

/* pdet_batch_copy_row - all columns that both have; texts too, when the two
 * are different batches. Returns for how many texts there was no room. */
unsigned pdet_batch_copy_row(struct pdet_batch *to, uint32_t to_row,
			 const struct pdet_batch *from, uint32_t from_row);

/* pdet_batch_copy_cell - one column of it, which both have. Returns 1 if there
 * was no room for its text. */
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

/* pdet_batch_answered - whether row 0 has an answer in every column, or that
 * there is nothing. */
static inline bool pdet_batch_answered(const struct pdet_batch *b)
{
	const uint16_t *cell = b->cells;
	const uint16_t *end = cell + b->cells_size / sizeof(*cell);
	bool all = true;

	for (; cell < end && all; cell += b->cap)
		all = (*cell & 0xff) - 1u < PAGEDET_NONE;
	return all;
}

/* The value, or @otherwise where it is not answered. */
static inline uint64_t pdet_batch_get(const struct pdet_batch *b, uint32_t row,
				      unsigned field, uint64_t otherwise)
{
	return pdet_batch_state(b, row, field) == PAGEDET_HAVE ?
		       b->value[field][row] : otherwise;
}

/* One answer. */
static inline void pdet_put(struct pdet_batch *b, uint32_t row, unsigned field,
			    uint64_t value, unsigned source)
{
	if (!b->value[field])
		return;
	b->value[field][row] = value;
	b->cell[field][row] = PDET_CELL(PAGEDET_HAVE, source);
}

/* There is definitely nothing. */
static inline void pdet_put_none(struct pdet_batch *b, uint32_t row,
				 unsigned field, unsigned source)
{
	if (!b->value[field])
		return;
	b->value[field][row] = 0;
	b->cell[field][row] = PDET_CELL(PAGEDET_NONE, source);
}

/* No answer, and why. */
static inline void pdet_put_lost(struct pdet_batch *b, uint32_t row,
				 unsigned field, unsigned reason,
				 unsigned source)
{
	if (!b->value[field])
		return;
	b->value[field][row] = 0;
	b->cell[field][row] = PDET_CELL(reason, source);
}

/* Bits into a mask that is already answered; nothing if it is not. */
static inline void pdet_put_bits(struct pdet_batch *b, uint32_t row,
				 unsigned field, uint64_t bits)
{
	if (pdet_batch_state(b, row, field) == PAGEDET_HAVE)
		b->value[field][row] |= bits;
}

/* A note about a row. */
void pdet_put_note(struct pdet_batch *b, uint32_t row, unsigned note);

/* A text; lost with no_memory when the batch's bound for text is reached. */
void pdet_put_text(struct pdet_batch *b, uint32_t row, unsigned field,
		   const char *text, size_t len, unsigned source);

/* The same for @n rows. */
void pdet_put_text_run(struct pdet_batch *b, uint32_t row, uint32_t n,
		       unsigned field, const char *text, size_t len,
		       unsigned source);

/* The same value and cell for @n rows of a column that exists. */
void pdet_put_cells(struct pdet_batch *b, uint32_t row, uint32_t n,
		    unsigned field, uint64_t value, uint16_t cell);

/* pdet_put_cell - the same cell for @n rows of a column that exists, whose
 * values were decoded into it; where they are no answer they become 0. */
void pdet_put_cell(struct pdet_batch *b, uint32_t row, uint32_t n,
		   unsigned field, uint16_t cell);

/* pdet_put_values - @n values of a column that exists, each by @stride more
 * than the one before; their cells are the caller's to put. */
void pdet_put_values(struct pdet_batch *b, uint32_t row, uint32_t n,
		     unsigned field, uint64_t first, uint64_t stride);

/* The same answer for @n rows. */
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
