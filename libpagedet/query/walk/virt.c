/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Walks addresses of tasks. Each wanted page gets a row, with or without an
 * entry, inside or outside of a VMA. The last task stays open, because the next
 * query is usually about the same one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pairs.h"
#include "query/walk/other.h"
#include "query/walk/vma_columns.h"

struct walk_virt {
	struct pdet_walk walk;
	uint64_t item;
	uint64_t at;		/* pages of it that were delivered */
	struct pdet_task *task; /* task of the last item; NULL: none */
	bool have_vma;		/* vma covers or follows vma_for */
	bool vma_none;		/* there is no VMA at or behind it */
	uint64_t vma_for;
	struct pdet_vma vma;
	struct pdet_pairs passed; /* pids counted as ended or denied */
	struct pdet_other other; /* shows entries that the source cannot */
};

static struct walk_virt *walk_of(struct pdet_walk *w)
{
	return PDET_CONTAINER(w, struct walk_virt, walk);
}

static void close_task(struct walk_virt *w)
{
	if (w->task)
		w->walk.backend->ops->task_close(w->task);
	w->task = NULL;
	w->have_vma = false;
}

/* The pages of an item: first address and number. */
static uint64_t item_pages(const struct pagedet_item *item, uint64_t page,
			   uint64_t *first)
{
	uint64_t last = item->count > UINT64_MAX - item->first ?
		UINT64_MAX : item->first + (item->count - 1);

	*first = item->first & ~(page - 1);
	return ((last - *first) >> __builtin_ctzll(page)) + 1;
}

static int open_task(struct walk_virt *w, struct pdet_session *s, uint32_t pid)
{
	int r;

	if (w->task && w->task->pid == pid)
		return 0;
	close_task(w);
	r = w->walk.backend->ops->task_open(s, pid, &w->task);
	if (r < 0)
		w->task = NULL;
	return r;
}

static int virt_begin(struct pdet_walk *base, struct pdet_worker *k)
{
	const struct pdet_question *q = &base->it->q;

	return q->n_items == 1 ? open_task(walk_of(base),
					   pdet_session_of(k, base),
					   q->items[0].pid) : 0;
}

static int virt_next(struct pdet_walk *base, struct pdet_worker *k,
		     struct pdet_span *span, uint64_t pages)
{
	struct walk_virt *w = walk_of(base);
	const struct pdet_question *q = &base->it->q;
	uint64_t first, n;

	(void)k;
	if (w->item == q->n_items)
		return 0;
	n = item_pages(&q->items[w->item], base->it->page_size, &first);
	span->item = w->item;
	span->at = w->at;
	span->end = w->at + PDET_MIN(pages, n - w->at);
	span->place = first + span->at * base->it->page_size;
	w->at = span->end;
	if (w->at == n) {
		w->item++;
		w->at = 0;
	}
	return 1;
}

/*
 * Reads entries. A pagemap descriptor belongs to one address space: after an
 * exec the pid has another one, and is opened again. A task without an address
 * space adds no entries.
 */
static int read_entries(struct walk_virt *w, struct pdet_session *s,
			uint32_t pid, uint64_t *at, uint64_t end,
			struct pdet_batch *b)
{
	const struct pdet_backend_ops *ops = w->walk.backend->ops;
	const uint32_t rows = b->n;
	const uint64_t first = *at;
	unsigned i;
	int r = 0;

	for (i = 0; i < 2; i++) {
		r = open_task(w, s, pid);
		if (r < 0)
			break;
		r = ops->entries(s, w->task, at, end, true, b);
		if (r != -ESRCH)
			break;
		pdet_batch_cut(b, rows);
		*at = first;
		close_task(w);
	}
	return r;
}

/*
 * Skips a task if the query has several, because the others still need answers.
 * Several items, and parts of them, may be about one task, which is counted
 * once.
 */
static bool passes_over(struct walk_virt *w, struct pdet_worker *k,
			uint32_t pid, int error)
{
	uint64_t before;

	if (w->walk.it->q.n_items == 1 ||
	    (error != -ESRCH && error != -EACCES))
		return false;
	if (pdet_pairs_get(&w->passed, pid, &before))
		return true;
	/* Without memory it may be counted twice. */
	(void)pdet_pairs_set(&w->passed, pid, 1);
	k->cover.tasks_gone += error == -ESRCH;
	k->cover.tasks_denied += error == -EACCES;
	return true;
}

/*
 * Finds the VMA that covers or follows @addr. Returns 1, 0 if there is none, or
 * negative errno.
 */
static int find_vma(struct walk_virt *w, struct pdet_session *s, uint64_t addr)
{
	int r;

	if (w->have_vma && addr >= w->vma_for &&
	    (w->vma_none || addr < w->vma.end))
		return !w->vma_none;
	r = w->walk.backend->ops->vma_at(s, w->task, addr, &w->vma);
	if (r < 0)
		return r;
	w->have_vma = true;
	w->vma_none = r == 0;
	w->vma_for = addr;
	return r;
}

/* Whether a row needs its VMA. The source may not know whether there is one
 * where it cannot show the entry. */
static bool needs_vma(const struct pdet_batch *b, uint32_t row, bool always)
{
	const unsigned kind = PAGEDET_FIELD_KIND;

	if (always || pdet_batch_state(b, row, PAGEDET_FIELD_PFN) ==
			      PAGEDET_UNSUPPORTED)
		return true;
	if (!b->value[kind])
		return false;
	return b->cell[kind][row] ||
	       !(pdet_batch_get(b, row, PAGEDET_FIELD_PTE, 0) &
		 PAGEDET_PTE(PAGEDET_PTE_PRESENT)) ||
	       pdet_batch_state(b, row, PAGEDET_FIELD_PFN) != PAGEDET_HAVE;
}

/* For rows [row, end). */
static int put_vmas(struct walk_virt *w, struct pdet_session *s,
		    struct pdet_batch *b, uint32_t row, uint32_t end)
{
	const uint64_t *vaddr = b->value[PAGEDET_FIELD_VADDR];
	const struct pdet_iter *it = w->walk.it;
	bool always = pdet_vma_wanted(&it->plan);
	uint32_t n;
	int r;

	for (; row < end; row += n) {
		n = 1;
		if (!needs_vma(b, row, always))
			continue;
		r = find_vma(w, s, vaddr[row]);
		if (r == -EBADMSG) {
			pdet_vma_put_lost(b, row, n, pdet_live_reason(it->live,
					  PAGEDET_CORRUPT), w->walk.source);
			continue;
		}
		if (r < 0)
			return r;
		if (r == 0 || vaddr[row] < w->vma.start) {
			while (row + n < end &&
			       (r == 0 || vaddr[row + n] < w->vma.start))
				n++;
			pdet_vma_put_none(b, row, n, w->walk.source);
			continue;
		}
		while (always && row + n < end &&
		       vaddr[row + n] < w->vma.end)
			n++;
		pdet_vma_put(it, b, row, n, &w->vma, w->walk.source);
	}
	return 0;
}

/* Asks another source for entries that this one cannot show, which are only in
 * areas. */
static int put_others(struct walk_virt *w, struct pdet_worker *k, uint32_t pid,
		      struct pdet_batch *b, uint32_t row)
{
	bool other;
	uint32_t n;
	int r = pdet_other_entries(&w->other, &w->walk, k, pid, b, row);

	for (; row < b->n && r == 0; row += n) {
		n = pdet_other_answered(&w->other, b, row, &other);
		if (other)
			r = put_vmas(w, pdet_session_of(k, &w->walk), b, row,
				     row + n);
	}
	return r;
}

static int virt_place(struct pdet_walk *base, struct pdet_worker *k,
		      struct pdet_span *span, struct pdet_batch *b)
{
	struct walk_virt *w = walk_of(base);
	struct pdet_session *s = pdet_session_of(k, base);
	const struct pagedet_item *item = &base->it->q.items[span->item];
	const uint64_t page = base->it->page_size;
	uint64_t first, addr, end, n;
	uint32_t row = b->n;
	int r;

	/* A VMA from an earlier batch may be outdated. */
	w->have_vma = false;
	item_pages(item, page, &first);
	addr = first + span->at * page;
	n = PDET_MIN(span->end - span->at, (uint64_t)(b->cap - b->n));
	/*
	 * The last page of the address space ends at 2^64, which is not
	 * representable. Its end becomes the last representable multiple of the
	 * page size.
	 */
	end = addr + n * page;
	r = read_entries(w, s, item->pid, &addr, end ? end : UINT64_MAX, b);
	if (r == 0)
		r = put_vmas(w, s, b, row, b->n);
	if (r == 0)
		r = put_others(w, k, item->pid, b, row);
	if (r < 0 && !passes_over(w, k, item->pid, r))
		return r;
	if (r < 0) {
		pdet_batch_cut(b, row);
		span->at = span->end;
		return 0;
	}
	pdet_task_put(s, w->task, b, row, b->n - row, base->source);
	pdet_put_run(b, row, b->n - row, PAGEDET_FIELD_ASK, span->item,
		     PAGEDET_SOURCE_DERIVED);
	k->cover.visited += b->n - row;
	span->at += n;
	span->place += n * page;
	return 0;
}

static bool virt_glance(struct pdet_walk *base, struct pdet_worker *k,
			struct pdet_batch *b)
{
	struct walk_virt *w = walk_of(base);
	const struct pdet_question *q = &base->it->q;
	const uint64_t page = base->it->page_size;
	const uint64_t addr = q->items[0].first & ~(page - 1);
	const bool again = !(q->options & PAGEDET_Q_UNCHECKED);

	/* The item is in one page of the same task as before. */
	if (q->items[0].first - addr + (q->items[0].count - 1) >= page ||
	    !w->task || w->task->pid != q->items[0].pid ||
	    !w->walk.backend->ops->glance)
		return false;
	if (!w->walk.backend->ops->glance(pdet_session_of(k, base), w->task,
					  addr, again, b))
		return false;
	pdet_put(b, 0, PAGEDET_FIELD_VADDR, addr, base->source);
	pdet_put(b, 0, PAGEDET_FIELD_PID, w->task->pid, base->source);
	pdet_put(b, 0, PAGEDET_FIELD_ASK, 0, PAGEDET_SOURCE_DERIVED);
	return true;
}

static int virt_recheck(struct pdet_walk *base, struct pdet_worker *k,
			struct pdet_span *span, struct pdet_batch *b)
{
	struct walk_virt *w = walk_of(base);
	const struct pdet_other *o = &w->other;
	uint32_t row, n;
	bool other;
	int r = 0;

	(void)span;
	for (row = 0; row < b->n && r == 0; row += n) {
		n = pdet_other_answered(o, b, row, &other);
		if (other)
			r = o->task ? o->backend->ops->recheck(
					k->session[o->index], o->task, b, row,
					n) : 0;
		else
			r = base->backend->ops->recheck(
					pdet_session_of(k, base), w->task, b,
					row, n);
	}
	return r;
}

static int virt_retarget(struct pdet_walk *base, struct pdet_worker *k)
{
	struct walk_virt *w = walk_of(base);

	(void)k;
	w->item = 0;
	w->at = 0;
	pdet_pairs_free(&w->passed);
	return 0;
}

static void virt_free(struct pdet_walk *base)
{
	struct walk_virt *w = walk_of(base);

	close_task(w);
	pdet_other_free(&w->other);
	pdet_pairs_free(&w->passed);
	free(w);
}

static const struct pdet_walk_ops virt_ops = {
	.begin = virt_begin,
	.next = virt_next,
	.place = virt_place,
	.glance = virt_glance,
	.recheck = virt_recheck,
	.retarget = virt_retarget,
	.free = virt_free,
};

int pdet_walk_virt(struct pdet_iter *it, struct pdet_walk **ret)
{
	const int r = pdet_walk_new(it, &virt_ops, sizeof(struct walk_virt),
				    ret);

	/* The walk shares the descriptors and the VMA of one task. */
	if (r == 0)
		(*ret)->serial = true;
	return r;
}
