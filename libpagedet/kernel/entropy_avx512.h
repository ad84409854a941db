/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What entropy.c counts, for processors with the later parts of AVX-512. */
#ifndef PDET_KERNEL_ENTROPY_AVX512_H
#define PDET_KERNEL_ENTROPY_AVX512_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that are counted at once. */
#define PDET_COUNT_BYTES ((size_t)4096)

/* pdet_count_avx512 - adds to counts[] how often each value is among @n bytes,
 * which is 32768 at most: of whole PDET_COUNT_BYTES. They are the first of
 * what it returns; 0 where the processor cannot do this. */
size_t pdet_count_avx512(const unsigned char *p, size_t n,
			 uint16_t counts[256]);

#endif
