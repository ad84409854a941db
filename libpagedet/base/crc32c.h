/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* CRC-32C (Castagnoli), as filesystems put it behind what they write. */
#ifndef PDET_BASE_CRC32C_H
#define PDET_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* pdet_crc32c - @crc of what came before, ~0 at the beginning; not inverted at
 * the end, as in the kernel's crc32c(). */
uint32_t pdet_crc32c(uint32_t crc, const void *data, size_t len);

#endif
