/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Converts facts of a log about a page to one row. Shared by rows.c, maps.c,
 * report_rows.c and owner.c. */
#ifndef PDET_BACKEND_LOG_ROWS_H
#define PDET_BACKEND_LOG_ROWS_H

#include "backend/log/log.h"

struct pdet_log_putting {
	const struct pdet_log_page *p;
	struct pdet_batch *b;
	uint32_t row;
	const struct pdet_fields *want;
	unsigned source;
};

static inline void pdet_log_cell(const struct pdet_log_putting *o,
				 unsigned field, uint64_t value)
{
	if (pdet_fields_has(o->want, field))
		pdet_put(o->b, o->row, field, value, o->source);
}

static inline void pdet_log_cell_none(const struct pdet_log_putting *o,
				      unsigned field)
{
	if (!pdet_fields_has(o->want, field))
		return;
	/* What is missing may have named one. */
	if (o->p->ends_lost)
		pdet_put_lost(o->b, o->row, field, PAGEDET_IO, o->source);
	else
		pdet_put_none(o->b, o->row, field, o->source);
}

static inline void pdet_log_cell_lost(const struct pdet_log_putting *o,
				      unsigned field, unsigned reason)
{
	if (pdet_fields_has(o->want, field))
		pdet_put_lost(o->b, o->row, field, reason, o->source);
}

static inline void pdet_log_cell_text(const struct pdet_log_putting *o,
				      unsigned field, struct pdet_scan s)
{
	if (pdet_fields_has(o->want, field))
		pdet_put_text(o->b, o->row, field, s.at,
			      (size_t)(s.end - s.at), o->source);
}

/* maps.c: the fields of a task's address, if the query was about one. */
void pdet_log_put_address(const struct pdet_log_putting *o);

/* report_rows.c: the kind, time and reason of a report; and all its facts
 * beside a block of dump_page(). */
void pdet_log_put_event(const struct pdet_log_putting *o);
void pdet_log_put_report(const struct pdet_log_putting *o);

/* owner.c: the fields of the allocation and the free; one of their stacks. */
void pdet_log_put_owner(const struct pdet_log_putting *o);
void pdet_log_put_stack(const struct pdet_log_putting *o, unsigned field,
			const struct pdet_log_stack *stack);

/* kfence.c: the same for the object of a report. */
void pdet_log_put_kfence(const struct pdet_log_putting *o);

#endif
