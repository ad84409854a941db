/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Hilbert's curve. Memory addresses that are close to each other are close in
 * the picture, and each aligned quarter of memory is a square. D. Hilbert,
 * Ueber die stetige Abbildung einer Linie auf ein Flaechenstueck, 1891. Each
 * step handles a pair of bits, which names a quarter and its rotation.
 */
#include "emit/svg/curve.h"

#define MIN_BITS 3
#define MAX_BITS 8

struct pdet_curve pdet_curve_fit(uint32_t cells, bool linear)
{
	struct pdet_curve c = { MIN_BITS, linear };

	while (c.bits < MAX_BITS && cells > 1u << (2 * c.bits))
		c.bits++;
	return c;
}

static void swap(uint32_t *x, uint32_t *y)
{
	const uint32_t keep = *x;

	*x = *y;
	*y = keep;
}

/* Turns a square of @side so that the curve enters it at the top left. */
static void turn(uint32_t side, uint32_t right, uint32_t down, uint32_t *x,
		 uint32_t *y)
{
	if (down)
		return;
	if (right) {
		*x = side - 1 - *x;
		*y = side - 1 - *y;
	}
	swap(x, y);
}

void pdet_curve_place(const struct pdet_curve *c, uint32_t at, uint32_t *x,
		      uint32_t *y)
{
	uint32_t side;

	*x = *y = 0;
	if (c->linear) {
		*x = at & ((1u << c->bits) - 1);
		*y = at >> c->bits;
		return;
	}
	for (side = 1; side < 1u << c->bits; side *= 2, at /= 4) {
		const uint32_t right = at / 2 & 1, down = (at ^ right) & 1;

		turn(side, right, down, x, y);
		*x += side * right;
		*y += side * down;
	}
}
