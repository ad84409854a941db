/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* One turn of a span: makes its next rows, fills, filters and checks them. */
#ifndef PDET_QUERY_STAGE_H
#define PDET_QUERY_STAGE_H

#include "query/query.h"

/*
 * Returns 0, or negative errno if the whole walk must end. The batch may be
 * empty although the span is not used up.
 */
int pdet_stage_run(struct pdet_worker *k, struct pdet_span *span,
		   struct pdet_batch *b);

/* Makes one row for a single place of the walk, if that is possible at once. */
bool pdet_stage_glance(struct pdet_worker *k, struct pdet_batch *b);

#endif
