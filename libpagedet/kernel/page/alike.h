/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Compares struct pages by words, to find those that decode like the one
 * before. Most memory is free, belongs to the same files, or is unused.
 */
#ifndef PDET_KERNEL_PAGE_ALIKE_H
#define PDET_KERNEL_PAGE_ALIKE_H

#include "kernel/page/page.h"

#define PDET_PAGE_WORDS (PDET_PAGE_BYTES / 8)

/* The bits that affect the result. */
struct pdet_page_mask {
	uint64_t word[PDET_PAGE_WORDS];
};

struct pdet_page_alike {
	size_t words;		/* size of a struct page */
	unsigned flags, mapping;
	int memcg;		/* word index; -1: it has none */
	struct pdet_page_mask all, small, tail;
	struct pdet_page_mask head, second; /* of a large folio */
	/*
	 * For pointers only the address bits that pdet_page_pointer_sort()
	 * uses, and the state bits.
	 */
	uint64_t mapping_mask, memcg_mask;
};

/* The wanted columns, without those that are decoded from flags and counts. */
struct pdet_page_alike_wants {
	bool mapping, index, private, memcg;
};

void pdet_page_alike_init(struct pdet_page_alike *ret,
			  const struct pdet_layout *l,
			  struct pdet_page_alike_wants wants);

/*
 * pdet_page_folio_key - the words of the first two struct pages of a large
 * folio that affect the result, except plain numbers. Counts of mappings are
 * part of the key.
 */
struct pdet_page_folio_key {
	uint64_t word[2 * PDET_PAGE_WORDS];
};
uint64_t pdet_page_folio_key(const struct pdet_page_alike *a, const char *head,
			     const char *second,
			     struct pdet_page_folio_key *ret);

/* pdet_page_has_folio_key - true if these two struct pages have that key. */
bool pdet_page_has_folio_key(const struct pdet_page_alike *a, const char *head,
			     const char *second,
			     const struct pdet_page_folio_key *key);

/* pdet_page_count_alike - the number of struct pages after @page, at most
 * @most, that decode like it. @page is small, a tail or uninitialised. */
size_t pdet_page_count_alike(const struct pdet_page_alike *a, const char *page,
			     enum pdet_page_is is, size_t most);

#endif
