/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* How much there is in bytes, judged by how often each value is there. */
#ifndef PDET_KERNEL_ENTROPY_H
#define PDET_KERNEL_ENTROPY_H

#include <stddef.h>
#include <stdint.h>

/* The most that there are to a byte. */
#define PDET_ENTROPY_MOST 8000

/* Less than this is measured. */
#define PDET_ENTROPY_BYTES ((uint64_t)1 << 32)

/*
 * pdet_entropy - Shannon's entropy of the values of @n bytes, in thousandths of
 * a bit a byte: 0 if all are the same, 8000 if all 256 are there equally often.
 * Of none it is 0. The order of the bytes does not matter, and no number of
 * floating point is used: it is the same everywhere.
 */
uint32_t pdet_entropy(const void *bytes, size_t n);

#endif
