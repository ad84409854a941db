/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Counting pages per distinct answer. Each worker has groups of its own; they
 * are added up at the end. What does not fit the bound for memory is counted
 * in one group "other".
 */
#ifndef PDET_QUERY_GROUP_H
#define PDET_QUERY_GROUP_H

#include "schema/batch.h"

struct pdet_group;

/* pdet_group_new - @keys in the order asked; none counts everything. NULL
 * without memory. */
struct pdet_group *pdet_group_new(const uint32_t *keys, size_t n,
				  size_t max_bytes);
void pdet_group_free(struct pdet_group *g);

/* Adds the rows of a batch: each counts its PAGES column, or one page. */
int pdet_group_add(struct pdet_group *g, const struct pdet_batch *b);

/* Adds @pages without a row, to the group of @b's row @row. */
int pdet_group_add_pages(struct pdet_group *g, const struct pdet_batch *b,
			 uint32_t row, uint64_t pages);

/* Adds all of @from. */
int pdet_group_merge(struct pdet_group *g, const struct pdet_group *from);

/* Sorts groups, largest first; call before reading. */
void pdet_group_sort(struct pdet_group *g);
size_t pdet_group_count(const struct pdet_group *g);
/* Writes group @i as row @row of @b: the keys and PAGES. */
void pdet_group_get(const struct pdet_group *g, size_t i,
		    struct pdet_batch *b, uint32_t row);
/* Pages in all groups, and those in "other". */
uint64_t pdet_group_pages(const struct pdet_group *g);
uint64_t pdet_group_spilled(const struct pdet_group *g);

#endif
