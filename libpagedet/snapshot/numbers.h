/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Encodes arrays of numbers in few bytes. */
#ifndef PDET_SNAPSHOT_NUMBERS_H
#define PDET_SNAPSHOT_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Size in bytes of the largest encoding of @n numbers. */
#define PDET_NUMBERS_MOST(n) ((size_t)(n) * 8 + 16)

/*
 * pdet_numbers_put - encode @n numbers to @p, which has room. Returns the end.
 */
char *pdet_numbers_put(char *p, const uint64_t *value, uint32_t n);

/*
 * pdet_numbers_get - decode @n numbers from *@p, and advance it. Returns false
 * if they are incomplete.
 */
bool pdet_numbers_get(const char **p, const char *end, uint64_t *value,
		      uint32_t n);

#endif
