/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Text for people, in three files: text.c holds the first rows back and
 * decides how the answer is laid out, text_table.c and text_record.c lay it
 * out, text_notes.c says at the end what could not be known.
 */
#ifndef PDET_EMIT_TEXT_H
#define PDET_EMIT_TEXT_H

#include "emit/cell.h"
#include "emit/emitter.h"

/* A query of so few fields shows each of them in any case; of more fields,
 * those that say nothing are only listed. */
#define PDET_TEXT_FEW 8

/* A cell of a row that is held back; the string is at an offset. */
struct pdet_held {
	struct pdet_view view;
	size_t at;
};

/* What one column said in all rows. */
struct pdet_seen {
	uint64_t have, none, hidden;
	uint64_t lost[32];	/* by state; not asked is 0 */
	uint64_t unknown_ever;	/* bits of a mask not known in some row */
	uint64_t unknown_always;
	uint32_t sources;
};

enum pdet_text_part {
	PDET_TEXT_VALUE,
	PDET_TEXT_HEX,		/* the same pfn again */
	PDET_TEXT_SIZE,		/* pages of a group in human units */
	PDET_TEXT_BYTES,
	PDET_TEXT_SHARE		/* of all pages, per cent */
};

/* A column of the table, as wide as the rows held back need. */
struct pdet_text_col {
	const char *head;
	unsigned col;
	enum pdet_text_part part;
	bool right;
	bool shrink;
	size_t width;
};

struct pdet_text {
	struct pdet_held *held;
	size_t n_held, cap_held; /* rows */
	char *strings;
	size_t n_strings, cap_strings;
	char *scratch;		/* a cell being laid out */
	size_t scratch_len, scratch_cap;
	uint64_t rows;
	uint64_t total;		/* pages of all groups; 0 not known */
	bool laid_out;		/* nothing is held back any more */
	bool record;		/* labelled lines, not a table */
	bool spaced;		/* with empty lines between groups of fields */
	bool folded;		/* fields that say nothing are only listed */
	bool begun;		/* something stands in the output */
	bool surveyed;
	struct pdet_seen seen[PDET_FIELDS];
	bool out_of_table[PDET_FIELDS];
	uint64_t alarm[PDET_FIELDS]; /* bits of a mask that are bad news */
	struct pdet_mask_text *mask[PDET_FIELDS]; /* as they are in tables */
	struct pdet_text_col table[2 * PDET_FIELDS];
	unsigned n_table;
	size_t table_width;
	size_t label_width;
};

#define PDET_BOLD "\033[1m"
#define PDET_DIM "\033[2m"
#define PDET_RED "\033[31m"
#define PDET_RESET "\033[0m"

/* pdet_text_colour - switch to a colour, if colours are wanted. */
void pdet_text_colour(struct pagedet_emitter *e, const char *colour);

/* pdet_text_alarm - the cell is bad news. */
bool pdet_text_alarm(const struct pdet_text *t, unsigned col,
		     const struct pdet_view *v);

/* pdet_text_cell - a cell into t->scratch; returns how many columns it takes
 * on the terminal. */
size_t pdet_text_cell(struct pagedet_emitter *e, const struct pdet_view *v,
		      enum pdet_cell_style style);

/*
 * pdet_text_words - words after what already takes @at columns of the line,
 * broken before the terminal ends, going on at column @indent.
 */
void pdet_text_words(struct pagedet_emitter *e, const char *text, size_t len,
		     size_t at, size_t indent);

/* pdet_text_row - a row that is held back, as views of PDET_FIELDS. */
void pdet_text_row(const struct pagedet_emitter *e, size_t row,
		   struct pdet_view *ret);

/* Whether a column says the same nothing, or nothing known, in every row. */
bool pdet_text_says_nothing(const struct pdet_text *t, unsigned col);
bool pdet_text_says_unknown(const struct pdet_text *t, unsigned col);

/* pdet_table_lay_out - decide on columns and widths; false if the terminal is
 * too narrow for a table. @ended: no more rows will come. */
bool pdet_table_lay_out(struct pagedet_emitter *e, bool ended);
void pdet_table_head(struct pagedet_emitter *e);
void pdet_table_row(struct pagedet_emitter *e, const struct pdet_view *row);
/* The sum under the groups. */
void pdet_table_total(struct pagedet_emitter *e);

void pdet_record_lay_out(struct pagedet_emitter *e);
void pdet_record_row(struct pagedet_emitter *e, const struct pdet_view *row);

/* pdet_text_notes - the footer. */
void pdet_text_notes(struct pagedet_emitter *e,
		     const struct pdet_emit_end *end);

#endif
