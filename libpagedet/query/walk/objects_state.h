/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Whether what a trace has no free of is in use. */
#ifndef PDET_QUERY_WALK_OBJECTS_STATE_H
#define PDET_QUERY_WALK_OBJECTS_STATE_H

#include "allocs/live.h"
#include "query/query.h"

/*
 * pdet_objects_state - answer PAGEDET_FIELD_OBJECT_STATE of the last row of @b,
 * which is about @l, if it is nothing so far; and correct it, if another object
 * is there now.
 */
void pdet_objects_state(struct pdet_walk *w, struct pdet_session *s,
			struct pdet_batch *b, const struct pdet_live *l);

#endif
