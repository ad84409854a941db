/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Counts pages per distinct answer. Each worker has its own groups, and the
 * engine adds them up at the end. Pages that exceed the memory limit are
 * counted in one group, "other".
 */
#ifndef PDET_QUERY_GROUP_H
#define PDET_QUERY_GROUP_H

#include "schema/batch.h"

struct pdet_group;

/*
 * pdet_group_new - create a table with @keys in this order. Without keys,
 * everything is counted in one group. Returns NULL without memory.
 */
struct pdet_group *pdet_group_new(const uint32_t *keys, size_t n,
				  size_t max_bytes);
void pdet_group_free(struct pdet_group *g);

/* Adds the rows of a batch: each counts its PAGES column, or one page. */
int pdet_group_add(struct pdet_group *g, const struct pdet_batch *b);

/* Adds all groups of @from. */
int pdet_group_merge(struct pdet_group *g, const struct pdet_group *from);

/*
 * Orders the groups by @field, which is a key or PAGES, instead of the largest
 * first. Groups without a known value come last.
 */
void pdet_group_order(struct pdet_group *g, unsigned field, bool down);
/* Sorts the groups. Call it before they are read. */
void pdet_group_sort(struct pdet_group *g);
size_t pdet_group_count(const struct pdet_group *g);
/* Writes group @i to row @row of @b: its keys, PAGES, and the sum of bytes. */
void pdet_group_get(const struct pdet_group *g, size_t i,
		    struct pdet_batch *b, uint32_t row);

/*
 * pdet_group_sum_bytes - add up ALLOC_BYTES, too: rows are objects or events,
 * which have no pages of their own. Call it before rows are added.
 */
void pdet_group_sum_bytes(struct pdet_group *g);
/*
 * Their sum of all rows. Returns PAGEDET_HAVE, or PAGEDET_NONE if no row has
 * them, or why some are not known.
 */
unsigned pdet_group_bytes(const struct pdet_group *g, uint64_t *ret);

/* The number of pages in all groups, and in "other". */
uint64_t pdet_group_pages(const struct pdet_group *g);
uint64_t pdet_group_spilled(const struct pdet_group *g);

#endif
