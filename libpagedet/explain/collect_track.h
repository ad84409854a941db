/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Decides which of some pages of this process were written. */
#ifndef PDET_EXPLAIN_COLLECT_TRACK_H
#define PDET_EXPLAIN_COLLECT_TRACK_H

#include "track/track.h"

struct pdet_tracked {
	uint64_t vaddr;
	uint64_t which;		/* chosen by the caller */
	uint32_t writes;	/* PAGEDET_WRITES_*, the answer */
};

/*
 * pdet_collect_track - ask a tracker about @n pages, and sort them by address.
 * Does not arm the tracker. Returns 0 or negative errno.
 */
int pdet_collect_track(struct pdet_env *env, struct pdet_track *track,
		       struct pdet_tracked *pages, uint64_t n);

#endif
