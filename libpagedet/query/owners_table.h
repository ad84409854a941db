/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Sums of page_owner's records by keys. Values of keys mean the same in every
 * table - a number, or the hash of a text - so that those of several threads
 * can be added up.
 */
#ifndef PDET_QUERY_OWNERS_TABLE_H
#define PDET_QUERY_OWNERS_TABLE_H

#include "base/pairs.h"
#include "base/vec.h"
#include "pagedet.h"

struct pdet_owner_total {
	uint64_t times;		/* records */
	uint64_t pages;
	uint64_t oldest, newest; /* ns of the allocation; UINT64_MAX and 0:
				 * none of them says when */
	uint64_t times_before, pages_before;
};

struct pdet_owner_table {
	unsigned n_keys;
	struct {
		struct pdet_owner_total *data;
		size_t n, cap;
	} totals;
	struct {
		uint64_t *data;
		size_t n, cap;
	} values;		/* n_keys of each group */
	struct {
		uint8_t *data;
		size_t n, cap;
	} states;
	uint32_t *slot;		/* number of the group + 1 */
	size_t slots;
	/* Texts behind values: where in the text, by hash. */
	struct pdet_pairs text_at;
	struct {
		char *data;
		size_t n, cap;
	} text;
};

void pdet_owner_table_free(struct pdet_owner_table *t);

/* pdet_owner_table_find - the number of the group, a new one if there is none
 * like it; -1 without memory. @value and @state have n_keys. */
int64_t pdet_owner_table_find(struct pdet_owner_table *t,
			      const uint64_t *value, const uint8_t *state);

static inline void pdet_owner_total_add(struct pdet_owner_total *t,
					uint64_t times, uint64_t pages)
{
	t->times += times;
	/* a hostile text may say anything */
	t->pages = t->pages + pages < pages ? UINT64_MAX : t->pages + pages;
}

static inline void pdet_owner_total_at(struct pdet_owner_total *t, uint64_t ns)
{
	t->oldest = ns < t->oldest ? ns : t->oldest;
	t->newest = ns > t->newest ? ns : t->newest;
}

/* pdet_owner_table_keep - what @hash stands for. False without memory. */
bool pdet_owner_table_keep(struct pdet_owner_table *t, uint64_t hash,
			   const char *text, size_t n);

/* pdet_owner_table_text - NULL: it stands for nothing. */
const char *pdet_owner_table_text(const struct pdet_owner_table *t,
				  uint64_t hash, size_t *n);

/* pdet_owner_table_add - @from into @to. False without memory. */
bool pdet_owner_table_add(struct pdet_owner_table *to,
			  const struct pdet_owner_table *from);

/* pdet_owner_table_before - @before's sums as those of before in @t; groups
 * that @t lacks are added, with nothing. False without memory. */
bool pdet_owner_table_before(struct pdet_owner_table *t,
			     const struct pdet_owner_table *before);

/* An order besides PAGEDET_OWNERS_SORT_*: most pages more than before first. */
#define PDET_OWNERS_SORT_GROWTH 100

/* pdet_owner_table_sort - the numbers of the groups in that order
 * (PAGEDET_OWNERS_SORT_*). Free with free(); NULL without memory. */
uint32_t *pdet_owner_table_sort(const struct pdet_owner_table *t,
				uint32_t sort, bool reverse);

#endif
