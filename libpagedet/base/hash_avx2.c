/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The keyed hash once more, for processors with AVX2: twice as fast. */
#include "base/hash.h"
#include "base/wide.h"

#if PDET_WITH_AVX2
/* Its headers first, as they are: only what follows is for AVX2. */
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

/* Pages are hashed one after the other: while one is, the next is fetched. */
#define XXH_PREFETCH_DIST 4096
#define XXH_VECTOR XXH_AVX2
#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t pdet_hash_keyed_avx2(const void *data, size_t len, const void *secret)
{
	const uint64_t hash = XXH3_128bits_withSecret(data, len, secret,
						      PDET_SECRET).low64;

	/* gcc leaves it out here, and the caller's next instruction that
	 * knows only the lower halves would wait for 150 cycles. */
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
