/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The only file that includes xxhash. Inlined from its header, so that neither
 * start-up nor an agent's list of libraries grows by it.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/hash.h"

uint64_t pdet_hash(const void *data, size_t len)
{
	return XXH3_64bits(data, len);
}
