/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Arrays of numbers as bytes, short where the numbers allow it. */
#ifndef PDET_SCHEMA_SNAPSHOT_NUMBERS_H
#define PDET_SCHEMA_SNAPSHOT_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that @n numbers take at most. */
#define PDET_NUMBERS_MOST(n) ((size_t)(n) * 8 + 16)

/* pdet_numbers_put - @n numbers to @p, which has room for them. Returns what
 * follows. */
char *pdet_numbers_put(char *p, const uint64_t *value, uint32_t n);

/* pdet_numbers_get - @n numbers from *@p, which is moved behind them. False:
 * they are not there. */
bool pdet_numbers_get(const char **p, const char *end, uint64_t *value,
		      uint32_t n);

#endif
