/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Lists of ranges of numbers: page frames, addresses. */
#ifndef PDET_BASE_RANGE_H
#define PDET_BASE_RANGE_H

#include <stddef.h>
#include <stdint.h>

/* first .. last, both included, so that one can end where numbers end. */
struct pdet_range {
	uint64_t first;
	uint64_t last;
};

struct pdet_ranges {
	struct pdet_range *data;
	size_t n, cap;
};

#endif
