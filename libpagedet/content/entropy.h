/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Computes the entropy of bytes from the frequency of each value. */
#ifndef PDET_CONTENT_ENTROPY_H
#define PDET_CONTENT_ENTROPY_H

#include <stddef.h>
#include <stdint.h>

/* The highest entropy of a byte. */
#define PDET_ENTROPY_MOST 8000

/*
 * pdet_entropy - the Shannon entropy of @n bytes, in thousandths of a bit for
 * each byte. It is 0 if all bytes are equal, or if there are none, and 8000 if
 * all 256 values are equally frequent. The order of the bytes does not matter.
 * @n is less than 4 GiB.
 * There is no floating point, so the result is the same on every machine.
 */
uint32_t pdet_entropy(const void *bytes, size_t n);

#endif
