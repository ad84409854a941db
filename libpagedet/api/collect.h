/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The parts of collecting evidence. pdet_collect_rows() comes first; all others
 * add to evidence that already has its rows.
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

/* pdet_evidence_zero - PAGEDET_YES if all bytes are 0, else PAGEDET_NO. */
static inline uint32_t pdet_evidence_zero(const unsigned char *bytes,
					  size_t len)
{
	size_t i;

	for (i = 0; i < len && !bytes[i]; i++)
		;
	return i == len ? PAGEDET_YES : PAGEDET_NO;
}

/* One call of pagedet_collect(). */
struct pdet_collecting {
	struct pagedet *pd;
	const struct pagedet_item *items;
	struct pagedet_collect_options o;
	struct pdet_evidence_list list;
	uint64_t rows;
	uint64_t start_ns;
	uint64_t hash_key;	/* id of the handle's key */
	unsigned version;	/* the rows' contents are stored as this
				 * version */
	bool denied;		/* some tasks could not be read for it */
	bool of_pids;		/* the kernel's pids are valid here */
};

/*
 * pdet_collect_rows - query the row of each page, and its content if that is an
 * option. @items has the caller's pid instead of 0. Returns 0, or a negative
 * errno value with an error text.
 */
int pdet_collect_rows(struct pdet_collecting *c,
		      const struct pagedet_item *items);

/* pdet_collect_late - mark what the deadline prevented. */
void pdet_collect_late(struct pdet_collecting *c);

/*
 * pdet_collect_again - read the contents once more, again_ns after @since_ns
 * (CLOCK_MONOTONIC). If they cannot be read, hash_state says why. Returns 0,
 * -ENOMEM or -ECANCELED.
 */
int pdet_collect_again(struct pdet_collecting *c,
		       const struct pagedet_item *own, uint64_t since_ns);

/*
 * pdet_collect_address - look at the file behind each address, at poisoned
 * pages, and at the tracker; for addresses of tasks of the running kernel.
 * Returns 0, or -ENOMEM with an error text.
 */
int pdet_collect_address(struct pdet_collecting *c,
			 const struct pagedet_item *own);

/*
 * pdet_collect_mappers - find a task for each page that has more mappings than
 * the caller knows. Returns 0, -ENOMEM or -ECANCELED.
 */
int pdet_collect_mappers(struct pdet_collecting *c);

/*
 * pdet_collect_log - read the report about each page from the kernel's log. The
 * running kernel's is read only if that has reported a bad page, or one of the
 * pages has a memory error. Sets the report, reason and event_ns of the row. If
 * the log does not have a field, the field is lost, with the reason. Returns 0,
 * or -ENOMEM with an error text.
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
