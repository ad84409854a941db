/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Text for people, in five files. text.c buffers the first rows and chooses the
 * layout. text_table.c and text_record.c write it. text_fit.c makes a table
 * narrower. text_notes.c writes the footer about what is not known.
 */
#ifndef PDET_EMIT_TEXT_H
#define PDET_EMIT_TEXT_H

#include "emit/cell.h"
#include "emit/emitter.h"

/*
 * A query with at most this many fields shows all of them. A query with more
 * only lists fields without values.
 */
#define PDET_TEXT_FEW 8

/* A cell of a buffered row. Its string is at an offset. */
struct pdet_held {
	struct pdet_view view;
	size_t at;
};

/* Summary of the cells of one column in all rows. */
struct pdet_seen {
	uint64_t have, none, hidden;
	uint64_t lost[32];	/* by state, except not asked, which is 0 */
	uint64_t judged;	/* rows whose unknown bits were counted */
	uint64_t unsaid;	/* rows of which a log does not tell it */
	uint64_t unknown_ever;	/* bits of a mask unknown in some row */
	uint64_t unknown_always;
	uint64_t ever;		/* bits of a mask that are set in some row, or
				 * kinds that occur */
	uint32_t sources;
};

enum pdet_text_part {
	PDET_TEXT_VALUE,
	PDET_TEXT_HEX,		/* the pfn again, in hex */
	PDET_TEXT_SIZE,		/* pages of a group, in human units */
	PDET_TEXT_SHARE		/* per cent of all pages */
};

/* A column of the table, as wide as the buffered rows need. */
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
	size_t n_held, cap_held; /* number of rows */
	char *strings;
	size_t n_strings, cap_strings;
	char *scratch;		/* for the cell being written */
	size_t scratch_len, scratch_cap;
	uint64_t rows;
	uint64_t total;		/* pages of all groups; 0: not known */
	bool in_part;		/* there may be more than these */
	bool laid_out;		/* the layout is chosen, nothing is buffered */
	bool record;		/* labelled lines instead of a table */
	bool spaced;		/* with empty lines between groups of fields */
	bool folded;		/* fields without values are only listed */
	bool begun;		/* some output was written */
	bool surveyed;
	struct pdet_seen *seen;	/* for each column */
	bool out_of_table[PDET_FIELDS];
	/*
	 * If a table is wider than the terminal, it has: columns that are
	 * written once above it, columns that are written as letters, and
	 * columns that are left out. The second radix is left out, too.
	 */
	bool same[PDET_FIELDS], letters[PDET_FIELDS], no_room[PDET_FIELDS];
	bool no_hex;
	uint64_t alarm[PDET_FIELDS]; /* bits of a mask that are bad news */
	struct pdet_mask_text *mask[PDET_FIELDS]; /* texts of masks in tables */
	struct pdet_text_col table[2 * PDET_FIELDS];
	unsigned n_table;
	size_t table_width;
	size_t label_width;
};

#define PDET_BOLD "\033[1m"
#define PDET_DIM "\033[2m"
#define PDET_RED "\033[31m"
#define PDET_GREEN "\033[32m"
#define PDET_MAGENTA "\033[35m"
#define PDET_CYAN "\033[36m"
#define PDET_RESET "\033[0m"

/* pdet_text_colour - switch to a colour, if colours are on. */
void pdet_text_colour(struct pagedet_emitter *e, const char *colour);

/* pdet_text_alarm - whether the cell must alarm the user. */
bool pdet_text_alarm(const struct pdet_text *t, unsigned col,
		     const struct pdet_view *v);

/* pdet_text_colour_of - the colour of a cell, or NULL. */
const char *pdet_text_colour_of(const struct pagedet_emitter *e, unsigned col,
				const struct pdet_view *v);

/*
 * pdet_text_cell - write a cell to t->scratch. Returns its width on the
 * terminal.
 */
size_t pdet_text_cell(struct pagedet_emitter *e, const struct pdet_view *v,
		      enum pdet_cell_style style);

/*
 * pdet_text_words - write words after the @at columns that the line already
 * has. Wraps at the width of the terminal, and continues at column @indent.
 */
void pdet_text_words(struct pagedet_emitter *e, const char *text, size_t len,
		     size_t at, size_t indent);

/* pdet_text_row - get a buffered row as views of PDET_FIELDS. */
void pdet_text_row(const struct pagedet_emitter *e, size_t row,
		   struct pdet_view *ret);

/* Whether a column has no value in any row. */
bool pdet_text_says_nothing(const struct pdet_text *t, unsigned col);
bool pdet_text_says_unknown(const struct pdet_text *t, unsigned col);

/*
 * pdet_table_lay_out - choose columns and widths. Returns false if the terminal
 * is too narrow for a table. @ended: no more rows will come.
 */
bool pdet_table_lay_out(struct pagedet_emitter *e, bool ended);
/*
 * pdet_table_try - the same, but without the columns that were left out
 * already. If @cut, long texts may be cut. Returns false if the table is too
 * wide.
 */
bool pdet_table_try(struct pagedet_emitter *e, bool ended, bool cut);
void pdet_table_head(struct pagedet_emitter *e);
void pdet_table_row(struct pagedet_emitter *e, const struct pdet_view *row);
/* Writes the sum below the groups. */
void pdet_table_total(struct pagedet_emitter *e);

/* pdet_text_fit - fit the table to the terminal. Returns false if it cannot. */
bool pdet_text_fit(struct pagedet_emitter *e, bool ended);
/* pdet_text_same - write the columns with equal values above the table. */
void pdet_text_same(struct pagedet_emitter *e);
/*
 * pdet_text_letter - the letter of a bit in a narrow table; 0 if it has none.
 */
char pdet_text_letter(unsigned field, unsigned bit);

void pdet_record_lay_out(struct pagedet_emitter *e);
void pdet_record_row(struct pagedet_emitter *e, const struct pdet_view *row);

/* pdet_text_notes - write the footer. */
void pdet_text_notes(struct pagedet_emitter *e,
		     const struct pdet_emit_end *end);

#endif
