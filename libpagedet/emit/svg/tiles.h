/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The arrangement of a picture's squares, which are called tiles. */
#ifndef PDET_EMIT_SVG_TILES_H
#define PDET_EMIT_SVG_TILES_H

#include "emit/svg/curve.h"
#include "emit/svg/picture.h"

#define PDET_TILES 64

struct pdet_tiles {
	struct pdet_curve curve; /* within a tile */
	uint32_t n;		/* drawn tiles */
	uint32_t all;		/* and those without memory */
	uint32_t across, down;	/* size of the picture in tiles */
	uint32_t columns, rows;	/* and in cells */
	uint8_t place[PDET_TILES]; /* place of each tile, from the top left */
	bool left_out[PDET_TILES]; /* the tile has no page */
};

/*
 * pdet_tiles_fit - arrange squares of Hilbert's curve from left to right, row
 * by row. Without holes the picture is full. @linear: one tile with rows of
 * cells.
 */
void pdet_tiles_fit(const struct pdet_picture *p, bool linear,
		    struct pdet_tiles *ret);

/*
 * pdet_tiles_place - get column and row of a cell. Returns false if it is left
 * out.
 */
bool pdet_tiles_place(const struct pdet_tiles *t, uint32_t cell, uint32_t *x,
		      uint32_t *y);

#endif
