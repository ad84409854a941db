/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fuzzes a map of blocks as text. Its entries must translate in both
 * directions.
 */
#include <pagedet.h>

#include "fuzz.h"

static void check(const struct pagedet_blocks *b, uint64_t page)
{
	struct pagedet_page_at at = { .size = sizeof(at) };
	uint64_t back;

	MUST(pagedet_blocks_at(b, page, &at) == 0);
	MUST(*at.name && strlen(at.name) < 256);
	MUST(at.offset % 4096 == 0 && at.addr[0] >= at.offset &&
	     at.addr[1] >= at.offset);
	MUST(pagedet_blocks_page(b, at.name, at.offset) == page);
	if (!at.has_guest)
		return;
	/* The first of two ranges at the same address counts. */
	back = pagedet_blocks_guest(b, at.guest);
	MUST(back < pagedet_blocks_count(b));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pagedet_blocks *b;
	uint64_t line = 0, n, i;
	int r;

	if (pagedet_blocks_new(4096, &b))
		return 0;
	r = pagedet_blocks_load(b, (const char *)data, size, &line);
	MUST(r == 0 || line > 0);
	MUST(line <= size + 1);
	n = pagedet_blocks_count(b);
	for (i = 0; i < n && i < 64; i++)
		check(b, i);
	if (n)
		check(b, n - 1);
	pagedet_blocks_free(b);
	return 0;
}
