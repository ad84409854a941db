/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A hash table of groups, and one of their texts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/groups.h"
#include "base/hash.h"

void pdet_groups_free(struct pdet_groups *g)
{
	pdet_vec_free(&g->values);
	pdet_vec_free(&g->states);
	pdet_vec_free(&g->text);
	pdet_pairs_free(&g->text_at);
	free(g->slot);
	g->slot = NULL;
	g->slots = g->n = 0;
}

int pdet_groups_check(struct pdet_env *env, const uint32_t *by, uint64_t n,
		      unsigned most, const char *(*name)(uint32_t key),
		      const char *of)
{
	uint64_t i, j;

	if (!n || n > most)
		return pdet_fail(env, EINVAL, "%llu keys: from 1 to %u can be "
				 "grouped by", (unsigned long long)n, most);
	for (i = 0; i < n; i++) {
		if (!name(by[i]))
			return pdet_fail(env, EINVAL, "there is no key %u of "
					 "%s", by[i], of);
		for (j = 0; j < i; j++)
			if (by[i] == by[j])
				return pdet_fail(env, EINVAL, "the key %s is "
						 "there twice", name(by[i]));
	}
	return 0;
}

static size_t hash_of(const struct pdet_groups *g, const uint64_t *value,
		      const uint8_t *state)
{
	uint64_t hash = 0;
	unsigned i;

	for (i = 0; i < g->n_keys; i++) {
		hash = pdet_hash_number(hash ^ value[i], g->salt);
		hash ^= hash >> 32 ^ state[i];
	}
	return (size_t)(pdet_hash_number(hash, g->salt) >> 32);
}

static bool grow(struct pdet_groups *g)
{
	size_t slots = g->slots ? g->slots * 2 : 256, i, at;
	uint32_t *slot = calloc(slots, sizeof(*slot));

	if (!slot)
		return false;
	if (!g->slots)
		g->salt = pdet_hash_salt();
	for (i = 0; i < g->n; i++) {
		at = hash_of(g, pdet_groups_value(g, i),
			     pdet_groups_state(g, i));
		while (slot[at & (slots - 1)])
			at++;
		slot[at & (slots - 1)] = (uint32_t)i + 1;
	}
	free(g->slot);
	g->slot = slot;
	g->slots = slots;
	return true;
}

static bool push(struct pdet_groups *g, const uint64_t *value,
		 const uint8_t *state)
{
	if (!pdet_vec_reserve(&g->values, g->n_keys) ||
	    !pdet_vec_reserve(&g->states, g->n_keys))
		return false;
	memcpy(g->values.data + g->values.n, value,
	       g->n_keys * sizeof(*value));
	memcpy(g->states.data + g->states.n, state, g->n_keys);
	g->values.n += g->n_keys;
	g->states.n += g->n_keys;
	g->n++;
	return true;
}

/* The slot of a group, or an empty one. There is one. */
static uint32_t *slot_of(const struct pdet_groups *g, const uint64_t *value,
			 const uint8_t *state)
{
	const unsigned n = g->n_keys;
	size_t at, i;

	for (at = hash_of(g, value, state);; at++) {
		uint32_t *slot = &g->slot[at & (g->slots - 1)];

		if (!*slot)
			return slot;
		i = *slot - 1;
		if (!memcmp(pdet_groups_value(g, i), value,
			    n * sizeof(*value)) &&
		    !memcmp(pdet_groups_state(g, i), state, n))
			return slot;
	}
}

int64_t pdet_groups_get(const struct pdet_groups *g, const uint64_t *value,
			const uint8_t *state)
{
	return g->slots ? (int64_t)*slot_of(g, value, state) - 1 : -1;
}

int64_t pdet_groups_find(struct pdet_groups *g, const uint64_t *value,
			 const uint8_t *state)
{
	uint32_t *slot;

	if (g->n * 2 >= g->slots && (g->n == UINT32_MAX - 1 || !grow(g)))
		return -1;
	slot = slot_of(g, value, state);
	if (!*slot) {
		if (!push(g, value, state))
			return -1;
		*slot = (uint32_t)g->n;
	}
	return *slot - 1;
}

bool pdet_groups_keep(struct pdet_groups *g, uint64_t hash, const char *text,
		      size_t n)
{
	uint64_t at;

	if (pdet_pairs_get(&g->text_at, hash, &at))
		return true;
	at = g->text.n;
	if (!pdet_vec_reserve(&g->text, sizeof(n) + n + 1) ||
	    !pdet_pairs_set(&g->text_at, hash, at))
		return false;
	memcpy(g->text.data + at, &n, sizeof(n));
	memcpy(g->text.data + at + sizeof(n), text, n);
	g->text.data[at + sizeof(n) + n] = '\0';
	g->text.n += sizeof(n) + n + 1;
	return true;
}

const char *pdet_groups_text(const struct pdet_groups *g, uint64_t hash,
			     size_t *n)
{
	uint64_t at;

	if (!pdet_pairs_get(&g->text_at, hash, &at))
		return NULL;
	memcpy(n, g->text.data + at, sizeof(*n));
	return g->text.data + at + sizeof(*n);
}

bool pdet_groups_add_texts(struct pdet_groups *to,
		      const struct pdet_groups *from)
{
	const char *text;
	size_t i, len = 0;

	for (i = 0; i < from->text_at.slots; i++) {
		const uint64_t hash = from->text_at.slot[i].key;

		if (!from->text_at.slot[i].used)
			continue;
		text = pdet_groups_text(from, hash, &len);
		if (!pdet_groups_keep(to, hash, text, len))
			return false;
	}
	return true;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

int pdet_groups_compare_key(const struct pdet_groups *g, uint32_t a,
			    uint32_t b, unsigned key)
{
	const uint64_t va = pdet_groups_value(g, a)[key];
	const uint64_t vb = pdet_groups_value(g, b)[key];
	const uint8_t sa = pdet_groups_state(g, a)[key];
	const uint8_t sb = pdet_groups_state(g, b)[key];
	const char *ta, *tb;
	size_t na, nb;
	int r;

	if (sa != sb)
		return sa < sb ? -1 : 1;
	if (va == vb)
		return 0;
	ta = pdet_groups_text(g, va, &na);
	tb = pdet_groups_text(g, vb, &nb);
	r = ta && tb ? strcmp(ta, tb) : 0;
	return r ? r : compare_numbers(va, vb);
}

int pdet_groups_compare(const struct pdet_groups *g, uint32_t a, uint32_t b)
{
	unsigned i;
	int r;

	for (i = 0; i < g->n_keys; i++) {
		r = pdet_groups_compare_key(g, a, b, i);
		if (r)
			return r;
	}
	return compare_numbers(a, b);
}
