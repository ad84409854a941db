/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The accesses to the objects of a KMAP, by the pages that they are in. */
#ifndef PDET_KMAP_PAGES_H
#define PDET_KMAP_PAGES_H

#include "base/pairs.h"
#include "schema/batch.h"

/* What helps a query without it. */
#define PDET_KMAP_PAGES_NEED \
	"needs a KMAP of this boot: --kmap FILE, or pagedet_kmap_pages()"

struct pdet_kmap_page {
	uint64_t reads, writes;
};

/* A zeroed one is empty. */
struct pdet_kmap_pages {
	struct pdet_pairs by_pfn; /* index in list */
	struct {
		struct pdet_kmap_page *data;
		size_t n, cap;
	} list;
};

/* pdet_kmap_page_add - add accesses. A sum stays at its largest value. */
void pdet_kmap_page_add(struct pdet_kmap_page *page, uint64_t reads,
			uint64_t writes);

/* pdet_kmap_pages_add - an object is in this page. False: no memory. */
bool pdet_kmap_pages_add(struct pdet_kmap_pages *k, uint64_t pfn,
			 uint64_t reads, uint64_t writes);
void pdet_kmap_pages_end(struct pdet_kmap_pages *k);

/* pdet_kmap_pages_is - whether a field is one of these. */
bool pdet_kmap_pages_is(unsigned field);

/* pdet_kmap_pages_put - answer those of @fields that the rows do not have
 * yet. */
void pdet_kmap_pages_put(const struct pdet_kmap_pages *k, struct pdet_batch *b,
			 const struct pdet_fields *fields);

#endif
