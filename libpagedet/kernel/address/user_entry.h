/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Decodes mapping flags that only a process's page table entry has. */
#ifndef PDET_KERNEL_ADDRESS_USER_ENTRY_H
#define PDET_KERNEL_ADDRESS_USER_ENTRY_H

#include "kernel/address/paging.h"

struct pdet_user_entry {
	bool ordinary;		/* the kernel counts this mapping */
	uint32_t pte, known;	/* PAGEDET_PTE bits */
};

/* pdet_user_uffd_wp - true if userfaultfd write-protects the page of an entry
 * of any kind. Always unknown on arm64. */
bool pdet_user_uffd_wp(const struct pdet_paging *p, uint64_t entry, bool page);

/* pdet_user_soft_dirty - true if the page was written since its soft-dirty bit
 * was cleared. */
bool pdet_user_soft_dirty(const struct pdet_paging *p, uint64_t entry,
			  bool page);

/* pdet_user_entry - decode an entry that is PDET_PT_PAGE. */
struct pdet_user_entry pdet_user_entry(const struct pdet_paging *p,
				       uint64_t entry);

#endif
