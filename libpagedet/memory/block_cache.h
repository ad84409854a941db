/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The blocks of a dump that one reader needed lately. */
#ifndef PDET_MEMORY_BLOCK_CACHE_H
#define PDET_MEMORY_BLOCK_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PDET_CACHE_WAYS 4

struct pdet_block_cache {
	size_t block;		/* bytes of one */
	size_t sets;		/* a power of two */
	unsigned ways;
	struct pdet_cache_set {
		uint64_t tag[PDET_CACHE_WAYS]; /* number + 1; 0: empty */
		uint8_t used;	/* a bit a way: since the hand came by */
		uint8_t hand;
	} *set;
	char *data;
};

/* pdet_block_cache_init - at most @bytes, but at least one block. */
bool pdet_block_cache_init(struct pdet_block_cache *c, size_t block,
			   size_t bytes);
void pdet_block_cache_free(struct pdet_block_cache *c);

/* pdet_block_cache_find - NULL: it is not there. */
const char *pdet_block_cache_find(struct pdet_block_cache *c, uint64_t number);

/* pdet_block_cache_add - room for a block that was not found; who cannot fill
 * it takes it out again. */
char *pdet_block_cache_add(struct pdet_block_cache *c, uint64_t number);
void pdet_block_cache_drop(struct pdet_block_cache *c, uint64_t number);

#endif
