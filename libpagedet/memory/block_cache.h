/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Caches the blocks of a dump that one reader used recently. */
#ifndef PDET_MEMORY_BLOCK_CACHE_H
#define PDET_MEMORY_BLOCK_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PDET_CACHE_WAYS 4

struct pdet_block_cache {
	size_t block;		/* bytes of a block */
	size_t sets;		/* number of sets, a power of two */
	unsigned ways;
	struct pdet_cache_set {
		uint64_t tag[PDET_CACHE_WAYS]; /* block number + 1; 0: empty */
		uint8_t used;	/* a bit for each way: it was used since the
				 * hand passed */
		uint8_t hand;
	} *set;
	char *data;
};

/* pdet_block_cache_init - use at most @bytes, but at least one block. */
bool pdet_block_cache_init(struct pdet_block_cache *c, size_t block,
			   size_t bytes);
void pdet_block_cache_free(struct pdet_block_cache *c);

/* pdet_block_cache_find - find a block. Returns NULL if it is not cached. */
const char *pdet_block_cache_find(struct pdet_block_cache *c, uint64_t number);

/* pdet_block_cache_add - get space for a block that is not in the cache. If the
 * caller cannot fill the space, it must drop the block. */
char *pdet_block_cache_add(struct pdet_block_cache *c, uint64_t number);
void pdet_block_cache_drop(struct pdet_block_cache *c, uint64_t number);

#endif
