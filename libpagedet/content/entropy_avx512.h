/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Counts byte values as entropy.c does, with later extensions of AVX-512. */
#ifndef PDET_CONTENT_ENTROPY_AVX512_H
#define PDET_CONTENT_ENTROPY_AVX512_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that are counted at once. */
#define PDET_COUNT_BYTES ((size_t)4096)

/* pdet_count_avx512 - add the counts of the values of the first bytes to
 * counts[]. @n is at most 32768. Returns the number of bytes counted, which is
 * a multiple of PDET_COUNT_BYTES, or 0 if the processor does not have the
 * instructions. */
size_t pdet_count_avx512(const unsigned char *p, size_t n,
			 uint16_t counts[256]);

#endif
