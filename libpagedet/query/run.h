/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Folds neighbours with equal answers into one row for several pages. */
#ifndef PDET_QUERY_RUN_H
#define PDET_QUERY_RUN_H

#include "schema/batch.h"

struct pdet_run;

struct pdet_run *pdet_run_new(const struct pdet_fields *columns, uint32_t cap,
			      size_t max_text, uint64_t page_size);
void pdet_run_free(struct pdet_run *r);

/*
 * Folds the rows of @b from *@at on until the output is full, and advances
 * *@at. Returns true if a batch is ready.
 */
bool pdet_run_fold(struct pdet_run *r, const struct pdet_batch *b,
		   uint32_t *at, uint64_t string_base);

/*
 * Gets the batch that is ready. If @last, it includes the open run. Valid until
 * the next fold.
 */
struct pdet_batch *pdet_run_take(struct pdet_run *r, bool last);

/* Forgets all rows. */
void pdet_run_drop(struct pdet_run *r);

/* The number of texts lost for lack of memory since the last call. */
uint64_t pdet_run_lost(struct pdet_run *r);

#endif
