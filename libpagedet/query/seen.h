/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Which numbers came once, and which more often, in memory that does not grow
 * with them. It may take a number that came once for one that came twice, and
 * never the other way round.
 */
#ifndef PDET_QUERY_SEEN_H
#define PDET_QUERY_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pdet_seen {
	uint64_t *once, *twice;	/* bits */
	uint64_t mask;		/* of a bit's number */
};

/* pdet_seen_init - for about @n numbers, 0 not known. false without memory. */
bool pdet_seen_init(struct pdet_seen *s, uint64_t n);
void pdet_seen_free(struct pdet_seen *s);

void pdet_seen_add(struct pdet_seen *s, uint64_t number);

/* pdet_seen_single - it came once, and no more. */
bool pdet_seen_single(const struct pdet_seen *s, uint64_t number);

#endif
