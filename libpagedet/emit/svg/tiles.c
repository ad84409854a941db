/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Cuts memory into at most 64 squares. One curve over all of memory would need
 * a square with a power of two as its size, and up to half of it would be
 * blank. The squares stand from left to right, row by row. Squares without
 * memory are left out.
 */
#include <string.h>

#include "emit/svg/tiles.h"

static bool is_empty(const struct pdet_picture *p, uint32_t first,
		     uint32_t cells)
{
	uint32_t i;

	for (i = first; i < first + cells && i < PDET_PICTURE_CELLS; i++)
		if (p->cell[i].category || p->cell[i].pale)
			return false;
	return true;
}

/* Makes the picture as square as possible with few blank places. */
static void arrange(struct pdet_tiles *t)
{
	uint32_t root = 1, across, blank, least = UINT32_MAX;

	while (root * root < t->n)
		root++;
	for (across = root; across <= root + 2 && across <= t->n; across++) {
		blank = (across - t->n % across) % across;
		if (blank >= least)
			continue;
		least = blank;
		t->across = across;
		t->down = (t->n + across - 1) / across;
	}
}

static void fit_rows(uint32_t cells, struct pdet_tiles *ret)
{
	ret->curve = pdet_curve_fit(cells, true);
	ret->n = ret->all = ret->across = ret->down = 1;
	ret->columns = 1u << ret->curve.bits;
	ret->rows = (cells + ret->columns - 1) / ret->columns;
	if (!ret->rows)
		ret->rows = 1;
}

void pdet_tiles_fit(const struct pdet_picture *p, bool linear,
		    struct pdet_tiles *ret)
{
	const uint32_t cells = pdet_picture_cells(p);
	uint32_t i, size;

	memset(ret, 0, sizeof(*ret));
	if (linear) {
		fit_rows(cells, ret);
		return;
	}
	ret->curve = pdet_curve_fit(cells, false);
	ret->curve.bits -= ret->curve.bits > 4 ? 3 : 1;
	size = 1u << (2 * ret->curve.bits);
	ret->all = (cells + size - 1) / size;
	for (i = 0; i < ret->all; i++) {
		ret->left_out[i] = is_empty(p, i * size, size);
		ret->place[i] = (uint8_t)ret->n;
		ret->n += !ret->left_out[i];
	}
	if (!ret->n)
		ret->n = 1;
	arrange(ret);
	ret->columns = ret->across << ret->curve.bits;
	ret->rows = ret->down << ret->curve.bits;
}

bool pdet_tiles_place(const struct pdet_tiles *t, uint32_t cell, uint32_t *x,
		      uint32_t *y)
{
	const unsigned bits = t->curve.bits;
	const uint32_t tile = cell >> (2 * bits);

	if (t->curve.linear) {
		pdet_curve_place(&t->curve, cell, x, y);
		return true;
	}
	if (t->left_out[tile])
		return false;
	pdet_curve_place(&t->curve, cell & ((1u << (2 * bits)) - 1), x, y);
	*x += t->place[tile] % t->across << bits;
	*y += t->place[tile] / t->across << bits;
	return true;
}
