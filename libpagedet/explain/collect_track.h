/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Which of some pages of our own were written. */
#ifndef PDET_EXPLAIN_COLLECT_TRACK_H
#define PDET_EXPLAIN_COLLECT_TRACK_H

#include "backend/track.h"

struct pdet_tracked {
	uint64_t vaddr;
	uint64_t which;		/* the caller's */
	uint32_t writes;	/* PAGEDET_WRITES_*, the answer */
};

/* pdet_collect_track - what a tracker says of @n pages, which come back in the
 * order of their addresses. Arms nothing. Returns 0 or a negative errno. */
int pdet_collect_track(struct pdet_env *env, struct pdet_track *track,
		       struct pdet_tracked *pages, uint64_t n);

#endif
