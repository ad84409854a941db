/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Two files of saved rows are mostly alike, and so are their runs: of blocks
 * that have the same frames, runs are compared, and only rows that may differ
 * are made and compared one by one.
 */
#ifndef PDET_QUERY_DIFF_ALIKE_H
#define PDET_QUERY_DIFF_ALIKE_H

#include "query/diff.h"

/* The walks of both sides have it, and the difference. */
struct pdet_alike;

/* pdet_alike_begin - leaves out rows of both sides, if they are saved and
 * nobody else wants to see them all. NULL: all rows come. */
struct pdet_alike *pdet_alike_begin(struct pdet_diff *d);

/* pdet_alike_count - adds to @d, and to both sides, what was left out. */
void pdet_alike_count(struct pdet_alike *a, struct pdet_diff *d);

/* pdet_alike_end - the files may go; the walks keep theirs. NULL: nothing. */
void pdet_alike_end(struct pdet_alike *a);

/* pdet_alike_free - of a walk that ends. */
void pdet_alike_free(struct pdet_alike *a);

/* pdet_alike_rows - moves *@at on to the next row of @block that is to be made,
 * which are all up to *@end; there both stay if there is none. 0 or -ENOMEM.
 * Any thread; each side asks for its blocks, and their rows, in order. */
int pdet_alike_rows(struct pdet_alike *a, unsigned side, size_t block,
		    uint64_t *at, uint64_t *end);

#endif
