/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Decodes pagemap words. The order of the tests matters: a guard region, a
 * migrating page and a poisoned page all have the "swapped" bit.
 */
#include <string.h>

#include "kernel/page/kpf.h"
#include "kernel/page/pagemap.h"

#define PTE(name) PAGEDET_PTE(PAGEDET_PTE_##name)

/* include/linux/swap.h: the last of the 32 swap types marks entries without a
 * page; include/linux/swapops.h has its bits. Before 6.2 type 31 may be another
 * kind of entry with a PFN, which is never that low. */
#define MARKER_TYPE 31
#define MARKER_UFFD_WP 1
#define MARKER_POISONED 2
#define MARKER_GUARD 4
#define MARKER_BITS 7

/*
 * Types below this are swap areas on every kernel. How many of the 32 types are
 * not depends on configuration and version, and is not exported. Device memory
 * took 2, then 4, then 3 types; migration took 2, then 3. Poison, markers and
 * swap-in errors take 1 each if configured: ten in all on a distribution's 6.1.
 */
#define SURE_AREAS 16

/* The kind of an entry: at most one of these bits is set. */
#define WHAT_BITS                                                         \
	(PTE(PRESENT) | PTE(SWAPPED) | PTE(GUARD) | PTE(MIGRATION) |      \
	 PTE(HWPOISON) | PTE(DEVICE))

static void set_what(struct pdet_entry *e, enum pdet_entry_what what,
		     uint32_t bit)
{
	e->what = what;
	e->pte |= bit;
	e->known |= WHAT_BITS;
}

/* Decode the bits that every word has. */
static void common_bits(const struct pdet_pagemap *pm, uint64_t word,
			struct pdet_entry *e)
{
	if (pm->soft_dirty) {
		e->known |= PTE(SOFT_DIRTY);
		if (word & PDET_PM_SOFT_DIRTY)
			e->pte |= PTE(SOFT_DIRTY);
	}
	if (pm->uffd_wp || word & PDET_PM_UFFD_WP) {
		e->known |= PTE(UFFD_WP);
		if (word & PDET_PM_UFFD_WP)
			e->pte |= PTE(UFFD_WP);
	}
}

static void present(const struct pdet_pagemap *pm, uint64_t word,
		    struct pdet_entry *e)
{
	set_what(e, PDET_ENTRY_PRESENT, PTE(PRESENT));
	e->known |= PTE(FILE) | PTE(EXCLUSIVE);
	if (word & PDET_PM_FILE)
		e->pte |= PTE(FILE);
	if (word & PDET_PM_EXCLUSIVE)
		e->pte |= PTE(EXCLUSIVE);
	e->pfn = word & PDET_PM_PFN_MASK;
	/* The kernel shows pfn 0 instead of a hidden number. No task maps the
	 * real pfn 0. */
	e->hidden = !e->pfn;
	e->has_pfn = !e->hidden;
	/*
	 * The kernel does not count mappings of the zero page, so it is never
	 * exclusive.
	 */
	if (e->pte & PTE(EXCLUSIVE)) {
		e->known |= PTE(ZERO);
	} else if (e->has_pfn && e->pfn == pm->zero_pfn) {
		e->known |= PTE(ZERO);
		e->pte |= PTE(ZERO);
	}
}

static void marker(struct pdet_entry *e, uint64_t bits)
{
	e->known |= PTE(FILE) | PTE(EXCLUSIVE) | PTE(ZERO);
	if (bits & MARKER_GUARD)
		set_what(e, PDET_ENTRY_GUARD, PTE(GUARD));
	else if (bits & MARKER_POISONED)
		set_what(e, PDET_ENTRY_HWPOISON, PTE(HWPOISON));
	else
		set_what(e, PDET_ENTRY_MARKER, 0);
	if (bits & MARKER_UFFD_WP) {
		e->pte |= PTE(UFFD_WP);
		e->known |= PTE(UFFD_WP);
	}
}

static void special(const struct pdet_pagemap *pm, uint64_t word,
		    struct pdet_entry *e)
{
	uint32_t type = word & 31;
	uint64_t offset = (word & PDET_PM_PFN_MASK) >> 5;

	e->known |= PTE(EXCLUSIVE) | PTE(ZERO);
	if (!(word & PDET_PM_PFN_MASK)) {
		/* Offset 0 of area 0 holds a swap header, so no entry points
		 * there. The number is hidden, and so is the kind of the
		 * entry. */
		e->what = PDET_ENTRY_SPECIAL;
		e->hidden = true;
		e->known |= PTE(PRESENT);
		if (pm->guard)
			e->known |= PTE(GUARD);
		return;
	}
	if (type == MARKER_TYPE && offset && offset <= MARKER_BITS) {
		marker(e, offset);
		return;
	}
	e->swap_type = type;
	e->swap_offset = offset;
	e->known |= PTE(FILE);
	if (type < SURE_AREAS || type < pm->swap_areas) {
		set_what(e, PDET_ENTRY_SWAPPED, PTE(SWAPPED));
		e->has_swap = true;
		return;
	}
	e->what = PDET_ENTRY_SPECIAL;
	e->has_pfn = true;
	e->pfn = offset;
	e->known |= PTE(PRESENT) | PTE(GUARD);
	if (word & PDET_PM_FILE)
		e->pte |= PTE(FILE);
}

void pdet_pagemap_decode(const struct pdet_pagemap *pm, uint64_t word,
			 struct pdet_entry *ret)
{
	memset(ret, 0, sizeof(*ret));
	common_bits(pm, word, ret);
	if (word & PDET_PM_PRESENT) {
		present(pm, word, ret);
	} else if (word & PDET_PM_GUARD) {
		set_what(ret, PDET_ENTRY_GUARD, PTE(GUARD));
		ret->known |= PTE(FILE) | PTE(EXCLUSIVE) | PTE(ZERO);
	} else if (word & PDET_PM_SWAP) {
		special(pm, word, ret);
	} else {
		set_what(ret, PDET_ENTRY_NOTHING, 0);
		ret->known |= PTE(FILE) | PTE(EXCLUSIVE) | PTE(ZERO);
	}
}

void pdet_pagemap_resolve(struct pdet_entry *entry, uint64_t kpageflags)
{
	if (entry->what != PDET_ENTRY_SPECIAL || !entry->has_pfn)
		return;
	if (kpageflags & KPF(NOPAGE))
		return;
	if (kpageflags & KPF(HWPOISON))
		set_what(entry, PDET_ENTRY_HWPOISON, PTE(HWPOISON));
	else if (kpageflags & KPF(LOCKED))
		/* A page stays locked while migration entries point to it
		 * (mm/migrate.c). */
		set_what(entry, PDET_ENTRY_MIGRATION, PTE(MIGRATION));
}

void pdet_pagemap_settle(struct pdet_entry *entry, enum pdet_entry_what what)
{
	if (entry->what != PDET_ENTRY_SPECIAL || !entry->has_pfn)
		return;
	set_what(entry, what,
		 what == PDET_ENTRY_SWAPPED ? PTE(SWAPPED) :
		 what == PDET_ENTRY_MIGRATION ? PTE(MIGRATION) :
		 what == PDET_ENTRY_HWPOISON ? PTE(HWPOISON) : PTE(DEVICE));
	entry->has_swap = what == PDET_ENTRY_SWAPPED;
	entry->has_pfn = !entry->has_swap;
}
