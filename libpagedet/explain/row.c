/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What a row proves, and no more: a flag that its source cannot see is neither
 * set nor clear, an average is no count, an entry that remembers a page is no
 * mapping of it.
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
	/* What else an entry may hold cannot be told apart by everybody; that
	 * it is none of these must be known at least of the first two. */
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
	if (!pdet_row_has(row, PAGEDET_FIELD_MAPCOUNT) ||
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

bool pdet_row_extra(const struct pagedet_page *row, uint64_t *expected,
		    uint64_t *extra)
{
	uint64_t n;

	if (!pdet_row_is_user(row) || !is_single(row) ||
	    !pdet_row_has(row, PAGEDET_FIELD_REFCOUNT) ||
	    !pdet_row_has(row, PAGEDET_FIELD_MAPCOUNT) ||
	    !pdet_row_has(row, PAGEDET_FIELD_MAPCOUNT_KIND) ||
	    row->mapcount_kind != PAGEDET_MAPCOUNT_EXACT ||
	    row->mapcount > UINT64_MAX / 2)
		return false;
	/* What may be one is taken for one. */
	n = row->mapcount;
	if (!pdet_row_is(row, PAGEDET_KIND_ANON))
		n++;	/* the page cache */
	else if (pdet_row_flag(row, PAGEDET_PF_SWAPCACHE) != PAGEDET_NO)
		n++;
	if (pdet_row_flag(row, PAGEDET_PF_PRIVATE) != PAGEDET_NO)
		n++;	/* buffer heads, or what else the filesystem keeps */
	*expected = n;
	*extra = row->refcount > n ? row->refcount - n : 0;
	return true;
}

uint32_t pdet_row_pinned(const struct pagedet_page *row, uint32_t *confidence)
{
	/* what a pin adds to the references of a small folio */
	static const uint64_t bias = 1024;
	uint64_t expected, extra;

	*confidence = PAGEDET_CONFIDENCE_CERTAIN;
	if (pdet_row_has(row, PAGEDET_FIELD_PINCOUNT)) {
		if (!row->pincount)
			return PAGEDET_NO;
		/* Folios of four pages and more have a count of their own. */
		if (pdet_row_has(row, PAGEDET_FIELD_ORDER) && row->order > 1 &&
		    pdet_row_note(row, PAGEDET_NOTE_ESTIMATED) != PAGEDET_YES)
			return PAGEDET_YES;
	} else if (!is_single(row) || !pdet_row_is_user(row) ||
		   !pdet_row_has(row, PAGEDET_FIELD_REFCOUNT)) {
		return PAGEDET_DUNNO;
	} else if (row->refcount < bias) {
		return PAGEDET_NO;
	}
	/* With all others known to be few it is hardly anything else. */
	*confidence = PAGEDET_CONFIDENCE_LOW;
	if (pdet_row_extra(row, &expected, &extra))
		*confidence = extra >= bias ? PAGEDET_CONFIDENCE_HIGH :
					      PAGEDET_CONFIDENCE_NONE;
	return *confidence ? PAGEDET_YES : PAGEDET_DUNNO;
}
