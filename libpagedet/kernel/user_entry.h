/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What only an entry of a process's page tables says of a mapping. */
#ifndef PDET_KERNEL_USER_ENTRY_H
#define PDET_KERNEL_USER_ENTRY_H

#include "kernel/paging.h"

struct pdet_user_entry {
	bool ordinary;		/* the kernel counts this mapping */
	uint32_t pte, known;	/* PAGEDET_PTE bits */
};

/* pdet_user_uffd_wp - whether userfaultfd watches writes to the page of an
 * entry of any kind, where the kernel can do that. Not known of arm64. */
bool pdet_user_uffd_wp(const struct pdet_paging *p, uint64_t entry, bool page);

/* pdet_user_soft_dirty - the same for whether it was written to since its
 * soft-dirty bit was cleared. */
bool pdet_user_soft_dirty(const struct pdet_paging *p, uint64_t entry,
			  bool page);

/* pdet_user_entry - of an entry that is PDET_PT_PAGE. */
struct pdet_user_entry pdet_user_entry(const struct pdet_paging *p,
				       uint64_t entry);

#endif
