/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The objects that are live, by address: allocated, and not freed yet. Entries
 * lie close together, and that of the object that was freed last is the next
 * one to be used: most objects live shortly, and theirs stay in the cache.
 */
#ifndef PDET_ALLOCS_LIVE_H
#define PDET_ALLOCS_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

/* Whether the kernel was told that it may move the pages. */
enum { PDET_LIVE_UNTOLD, PDET_LIVE_FIXED, PDET_LIVE_MOVABLE };

/* 32 bytes: two of them are a line of the cache. */
struct pdet_live {
	uint64_t object;	/* 0: not used */
	uint64_t ns;		/* of its allocation */
	uint32_t requested, allocated; /* bytes; UINT32_MAX if there are more */
	uint32_t group;		/* not used: number of another one that is not;
				 * 0: none */
	uint16_t cpu;
	uint8_t kind : 6;	/* PDET_KMEM_* of its allocation */
	uint8_t mobility : 2;	/* of pages: PDET_LIVE_* */
	uint8_t order;
};

/* Zeroed, it is empty. */
struct pdet_live_table {
	struct pdet_live *entries; /* by number, from 1 */
	size_t n_entries, room;	/* of these: used once, and in memory */
	uint32_t unused;	/* number of one; 0: none */
	/*
	 * The number of an entry, and above it the upper half of the hash: at
	 * the place that this says or behind it, with no empty one between; 0
	 * is empty. Those of other objects are told apart here, and their
	 * entries are not touched.
	 */
	uint64_t *slot;
	size_t n, slots;	/* a power of two, or 0 */
	unsigned shift;		/* 64 less its logarithm */
	uint64_t salt;		/* of the hash */
	bool is_list;
};

/*
 * pdet_live_put - the entry for @object, which is not 0, to be filled in: a new
 * one, or the one that it has already, with its old values and *had set. NULL
 * without memory. It stays until the next call.
 */
struct pdet_live *pdet_live_put(struct pdet_live_table *t, uint64_t object,
				bool *had);

/* pdet_live_take - remove @object. False: it is not there. */
bool pdet_live_take(struct pdet_live_table *t, uint64_t object,
		    struct pdet_live *ret);

/*
 * pdet_live_list - all entries, by address. The table then is a list: nothing
 * can be put into it or taken out.
 */
const struct pdet_live *pdet_live_list(struct pdet_live_table *t);

void pdet_live_free(struct pdet_live_table *t);

/*
 * pdet_live_expect_slot, pdet_live_expect - read ahead for a call with @object
 * that comes soon: the slot first, and some time later what it tells.
 */
static inline void pdet_live_expect_slot(const struct pdet_live_table *t,
					 uint64_t object)
{
	if (t->slots)
		__builtin_prefetch(&t->slot[pdet_hash_number(object, t->salt) >>
					    t->shift], 1);
}

static inline void pdet_live_expect(const struct pdet_live_table *t,
				    uint64_t object)
{
	const uint64_t hash = pdet_hash_number(object, t->salt);
	uint64_t slot;

	if (!t->slots)
		return;
	slot = t->slot[hash >> t->shift];
	if (slot >> 32 == hash >> 32)
		__builtin_prefetch(&t->entries[(uint32_t)slot - 1], 1);
}

#endif
