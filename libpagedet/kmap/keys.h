/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The groups of an object, and of each access to it. */
#ifndef PDET_KMAP_KEYS_H
#define PDET_KMAP_KEYS_H

#include "allocs/keys.h"
#include "kmap/reader.h"

struct pdet_kmap_keys {
	uint32_t by[PAGEDET_KMAP_KEYS];
	unsigned n_by;
	unsigned dialect;
	uint64_t hz;
	struct pdet_alloc_keys places; /* its groups are the groups here */
	uint64_t untold;	/* bits of keys that the text does not tell */
};

/* pdet_kmap_key_name - NULL if it does not exist. */
const char *pdet_kmap_key_name(uint32_t key);
bool pdet_kmap_key_is_text(uint32_t key);

/* pdet_kmap_keys_has_places - whether a key is of a place in the code. */
bool pdet_kmap_keys_has_places(const struct pdet_kmap_keys *k);

/* pdet_kmap_keys_has_accesses - whether a key is of accesses. */
bool pdet_kmap_keys_has_accesses(const struct pdet_kmap_keys *k);

/*
 * pdet_kmap_keys_group - the number of the group of an access to an object, or
 * of the object if @access is NULL; -1 without memory.
 */
int64_t pdet_kmap_keys_group(struct pdet_kmap_keys *k,
			     const struct pdet_kmap_line *l,
			     const struct pdet_kmap_access *access);

/*
 * pdet_kmap_keys_module - the id of the module of a place. Returns 1, 0 if it
 * is not known, or -1 without memory.
 */
int pdet_kmap_keys_module(struct pdet_kmap_keys *k,
			  const struct pdet_kmap_place *p, bool is_call,
			  uint64_t *ret);

#endif
