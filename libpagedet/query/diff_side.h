/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* One of two questions whose rows are compared: its rows, by place. */
#ifndef PDET_QUERY_DIFF_SIDE_H
#define PDET_QUERY_DIFF_SIDE_H

#include "query/query.h"
#include "query/seen.h"

/* Where a row is: a frame; a task and an address; a file and an offset. */
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
	bool whole_path;	/* one file, one task: no part of the place */
	bool gathered;		/* rows are sorted first */
	bool ended;
	struct pdet_fields columns;
	struct pdet_batch *b;	/* at hand ... */
	uint32_t at;		/* ... from this row on */
	struct pdet_place place; /* of it, when gathered */
	bool partial;		/* not all was seen of what is at hand, or
				 * before; as known from its last rows on */
	uint64_t next;		/* frames below it have been */
	uint64_t rows;
	uint64_t unplaced;	/* rows of no place, or of that of another */
	unsigned watched;	/* field whose values are counted in seen */
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

/* pdet_side_cover - what could not be seen so far may be anything. */
void pdet_side_cover(struct pdet_diff_side *s);

/* pdet_side_next - to the next row with a place, which is then at b and at; of
 * a side that is not gathered, all rows from there on have one, ascending. 1,
 * 0 at the end, or negative errno, with words in the iterator's env. */
int pdet_side_next(struct pdet_diff_side *s);

/* pdet_side_gather - all rows, sorted; at the beginning. */
int pdet_side_gather(struct pdet_diff_side *s);

void pdet_side_free(struct pdet_diff_side *s);

#endif
