/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Sweeps the layers from low to high numbers. A heap holds the layers that have
 * begun, the highest on top. The visible layer changes only where a layer
 * begins or where the topmost ends.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/env.h"
#include "base/overlay.h"
#include "base/vec.h"

struct heap {
	const struct pdet_layer **data;
	size_t n;
};

static void push(struct heap *h, const struct pdet_layer *layer)
{
	size_t at = h->n++, up;

	for (; at; at = up) {
		up = (at - 1) / 2;
		if (h->data[up]->height > layer->height)
			break;
		h->data[at] = h->data[up];
	}
	h->data[at] = layer;
}

static void pop(struct heap *h)
{
	const struct pdet_layer *layer = h->data[--h->n];
	size_t at = 0, down;

	while ((down = 2 * at + 1) < h->n) {
		if (down + 1 < h->n &&
		    h->data[down + 1]->height > h->data[down]->height)
			down++;
		if (h->data[down]->height < layer->height)
			break;
		h->data[at] = h->data[down];
		at = down;
	}
	h->data[at] = layer;
}

static bool emit(struct pdet_overlay *o, uint64_t first, uint64_t last,
		 uint32_t what)
{
	struct pdet_piece *before = o->n ? &o->data[o->n - 1] : NULL;

	if (before && before->what == what && before->last + 1 == first) {
		before->last = last;
		return true;
	}
	return pdet_vec_push(o, (struct pdet_piece){ first, last, what });
}

static int by_first(const void *a, const void *b)
{
	uint64_t x = ((const struct pdet_layer *)a)->first;
	uint64_t y = ((const struct pdet_layer *)b)->first;

	return x < y ? -1 : x > y;
}

static int sweep(struct pdet_overlay *o, const struct pdet_layer *layers,
		 size_t n, struct heap *h)
{
	uint64_t at = 0, last;
	size_t i = 0;

	for (;;) {
		while (h->n && h->data[0]->last < at)
			pop(h);
		if (!h->n) {
			if (i == n)
				return 0;
			at = PDET_MAX(at, layers[i].first);
		}
		while (i < n && layers[i].first <= at)
			push(h, &layers[i++]);
		while (h->n && h->data[0]->last < at)
			pop(h);
		if (!h->n)
			continue;
		last = h->data[0]->last;
		if (i < n && layers[i].first <= last)
			last = layers[i].first - 1;
		if (!emit(o, at, last, h->data[0]->what))
			return -ENOMEM;
		if (last == UINT64_MAX)
			return 0;
		at = last + 1;
	}
}

int pdet_overlay_make(struct pdet_overlay *ret, struct pdet_layer *layers,
		      size_t n)
{
	struct pdet_overlay o = { NULL, 0, 0 };
	struct heap h = { calloc(n ? n : 1, sizeof(*h.data)), 0 };
	int r;

	if (!h.data)
		return -ENOMEM;
	if (n)
		qsort(layers, n, sizeof(*layers), by_first);
	r = sweep(&o, layers, n, &h);
	free(h.data);
	if (r < 0)
		pdet_vec_free(&o);
	else
		*ret = o;
	return r;
}

const struct pdet_piece *pdet_overlay_find(const struct pdet_overlay *o,
					   uint64_t at)
{
	size_t low = 0, high = o->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (o->data[middle].last < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low < o->n ? &o->data[low] : NULL;
}
