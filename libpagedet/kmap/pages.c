/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Joins rows and a KMAP, by the number of the page. Where the objects are is
 * for the caller to know.
 */
#include "kmap/pages.h"

#include "base/env.h"
#include "base/vec.h"
#include "kmap/reader.h"

#define F(name) PAGEDET_FIELD_##name
#define TRACE PAGEDET_SOURCE_TRACE

void pdet_kmap_page_add(struct pdet_kmap_page *page, uint64_t reads,
			uint64_t writes)
{
	bool saturated; /* as the total of the KMAP is then */

	page->reads = pdet_kmap_add(page->reads, reads, &saturated);
	page->writes = pdet_kmap_add(page->writes, writes, &saturated);
}

bool pdet_kmap_pages_add(struct pdet_kmap_pages *k, uint64_t pfn,
			 uint64_t reads, uint64_t writes)
{
	uint64_t at;

	if (!pdet_pairs_get(&k->by_pfn, pfn, &at)) {
		at = k->list.n;
		if (!pdet_vec_push(&k->list, (struct pdet_kmap_page){ 0, 0 }))
			return false;
		if (!pdet_pairs_set(&k->by_pfn, pfn, at)) {
			k->list.n--;
			return false;
		}
	}
	pdet_kmap_page_add(&k->list.data[at], reads, writes);
	return true;
}

void pdet_kmap_pages_end(struct pdet_kmap_pages *k)
{
	pdet_pairs_free(&k->by_pfn);
	pdet_vec_free(&k->list);
}

bool pdet_kmap_pages_is(unsigned field)
{
	return field == F(READS) || field == F(WRITES);
}

static void put(const struct pdet_kmap_pages *k, struct pdet_batch *b,
		uint32_t row, unsigned field)
{
	const unsigned state = pdet_batch_state(b, row, F(PFN));
	const struct pdet_kmap_page *page;
	uint64_t at;

	if (state != PAGEDET_HAVE && state != PAGEDET_NONE) {
		pdet_put_lost(b, row, field,
			      state ? state : PAGEDET_UNSUPPORTED, TRACE);
		return;
	}
	if (state == PAGEDET_NONE ||
	    !pdet_pairs_get(&k->by_pfn, b->value[F(PFN)][row], &at)) {
		pdet_put_none(b, row, field, TRACE);
		return;
	}
	page = &k->list.data[at];
	pdet_put(b, row, field, field == F(READS) ? page->reads : page->writes,
		 TRACE);
}

void pdet_kmap_pages_put(const struct pdet_kmap_pages *k, struct pdet_batch *b,
			 const struct pdet_fields *fields)
{
	static const uint8_t all[] = { F(READS), F(WRITES) };
	uint32_t row;
	size_t i;

	if (!k)
		return;
	/* A log tells of another time. */
	for (i = 0; i < PDET_COUNT(all); i++)
		for (row = 0; row < b->n; row++)
			if (pdet_fields_has(fields, all[i]) &&
			    b->cell[all[i]] && !b->cell[all[i]][row] &&
			    pdet_batch_get(b, row, F(AT), 0) != PAGEDET_AT_LOG)
				put(k, b, row, all[i]);
}
