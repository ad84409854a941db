/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Ranges of which some lie over others: what is seen from above. */
#ifndef PDET_BASE_OVERLAY_H
#define PDET_BASE_OVERLAY_H

#include <stddef.h>
#include <stdint.h>

/* first .. last, both included. Where two overlap, the higher one is seen. */
struct pdet_layer {
	uint64_t first;
	uint64_t last;
	uint64_t height;	/* no two have the same */
	uint32_t what;		/* the caller's */
};

/* Sorted, without overlap; never two of the same where one would do. */
struct pdet_overlay {
	struct pdet_piece {
		uint64_t first;
		uint64_t last;
		uint32_t what;
	} *data;
	size_t n, cap;
};

/* pdet_overlay_make - sorts @layers; 0 or -ENOMEM. Free data. */
int pdet_overlay_make(struct pdet_overlay *ret, struct pdet_layer *layers,
		      size_t n);

/* pdet_overlay_find - the piece that holds @at, else the next one behind it,
 * else NULL. */
const struct pdet_piece *pdet_overlay_find(const struct pdet_overlay *o,
					   uint64_t at);

#endif
