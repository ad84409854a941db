/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* CRC-32C (Castagnoli), the checksum of ext4 and xfs metadata. */
#ifndef PDET_BASE_CRC32C_H
#define PDET_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* pdet_crc32c - continue the checksum @crc; start with ~0. The result is not
 * inverted, as in the kernel's crc32c(). */
uint32_t pdet_crc32c(uint32_t crc, const void *data, size_t len);

#endif
