/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A cache in four-way sets, so that a hit takes four comparisons. A set evicts
 * its oldest block that was not used since the last pass of its clock hand.
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
	/* Avoid huge pages: most readers need few blocks, but a whole huge page
	 * would be cleared for the first. */
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

	/* After one round at most, an unmarked block is found. */
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
