/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Joins rows and regions: by the address in a task, or the physical address. */
#include "heat/rows.h"

#define F(name) PAGEDET_FIELD_##name
#define TRACE PAGEDET_SOURCE_TRACE

static const uint8_t fields_of[] = {
	F(HEAT), F(HEAT_CHECKS), F(HEAT_AGE), F(HEAT_BYTES), F(HEAT_NS),
};

bool pdet_heat_is(unsigned field)
{
	size_t i;

	for (i = 0; i < PDET_COUNT(fields_of); i++)
		if (fields_of[i] == field)
			return true;
	return false;
}

static unsigned lru_of(const struct pdet_batch *b, uint32_t row)
{
	const uint64_t lru = PAGEDET_PF(PAGEDET_PF_LRU);
	const unsigned state = pdet_batch_state(b, row, F(FLAGS));

	if (state != PAGEDET_HAVE)
		return state > PAGEDET_NONE ? state : PAGEDET_UNSUPPORTED;
	if (!(pdet_batch_get(b, row, F(FLAGS_KNOWN), 0) & lru))
		return PAGEDET_UNSUPPORTED;
	return b->value[F(FLAGS)][row] & lru ? PAGEDET_HAVE : PAGEDET_NONE;
}

static void take_page(const struct pdet_batch *b, uint32_t row,
		      uint64_t page_size, struct pdet_heat_page *p)
{
	p->page = pdet_batch_state(b, row, F(PFN));
	p->address = pdet_batch_get(b, row, F(PFN), 0) * page_size;
	p->lru = lru_of(b, row);
	p->has_virtual = pdet_batch_state(b, row, F(PID)) == PAGEDET_HAVE &&
			 pdet_batch_state(b, row, F(VADDR)) == PAGEDET_HAVE;
	p->virtual = pdet_batch_get(b, row, F(VADDR), 0);
	p->pid = (uint32_t)pdet_batch_get(b, row, F(PID), 0);
	p->tgid = (uint32_t)pdet_batch_get(b, row, F(TGID), p->pid);
}

static void put_number(struct pdet_batch *b, uint32_t row, unsigned field,
		       bool is_known, uint64_t value, unsigned why)
{
	if (is_known)
		pdet_put(b, row, field, value, TRACE);
	else
		pdet_put_lost(b, row, field, why, TRACE);
}

static void put_row(const struct pdet_heat *h, struct pdet_batch *b,
		    uint32_t row, uint64_t page_size)
{
	const struct pdet_heat_monitor *m;
	const struct pdet_heat_region *r;
	struct pdet_heat_page p;
	unsigned state;
	size_t i;

	take_page(b, row, page_size, &p);
	state = pdet_heat_find(h, &p, &m, &r);
	for (i = 0; i < PDET_COUNT(fields_of) && state != PAGEDET_HAVE; i++)
		if (state == PAGEDET_NONE)
			pdet_put_none(b, row, fields_of[i], TRACE);
		else
			pdet_put_lost(b, row, fields_of[i], state, TRACE);
	if (state != PAGEDET_HAVE)
		return;
	pdet_put(b, row, F(HEAT), r->accesses, TRACE);
	put_number(b, row, F(HEAT_CHECKS), m->checks, m->checks,
		   PAGEDET_UNSUPPORTED);
	put_number(b, row, F(HEAT_AGE), h->has_age, r->age, PAGEDET_NO_KERNEL);
	pdet_put(b, row, F(HEAT_BYTES), r->end - r->start, TRACE);
	pdet_put(b, row, F(HEAT_NS), m->ns + h->real_ns, TRACE);
}

/* Whether the row lacks an answer to one of @fields. */
static bool is_open(const struct pdet_batch *b, uint32_t row,
		    const struct pdet_fields *fields)
{
	size_t i;

	for (i = 0; i < PDET_COUNT(fields_of); i++)
		if (pdet_fields_has(fields, fields_of[i]) &&
		    b->cell[fields_of[i]] && !b->cell[fields_of[i]][row])
			return true;
	return false;
}

void pdet_heat_put(const struct pdet_heat *h, struct pdet_batch *b,
		   const struct pdet_fields *fields, uint64_t page_size)
{
	uint32_t row;

	if (!h || h->state != PAGEDET_HAVE)
		return;
	/* A log tells of another time. */
	for (row = 0; row < b->n; row++)
		if (is_open(b, row, fields) &&
		    pdet_batch_get(b, row, F(AT), 0) != PAGEDET_AT_LOG)
			put_row(h, b, row, page_size);
}
