/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A sorted list. Most holes come in the order of their times. */
#include <string.h>

#include "allocs/holes.h"
#include "base/env.h"
#include "base/vec.h"

/* The first one that ends at @ns or later. */
static size_t find(const struct pdet_holes *h, uint64_t ns)
{
	size_t low = 0, high = h->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (h->data[middle].end < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool pdet_holes_add(struct pdet_holes *h, uint64_t begin, uint64_t end)
{
	struct pdet_hole one = { begin, PDET_MAX(begin, end) };
	const size_t at = find(h, begin);
	size_t behind = at;

	/* Those that it touches become one with it. */
	for (; behind < h->n && h->data[behind].begin <= one.end; behind++) {
		one.begin = PDET_MIN(one.begin, h->data[behind].begin);
		one.end = PDET_MAX(one.end, h->data[behind].end);
	}
	if (behind == at && !pdet_vec_reserve(h, 1))
		return false;
	memmove(&h->data[at + 1], &h->data[behind],
		(h->n - behind) * sizeof(one));
	h->n = h->n - behind + at + 1;
	h->data[at] = one;
	return true;
}

bool pdet_holes_has(const struct pdet_holes *h, uint64_t from, uint64_t to)
{
	const size_t at = find(h, from);

	return at < h->n && h->data[at].begin <= to;
}

void pdet_holes_free(struct pdet_holes *h)
{
	pdet_vec_free(h);
}
