/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tells whether a number came once or several times, in constant memory. It may
 * think that a number which came once was repeated, but never the reverse.
 */
#ifndef PDET_DIFF_SEEN_H
#define PDET_DIFF_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pdet_seen {
	uint64_t *once, *twice;	/* bits */
	uint64_t mask;		/* mask of a bit's index */
};

/*
 * pdet_seen_init - prepare for about @n numbers, or 0 if the number is not
 * known. Returns false without memory.
 */
bool pdet_seen_init(struct pdet_seen *s, uint64_t n);
void pdet_seen_free(struct pdet_seen *s);

void pdet_seen_add(struct pdet_seen *s, uint64_t number);

/* pdet_seen_single - whether the number came exactly once. */
bool pdet_seen_single(const struct pdet_seen *s, uint64_t number);

#endif
