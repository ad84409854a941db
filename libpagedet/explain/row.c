/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Decides what a row proves, and nothing more. If the source cannot see a flag,
 * the flag is neither set nor clear. An average is not a count. An entry that
 * remembers a page is not a mapping of it.
 */
#include "explain/explain.h"

uint32_t pdet_row_flag(const struct pagedet_page *row, unsigned bit)
{
	if (!pdet_row_has(row, PAGEDET_FIELD_FLAGS))
		return PAGEDET_DUNNO;
	if (row->flags & PAGEDET_PF(bit))
		return PAGEDET_YES;
	if (pdet_row_has(row, PAGEDET_FIELD_FLAGS_KNOWN) &&
	    row->flags_known & PAGEDET_PF(bit))
		return PAGEDET_NO;
	return PAGEDET_DUNNO;
}

uint32_t pdet_row_pte(const struct pagedet_page *row, unsigned bit)
{
	if (!pdet_row_has(row, PAGEDET_FIELD_PTE))
		return PAGEDET_DUNNO;
	if (row->pte & PAGEDET_PTE(bit))
		return PAGEDET_YES;
	if (pdet_row_has(row, PAGEDET_FIELD_PTE_KNOWN) &&
	    row->pte_known & PAGEDET_PTE(bit))
		return PAGEDET_NO;
	return PAGEDET_DUNNO;
}

uint32_t pdet_row_note(const struct pagedet_page *row, unsigned bit)
{
	if (!pdet_row_has(row, PAGEDET_FIELD_NOTES))
		return PAGEDET_DUNNO;
	return row->notes & PAGEDET_NOTE(bit) ? PAGEDET_YES : PAGEDET_NO;
}

bool pdet_row_is(const struct pagedet_page *row, uint32_t kind)
{
	return pdet_row_has(row, PAGEDET_FIELD_KIND) && row->kind == kind;
}

bool pdet_row_is_user(const struct pagedet_page *row)
{
	return pdet_row_is(row, PAGEDET_KIND_ANON) ||
	       pdet_row_is(row, PAGEDET_KIND_FILE) ||
	       pdet_row_is(row, PAGEDET_KIND_SHMEM);
}

uint32_t pdet_row_sources(const struct pagedet_page *row)
{
	uint32_t asked = 0;
	unsigned f, source;

	for (f = 0; f < PDET_FIELDS; f++) {
		/* Any number: rows may come from another host. */
		source = PAGEDET_CELL_SOURCE(row->cell[f]);
		if (pdet_row_has(row, f) && source < 32)
			asked |= PAGEDET_SOURCE_BIT(source);
	}
	return asked;
}

bool pdet_row_is_from_memory(const struct pagedet_page *row)
{
	return pdet_row_sources(row) &
	       (PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_BPF) |
		PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_KCORE) |
		PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_VMCORE));
}

bool pdet_row_is_past(const struct pagedet_page *row)
{
	static const uint32_t files =
		PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_VMCORE) |
		PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_SNAPSHOT) |
		PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_LOG) |
		PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_TRACE);
	static const uint32_t neither =
		PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_NOBODY) |
		PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_DERIVED);
	const uint32_t asked = pdet_row_sources(row);

	return asked & files && !(asked & ~(files | neither));
}

bool pdet_row_is_nothing(const struct pagedet_page *row)
{
	return pdet_row_is(row, PAGEDET_KIND_FREE) ||
	       pdet_row_is(row, PAGEDET_KIND_HOLE) ||
	       pdet_row_is(row, PAGEDET_KIND_UNINIT) ||
	       pdet_row_is(row, PAGEDET_KIND_UNTOUCHED) ||
	       pdet_row_is(row, PAGEDET_KIND_UNMAPPED);
}

uint32_t pdet_row_poisoned(const struct pagedet_page *row)
{
	if (pdet_row_pte(row, PAGEDET_PTE_HWPOISON) == PAGEDET_YES)
		return PAGEDET_YES;
	return pdet_row_flag(row, PAGEDET_PF_HWPOISON);
}

bool pdet_row_was_free(const struct pagedet_page *row)
{
	return pdet_row_is(row, PAGEDET_KIND_FREE) &&
	       pdet_row_poisoned(row) == PAGEDET_YES;
}

uint32_t pdet_row_absent(const struct pagedet_page *row)
{
	static const unsigned there[] = {
		PAGEDET_PTE_PRESENT, PAGEDET_PTE_SWAPPED, PAGEDET_PTE_MIGRATION,
		PAGEDET_PTE_HWPOISON, PAGEDET_PTE_DEVICE,
	};
	size_t i;

	if (pdet_row_is(row, PAGEDET_KIND_UNTOUCHED) ||
	    pdet_row_is(row, PAGEDET_KIND_UNMAPPED))
		return PAGEDET_YES;
	if (!pdet_row_has(row, PAGEDET_FIELD_PTE))
		return PAGEDET_DUNNO;
	for (i = 0; i < PDET_COUNT(there); i++)
		if (row->pte & PAGEDET_PTE(there[i]))
			return PAGEDET_NO;
	/*
	 * Not every source sees all kinds of entries. It must be known that
	 * there are none of at least the first two kinds.
	 */
	return pdet_row_pte(row, PAGEDET_PTE_PRESENT) == PAGEDET_NO &&
	       pdet_row_pte(row, PAGEDET_PTE_SWAPPED) == PAGEDET_NO ?
	       PAGEDET_YES : PAGEDET_DUNNO;
}

uint32_t pdet_row_mapped(const struct pagedet_page *row)
{
	if (pdet_row_pte(row, PAGEDET_PTE_PRESENT) == PAGEDET_YES &&
	    pdet_row_note(row, PAGEDET_NOTE_TORN) != PAGEDET_YES)
		return PAGEDET_YES;
	if (pdet_row_has(row, PAGEDET_FIELD_USER_MAPS) && row->user_maps)
		return PAGEDET_YES;
	if (!pdet_row_has_maps(row) ||
	    !pdet_row_has(row, PAGEDET_FIELD_MAPCOUNT_KIND) ||
	    row->mapcount_kind != PAGEDET_MAPCOUNT_EXACT)
		return PAGEDET_DUNNO;
	return row->mapcount ? PAGEDET_YES : PAGEDET_NO;
}

static bool is_single(const struct pagedet_page *row)
{
	if (pdet_row_has(row, PAGEDET_FIELD_ORDER))
		return row->order == 0;
	return pdet_row_flag(row, PAGEDET_PF_COMPOUND_HEAD) == PAGEDET_NO &&
	       pdet_row_flag(row, PAGEDET_PF_COMPOUND_TAIL) == PAGEDET_NO;
}

uint32_t pdet_row_cached(const struct pagedet_page *row)
{
	if (!pdet_row_is(row, PAGEDET_KIND_FILE) &&
	    !pdet_row_is(row, PAGEDET_KIND_SHMEM))
		return PAGEDET_NO;
	return pdet_row_flag(row, PAGEDET_PF_LRU) == PAGEDET_YES ?
	       PAGEDET_YES : PAGEDET_DUNNO;
}

bool pdet_row_is_kernel(const struct pagedet_page *row)
{
	return pdet_row_is(row, PAGEDET_KIND_KERNEL) ||
	       (pdet_row_is(row, PAGEDET_KIND_UNKNOWN) &&
		pdet_row_has_refs(row) && row->refcount &&
		pdet_row_flag(row, PAGEDET_PF_LRU) == PAGEDET_NO);
}

uint32_t pdet_row_owned(const struct pagedet_page *row)
{
	if (!pdet_row_has(row, PAGEDET_FIELD_ALLOC_NS))
		return PAGEDET_DUNNO;
	return pdet_row_has(row, PAGEDET_FIELD_FREE_NS) &&
	       row->free_ns > row->alloc_ns ? PAGEDET_NO : PAGEDET_YES;
}

bool pdet_row_was_moved(const struct pagedet_page *row)
{
	return pdet_row_has(row, PAGEDET_FIELD_MIGRATE_REASON) &&
	       pdet_row_owned(row) == PAGEDET_YES;
}

bool pdet_row_is_large(const struct pagedet_page *row)
{
	if (pdet_row_has(row, PAGEDET_FIELD_ORDER))
		return row->order != 0 && !pdet_row_is_nothing(row);
	return pdet_row_flag(row, PAGEDET_PF_COMPOUND_HEAD) == PAGEDET_YES ||
	       pdet_row_flag(row, PAGEDET_PF_COMPOUND_TAIL) == PAGEDET_YES;
}

/*
 * Gets the number of entries that map the counted unit, and the number of its
 * pages.
 */
static bool count_maps(const struct pagedet_page *row, uint64_t folio,
		       uint64_t *maps, uint64_t *pages)
{
	*pages = 1;
	*maps = row->mapcount;
	if (is_single(row))
		return pdet_row_has_maps(row) &&
		       pdet_row_has(row, PAGEDET_FIELD_MAPCOUNT_KIND) &&
		       row->mapcount_kind == PAGEDET_MAPCOUNT_EXACT;
	*maps = folio;
	if (!pdet_row_has(row, PAGEDET_FIELD_ORDER) || row->order > 40)
		return false;
	*pages = (uint64_t)1 << row->order;
	return folio <= UINT64_MAX / 2;
}

bool pdet_row_extra(const struct pagedet_page *row, uint64_t folio,
		    uint64_t *expected, uint64_t *extra)
{
	uint64_t n, pages;
	uint32_t cached;

	if (!(pdet_row_is_user(row) || pdet_row_is_kernel(row)) ||
	    !pdet_row_has_refs(row) ||
	    !count_maps(row, folio, &n, &pages))
		return false;
	/*
	 * A cache holds a reference for each page. If there may be one
	 * reference of a cache, it is assumed to exist. If there may be many,
	 * they are not.
	 */
	cached = pdet_row_is(row, PAGEDET_KIND_ANON) ?
		 pdet_row_flag(row, PAGEDET_PF_SWAPCACHE) :
		 pdet_row_cached(row);
	if (pdet_row_is_kernel(row))
		n++;	/* whoever allocated it */
	else if (cached == PAGEDET_DUNNO && pages > 1)
		return false;
	else if (cached != PAGEDET_NO)
		n += pages;
	if (pdet_row_flag(row, PAGEDET_PF_PRIVATE) != PAGEDET_NO)
		n++;	/* buffer heads, or other data of the filesystem */
	/* The kernel takes one so that nobody gets the page again, and does so
	 * only for what it can take away (mm/memory-failure.c). */
	if (pdet_row_is_user(row) && pdet_row_poisoned(row) == PAGEDET_YES)
		n++;
	*expected = n;
	*extra = row->refcount > n ? row->refcount - n : 0;
	return true;
}

uint32_t pdet_row_pinned(const struct pagedet_page *row, uint32_t *confidence)
{
	/* A pin adds this to the references of a small folio. */
	static const uint64_t bias = 1024;
	uint64_t expected, extra;

	*confidence = PAGEDET_CONFIDENCE_CERTAIN;
	if (pdet_row_has(row, PAGEDET_FIELD_PINCOUNT)) {
		if (!row->pincount)
			return PAGEDET_NO;
		/* Folios of four pages or more have a pin count. */
		if (pdet_row_has(row, PAGEDET_FIELD_ORDER) && row->order > 1 &&
		    pdet_row_note(row, PAGEDET_NOTE_ESTIMATED) != PAGEDET_YES)
			return PAGEDET_YES;
	} else if (!is_single(row) || !pdet_row_is_user(row) ||
		   !pdet_row_has_refs(row)) {
		return PAGEDET_DUNNO;
	} else if (row->refcount < bias) {
		return PAGEDET_NO;
	}
	/*
	 * It is known that there are few other references, so that hardly
	 * anything else fits.
	 */
	*confidence = PAGEDET_CONFIDENCE_LOW;
	if (pdet_row_is_user(row) && pdet_row_extra(row, PDET_NOT_COUNTED,
						   &expected, &extra))
		*confidence = extra >= bias ? PAGEDET_CONFIDENCE_HIGH :
					      PAGEDET_CONFIDENCE_NONE;
	return *confidence ? PAGEDET_YES : PAGEDET_DUNNO;
}
