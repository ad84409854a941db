/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tracks free blocks in a run. Only the first page of a block shows that it is
 * free, and the size of the block.
 */
#include "kernel/page/run.h"
#include "kernel/page/run_parts.h"

/*
 * The frame after the free block that begins at @pfn, or 0 if no block begins
 * there.
 */
static uint64_t block_end(const struct pdet_layout *l, uint64_t pfn,
			  const struct pdet_page_facts *f)
{
	return f->type == PDET_TYPE_BUDDY && f->has_order &&
			       f->order < l->free_orders &&
			       !(pfn & (((uint64_t)1 << f->order) - 1)) ?
		       pfn + ((uint64_t)1 << f->order) : 0;
}

uint64_t pdet_page_block_end(const struct pdet_layout *l, const char *page,
			     uint64_t pfn)
{
	struct pdet_page_facts f;

	pdet_page_decode(l, page, page, NULL, &f);
	return block_end(l, pfn, &f);
}

/* The page may be in a free block that began before the run. A block can begin
 * only at a few aligned frames, which are read. */
static void look_back(struct pdet_page_run *run, uint64_t addr, uint64_t pfn)
{
	const struct pdet_layout *l = run->layout;
	const size_t size = l->size[PDET_SIZE_PAGE];
	char page[PDET_PAGE_BYTES];
	struct pdet_page_facts f;
	uint64_t first, before = pfn, at, head;
	unsigned order;

	for (order = 1; order < l->free_orders; order++) {
		first = pfn & -((uint64_t)1 << order);
		if (first == before)
			continue;
		before = first;
		run->reads++;
		at = addr - (pfn - first) * size;
		if (pdet_space_read(run->space, at, page, size) < 0 ||
		    pdet_page_is(l, page, NULL, at, &head) ==
			    PDET_PAGE_DAMAGED) {
			run->free_lost = true;
			continue;
		}
		pdet_page_decode(l, page, page, NULL, &f);
		if (block_end(l, first, &f) <= pfn)
			continue;
		run->free_end = block_end(l, first, &f);
		run->free_order = f.order;
		run->free_lost = false;
		return;
	}
}

enum pdet_page_free pdet_page_find_block(struct pdet_page_run *run,
					 uint64_t addr, uint64_t pfn,
					 bool *known)
{
	if (pfn != run->next && !run->free_end)
		look_back(run, addr, pfn);
	*known = pfn < run->free_end ||
		 (!run->free_lost && run->layout->type.known[PDET_TYPE_BUDDY]);
	return pfn < run->free_end ? PDET_FREE_BLOCK : PDET_FREE_NOT;
}

void pdet_page_enter_block(struct pdet_page_run *run, uint64_t pfn,
			   struct pdet_page_facts *f)
{
	run->free_end = block_end(run->layout, pfn, f);
	run->free_order = f->order;
	if (run->free_end || f->type != PDET_TYPE_BUDDY || !f->has_order)
		return;
	f->has_order = false;
	f->order = 0;
	f->bad |= PDET_BAD_ORDER;
}
