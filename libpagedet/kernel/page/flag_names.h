/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Page flags as the kernel prints them: "0x2013c(referenced|lru|node=0)". */
#ifndef PDET_KERNEL_PAGE_FLAG_NAMES_H
#define PDET_KERNEL_PAGE_FLAG_NAMES_H

#include "base/text/text.h"
#include "schema/schema.h"

/* Flags that every kernel prints: if they are missing they are clear. */
#define PDET_FLAGS_NAMED \
	(PAGEDET_PF(PAGEDET_PF_LOCKED) | PAGEDET_PF(PAGEDET_PF_REFERENCED) | \
	 PAGEDET_PF(PAGEDET_PF_UPTODATE) | PAGEDET_PF(PAGEDET_PF_DIRTY) | \
	 PAGEDET_PF(PAGEDET_PF_LRU) | PAGEDET_PF(PAGEDET_PF_ACTIVE) | \
	 PAGEDET_PF(PAGEDET_PF_WRITEBACK) | PAGEDET_PF(PAGEDET_PF_RECLAIM) | \
	 PAGEDET_PF(PAGEDET_PF_SWAPBACKED) | \
	 PAGEDET_PF(PAGEDET_PF_UNEVICTABLE) | \
	 PAGEDET_PF(PAGEDET_PF_RESERVED) | PAGEDET_PF(PAGEDET_PF_MLOCKED) | \
	 PAGEDET_PF(PAGEDET_PF_PRIVATE) | PAGEDET_PF(PAGEDET_PF_PRIVATE_2) | \
	 PAGEDET_PF(PAGEDET_PF_OWNER_PRIVATE) | \
	 PAGEDET_PF(PAGEDET_PF_ARCH) | PAGEDET_PF(PAGEDET_PF_SWAPCACHE))

/* pdet_flags_list - take "(referenced|lru|node=0|zone=2" off *@s. Sets the
 * flags that it has, and *node to what is behind "node=", if anything is.
 * Returns false if it has another form. */
bool pdet_flags_list(struct pdet_scan *s, uint64_t *flags,
		     struct pdet_scan *node);

/* pdet_flags_named - the flags of a text, "0x2013c(referenced|lru|node=0)" with
 * "Flags " before it or without, if nothing else is known of the page. Returns
 * false if it has another form. */
bool pdet_flags_named(struct pdet_scan text, uint64_t *flags, uint64_t *known);

#endif
