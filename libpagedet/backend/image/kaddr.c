/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the page that a kernel address stands for. The address of a struct page
 * may mean the page that it describes. Any other address means the page that it
 * maps.
 */
#include <errno.h>

#include "backend/image/kernel.h"
#include "kernel/address/kernel_entry.h"

/* --- the page --- */

struct page {
	uint64_t pfn;
	unsigned state;		/* PAGEDET_HAVE, or why there is no page */
	bool stale;		/* the kernel has unmapped it there */
};

/*
 * Find the page that a struct page describes. Returns false if @va is not in a
 * struct page.
 */
static bool find_described(struct image_session *s, uint64_t va, unsigned as,
			   struct page *p)
{
	uint64_t within, head;
	unsigned kind;
	int r;

	if (s->image->pages.error ||
	    !pdet_memmap_find(&s->image->memmap, va, &p->pfn, &within))
		return false;
	p->state = PAGEDET_HAVE;
	if (as != PAGEDET_KADDR_FOLIO)
		return true;
	r = pdet_image_folio(s, p->pfn, &head, &kind);
	if (r < 0)
		p->state = pdet_image_kernel_reason(s, r);
	p->pfn = head;
	return true;
}

static void find_page(struct image_session *s, unsigned as,
		      const struct image_address *a, struct page *p)
{
	*p = (struct page){ .state = PAGEDET_NONE };
	if (as != PAGEDET_KADDR_MEMORY && a->is_kernel &&
	    find_described(s, a->va, as, p))
		return;
	if (as == PAGEDET_KADDR_PAGE || as == PAGEDET_KADDR_FOLIO) {
		if (s->image->pages.error)
			p->state = PAGEDET_NO_TYPES;
	} else if (a->has_addr) {
		p->state = PAGEDET_HAVE;
		p->pfn = a->addr >> s->image->paging.page_shift;
		p->stale = !a->error && !a->mapped;
	} else if (a->error) {
		p->state = pdet_image_kernel_reason(s, a->error);
	}
}

/* --- rows --- */

static void put_entry(const struct image_session *s, struct pdet_batch *b,
		      uint32_t row, const struct image_address *a)
{
	static const uint8_t fields[] = {
		PAGEDET_FIELD_PTE, PAGEDET_FIELD_PTE_KNOWN,
		PAGEDET_FIELD_PTE_LEVEL, PAGEDET_FIELD_MAP,
	};
	const struct image *im = s->image;
	const bool entry = a->is_kernel && a->leaf.is != PDET_PT_NONE;
	unsigned map;
	size_t i;

	if (a->error) {
		for (i = 0; i < PDET_COUNT(fields); i++)
			pdet_put_lost(b, row, fields[i],
				      pdet_image_kernel_reason(s, a->error),
				      im->source);
		return;
	}
	pdet_put(b, row, PAGEDET_FIELD_PTE, entry ?
		 pdet_kernel_entry(&im->paging, a->leaf.entry) : 0, im->source);
	pdet_put(b, row, PAGEDET_FIELD_PTE_KNOWN,
		 pdet_kernel_entry_known(entry), im->source);
	if (!a->mapped) {
		pdet_put_none(b, row, PAGEDET_FIELD_PTE_LEVEL, im->source);
		pdet_put_none(b, row, PAGEDET_FIELD_MAP, im->source);
		return;
	}
	pdet_put(b, row, PAGEDET_FIELD_PTE_LEVEL,
		 PAGEDET_LEVEL_PTE + a->leaf.level, im->source);
	map = pdet_areas_map(&im->kernel.areas, a->va, a->addr);
	if (map)
		pdet_put(b, row, PAGEDET_FIELD_MAP, map, im->source);
	else
		pdet_put_lost(b, row, PAGEDET_FIELD_MAP, PAGEDET_UNSUPPORTED,
			      im->source);
}

int pdet_image_kaddr(struct pdet_session *base, uint64_t addr, unsigned as,
		     struct pdet_batch *b)
{
	struct image_session *s = image_session_of(base);
	const unsigned source = s->image->source;
	const uint32_t row = b->n;
	struct image_address a;
	struct page p;

	pdet_batch_grow(b, 1);
	pdet_image_address(s, addr, &a);
	find_page(s, as, &a, &p);
	pdet_put(b, row, PAGEDET_FIELD_VADDR, addr, source);
	if (p.state == PAGEDET_HAVE)
		pdet_put(b, row, PAGEDET_FIELD_PFN, p.pfn, source);
	else
		pdet_put_lost(b, row, PAGEDET_FIELD_PFN, p.state, source);
	if (p.stale)
		pdet_put_note(b, row, PAGEDET_NOTE_STALE);
	if (p.state == PAGEDET_NONE && !a.mapped)
		pdet_put(b, row, PAGEDET_FIELD_KIND, PAGEDET_KIND_UNMAPPED,
			 source);
	put_entry(s, b, row, &a);
	pdet_image_put_kernel_area(s, b, row, &a);
	pdet_image_put_object(s, b, row, &a);
	return 0;
}

void pdet_image_kaddr_recheck(struct pdet_session *base, uint64_t addr,
			      unsigned as, struct pdet_batch *b, uint32_t row)
{
	struct image_session *s = image_session_of(base);
	struct image_address a;
	struct page p;

	if (!s->image->memory->live ||
	    pdet_batch_state(b, row, PAGEDET_FIELD_PFN) != PAGEDET_HAVE)
		return;
	pdet_image_address(s, addr, &a);
	find_page(s, as, &a, &p);
	if (p.state != PAGEDET_HAVE ||
	    p.pfn != b->value[PAGEDET_FIELD_PFN][row])
		pdet_put_note(b, row, PAGEDET_NOTE_TORN);
}
