/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Where a cell of a picture lies. */
#ifndef PDET_EMIT_SVG_CURVE_H
#define PDET_EMIT_SVG_CURVE_H

#include <stdbool.h>
#include <stdint.h>

struct pdet_curve {
	unsigned bits;		/* 1 << bits cells in a row */
	bool linear;		/* row by row; else Hilbert's curve */
};

/* pdet_curve_fit - rows of 8 to 256 cells, as few as hold @cells in a square;
 * row by row, the same width. */
struct pdet_curve pdet_curve_fit(uint32_t cells, bool linear);

/* pdet_curve_place - column and row of cell @at, from the top left. */
void pdet_curve_place(const struct pdet_curve *c, uint32_t at, uint32_t *x,
		      uint32_t *y);

/* pdet_curve_at - the cell at a place. */
uint32_t pdet_curve_at(const struct pdet_curve *c, uint32_t x, uint32_t y);

#endif
