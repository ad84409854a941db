/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The opaque type of a difference. */
#ifndef PDET_API_DIFF_H
#define PDET_API_DIFF_H

#include "api/handle.h"
#include "diff/diff.h"

struct pagedet_diff {
	struct pagedet *was, *now; /* handles of both sides */
	struct pdet_diff *d;
	uint64_t row_size;
	const struct pdet_diff_out *out; /* the current step */
	uint32_t cursor;	/* delivered changes of it */
};

/*
 * pdet_diff_more - make the next step. Returns 1, 0 at the end, or a negative
 * errno with an error text in diff->was.
 */
int pdet_diff_more(struct pagedet_diff *diff);

#endif
