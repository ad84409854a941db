/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Finds which of several overlapping ranges is visible from above. */
#ifndef PDET_BASE_OVERLAY_H
#define PDET_BASE_OVERLAY_H

#include <stddef.h>
#include <stdint.h>

/*
 * first .. last, both included. Where two overlap, the higher one is visible.
 */
struct pdet_layer {
	uint64_t first;
	uint64_t last;
	uint64_t height;	/* unique */
	uint32_t what;		/* for the caller's use */
};

/* Sorted pieces without overlap; equal neighbours are merged. */
struct pdet_overlay {
	struct pdet_piece {
		uint64_t first;
		uint64_t last;
		uint32_t what;
	} *data;
	size_t n, cap;
};

/*
 * pdet_overlay_make - sort @layers and compute the visible pieces. Returns 0 or
 * -ENOMEM. The caller frees ret->data.
 */
int pdet_overlay_make(struct pdet_overlay *ret, struct pdet_layer *layers,
		      size_t n);

/* pdet_overlay_find - the piece that holds @at, or the next one, or NULL. */
const struct pdet_piece *pdet_overlay_find(const struct pdet_overlay *o,
					   uint64_t at);

#endif
