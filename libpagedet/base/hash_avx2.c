/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The keyed hash, compiled for processors with AVX2: twice as fast.
 *
 * bench: content
 */
#include "base/hash.h"
#include "base/wide.h"

#if PDET_WITH_AVX2
/* Include the headers that xxhash needs before AVX2 is turned on. */
#include <immintrin.h>
#include <stdlib.h>
#include <string.h>

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), \
			     apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif

/* Prefetch one page ahead, because pages are hashed one after the other. */
#define XXH_PREFETCH_DIST 4096
#define XXH_VECTOR XXH_AVX2
#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t pdet_hash_keyed_avx2(const void *data, size_t len, const void *secret)
{
	const uint64_t hash = XXH3_128bits_withSecret(data, len, secret,
						      PDET_SECRET).low64;

	/* gcc omits this instruction here. Without it, the next SSE instruction
	 * of the caller waits for 150 cycles. */
	_mm256_zeroupper();
	return hash;
}

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#else

uint64_t pdet_hash_keyed_avx2(const void *data, size_t len, const void *secret)
{
	return pdet_hash_keyed(data, len, secret);
}

#endif
