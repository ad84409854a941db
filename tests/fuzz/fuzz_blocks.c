/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fuzzes the output of QEMU's monitor: the first half names blocks, the second
 * gives their guest addresses. Accepted ranges lie within their block, which
 * has a name.
 */
#include "../../examples/migration_agent/blocks.h"
#include "fuzz.h"

static void check(const struct block *b)
{
	unsigned i;

	MUST(*b->name && strlen(b->name) < sizeof(b->name));
	MUST(b->used <= b->total && b->n_ranges <= MAX_RANGES);
	for (i = 0; i < b->n_ranges; i++)
		MUST(b->ranges[i].len && b->ranges[i].len <= b->total &&
		     b->ranges[i].offset <= b->total - b->ranges[i].len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct block blocks[MAX_BLOCKS];
	static char first[65537], second[65537];
	const uint8_t *cut = size ? memchr(data, '#', size) : NULL;
	const size_t n = cut ? (size_t)(cut - data) : size;
	const char *odd;
	unsigned count, i;

	if (size > 65536)
		return 0;
	memset(first, 0, sizeof(first));
	memset(second, 0, sizeof(second));
	memcpy(first, data, n);
	memcpy(second, data + n, size - n);
	count = blocks_parse(first, blocks, &odd);
	MUST(count <= MAX_BLOCKS);
	MUST(!odd || strstr(odd, " 0x"));
	blocks_parse_views(second, blocks, count);
	for (i = 0; i < count; i++)
		check(&blocks[i]);
	return 0;
}
