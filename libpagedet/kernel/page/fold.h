/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Decodes struct pages into one element for each distinct result, for callers
 * that only count.
 */
#ifndef PDET_KERNEL_PAGE_FOLD_H
#define PDET_KERNEL_PAGE_FOLD_H

#include "kernel/page/run.h"

#define PDET_PAGE_FOLD_SLOTS 1024	/* a power of 2 */

/* Elements that new pages may be merged with. Starts zeroed. */
struct pdet_page_fold {
	struct {
		uint32_t turn, element;
	} slot[PDET_PAGE_FOLD_SLOTS];
	uint32_t turn;
};

/* pdet_page_fold_begin - start new columns. New pages are not merged with
 * elements of the columns before. */
void pdet_page_fold_begin(struct pdet_page_fold *fold);

/*
 * pdet_page_fold - like pdet_page_run(), into elements from @o on. Returns the
 * index after the last one, at most @o + @n. pages[] has the number of pages of
 * an element, and pfn[] its first page. @to must have is, has, bad, kind, flags
 * and known, and may also have raw_flags, refcount and mapcount. Pages are
 * merged if all of these are equal and known. Each damaged page gets its own
 * element, and so does a page with a wanted but unknown count.
 */
uint32_t pdet_page_fold(struct pdet_page_fold *fold, struct pdet_page_run *run,
			const char *pages, uint64_t addr, uint64_t pfn,
			uint32_t n, const struct pdet_page_columns *to,
			uint32_t o, uint64_t *count, uint64_t *first);

/*
 * pdet_page_fold_free - the same for @n frames from @pfn on in the free block
 * where @run ended, without reading them. A free page has no flags. A damaged
 * one that has flags goes unnoticed.
 */
uint32_t pdet_page_fold_free(struct pdet_page_fold *fold,
			     struct pdet_page_run *run, uint64_t addr,
			     uint64_t pfn, uint32_t n,
			     const struct pdet_page_columns *to, uint32_t o,
			     uint64_t *count, uint64_t *first);

#endif
