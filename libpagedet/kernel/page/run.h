/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Decodes consecutive struct pages into columns. It adds what only neighbours
 * know: the head of a page's folio, and the free block that a page is in.
 */
#ifndef PDET_KERNEL_PAGE_RUN_H
#define PDET_KERNEL_PAGE_RUN_H

#include "kernel/page/run_state.h"

/* pdet_page_run_init - @layout must have pages. */
void pdet_page_run_init(struct pdet_page_run *run,
			const struct pdet_layout *layout,
			struct pdet_space *space);

/* pdet_page_block_end - the frame after the free block that begins with @page,
 * which is frame @pfn. 0 if no block begins there. */
uint64_t pdet_page_block_end(const struct pdet_layout *layout,
			     const char *page, uint64_t pfn);

/*
 * pdet_page_run_begin, pdet_page_next - for callers that do not need an element
 * for every page. Decodes page @i of the run's @n, which is frame @pfn, into
 * element @o. Returns how many pages from there on give the same result, except
 * for head_pfn. With a @turn, which changes whenever elements start anew, equal
 * elements can be found in run->element. That does not work if raw_flags,
 * refcount or mapcount is wanted.
 */
void pdet_page_run_begin(struct pdet_page_run *run,
			 struct pdet_page_run_at *at, const char *pages,
			 uint64_t addr, uint64_t pfn, size_t n,
			 const struct pdet_page_columns *to, uint32_t turn);
size_t pdet_page_next(struct pdet_page_run *run,
		      const struct pdet_page_run_at *at, uint64_t pfn,
		      size_t i, size_t n, size_t o);

/* pdet_page_join - count pages from there on for which there are elements
 * already, and add them to the @count of these. Returns their number. If it is
 * 0, use pdet_page_next(). */
size_t pdet_page_join(struct pdet_page_run *run,
		      const struct pdet_page_run_at *at, uint64_t pfn,
		      size_t i, size_t n, uint64_t *count);

/*
 * pdet_page_run - @pages has @n struct pages from address @addr on, for the
 * frames from @pfn on. Runs that continue each other read nothing twice. A page
 * that changes meanwhile is decoded as it was read.
 */
void pdet_page_run(struct pdet_page_run *run, const char *pages, uint64_t addr,
		   uint64_t pfn, size_t n, const struct pdet_page_columns *to);

#endif
