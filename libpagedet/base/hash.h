/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Hashes, from libxxhash. */
#ifndef PDET_BASE_HASH_H
#define PDET_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* pdet_hash - an unkeyed hash for tables in memory and for stack ids, which are
 * documented as XXH3-64. */
uint64_t pdet_hash(const void *data, size_t len);

/*
 * pdet_hash_salt - a random number for pdet_hash_number(). A table whose slots
 * do not depend on one can be made slow by whoever chooses its keys. It is 0
 * where the system has no random numbers yet.
 */
uint64_t pdet_hash_salt(void);

/* pdet_hash_number - a hash of a number for one table, whose highest bits are
 * its slot. */
static inline uint64_t pdet_hash_number(uint64_t n, uint64_t salt)
{
	/* How far two products are apart is not known without the salt. */
	n *= salt | 1;
	n ^= n >> 32;
	return n * 0x9e3779b97f4a7c15u;
}

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
