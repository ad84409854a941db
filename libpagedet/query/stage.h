/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* One turn of a span: its next rows, filled, judged and checked. */
#ifndef PDET_QUERY_STAGE_H
#define PDET_QUERY_STAGE_H

#include "query/query.h"

/* 0, or negative errno when the whole walk must end. The batch may come out
 * empty with the span not used up. */
int pdet_stage_run(struct pdet_worker *k, struct pdet_span *span,
		   struct pdet_batch *b);

/* One row for a single place of the walk, if that can be answered at once. */
bool pdet_stage_glance(struct pdet_worker *k, struct pdet_batch *b);

#endif
