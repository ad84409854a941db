/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What flat.c and flat_scan.c share: the head of a chunk in the file. */
#ifndef PDET_MEMORY_FLAT_SCAN_H
#define PDET_MEMORY_FLAT_SCAN_H

#include <stdint.h>

/* Big-endian. Both are all ones at the end of the stream. */
struct pdet_flat_head {
	uint64_t offset;
	uint64_t size;
};

#endif
