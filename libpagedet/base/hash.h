/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Hashes, from libxxhash. */
#ifndef PDET_BASE_HASH_H
#define PDET_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* pdet_hash - not keyed: for tables in memory, and for ids of stacks, which are
 * said to be XXH3-64. */
uint64_t pdet_hash(const void *data, size_t len);

/* Of a key. */
#define PDET_SECRET 192

/* pdet_hash_keyed - the low 64 bits of XXH3-128 under a secret of PDET_SECRET
 * random bytes. */
uint64_t pdet_hash_keyed(const void *data, size_t len, const void *secret);

/* pdet_hash_keyed_avx2 - the same, only where pdet_has_avx2(). */
uint64_t pdet_hash_keyed_avx2(const void *data, size_t len,
			      const void *secret);

/* pdet_hash_secret - a secret's name: XXH3-64 of it with a seed of its own,
 * from which no byte of it can be told. */
uint64_t pdet_hash_secret(const void *secret);

#endif
