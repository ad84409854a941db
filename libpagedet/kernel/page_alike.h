/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Struct pages that say the same as the one before them, found by comparing
 * words: most of memory is free, of the same files, or not in use.
 */
#ifndef PDET_KERNEL_PAGE_ALIKE_H
#define PDET_KERNEL_PAGE_ALIKE_H

#include "kernel/page.h"

#define PDET_PAGE_WORDS (PDET_PAGE_BYTES / 8)

/* Which bits decide. */
struct pdet_page_mask {
	uint64_t word[PDET_PAGE_WORDS];
};

struct pdet_page_alike {
	size_t words;		/* of a struct page */
	unsigned flags, mapping;
	int memcg;		/* words; -1: it has none */
	struct pdet_page_mask all, small, tail;
	struct pdet_page_mask head, second; /* of a large folio */
	/* Of an address only that it is one, and its bits of state. */
	uint64_t mapping_mask, memcg_mask;
};

/* What is written of pages beside what is decoded of their flags and counts. */
struct pdet_page_alike_wants {
	bool mapping, index, private, memcg;
};

void pdet_page_alike_init(struct pdet_page_alike *ret,
			  const struct pdet_layout *l,
			  struct pdet_page_alike_wants wants);

/*
 * pdet_page_folio_key - what decides of the first two struct pages of a large
 * folio, for all but numbers that are not counts of mappings.
 */
struct pdet_page_folio_key {
	uint64_t word[2 * PDET_PAGE_WORDS];
};
uint64_t pdet_page_folio_key(const struct pdet_page_alike *a, const char *head,
			     const char *second,
			     struct pdet_page_folio_key *ret);

/* pdet_page_has_folio_key - whether that is their key. */
bool pdet_page_has_folio_key(const struct pdet_page_alike *a, const char *head,
			     const char *second,
			     const struct pdet_page_folio_key *key);

/* pdet_page_count_alike - how many of the @most struct pages behind @page say
 * what it says; it is small, a tail or uninitialised. */
size_t pdet_page_count_alike(const struct pdet_page_alike *a, const char *page,
			     enum pdet_page_is is, size_t most);

#endif
