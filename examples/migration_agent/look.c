/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Reads the contents of a side's pages with pagedet_look(). */
#include <stdlib.h>

#include "agent.h"

int look_at(struct agent *a, int side, struct pagedet_seen *seen)
{
	struct pagedet_item items[MAX_BLOCKS];
	const int n = pagedet_blocks_items(a->map, (uint32_t)side,
					   (uint32_t)a->vm[side].pid, items,
					   MAX_BLOCKS);

	return pagedet_look(a->pd, items, (uint64_t)n, NULL, seen, a->pages);
}

uint64_t look_run(const struct agent *a, int side, const uint64_t *pages,
		  uint64_t n, uint64_t *hva)
{
	uint64_t i = 1;

	*hva = join_hva(a, pages[0], side);
	while (i < n && pages[i] == pages[0] + i &&
	       join_hva(a, pages[i], side) == *hva + i * PAGE_BYTES)
		i++;
	return i;
}

int look_pages(struct agent *a, struct pagedet *pd, int side,
	       const uint64_t *pages, uint64_t n, void *bytes,
	       struct pagedet_seen *seen)
{
	struct pagedet_item *items = calloc(n, sizeof(*items));
	struct pagedet_look_options o = PAGEDET_LOOK_OPTIONS_INIT;
	uint64_t i, run, n_items = 0;
	int r = -1;

	o.bytes = bytes;
	o.bytes_size = bytes ? n * PAGE_BYTES : 0;
	for (i = 0; items && i < n; i += run) {
		struct pagedet_item *item = &items[n_items++];

		run = look_run(a, side, pages + i, n - i, &item->first);
		item->count = run * PAGE_BYTES;
		item->pid = (uint32_t)a->vm[side].pid;
	}
	if (items)
		r = pagedet_look(pd, items, n_items, &o, seen, n);
	free(items);
	return r;
}

int look_bytes(const struct agent *a, int side, uint64_t page, void *bytes)
{
	const struct pagedet_item item = {
		.first = join_hva(a, page, side), .count = PAGE_BYTES,
		.pid = (uint32_t)a->vm[side].pid,
	};
	struct pagedet_look_options o = PAGEDET_LOOK_OPTIONS_INIT;
	struct pagedet_seen seen;

	o.bytes = bytes;
	o.bytes_size = PAGE_BYTES;
	if (pagedet_look(a->pd, &item, 1, &o, &seen, 1) ||
	    !(seen.bits & PAGEDET_SEEN_BYTES))
		return -1;
	return seen.state == PAGEDET_SEEN_ABSENT ? 0 : 1;
}
