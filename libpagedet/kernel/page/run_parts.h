/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Declarations shared by the files that decode a run; private to them. */
#ifndef PDET_KERNEL_PAGE_RUN_PARTS_H
#define PDET_KERNEL_PAGE_RUN_PARTS_H

#include "kernel/page/count.h"
#include "kernel/page/run_state.h"

/* True if an element for equal pages exists. */
static inline bool pdet_page_is_joined(struct pdet_page_run *run,
				       const struct pdet_page_run_at *at,
				       struct pdet_page_run_element *joins)
{
	if (!at->turn)
		return false;
	run->joined = joins->turn == at->turn;
	run->element = &joins->element;
	joins->turn = at->turn;
	return run->joined;
}

static inline bool pdet_page_is_zero(const struct pdet_page_zeros *z,
				     uint64_t pfn)
{
	return z->known && (pfn == z->pfn || pfn - z->huge < z->n_huge);
}

/* --- small pages --- */

/* An index that follows those of enum pdet_page_free. */
#define PDET_PAGE_FREE_UNKNOWN 2

/* Everything on which decoding depends, except the flags and plain numbers. */
static inline uint64_t pdet_page_sort(const struct pdet_layout *l,
				      const char *page, int32_t mapcount,
				      int32_t refcount)
{
	uint64_t sort, v = pdet_page_u64(l, page, PDET_MEMBER_PAGE_MAPPING);

	sort = pdet_page_pointer_sort(v);
	if (pdet_page_has(l, PDET_MEMBER_PAGE_MEMCG_DATA)) {
		v = pdet_page_u64(l, page, PDET_MEMBER_PAGE_MEMCG_DATA);
		sort |= (uint64_t)pdet_page_pointer_sort(v) << 8;
	}
	sort |= (uint64_t)(refcount < 0 ? 2 : refcount > 0) << 16;
	return sort | (uint64_t)(uint32_t)PDET_MIN(mapcount, 0) << 32;
}

static inline struct pdet_page_run_slot *
pdet_page_find_slot(struct pdet_page_run *run, uint64_t flags, uint64_t rest)
{
	const uint64_t golden = 0x9e3779b97f4a7c15;

	return &run->slot[((flags ^ rest * golden) * golden >> 32) %
			  PDET_PAGE_RUN_SLOTS];
}

/* --- free.c: free blocks --- */

static inline void pdet_page_leave_block(struct pdet_page_run *run)
{
	run->free_end = 0;
	run->free_lost = false;
}

/* pdet_page_find_block - whether a page without references is in a free block,
 * according to its neighbours. */
enum pdet_page_free pdet_page_find_block(struct pdet_page_run *run,
					 uint64_t addr, uint64_t pfn,
					 bool *known);

/* pdet_page_enter_block - the page may be the first of a free block. */
void pdet_page_enter_block(struct pdet_page_run *run, uint64_t pfn,
			   struct pdet_page_facts *f);

/* --- large.c: large folios --- */

/* pdet_page_enter_folio - load the folio with the head at @head. */
void pdet_page_enter_folio(struct pdet_page_run *run,
			   const struct pdet_page_run_at *at, uint64_t head);

/* pdet_page_said - the stored result for the page @distance pages after the
 * head of the current folio. */
static inline struct pdet_page_run_said *
pdet_page_said(struct pdet_page_run *run, uint64_t distance)
{
	struct pdet_page_run_large *l = run->folio.same ?
					&run->folio.same->said :
					&run->folio.said;

	return !distance ? &l->head : distance == 1 ? &l->second : &l->tail;
}

/* True if @said is valid for this page. */
static inline bool pdet_page_says(const struct pdet_page_run_said *said,
				  uint64_t flags, int32_t mapcount)
{
	return said->has && said->flags == flags && said->mapcount == mapcount;
}

/* pdet_page_say - decode the page and store its result. */
const struct pdet_page_facts *pdet_page_say(struct pdet_page_run *run,
					    struct pdet_page_run_said *said,
					    const char *page, bool is_head);

#endif
