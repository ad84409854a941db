/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Decodes page table entries of a task as if they came from /proc/PID/pagemap,
 * and adds what only the entry itself shows.
 */
#include <errno.h>
#include <string.h>

#include "backend/image/task.h"
#include "backend/reused_frame.h"
#include "kernel/address/user_entry.h"
#include "kernel/page/kpf.h"
#include "kernel/page/pagemap.h"

/* The task that owns the entries. */
struct owner {
	struct image_session *s;
	struct image_task *t;
	struct image_area area;	/* area of the last entry */
};

struct walk {
	struct image_session *s;
	struct owner of;
	struct pdet_batch *b;
	uint64_t at;		/* first address without a row */
	uint64_t end;
	uint64_t page;		/* size in bytes */
	bool all;
	bool entry;		/* more than the frame is requested */
};

/* The bits that pagemap shows from the page itself. The huge zero page is not a
 * page of a file; pagemap of some kernels says so. *known: whether it is one is
 * known. */
static uint64_t page_bits(struct image_session *s, uint64_t pfn, bool large,
			  bool *known)
{
	struct image_page p;

	*known = true;
	if (pdet_image_page(s, pfn, &p) < 0 || !(p.known & KPF(ANON)))
		return 0;
	/* If both are unknown, it may be the huge zero page. */
	*known = !large || p.flags & KPF(ANON) ||
		 p.known & (KPF(ZERO_PAGE) | KPF(THP));
	return (p.flags & (KPF(ANON) | KPF(ZERO_PAGE)) || !*known ? 0 :
		PDET_PM_FILE) |
	       (p.has_mapcount && p.mapcount == 1 ? PDET_PM_EXCLUSIVE : 0);
}

static uint64_t watched(const struct image_session *s,
			const struct pdet_leaf *leaf)
{
	return s->image->pagemap.uffd_wp &&
	       pdet_user_uffd_wp(&s->image->paging, leaf->entry,
				 leaf->is == PDET_PT_PAGE) ?
	       PDET_PM_UFFD_WP : 0;
}

/* The soft-dirty bit as pagemap shows it; @leaf is NULL if there is no entry.
 * For hugetlb pages only the area's bit counts. */
static uint64_t soft_dirty(struct owner *of, const struct pdet_leaf *leaf,
			   uint64_t va)
{
	const struct image *im = of->s->image;
	bool dirty;

	if (!im->pagemap.soft_dirty)
		return 0;
	pdet_image_area(of->s, of->t, va, &of->area);
	dirty = of->area.flags & PDET_VM_SOFTDIRTY;
	if (leaf && !(of->area.flags & PDET_VM_HUGETLB))
		dirty |= pdet_user_soft_dirty(&im->paging, leaf->entry,
					      leaf->is == PDET_PT_PAGE);
	return dirty ? PDET_PM_SOFT_DIRTY : 0;
}

/* A clear bit means nothing if the area is unknown. */
static void forget_soft_dirty(const struct owner *of, struct pdet_entry *e)
{
	if (of->area.error && !(e->pte & PAGEDET_PTE(PAGEDET_PTE_SOFT_DIRTY)))
		e->known &= ~PAGEDET_PTE(PAGEDET_PTE_SOFT_DIRTY);
}

/* Only a large entry maps the huge zero page. */
static void put_zero(const struct image_session *s, bool large,
		     struct pdet_entry *e)
{
	const struct pdet_page_zeros *z = &s->image->zeros;

	if (!z->known || (large && z->maybe_huge))
		return;
	e->known |= PAGEDET_PTE(PAGEDET_PTE_ZERO);
	if (e->pfn == z->pfn || e->pfn - z->huge < z->n_huge)
		e->pte |= PAGEDET_PTE(PAGEDET_PTE_ZERO);
}

static void decode_page(struct owner *of, const struct pdet_leaf *leaf,
			uint64_t va, struct pdet_entry *e)
{
	struct image_session *s = of->s;
	const struct pdet_paging *p = &s->image->paging;
	const struct pdet_user_entry u = pdet_user_entry(p, leaf->entry);
	const uint64_t pfn = (leaf->addr + (va - leaf->start)) >> p->page_shift;
	/*
	 * For a large entry pagemap shows bits of the page even if the mapping
	 * is not counted.
	 */
	const bool shown = u.ordinary || leaf->level;
	bool known = true;

	pdet_pagemap_decode(&s->image->pagemap, PDET_PM_PRESENT | pfn |
			    watched(s, leaf) | soft_dirty(of, leaf, va) |
			    (shown ? page_bits(s, pfn, leaf->level, &known) :
				     0), e);
	if (!known)
		e->known &= ~PAGEDET_PTE(PAGEDET_PTE_FILE);
	/* the real pfn 0 exists, but pagemap hides it */
	e->pfn = pfn;
	e->has_pfn = true;
	e->hidden = false;
	put_zero(s, leaf->level, e);
	e->pte |= u.pte;
	e->known |= u.known;
}

/* Decode an entry that is not present. The flags of its page identify it if the
 * kernel's functions do not. */
static void decode_other(struct owner *of, const struct pdet_leaf *leaf,
			 uint64_t va, struct pdet_entry *e)
{
	struct image_session *s = of->s;
	const unsigned shift = s->image->paging.page_shift;
	const struct pdet_swap_entry swap = pdet_swap_decode(
			&s->image->swap_form, leaf->entry);
	/* A migrating huge page has the frame of its head. */
	const uint64_t offset = swap.offset + ((va - leaf->start) >> shift);
	struct image_page p;
	uint64_t word = PDET_PM_SWAP | watched(s, leaf) |
			soft_dirty(of, leaf, va) | offset << 5 | swap.type;

	if (swap.is != PDET_SWAP_FILE && pdet_image_page(s, offset, &p) == 0 &&
	    p.known & KPF(ANON) && !(p.flags & KPF(ANON)))
		word |= PDET_PM_FILE;
	pdet_pagemap_decode(&s->image->pagemap, word, e);
	if (e->what != PDET_ENTRY_SPECIAL || !e->has_pfn)
		return;
	switch (swap.is) {
	case PDET_SWAP_FILE:
		pdet_pagemap_settle(e, PDET_ENTRY_SWAPPED);
		break;
	case PDET_SWAP_HWPOISON:
		pdet_pagemap_settle(e, PDET_ENTRY_HWPOISON);
		break;
	case PDET_SWAP_MIGRATION:
		pdet_pagemap_settle(e, PDET_ENTRY_MIGRATION);
		break;
	case PDET_SWAP_DEVICE:
		pdet_pagemap_settle(e, PDET_ENTRY_DEVICE);
		break;
	default:
		if (pdet_image_page(s, e->pfn, &p) == 0)
			pdet_pagemap_resolve(e, p.flags);
		break;
	}
}

static void decode(struct owner *of, const struct pdet_leaf *leaf, uint64_t va,
		   struct pdet_entry *e)
{
	if (leaf->is == PDET_PT_PAGE)
		decode_page(of, leaf, va, e);
	else
		decode_other(of, leaf, va, e);
	forget_soft_dirty(of, e);
}

static void decode_nothing(struct owner *of, uint64_t va, struct pdet_entry *e)
{
	pdet_pagemap_decode(&of->s->image->pagemap, soft_dirty(of, NULL, va),
			    e);
	e->known |= PAGEDET_PTE(PAGEDET_PTE_YOUNG) |
		    PAGEDET_PTE(PAGEDET_PTE_DIRTY) |
		    PAGEDET_PTE(PAGEDET_PTE_WRITE) |
		    PAGEDET_PTE(PAGEDET_PTE_EXEC);
	forget_soft_dirty(of, e);
}

/*
 * On a running kernel a page table may be freed and reused, so places prove
 * nothing.
 */
static struct pdet_paging_places *places_of(struct image_session *s)
{
	return s->image->memory->live ? NULL : &s->places;
}

/* --- rows --- */

static void put_swap(const struct walk *w, uint32_t row,
		     const struct pdet_entry *e)
{
	const unsigned source = w->s->image->source;

	if (e->has_swap) {
		pdet_put(w->b, row, PAGEDET_FIELD_SWAP_TYPE, e->swap_type,
			 source);
		pdet_put(w->b, row, PAGEDET_FIELD_SWAP_OFFSET, e->swap_offset,
			 source);
	} else if (e->what == PDET_ENTRY_SPECIAL) {
		pdet_put_lost(w->b, row, PAGEDET_FIELD_SWAP_TYPE,
			      PAGEDET_UNSUPPORTED, source);
		pdet_put_lost(w->b, row, PAGEDET_FIELD_SWAP_OFFSET,
			      PAGEDET_UNSUPPORTED, source);
	} else {
		pdet_put_none(w->b, row, PAGEDET_FIELD_SWAP_TYPE, source);
		pdet_put_none(w->b, row, PAGEDET_FIELD_SWAP_OFFSET, source);
	}
}

static void put_entry(const struct walk *w, uint32_t row,
		      const struct pdet_entry *e)
{
	const unsigned source = w->s->image->source;
	struct pdet_batch *b = w->b;

	if (e->has_pfn && e->what != PDET_ENTRY_SPECIAL)
		pdet_put(b, row, PAGEDET_FIELD_PFN, e->pfn, source);
	else if (e->what == PDET_ENTRY_SPECIAL)
		pdet_put_lost(b, row, PAGEDET_FIELD_PFN, PAGEDET_UNSUPPORTED,
			      source);
	else
		pdet_put_none(b, row, PAGEDET_FIELD_PFN, source);
	if (e->has_pfn && e->what != PDET_ENTRY_PRESENT &&
	    e->what != PDET_ENTRY_SPECIAL)
		pdet_put_note(b, row, PAGEDET_NOTE_STALE);
	put_swap(w, row, e);
	pdet_put(b, row, PAGEDET_FIELD_PTE, e->pte, source);
	pdet_put(b, row, PAGEDET_FIELD_PTE_KNOWN, e->known, source);
	if (e->what == PDET_ENTRY_NOTHING || e->what == PDET_ENTRY_MARKER)
		pdet_put(b, row, PAGEDET_FIELD_KIND, PAGEDET_KIND_UNTOUCHED,
			 source);
}

/* Add a row for the next address. */
static uint32_t add_row(struct walk *w)
{
	const uint32_t row = w->b->n;

	pdet_batch_grow(w->b, 1);
	pdet_put(w->b, row, PAGEDET_FIELD_VADDR, w->at, w->s->image->source);
	pdet_put_none(w->b, row, PAGEDET_FIELD_PTE_LEVEL,
		      w->s->image->source);
	w->at = w->at + w->page > w->at ? w->at + w->page : w->end;
	return row;
}

/* Put rows without an entry up to @end; 1 if there is no room. */
static int put_empty(struct walk *w, uint64_t end)
{
	struct pdet_entry nothing;

	while (w->all && w->at < end) {
		if (w->b->n == w->b->cap)
			return 1;
		decode_nothing(&w->of, w->at, &nothing);
		put_entry(w, add_row(w), &nothing);
	}
	w->at = PDET_MAX(w->at, end);
	return 0;
}

static void put_plain(const struct walk *w, uint32_t row,
		      const struct pdet_leaf *leaf, uint64_t va)
{
	const unsigned source = w->s->image->source;

	pdet_put(w->b, row, PAGEDET_FIELD_PFN,
		 (leaf->addr + (va - leaf->start)) >>
			w->s->image->paging.page_shift, source);
	pdet_put_none(w->b, row, PAGEDET_FIELD_SWAP_TYPE, source);
	pdet_put_none(w->b, row, PAGEDET_FIELD_SWAP_OFFSET, source);
}

static int put_leaf(void *arg, const struct pdet_leaf *leaf)
{
	struct walk *w = arg;
	const uint64_t end = PDET_MIN(leaf->start + leaf->size, w->end);
	struct pdet_entry e;
	uint32_t row;
	uint64_t va;

	if (put_empty(w, PDET_MAX(leaf->start, w->at)))
		return 1;
	while (w->at < end) {
		if (w->b->n == w->b->cap)
			return 1;
		va = w->at;
		row = add_row(w);
		if (leaf->is == PDET_PT_PAGE)
			pdet_put(w->b, row, PAGEDET_FIELD_PTE_LEVEL,
				 PAGEDET_LEVEL_PTE + leaf->level,
				 w->s->image->source);
		if (leaf->is == PDET_PT_PAGE && !w->entry) {
			put_plain(w, row, leaf, va);
			continue;
		}
		decode(&w->of, leaf, va, &e);
		put_entry(w, row, &e);
	}
	return 0;
}

/* Put a row for a table that cannot be read. If the walk skips empty entries,
 * there is one row for the whole table; otherwise each address of the query
 * gets one. */
static int put_lost(void *arg, uint64_t start, uint64_t size, int error)
{
	static const uint8_t fields[] = {
		PAGEDET_FIELD_PFN, PAGEDET_FIELD_PTE, PAGEDET_FIELD_PTE_KNOWN,
		PAGEDET_FIELD_PTE_LEVEL, PAGEDET_FIELD_SWAP_TYPE,
		PAGEDET_FIELD_SWAP_OFFSET, PAGEDET_FIELD_KIND,
	};
	struct walk *w = arg;
	const uint64_t end = PDET_MIN(start + size, w->end);
	uint32_t row;
	size_t i;

	if (put_empty(w, PDET_MAX(start, w->at)))
		return 1;
	while (w->at < end) {
		if (w->b->n == w->b->cap)
			return 1;
		row = add_row(w);
		for (i = 0; i < PDET_COUNT(fields); i++)
			pdet_put_lost(w->b, row, fields[i],
				      pdet_image_reason(error),
				      w->s->image->source);
		if (!w->all)
			w->at = end;
	}
	return 0;
}

int pdet_image_entries(struct pdet_session *base, struct pdet_task *task,
		       uint64_t *at, uint64_t end, bool all,
		       struct pdet_batch *b)
{
	struct image_session *s = image_session_of(base);
	struct image_task *t = image_task_of(task);
	struct walk w = { s, { s, t, { 0, 0, 0, 0 } }, b, *at, end,
			  (uint64_t)1 << s->image->paging.page_shift, all,
			  b->value[PAGEDET_FIELD_PTE] ||
			  b->value[PAGEDET_FIELD_PTE_KNOWN] };
	const struct pdet_paging_visit visit = { put_leaf, put_lost, &w,
						 places_of(s) };
	int r = 0;

	if (t->has_mm)
		r = pdet_paging_each(s->reader, &s->image->paging, t->root,
				     *at, end - 1, &visit);
	if (r < 0)
		return r;
	if (r == 0)
		put_empty(&w, end);
	*at = w.at;
	return 0;
}

int pdet_image_populated(struct pdet_session *s, struct pdet_task *t,
			 uint64_t *at, uint64_t end, struct pdet_range *ret,
			 size_t max)
{
	(void)s;
	(void)t;
	(void)max;
	/* A walk of the tables skips empty parts by itself. */
	ret->first = *at;
	ret->last = end - 1;
	*at = end;
	return 1;
}

/*
 * libpagedet reads memory without the lock of the table: while the kernel swaps
 * a page out, there is no entry for a moment.
 */
static bool is_something(struct image_session *s, struct image_task *t,
			 uint64_t va)
{
	struct owner of = { s, t, { 0, 0, 0, 0 } };
	struct pdet_leaf leaf;
	struct pdet_entry e;

	if (pdet_paging_walk(s->reader, &s->image->paging, t->root, va,
			     &leaf) < 0 ||
	    (leaf.is != PDET_PT_PAGE && leaf.is != PDET_PT_OTHER))
		return false;
	decode(&of, &leaf, va, &e);
	return e.what != PDET_ENTRY_NOTHING && e.what != PDET_ENTRY_MARKER;
}

static bool was_nothing(const struct pdet_batch *b, uint32_t row)
{
	return b->value[PAGEDET_FIELD_KIND] &&
	       pdet_batch_get(b, row, PAGEDET_FIELD_KIND, 0) ==
		       PAGEDET_KIND_UNTOUCHED;
}

/* True if the row has values from a time when the frame was in other use. */
static bool is_of_another(struct image_session *s, const struct pdet_batch *b,
			  uint32_t row)
{
	const unsigned source = s->image->source;
	unsigned read = pdet_reused_read(b, row, source);
	struct image_page now;

	if (!read ||
	    pdet_image_page(s, b->value[PAGEDET_FIELD_PFN][row], &now) < 0)
		return false;
	if (!now.has_mapcount)
		read &= ~(unsigned)PDET_READ_MAPCOUNT;
	return pdet_reused(b, row, source, read, now.flags & now.known,
			   now.mapcount);
}

int pdet_image_recheck(struct pdet_session *base, struct pdet_task *task,
		       struct pdet_batch *b, uint32_t first, uint32_t n)
{
	struct image_session *s = image_session_of(base);
	struct image_task *t = image_task_of(task);
	const uint64_t *vaddr = b->value[PAGEDET_FIELD_VADDR];
	const uint64_t *pfn = b->value[PAGEDET_FIELD_PFN];
	const unsigned shift = s->image->paging.page_shift;
	struct pdet_leaf leaf;
	uint32_t row;

	if (!s->image->memory->live || !t->has_mm)
		return 0;
	for (row = first; row < first + n; row++) {
		if (was_nothing(b, row) && is_something(s, t, vaddr[row]))
			pdet_put_note(b, row, PAGEDET_NOTE_TORN);
		if (pdet_batch_state(b, row, PAGEDET_FIELD_PFN) !=
			    PAGEDET_HAVE ||
		    pdet_batch_get(b, row, PAGEDET_FIELD_NOTES, 0) &
			    PAGEDET_NOTE(PAGEDET_NOTE_STALE))
			continue;
		/*
		 * Check the page before the entry: a page that is unchanged
		 * while the entry still points to it is the right one.
		 */
		if (is_of_another(s, b, row) ||
		    pdet_paging_walk(s->reader, &s->image->paging, t->root,
				     vaddr[row], &leaf) < 0 ||
		    leaf.is != PDET_PT_PAGE ||
		    (leaf.addr + (vaddr[row] - leaf.start)) >> shift !=
			    pfn[row])
			pdet_put_note(b, row, PAGEDET_NOTE_TORN);
	}
	return 0;
}

/* --- mappings of a page --- */

struct search {
	struct owner of;
	const struct pdet_pfnset *set;
	struct pdet_found_list *ret;
	uint64_t start, end;
	bool no_memory;
	int lost;		/* error of a table that could not be read */
};

static int add_found(struct search *q, const struct pdet_leaf *leaf,
		     uint64_t va)
{
	struct pdet_entry e;

	decode(&q->of, leaf, va, &e);
	if (pdet_vec_push(q->ret, (struct pdet_found){ e.pfn, va, e.pte,
						       e.known, 0 }))
		return 0;
	q->no_memory = true;
	return 1;
}

static int search_leaf(void *arg, const struct pdet_leaf *leaf)
{
	struct search *q = arg;
	const unsigned shift = q->of.s->image->paging.page_shift;
	const uint64_t start = PDET_MAX(leaf->start, q->start);
	const uint64_t end = PDET_MIN(leaf->start + leaf->size, q->end);
	const uint64_t pfn = (leaf->addr + (start - leaf->start)) >> shift;
	uint64_t va, at;
	size_t i;

	if (leaf->is != PDET_PT_PAGE)
		return 0;
	for (va = start; !q->set && va < end; va += (uint64_t)1 << shift)
		if (add_found(q, leaf, va))
			return 1;
	if (!q->set)
		return 0;
	i = pdet_pfnset_at(q->set, pfn);
	for (at = pfn; pdet_pfnset_next(q->set, &i, &at, pfn +
					((end - start) >> shift)); at++)
		if (add_found(q, leaf, start + ((at - pfn) << shift)))
			return 1;
	return 0;
}

static int note_lost(void *arg, uint64_t start, uint64_t size, int error)
{
	struct search *q = arg;

	(void)start;
	(void)size;
	q->lost = error;
	return 0;
}

int pdet_image_mappings(struct pdet_session *base, struct pdet_task *task,
			uint64_t start, uint64_t end,
			const struct pdet_pfnset *set,
			struct pdet_found_list *ret)
{
	struct image_session *s = image_session_of(base);
	struct image_task *t = image_task_of(task);
	struct search q = { { s, t, { 0, 0, 0, 0 } }, set, ret, start, end,
			    false, 0 };
	const struct pdet_paging_visit visit = { search_leaf, note_lost, &q,
						 places_of(s) };
	const size_t before = ret->n;
	unsigned looks = 0;

	if (!t->has_mm)
		return 0;
	do {
		q.lost = 0;
		ret->n = before;
		if (pdet_paging_each(s->reader, &s->image->paging, t->root,
				     start, end - 1, &visit) < 0 ||
		    q.no_memory)
			return pdet_fail(&base->env, ENOMEM,
					 "no memory for mappings");
	} while (pdet_image_again(s->image, q.lost, &looks));
	if (!q.lost)
		return 0;
	if (pdet_image_task_same(base, task) < 0)
		return -ESRCH;
	return pdet_fail(&base->env, EBADMSG, "cannot read task %u: some of "
			 "its page tables %s", task->pid,
			 s->image->memory->live ? "change while they are read" :
			 "are damaged or not in the dump");
}
