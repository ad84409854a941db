/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Decoding pagemap words. The order matters: a guard region, a page being
 * moved and a poisoned page all carry the "swapped" bit.
 */
#include <string.h>

#include "kernel/kpf.h"
#include "kernel/pagemap.h"

#define PTE(name) PAGEDET_PTE(PAGEDET_PTE_##name)

/* include/linux/swap.h: the last of the 32 swap types marks entries without
 * a page; include/linux/swapops.h has its bits. Before 6.2 it may be another
 * kind of entry, with the number of a page, which is never that low. */
#define MARKER_TYPE 31
#define MARKER_UFFD_WP 1
#define MARKER_POISONED 2
#define MARKER_GUARD 4
#define MARKER_BITS 7

/*
 * Types below are swap areas on every kernel. How many of the 32 are not is a
 * matter of configuration and age, and nothing tells: device memory took 2,
 * then 4, then 3 of them, migration 2, then 3, and poison, markers and swap-in
 * errors 1 each if they are there - ten on a distribution's 6.1.
 */
#define SURE_AREAS 16

/* What kind of entry it is: exactly one of these bits is set, or none. */
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

/* Bits that every word has. */
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
	/* pfn 0 is what the kernel shows instead of a number; no task maps
	 * the real pfn 0. */
	e->hidden = !e->pfn;
	e->has_pfn = !e->hidden;
	/* A zero page counts no mappings, so it is never exclusive. */
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
		/* Area 0, place 0 holds a swap header: the number is hidden,
		 * and with it what kind of entry this is. */
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
		/* A page stays locked for as long as entries point to it as
		 * being moved (mm/migrate.c). */
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
