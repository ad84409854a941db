/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Hashes, from libxxhash. */
#ifndef PDET_BASE_HASH_H
#define PDET_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* pdet_hash - an unkeyed hash for tables in memory and for stack ids, which are
 * documented as XXH3-64. */
uint64_t pdet_hash(const void *data, size_t len);

/* Size of a key in bytes. */
#define PDET_SECRET 192

/* pdet_hash_keyed - the low 64 bits of XXH3-128 under a secret of PDET_SECRET
 * random bytes. */
uint64_t pdet_hash_keyed(const void *data, size_t len, const void *secret);

/* pdet_hash_keyed_avx2 - the same; only call it if pdet_has_avx2(). */
uint64_t pdet_hash_keyed_avx2(const void *data, size_t len,
			      const void *secret);

/* pdet_hash_secret - a public id of a secret: XXH3-64 of it with a separate
 * seed. The id does not reveal any byte of the secret. */
uint64_t pdet_hash_secret(const void *secret);

#endif
