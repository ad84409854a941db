/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Records where the page tables of tasks were found. A table belongs to one
 * place: one task and one range of addresses. Only tables of hugetlb pages are
 * shared (Linux mm/hugetlb.c, huge_pmd_share). A table in two places is damage:
 * a few tables that point to each other would give more mappings than memory
 * has pages.
 */
#ifndef PDET_KERNEL_ADDRESS_PAGING_PLACES_H
#define PDET_KERNEL_ADDRESS_PAGING_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For memory that does not change. A zeroed struct is empty. */
struct pdet_paging_places {
	struct pdet_paging_place {
		uint64_t table;	/* physical address | 1; 0: empty */
		uint64_t root;
		uint64_t va;	/* virtual address of its first entry | level */
		uint64_t shared; /* how often it was found elsewhere */
	} *slot;
	size_t n, cap;		/* cap: a power of 2, or 0 */
};

/* pdet_paging_place - check the table at @addr against earlier places. Returns
 * 0, -ENOMEM, or -EBADMSG if it is already a table of another place. */
int pdet_paging_place(struct pdet_paging_places *p, uint64_t addr,
		      uint64_t root, uint64_t va, unsigned level);

void pdet_paging_places_free(struct pdet_paging_places *p);

#endif
