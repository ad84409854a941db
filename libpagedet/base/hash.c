/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Computes hashes with xxhash. Only this file and hash_avx2.c (the same code
 * for AVX2) include xxhash. The header is inlined, so that no library must be
 * loaded.
 */
#define XXH_INLINE_ALL
#include <sys/random.h>
#include <xxhash.h>

#include "base/hash.h"
#include "base/wide.h"

/* "pagedet\0" */
#define SEED 0x7061676564657400

uint64_t pdet_hash(const void *data, size_t len)
{
	return XXH3_64bits(data, len);
}

uint64_t pdet_hash_salt(void)
{
	uint64_t salt;

	return getrandom(&salt, sizeof(salt), GRND_NONBLOCK) == sizeof(salt) ?
		       salt : 0;
}

uint64_t pdet_hash_keyed(const void *data, size_t len, const void *secret)
{
	if (pdet_has_avx2())
		return pdet_hash_keyed_avx2(data, len, secret);
	return XXH3_128bits_withSecret(data, len, secret, PDET_SECRET).low64;
}

uint64_t pdet_hash_secret(const void *secret)
{
	return XXH3_64bits_withSeed(secret, PDET_SECRET, SEED);
}
