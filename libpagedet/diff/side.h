/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* One of the two queries that are compared: its rows, ordered by place. */
#ifndef PDET_DIFF_SIDE_H
#define PDET_DIFF_SIDE_H

#include "diff/seen.h"
#include "query/query.h"

/* The place of a row: a frame; a task and an address; a file and an offset. */
struct pdet_place {
	uint64_t a, b, c;
};

static inline int pdet_place_cmp(const struct pdet_place *x,
				 const struct pdet_place *y)
{
	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	if (x->b != y->b)
		return x->b < y->b ? -1 : 1;
	if (x->c != y->c)
		return x->c < y->c ? -1 : 1;
	return 0;
}

struct pdet_diff_side {
	struct pdet_iter *it;
	uint32_t by;		/* PAGEDET_DIFF_BY_* */
	bool whole_path;	/* one file or task: not part of the place */
	bool gathered;		/* rows are sorted first */
	bool ended;
	struct pdet_fields columns;
	struct pdet_batch *b;	/* the current batch */
	uint32_t at;		/* the current row of it */
	struct pdet_place place; /* place of that row, if gathered */
	bool partial;		/* the rows up to the current ones are not all
				 * that exist; known when the last rows have
				 * come */
	uint64_t next;		/* all frames below were read */
	uint64_t rows;
	uint64_t unplaced;	/* rows without a place, or with another's */
	unsigned watched;	/* field whose values seen counts */
	struct pdet_seen seen;

	/* gathered rows */
	uint64_t max_rows;
	struct { struct pdet_batch *data; size_t n, cap; } chunks;
	struct {
		struct pdet_side_row {
			struct pdet_place place;
			uint32_t chunk, row;
		} *data;
		size_t n, cap;
	} order;
	size_t done;
};

/* pdet_side_cover - take into account what could not be seen so far. */
void pdet_side_cover(struct pdet_diff_side *s);

/*
 * pdet_side_next - go to the next row that has a place; it is at b and at. If a
 * side is not gathered, all following rows have a place, in ascending order.
 * Returns 1, 0 at the end, or negative errno with an error text in the
 * iterator's env.
 */
int pdet_side_next(struct pdet_diff_side *s);

/* pdet_side_gather - read and sort all rows, before the first step. */
int pdet_side_gather(struct pdet_diff_side *s);

void pdet_side_free(struct pdet_diff_side *s);

#endif
