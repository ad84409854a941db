/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A hash table of page tables, with one entry for each table found. */
#include <errno.h>
#include <stdlib.h>

#include "kernel/address/paging_places.h"

#define LEAST 64
/* The largest number of times that a task shares a table with itself, by
 * mapping the same part of a hugetlb file again. */
#define MOST_SHARED 64
/* The level whose entries map hugetlb pages. */
#define HUGE_LEVEL 1

static struct pdet_paging_place *slot_of(const struct pdet_paging_places *p,
					 uint64_t table)
{
	size_t i = (size_t)(table * 0x9e3779b97f4a7c15 >> 20) & (p->cap - 1);

	while (p->slot[i].table && p->slot[i].table != table)
		i = (i + 1) & (p->cap - 1);
	return &p->slot[i];
}

static bool grow(struct pdet_paging_places *p)
{
	struct pdet_paging_places bigger = {
		.cap = p->cap ? p->cap * 2 : LEAST, .n = p->n,
	};
	size_t i;

	bigger.slot = calloc(bigger.cap, sizeof(*bigger.slot));
	if (!bigger.slot)
		return false;
	for (i = 0; i < p->cap; i++)
		if (p->slot[i].table)
			*slot_of(&bigger, p->slot[i].table) = p->slot[i];
	free(p->slot);
	*p = bigger;
	return true;
}

int pdet_paging_place(struct pdet_paging_places *p, uint64_t addr,
		      uint64_t root, uint64_t va, unsigned level)
{
	const struct pdet_paging_place is = { addr | 1, root, va | level, 0 };
	struct pdet_paging_place *was;

	if (p->n >= p->cap / 2 && !grow(p))
		return -ENOMEM;
	was = slot_of(p, is.table);
	if (!was->table) {
		*was = is;
		p->n++;
		return 0;
	}
	if (was->root == root && was->va == is.va)
		return 0;
	if (level != HUGE_LEVEL || (was->va & 7) != HUGE_LEVEL)
		return -EBADMSG;
	return was->root != root || was->shared++ < MOST_SHARED ? 0 : -EBADMSG;
}

void pdet_paging_places_free(struct pdet_paging_places *p)
{
	free(p->slot);
	*p = (struct pdet_paging_places){ NULL, 0, 0 };
}
