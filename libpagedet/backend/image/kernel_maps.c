/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Finds the kernel's mappings of pages. For a few pages it lists each mapping;
 * for many pages it counts them. */
#include <errno.h>
#include <stdlib.h>

#include "backend/image/kernel.h"
#include "kernel/address/kernel_entry.h"

/* Limit of one walk. espfix alone may map one page 65536 times. */
#define MOST_FOUND ((size_t)1 << 20)
/* Entries between two checks whether to continue: about a millisecond. */
#define STEP 65536
/*
 * On a running kernel, a query for this few pages walks the tables each time.
 */
#define FEW_ROWS 16

/* --- a row for each mapping --- */

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
	i = pdet_pfnset_at(q->set, pfn);
	for (f.pfn = pfn; pdet_pfnset_next(q->set, &i, &f.pfn, pfn + n);
	     f.pfn++) {
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
	if (r == -ETIMEDOUT)
		return 1;
	if (r < 0)
		return pdet_fail(&base->env, ENOMEM,
				 "no memory for mappings");
	ret->lost |= lost;
	return r == 1;
}

/* --- a count for each page --- */

static int count(struct image_session *s, bool again)
{
	struct pdet_kernel_counts *c = s->counts;
	int r;

	if (c && !again)
		return 0;
	if (!c)
		c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	pdet_kernel_counts_free(c);
	r = pdet_kernel_counts_read(c, s->reader, &s->image->paging);
	if (r < 0) {
		free(c);
		c = NULL;
	}
	s->counts = c;
	return r;
}

int pdet_image_put_kernel_maps(struct image_session *s, struct pdet_batch *b,
			       unsigned source)
{
	const unsigned f = PAGEDET_FIELD_KERNEL_MAPS;
	const uint64_t *pfn = b->value[PAGEDET_FIELD_PFN];
	uint64_t n;
	uint32_t row;
	int r;

	r = count(s, s->image->memory->live && b->n <= FEW_ROWS);
	if (r < 0 && r != -ETIMEDOUT)
		return r;
	for (row = 0; row < b->n; row++) {
		const uint16_t cell = b->cell[PAGEDET_FIELD_PFN][row];

		if (PAGEDET_CELL_STATE(cell) != PAGEDET_HAVE || r < 0 ||
		    s->counts->too_many) {
			pdet_put_lost(b, row, f, r < 0 ? PAGEDET_TIMEOUT :
				      s->counts->too_many ?
				      PAGEDET_TOO_COSTLY :
				      PAGEDET_CELL_STATE(cell), source);
			continue;
		}
		n = pdet_kernel_counts_of(s->counts, pfn[row]);
		/* Unreadable tables may have more. */
		if (s->counts->lost)
			pdet_put_note(b, row, PAGEDET_NOTE_PARTIAL);
		if (s->counts->lost && !n)
			pdet_put_lost(b, row, f, PAGEDET_IO, source);
		else
			pdet_put(b, row, f, n, source);
	}
	return 0;
}
