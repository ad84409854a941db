/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Answers the fields that DAMON tells, whichever source found the page. */
#ifndef PDET_HEAT_ROWS_H
#define PDET_HEAT_ROWS_H

#include "heat/heat.h"
#include "schema/batch.h"

/* pdet_heat_is - whether a field is one of these. */
bool pdet_heat_is(unsigned field);

/*
 * pdet_heat_put - answer those of @fields that the rows do not have yet. If
 * nothing is known at all, nothing is put: the plan has the reason.
 * @page_size: of the kernel.
 */
void pdet_heat_put(const struct pdet_heat *h, struct pdet_batch *b,
		   const struct pdet_fields *fields, uint64_t page_size);

#endif
