/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Where the kernel maps pages: each mapping of a few, or the number of them of
 * many. */
#include <errno.h>
#include <stdlib.h>

#include "backend/image.h"
#include "kernel/kernel_entry.h"

/* Of one walk; espfix alone may have 65536 of one page. */
#define MOST_FOUND ((size_t)1 << 20)
/* Entries between two looks whether to go on: a millisecond. */
#define STEP 65536
/* Of so few pages a walk each time is worth it, where they move. */
#define FEW_ROWS 16

/* --- a row a mapping --- */

struct search {
	const struct image *im;
	const struct pdet_pfnset *set;
	struct pdet_kernel_found_list *ret;
	bool (*stop)(void *arg);
	void *arg;
	uint64_t visits;
};

static int search_leaf(void *arg, const struct pdet_leaf *leaf)
{
	struct search *q = arg;
	const struct pdet_paging *p = &q->im->paging;
	const uint64_t pfn = leaf->addr >> p->page_shift;
	const uint64_t n = leaf->size >> p->page_shift;
	struct pdet_kernel_found f = {
		.pte = pdet_kernel_entry(p, leaf->entry),
		.pte_known = pdet_kernel_entry_known(true),
		.level = (uint8_t)(PAGEDET_LEVEL_PTE + leaf->level),
	};
	size_t i;

	if (++q->visits % STEP == 0 && q->stop(q->arg))
		return 1;
	for (i = pdet_pfnset_at(q->set, pfn); i < q->set->n; i++) {
		f.pfn = q->set->pfn[i];
		if (f.pfn - pfn >= n)
			break;
		if (q->ret->n == MOST_FOUND) {
			q->ret->lost = true;
			return 2;
		}
		f.vaddr = leaf->start + ((f.pfn - pfn) << p->page_shift);
		f.map = (uint8_t)pdet_areas_map(&q->im->kernel.areas, f.vaddr,
						f.pfn << p->page_shift);
		if (!pdet_vec_push(q->ret, f))
			return -ENOMEM;
	}
	return 0;
}

int pdet_image_kernel_mappings(struct pdet_session *base,
			       const struct pdet_pfnset *set,
			       bool (*stop)(void *arg), void *arg,
			       struct pdet_kernel_found_list *ret)
{
	struct image_session *s = image_session_of(base);
	struct search q = { s->image, set, ret, stop, arg, 0 };
	const struct pdet_kernel_maps_visit visit = { search_leaf, &q };
	bool lost = false;
	int r;

	r = pdet_kernel_maps_each(s->reader, &s->image->paging, &visit, &lost);
	if (r < 0)
		return pdet_fail(&base->env, ENOMEM,
				 "no memory for mappings");
	ret->lost |= lost;
	return r == 1;
}

/* --- a number a page --- */

static int count(struct image_session *s, bool again)
{
	struct pdet_kernel_counts *c = s->counts;

	if (c && !again)
		return 0;
	if (!c)
		c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	s->counts = c;
	pdet_kernel_counts_free(c);
	return pdet_kernel_counts_read(c, s->reader, &s->image->paging);
}

int pdet_image_put_kernel_maps(struct image_session *s, struct pdet_batch *b,
			       unsigned source)
{
	const unsigned f = PAGEDET_FIELD_KERNEL_MAPS;
	const uint64_t *pfn = b->value[PAGEDET_FIELD_PFN];
	uint64_t n;
	uint32_t row;

	if (count(s, s->image->memory->live && b->n <= FEW_ROWS) < 0)
		return -ENOMEM;
	for (row = 0; row < b->n; row++) {
		const uint16_t cell = b->cell[PAGEDET_FIELD_PFN][row];

		if (PAGEDET_CELL_STATE(cell) != PAGEDET_HAVE ||
		    s->counts->too_many) {
			pdet_put_lost(b, row, f, s->counts->too_many ?
				      PAGEDET_TOO_COSTLY :
				      PAGEDET_CELL_STATE(cell), source);
			continue;
		}
		n = pdet_kernel_counts_of(s->counts, pfn[row]);
		/* There may be more where tables could not be read. */
		if (s->counts->lost)
			pdet_put_note(b, row, PAGEDET_NOTE_PARTIAL);
		if (s->counts->lost && !n)
			pdet_put_lost(b, row, f, PAGEDET_IO, source);
		else
			pdet_put(b, row, f, n, source);
	}
	return 0;
}
