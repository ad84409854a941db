/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What the opaque type of a difference holds. */
#ifndef PDET_API_DIFF_H
#define PDET_API_DIFF_H

#include "handle.h"
#include "query/diff.h"

struct pagedet_diff {
	struct pagedet *was, *now; /* their handles */
	struct pdet_diff *d;
	uint64_t row_size;
	const struct pdet_diff_out *out; /* of this step */
	uint32_t cursor;	/* changes of it handed out */
};

/* pdet_diff_more - the next step: 1, 0 at the end, or negative errno with words
 * in the handle of was. */
int pdet_diff_more(struct pagedet_diff *diff);

#endif
