/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Draws objects in the slabs of a cache. */
#ifndef PDET_BREAKPOINT_DRAW_H
#define PDET_BREAKPOINT_DRAW_H

#include "breakpoint/ask.h"

struct pdet_bp_draw {
	struct {
		uint64_t *data;
		size_t n, cap;
	} pfns;			/* pages of slabs */
	uint64_t direct;	/* where the kernel maps physical memory */
	uint64_t page_size;
	uint64_t state;		/* begins as the seed */
	char cache[PDET_SLAB_NAME];	/* the name that its slabs have */
	/* Draws, by what they met. */
	uint64_t drawn, free, unknown, elsewhere;
	bool kept;		/* the unknown: a processor may keep some */
};

/*
 * pdet_bp_draw - the address of a byte in the slabs, each with the same chance.
 * All objects of a cache have the same size, so that each object has, too.
 * There is a page.
 */
uint64_t pdet_bp_draw(struct pdet_bp_draw *d);

/*
 * pdet_bp_draw_object - draw until an object of the cache is met that is in
 * use. Returns 1; 0 if none of many draws has met one; or a negative errno with
 * an error text.
 */
int pdet_bp_draw_object(struct pdet_bp_draw *d,
			const struct pdet_bp_sources *sources,
			struct pdet_env *env, struct pdet_at *ret);

#endif
