/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* XXH3 as everybody has it who links libxxhash: for any processor. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "compare.h"

uint64_t compare_plain_hash(const void *page, size_t n, const void *secret)
{
	return XXH3_128bits_withSecret(page, n, secret, COMPARE_SECRET).low64;
}
