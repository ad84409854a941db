/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A row of a KMAP as cells, and how each format writes them. */
#ifndef PDET_EMIT_KMAP_CELLS_H
#define PDET_EMIT_KMAP_CELLS_H

#include "emit/emitter.h"

enum pdet_kmap_cell_is {
	PDET_KMAP_NUMBER,
	PDET_KMAP_SIGNED,
	PDET_KMAP_ADDRESS,
	PDET_KMAP_BOOL,
	PDET_KMAP_WORDS
};

struct pdet_kmap_cell {
	const char *name;
	enum pdet_kmap_cell_is is;
	unsigned state;		/* PAGEDET_HAVE, PAGEDET_NONE, or why not */
	uint64_t value;
	const char *text;
	size_t len;
	int width;		/* in a table; negative: to the left; 0: left
				 * out there */
};

/* More than the sums of a comparison with all that they lack. */
#define PDET_KMAP_CELLS 64

struct pdet_kmap_row {
	struct pdet_kmap_cell cell[PDET_KMAP_CELLS];
	unsigned n;
};

/* pdet_kmap_put - add a cell of a number. */
struct pdet_kmap_cell *pdet_kmap_put(struct pdet_kmap_row *row,
				     const char *name, uint64_t value,
				     int width);

/* pdet_kmap_put_text - add a text; @state if it is empty. */
struct pdet_kmap_cell *pdet_kmap_put_text(struct pdet_kmap_row *row,
					  const char *name, const char *text,
					  unsigned state, int width);

/* "a":1,"b":null; and ,"missing":{"b":"unsupported"} if there are reasons. */
void pdet_kmap_json(struct pagedet_emitter *e, const struct pdet_kmap_row *row);
void pdet_kmap_json_missing(struct pagedet_emitter *e,
			    const struct pdet_kmap_row *row);

/* Cells joined by commas, without a newline. */
void pdet_kmap_csv_head(struct pagedet_emitter *e,
			const struct pdet_kmap_row *row);
void pdet_kmap_csv(struct pagedet_emitter *e, const struct pdet_kmap_row *row);

/* A line of a table. */
void pdet_kmap_text_head(struct pagedet_emitter *e,
			 const struct pdet_kmap_row *row);
void pdet_kmap_text_row(struct pagedet_emitter *e,
			const struct pdet_kmap_row *row);

/* " 5 objects 7 bytes": numbers that the table shows. */
void pdet_kmap_text_named(struct pagedet_emitter *e,
			  const struct pdet_kmap_row *row);

/* A line in the format of the emitter, and what comes before the first one. */
void pdet_kmap_head(struct pagedet_emitter *e, const struct pdet_kmap_row *row);
void pdet_kmap_emit(struct pagedet_emitter *e, const struct pdet_kmap_row *row);

#endif
