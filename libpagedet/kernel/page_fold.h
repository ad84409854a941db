/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Struct pages decoded into one element for all that say the same, wherever
 * they are, for who only counts.
 */
#ifndef PDET_KERNEL_PAGE_FOLD_H
#define PDET_KERNEL_PAGE_FOLD_H

#include "kernel/page_run.h"

#define PDET_PAGE_FOLD_SLOTS 1024	/* a power of 2 */

/* Elements that may still be joined. Begins as zeros. */
struct pdet_page_fold {
	struct {
		uint32_t turn, element;
	} slot[PDET_PAGE_FOLD_SLOTS];
	uint32_t turn;
};

/* pdet_page_fold_begin - other columns; nothing is joined with what is in
 * those before. */
void pdet_page_fold_begin(struct pdet_page_fold *fold);

/*
 * pdet_page_fold - as pdet_page_run(), into elements from @o on; returns how
 * many these are then, never more than @o + @n. pages[] counts, pfn[] has the
 * first one. @to must have is, has, bad, kind, flags and known, and of the
 * others raw_flags, refcount and mapcount at most. Pages are joined when all of
 * that is the same and answered; each of those that are damaged, or whose
 * counts are wanted and not known, has an element of its own.
 */
uint32_t pdet_page_fold(struct pdet_page_fold *fold, struct pdet_page_run *run,
			const char *pages, uint64_t addr, uint64_t pfn,
			uint32_t n, const struct pdet_page_columns *to,
			uint32_t o, uint64_t *count, uint64_t *first);

/*
 * pdet_page_fold_free - the same of frames that are in the free block where
 * @run ended, without looking at them: @n from @pfn on. What is free has no
 * flags; one that has some is damaged, which who does not look does not see.
 */
uint32_t pdet_page_fold_free(struct pdet_page_fold *fold,
			     struct pdet_page_run *run, uint64_t addr,
			     uint64_t pfn, uint32_t n,
			     const struct pdet_page_columns *to, uint32_t o,
			     uint64_t *count, uint64_t *first);

#endif
