/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Four-way sets, so that a hit is four comparisons; the oldest of a set that
 * was not used since its turn came goes first.
 */
#include <stdlib.h>

#include "base/env.h"
#include "memory/block_cache.h"

bool pdet_block_cache_init(struct pdet_block_cache *c, size_t block,
			   size_t bytes)
{
	size_t blocks = PDET_MAX(bytes / block, 1);

	c->block = block;
	c->ways = (unsigned)PDET_MIN(blocks, PDET_CACHE_WAYS);
	for (c->sets = 1; c->sets * 2 * c->ways <= blocks;)
		c->sets *= 2;
	c->set = calloc(c->sets, sizeof(*c->set));
	/* Most readers need few of them: no huge pages, each of which would be
	 * cleared for the first block in it. */
	c->data = malloc(c->sets * c->ways * block);
	return c->set && c->data;
}

void pdet_block_cache_free(struct pdet_block_cache *c)
{
	free(c->set);
	free(c->data);
}

static struct pdet_cache_set *set_of(struct pdet_block_cache *c,
				     uint64_t number)
{
	return &c->set[number & (c->sets - 1)];
}

static char *data_of(struct pdet_block_cache *c, uint64_t number, unsigned way)
{
	size_t set = number & (c->sets - 1);

	return c->data + (set * c->ways + way) * c->block;
}

const char *pdet_block_cache_find(struct pdet_block_cache *c, uint64_t number)
{
	struct pdet_cache_set *set = set_of(c, number);
	unsigned way;

	for (way = 0; way < c->ways; way++) {
		if (set->tag[way] != number + 1)
			continue;
		set->used |= (uint8_t)(1 << way);
		return data_of(c, number, way);
	}
	return NULL;
}

char *pdet_block_cache_add(struct pdet_block_cache *c, uint64_t number)
{
	struct pdet_cache_set *set = set_of(c, number);
	unsigned way;

	/* At the latest the second time round one is not marked. */
	do {
		way = set->hand;
		set->hand = (uint8_t)((way + 1) % c->ways);
		if (!(set->used & 1 << way))
			break;
		set->used &= (uint8_t)~(1 << way);
	} while (set->tag[way]);
	set->tag[way] = number + 1;
	set->used |= (uint8_t)(1 << way);
	return data_of(c, number, way);
}

void pdet_block_cache_drop(struct pdet_block_cache *c, uint64_t number)
{
	struct pdet_cache_set *set = set_of(c, number);
	unsigned way;

	for (way = 0; way < c->ways; way++) {
		if (set->tag[way] != number + 1)
			continue;
		set->tag[way] = 0;
		set->used &= (uint8_t)~(1 << way);
	}
}
