/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Decodes words of /proc/PID/pagemap (Linux fs/proc/task_mmu.c;
 * Documentation/admin-guide/mm/pagemap.rst).
 */
#ifndef PDET_KERNEL_PAGE_PAGEMAP_H
#define PDET_KERNEL_PAGE_PAGEMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "pagedet.h"

#define PDET_PM_PFN_MASK (((uint64_t)1 << 55) - 1)
#define PDET_PM_SOFT_DIRTY ((uint64_t)1 << 55)
#define PDET_PM_EXCLUSIVE ((uint64_t)1 << 56)
#define PDET_PM_UFFD_WP ((uint64_t)1 << 57)
#define PDET_PM_GUARD ((uint64_t)1 << 58)
#define PDET_PM_FILE ((uint64_t)1 << 61)
#define PDET_PM_SWAP ((uint64_t)1 << 62)
#define PDET_PM_PRESENT ((uint64_t)1 << 63)

/* Facts of the kernel that wrote the words. */
struct pdet_pagemap {
	bool soft_dirty;	/* bit 55 is valid: the kernel has
				 * CONFIG_MEM_SOFT_DIRTY */
	bool uffd_wp;		/* bit 57 is valid (5.14 and later) */
	bool guard;		/* bit 58 is valid (6.15 and later) */
	uint32_t swap_areas;	/* types below this are swap areas */
	uint64_t zero_pfn;	/* the 4K zero page; 0: unknown */
};

enum pdet_entry_what {
	PDET_ENTRY_NOTHING,	/* no entry */
	PDET_ENTRY_PRESENT,
	PDET_ENTRY_SWAPPED,
	PDET_ENTRY_GUARD,
	PDET_ENTRY_MIGRATION,
	PDET_ENTRY_HWPOISON,
	PDET_ENTRY_DEVICE,	/* device memory, or memory that a device owns
				 * exclusively for now */
	PDET_ENTRY_MARKER,	/* bits without a page: uffd-wp */
	PDET_ENTRY_SPECIAL	/* migration, hwpoison, device or swap: the word
				 * alone does not tell. With has_pfn, it is not
				 * swap if swap_type is at least swap_areas and
				 * swap_areas is exact */
};

struct pdet_entry {
	enum pdet_entry_what what;
	bool hidden;		/* the opener may not see PFNs */
	bool has_pfn;		/* pfn is valid: of a present page, or stored in
				 * a special entry */
	bool has_swap;		/* type and offset are valid */
	uint64_t pfn;
	uint64_t swap_offset;
	uint32_t swap_type;
	uint32_t pte;		/* PAGEDET_PTE bits */
	uint32_t known;
};

/* pdet_pagemap_decode - decode one word. */
void pdet_pagemap_decode(const struct pdet_pagemap *pm, uint64_t word,
			 struct pdet_entry *ret);

/*
 * pdet_pagemap_resolve - decide a PDET_ENTRY_SPECIAL from the word of
 * /proc/kpageflags for its pfn.
 */
void pdet_pagemap_resolve(struct pdet_entry *entry, uint64_t kpageflags);

/* pdet_pagemap_settle - the same for a caller that knows @what the entry is:
 * _SWAPPED, _MIGRATION, _HWPOISON or _DEVICE. */
void pdet_pagemap_settle(struct pdet_entry *entry, enum pdet_entry_what what);

#endif
