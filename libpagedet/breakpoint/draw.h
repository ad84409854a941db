/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Draws addresses in the slabs of a cache, and understands what is said of the
 * objects there.
 */
#ifndef PDET_BREAKPOINT_DRAW_H
#define PDET_BREAKPOINT_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pdet_bp_draw {
	struct {
		uint64_t *data;
		size_t n, cap;
	} pfns;			/* pages of slabs */
	uint64_t direct;	/* where the kernel maps physical memory */
	uint64_t page_size;
	uint64_t state;		/* begins as the seed */
};

/*
 * pdet_bp_draw - the address of a byte in the slabs, each with the same chance.
 * All objects of a cache have the same size, so that each object has, too.
 * There is a page.
 */
uint64_t pdet_bp_draw(struct pdet_bp_draw *d);

/* What the field object says of an address in a slab. */
struct pdet_bp_said {
	const char *cache;	/* in the text */
	size_t len;
	int64_t within;		/* from where the user's part begins */
};

/*
 * pdet_bp_said - take apart "object 3 of 21 in filp +0x10, free". False: it is
 * something else.
 */
bool pdet_bp_said(const char *text, size_t len, struct pdet_bp_said *ret);

#endif
