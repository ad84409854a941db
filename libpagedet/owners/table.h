/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Sums of page_owner's records by keys. Tables of several threads can be added
 * up.
 */
#ifndef PDET_OWNERS_TABLE_H
#define PDET_OWNERS_TABLE_H

#include "base/groups.h"
#include "pagedet.h"

struct pdet_owner_total {
	uint64_t times;		/* number of records */
	uint64_t pages;
	uint64_t oldest, newest; /* time of the allocation in ns; UINT64_MAX and
				  * 0 if no record has a time */
	uint64_t times_before, pages_before;
	uint64_t blocks;	/* set by pdet_mixed_fold() */
};

struct pdet_owner_table {
	struct pdet_groups groups;
	struct {
		struct pdet_owner_total *data;
		size_t n, cap;
	} totals;		/* by group */
};

void pdet_owner_table_free(struct pdet_owner_table *t);

/*
 * pdet_owner_table_find - get the index of the group. If there is none, it is
 * added. Returns -1 without memory. @value and @state have n_keys elements.
 */
int64_t pdet_owner_table_find(struct pdet_owner_table *t,
			      const uint64_t *value, const uint8_t *state);

static inline void pdet_owner_total_add(struct pdet_owner_total *t,
					uint64_t times, uint64_t pages)
{
	/* A hostile text may contain any number. */
	t->times = t->times + times < times ? UINT64_MAX : t->times + times;
	t->pages = t->pages + pages < pages ? UINT64_MAX : t->pages + pages;
}

static inline void pdet_owner_total_at(struct pdet_owner_total *t, uint64_t ns)
{
	t->oldest = ns < t->oldest ? ns : t->oldest;
	t->newest = ns > t->newest ? ns : t->newest;
}

/* Adds the records of another group. */
static inline void pdet_owner_total_join(struct pdet_owner_total *t,
					 const struct pdet_owner_total *from)
{
	pdet_owner_total_add(t, from->times, from->pages);
	if (from->oldest > from->newest)
		return;
	pdet_owner_total_at(t, from->oldest);
	pdet_owner_total_at(t, from->newest);
}

/* pdet_owner_table_add - add @from to @to. Returns false without memory. */
bool pdet_owner_table_add(struct pdet_owner_table *to,
			  const struct pdet_owner_table *from);

/*
 * pdet_owner_table_before - set the earlier sums in @t to those of @before.
 * Groups that @t does not have are added with sums of zero. Returns false
 * without memory.
 */
bool pdet_owner_table_before(struct pdet_owner_table *t,
			     const struct pdet_owner_table *before);

/* An order besides PAGEDET_OWNERS_SORT_*: the largest growth first. */
#define PDET_OWNERS_SORT_GROWTH 100

/*
 * pdet_owner_table_sort - get the indexes of groups in order @sort
 * (PAGEDET_OWNERS_SORT_*). The caller frees them with free(). Returns NULL
 * without memory.
 */
uint32_t *pdet_owner_table_sort(const struct pdet_owner_table *t,
				uint32_t sort, bool reverse);

/* One sort key. */
struct pdet_owner_order {
	uint32_t sort;		/* PAGEDET_OWNERS_SORT_*, or the next */
	unsigned key;		/* index of that key */
	bool reverse;
};

#define PDET_OWNERS_SORT_KEY 101u
#define PDET_OWNER_ORDERS 8u

/*
 * pdet_owner_table_order - the same with several sort keys, the most important
 * first. Equal groups are ordered by pages.
 */
uint32_t *pdet_owner_table_order(const struct pdet_owner_table *t,
				 const struct pdet_owner_order *by, unsigned n);

#endif
