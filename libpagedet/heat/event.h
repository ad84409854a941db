/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The event damon:damon_aggregated: how often DAMON saw an access to a region
 * of memory in the interval that ends (mm/damon/core.c, since Linux 5.15).
 */
#ifndef PDET_HEAT_EVENT_H
#define PDET_HEAT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pdet_heat_event {
	uint64_t ns;		/* of the trace's clock; the caller sets it */
	uint64_t lost;		/* events, before the look that found this one;
				 * pdet_heat_add() sets it */
	uint64_t target;	/* index among those of its thread */
	uint64_t start, end;	/* of the region, in DAMON's units */
	uint32_t thread;	/* kdamond */
	uint32_t regions;	/* that the target has */
	uint32_t accesses;
	uint32_t age;		/* intervals */
};

/* Where a record has a number. */
struct pdet_heat_place {
	uint32_t at;
	uint32_t size;		/* 0: the kernel does not write it */
};

struct pdet_heat_layout {
	uint32_t id;		/* of the event */
	uint32_t bytes;		/* of a record, at least */
	struct pdet_heat_place type, thread, target, context, regions, start,
			       end, accesses, age;
};

/* pdet_heat_layout_parse - read the event's format file. -EBADMSG: a number is
 * missing, except age and context, or has another form. */
int pdet_heat_layout_parse(const char *text, size_t len,
			   struct pdet_heat_layout *ret);

/*
 * pdet_heat_take - read a record. 1: *ret is set but ns and lost; 0: it is
 * another event, or of a context beside the first one, whose targets are not
 * known; -EBADMSG: it is too short, or its region is empty.
 */
int pdet_heat_take(const struct pdet_heat_layout *l,
		   const unsigned char *record, uint32_t len, bool big_endian,
		   struct pdet_heat_event *ret);

#endif
