/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Writes what a group of allocations is: the values of its keys. */
#ifndef PDET_EMIT_ALLOC_CELLS_H
#define PDET_EMIT_ALLOC_CELLS_H

#include <string.h>

#include "allocs/allocs.h"
#include "emit/emitter.h"

struct pdet_alloc_cells {
	struct pagedet_emitter *e;
	const struct pdet_allocs *a;
	const uint32_t *by;
	unsigned n_by;
	const uint64_t *value;	/* of one group */
	const uint32_t *state;
};

/* Where a struct has a number of 64 bits. */
struct pdet_cell_number {
	const char *name;
	size_t at;
};

static inline uint64_t pdet_cell_value(const void *row,
				       const struct pdet_cell_number *n)
{
	uint64_t v;

	memcpy(&v, (const char *)row + n->at, sizeof(v));
	return v;
}

/* pdet_cells_json_numbers - write "a":1,"b":2 */
void pdet_cells_json_numbers(struct pagedet_emitter *e, const void *row,
			     const struct pdet_cell_number *numbers, size_t n);

/* pdet_cells_json - write "KEY":VALUE, for each key. */
void pdet_cells_json(const struct pdet_alloc_cells *c);

/*
 * pdet_cells_json_reason - write why something is not known, as the next member
 * of "missing"; *any: it has some.
 */
void pdet_cells_json_reason(struct pagedet_emitter *e, bool *any,
			    const char *name, const char *ending,
			    unsigned state);

/* pdet_cells_json_missing - the same for all keys. */
void pdet_cells_json_missing(const struct pdet_alloc_cells *c, bool *any);

/* pdet_cells_csv - write VALUE, for each key; the head has their names. */
void pdet_cells_csv_head(const struct pdet_alloc_cells *c);
void pdet_cells_csv(const struct pdet_alloc_cells *c);
void pdet_cells_csv_reason(struct pagedet_emitter *e, unsigned state);

/* pdet_cells_text - end a line of a table, and write stacks below it. */
void pdet_cells_text_head(const struct pdet_alloc_cells *c);
void pdet_cells_text(const struct pdet_alloc_cells *c);

#endif
