/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A hash table from number to number. A zeroed table is empty. */
#ifndef PDET_BASE_PAIRS_H
#define PDET_BASE_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pdet_pairs {
	struct pdet_pair {
		uint64_t key, value;
		bool used;
	} *slot;
	size_t n, slots;	/* a power of two, or 0 */
	uint64_t salt;		/* of the hash */
};

void pdet_pairs_free(struct pdet_pairs *p);

/* pdet_pairs_get - false if @key is not in the table. */
bool pdet_pairs_get(const struct pdet_pairs *p, uint64_t key, uint64_t *ret);

/* pdet_pairs_set - add @key, or replace its value. False if memory is short. */
bool pdet_pairs_set(struct pdet_pairs *p, uint64_t key, uint64_t value);

#endif
