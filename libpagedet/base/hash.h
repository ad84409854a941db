/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Hashes, from libxxhash. */
#ifndef PDET_BASE_HASH_H
#define PDET_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* pdet_hash - not keyed: for tables in memory, and for ids of stacks, which are
 * said to be XXH3-64. */
uint64_t pdet_hash(const void *data, size_t len);

#endif
