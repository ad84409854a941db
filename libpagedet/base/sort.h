/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Sorts arrays of numbers, which may be empty. */
#ifndef PDET_BASE_SORT_H
#define PDET_BASE_SORT_H

#include <stdint.h>
#include <stdlib.h>

static inline int pdet_compare_u32(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static inline int pdet_compare_u64(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static inline void pdet_sort_u32(uint32_t *data, size_t n)
{
	if (n)
		qsort(data, n, sizeof(*data), pdet_compare_u32);
}

/* Drops repeated numbers too. Returns how many are left. */
static inline size_t pdet_sort_once_u32(uint32_t *data, size_t n)
{
	size_t i, kept = 0;

	pdet_sort_u32(data, n);
	for (i = 0; i < n; i++)
		if (!kept || data[kept - 1] != data[i])
			data[kept++] = data[i];
	return kept;
}

static inline void pdet_sort_u64(uint64_t *data, size_t n)
{
	if (n)
		qsort(data, n, sizeof(*data), pdet_compare_u64);
}

#endif
