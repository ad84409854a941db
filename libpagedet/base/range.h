/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Ranges of numbers, such as page frames or addresses. */
#ifndef PDET_BASE_RANGE_H
#define PDET_BASE_RANGE_H

#include <stddef.h>
#include <stdint.h>

/*
 * first .. last, both included, so that a range can end at the largest number.
 */
struct pdet_range {
	uint64_t first;
	uint64_t last;
};

struct pdet_ranges {
	struct pdet_range *data;
	size_t n, cap;
};

#endif
