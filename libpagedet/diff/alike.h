/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Compares two snapshots by their runs. Snapshots are mostly alike. For blocks
 * with the same frames, runs are compared, and only rows that may differ are
 * made and compared one by one.
 */
#ifndef PDET_DIFF_ALIKE_H
#define PDET_DIFF_ALIKE_H

#include "diff/diff.h"

/* Shared by the walks of both sides and the difference. */
struct pdet_alike;

/*
 * pdet_alike_begin - leave out rows of both sides. Both must be snapshots, and
 * nobody else may need all rows. Returns NULL if all rows come.
 */
struct pdet_alike *pdet_alike_begin(struct pdet_diff *d);

/* pdet_alike_count - add the counts of rows left out to @d and both sides. */
void pdet_alike_count(struct pdet_alike *a, struct pdet_diff *d);

/*
 * pdet_alike_end - the difference ends, and the files may be closed. The walks
 * keep their reference. @a may be NULL.
 */
void pdet_alike_end(struct pdet_alike *a);

/* pdet_alike_free - drop the reference of a walk that ends. */
void pdet_alike_free(struct pdet_alike *a);

/*
 * pdet_alike_rows - advance *@at to the next row of @block that must be made.
 * All rows up to *@end must be made. If there are none left, both are the
 * number of rows. Returns 0 or -ENOMEM. Any thread may call it. Each side asks
 * for its blocks, and for the rows in them, in order.
 */
int pdet_alike_rows(struct pdet_alike *a, unsigned side, size_t block,
		    uint64_t *at, uint64_t *end);

#endif
