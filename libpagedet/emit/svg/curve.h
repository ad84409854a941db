/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Maps cells to places in the picture. */
#ifndef PDET_EMIT_SVG_CURVE_H
#define PDET_EMIT_SVG_CURVE_H

#include <stdbool.h>
#include <stdint.h>

struct pdet_curve {
	unsigned bits;		/* 1 << bits cells per row */
	bool linear;		/* row by row instead of Hilbert's curve */
};

/*
 * pdet_curve_fit - choose the length of rows, from 8 to 256 cells, for the
 * smallest square that holds @cells. @linear has the same width.
 */
struct pdet_curve pdet_curve_fit(uint32_t cells, bool linear);

/* pdet_curve_place - get column and row of cell @at, from the top left. */
void pdet_curve_place(const struct pdet_curve *c, uint32_t at, uint32_t *x,
		      uint32_t *y);

#endif
