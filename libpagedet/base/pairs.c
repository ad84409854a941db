/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * An open-addressing hash table. At most half of the slots are used, so that
 * probing ends soon.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/pairs.h"

void pdet_pairs_free(struct pdet_pairs *p)
{
	free(p->slot);
	memset(p, 0, sizeof(*p));
}

/* The slot of @key, or the empty slot where it belongs. */
static struct pdet_pair *find(const struct pdet_pairs *p, uint64_t key)
{
	size_t i = (size_t)(pdet_hash_number(key, p->salt) >> 32);

	for (;; i++) {
		struct pdet_pair *at = &p->slot[i & (p->slots - 1)];

		if (!at->used || at->key == key)
			return at;
	}
}

bool pdet_pairs_get(const struct pdet_pairs *p, uint64_t key, uint64_t *ret)
{
	const struct pdet_pair *at;

	if (!p->n)
		return false;
	at = find(p, key);
	if (at->used)
		*ret = at->value;
	return at->used;
}

static bool grow(struct pdet_pairs *p)
{
	struct pdet_pairs more = {
		.slots = p->slots ? p->slots * 2 : 64, .n = p->n,
		.salt = p->slots ? p->salt : pdet_hash_salt(),
	};
	size_t i;

	more.slot = calloc(more.slots, sizeof(*more.slot));
	if (!more.slot)
		return false;
	for (i = 0; i < p->slots; i++)
		if (p->slot[i].used)
			*find(&more, p->slot[i].key) = p->slot[i];
	free(p->slot);
	*p = more;
	return true;
}

bool pdet_pairs_set(struct pdet_pairs *p, uint64_t key, uint64_t value)
{
	struct pdet_pair *at;

	if (p->n * 2 >= p->slots && !grow(p))
		return false;
	at = find(p, key);
	p->n += !at->used;
	*at = (struct pdet_pair){ key, value, true };
	return true;
}
