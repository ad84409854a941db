/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Sums of objects and accesses, by group. */
#ifndef PDET_KMAP_SUMS_H
#define PDET_KMAP_SUMS_H

#include "kmap/keys.h"

/* As in struct pagedet_kmap_group. */
#define PDET_KMAP_EACH_SUM(sum) \
	sum(objects) sum(bytes) sum(nested) sum(catch_all) sum(live) \
	sum(live_bytes) sum(freed) sum(missed) sum(unknown) sum(accesses) \
	sum(reads) sum(writes)

struct pdet_kmap_sum {
#define SUM(name) uint64_t name;
	PDET_KMAP_EACH_SUM(SUM)
#undef SUM
};

/* Zeroed, it is empty. */
struct pdet_kmap_sums {
	struct pdet_kmap_sum *data;
	size_t n, cap;
	/* The number of the last object of each group, from 1. */
	struct {
		uint64_t *data;
		size_t n, cap;
	} last;
	uint64_t objects;
	bool saturated;
};

/* pdet_kmap_sum_object - add an object, without its accesses. */
void pdet_kmap_sum_object(struct pdet_kmap_sum *s,
			  const struct pdet_kmap_line *l, unsigned dialect,
			  bool *saturated);

/* pdet_kmap_sums_add - add an object to its groups. False without memory. */
bool pdet_kmap_sums_add(struct pdet_kmap_sums *s, struct pdet_kmap_keys *k,
			const struct pdet_kmap_object *o);

/* pdet_kmap_sums_fill - have empty sums for @n groups. False without memory. */
bool pdet_kmap_sums_fill(struct pdet_kmap_sums *s, size_t n);

void pdet_kmap_sums_free(struct pdet_kmap_sums *s);

#endif
