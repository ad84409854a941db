/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fuzzes the ring of breakpoints. The first two bytes are where it begins and
 * how much of it is said to be there; the rest is the ring.
 */
#include "breakpoint/ring.h"
#include "fuzz.h"

#define SIZE 4096u

static void visit(void *arg, const struct pdet_bp_sample *s)
{
	uint64_t *n = arg;

	(void)s;
	++*n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static unsigned char ring[SIZE];
	const struct pdet_bp_ring r = { ring, SIZE };
	struct pdet_bp_seen seen = { 0 };
	uint64_t n = 0, tail, head;

	if (size < 2)
		return 0;
	memset(ring, 0, sizeof(ring));
	memcpy(ring, data + 2, size - 2 < SIZE ? size - 2 : SIZE);
	tail = (uint64_t)data[0] * 16;
	head = tail + (uint64_t)data[1] * 8;
	if (data[1] == 255)
		head = tail + size - 2;
	pdet_bp_ring_take(&r, tail, head, visit, &n, &seen);
	MUST(n == seen.samples && n <= (head - tail) / 40);
	MUST(seen.broken <= 1);
	return 0;
}
