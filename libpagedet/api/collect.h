/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Evidence from outside of queries. These functions add it to evidence that
 * already has its rows.
 */
#ifndef PDET_API_COLLECT_H
#define PDET_API_COLLECT_H

#include <time.h>

#include "api/handle.h"
#include "base/clock.h"

struct pdet_evidence_list {
	char *data;
	uint64_t stride, n;
	uint64_t until_ns;	/* CLOCK_MONOTONIC; 0: no deadline */
};

static inline struct pagedet_evidence *
pdet_evidence_at(const struct pdet_evidence_list *list, uint64_t i)
{
	return (struct pagedet_evidence *)(void *)(list->data +
						   i * list->stride);
}

static inline bool pdet_evidence_late(const struct pdet_evidence_list *list)
{
	return list->until_ns &&
	       pdet_clock_ns(CLOCK_MONOTONIC) >= list->until_ns;
}

/*
 * pdet_collect_log - read the last bad page report about each page from the
 * kernel's log. Sets the report, reason and event_ns of the row. If the log
 * does not have a field, the field is lost, with the reason. Returns 0, or
 * -ENOMEM with an error text.
 */
int pdet_collect_log(struct pagedet *pd, const struct pdet_evidence_list *list);

/*
 * pdet_collect_folio - get the number of mappings of each page's large folio,
 * from the first source that knows it. Returns 0, or -ENOMEM with an error
 * text.
 */
int pdet_collect_folio(struct pagedet *pd,
		       const struct pdet_evidence_list *list);

#endif
