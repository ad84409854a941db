/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The times between which events were lost. A free behind such a time may be
 * that of a later allocation at the same address.
 */
#ifndef PDET_ALLOCS_HOLES_H
#define PDET_ALLOCS_HOLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed, there are none. */
struct pdet_holes {
	struct pdet_hole {
		uint64_t begin, end; /* ns */
	} *data;		/* ascending, and apart from each other */
	size_t n, cap;
};

/* pdet_holes_add - events were lost between. False without memory. */
bool pdet_holes_add(struct pdet_holes *h, uint64_t begin, uint64_t end);

/* pdet_holes_has - whether some were lost between; both times are included. */
bool pdet_holes_has(const struct pdet_holes *h, uint64_t from, uint64_t to);

void pdet_holes_free(struct pdet_holes *h);

#endif
