/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Translates the answer of a tracker to single pages. The answer is ascending
 * ranges; pages outside of them were not written. Untracked memory is in a
 * range of its own. Pages that the tracker does not cover stay unknown.
 */
#include <stdlib.h>

#include "explain/collect_track.h"

#define RANGES 256

static int by_address(const void *a, const void *b)
{
	const struct pdet_tracked *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

static uint32_t writes_of(const struct pagedet_track_range *range)
{
	if (range->state == PAGEDET_TRACK_WRITTEN)
		return PAGEDET_WRITES_SEEN;
	switch (range->why) {
	case PAGEDET_TRACK_NOT_ARMED:
	case PAGEDET_TRACK_REMAPPED:
	case PAGEDET_TRACK_TAKEN:
	case PAGEDET_TRACK_KIND:
	case PAGEDET_TRACK_READ_ONLY:
	case PAGEDET_TRACK_CUT:
		return PAGEDET_WRITES_NOT_ARMED;
	default:
		return PAGEDET_WRITES_DUNNO;
	}
}

/* Ranges and pages both ascend: @next is the first page without an answer. */
static void take(const struct pagedet_track_range *range,
		 struct pdet_tracked *pages, uint64_t n, uint64_t *next)
{
	while (*next < n && pages[*next].vaddr < range->start)
		++*next;
	for (; *next < n && pages[*next].vaddr < range->end; ++*next)
		pages[*next].writes = writes_of(range);
}

int pdet_collect_track(struct pdet_env *env, struct pdet_track *track,
		       struct pdet_tracked *pages, uint64_t n)
{
	struct pagedet_track_range ranges[RANGES];
	uint64_t at = 0, before, next = 0, i;
	int r;

	qsort(pages, n, sizeof(*pages), by_address);
	for (i = 0; i < n; i++)
		pages[i].writes = pages[i].vaddr >= track->start &&
				  pages[i].vaddr < track->end ?
				  PAGEDET_WRITES_NONE : PAGEDET_WRITES_DUNNO;
	do {
		struct pdet_track_out out = { ranges, 0, RANGES };

		before = at;
		r = pdet_track_read(track, env, &at, false, &out);
		if (r < 0)
			break;
		for (i = 0; i < (uint64_t)r; i++)
			take(&ranges[i], pages, n, &next);
	} while (at != before && at);
	/* An incomplete answer says nothing about any page. */
	for (i = 0; (r < 0 || at) && i < n; i++)
		pages[i].writes = PAGEDET_WRITES_DUNNO;
	return r < 0 ? r : 0;
}
