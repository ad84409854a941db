/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Walks every entry of whole tasks. A span is a list of address ranges with
 * about as many pages as a batch has rows. Each range is inside one VMA.
 * Neighbours with small gaps are read with one call. If the query needs no
 * VMAs, and the backend can find populated addresses without them, all
 * addresses are one range.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend/spaces.h"
#include "base/pairs.h"
#include "query/walk/vma_columns.h"

/* Reading an empty entry costs 3 ns, a call 1000 ns. */
#define GAP_PAGES 128

/* A task that is shared by the walk and its spans. */
struct shared_task {
	struct pdet_task *task;
	atomic_uint users;
	atomic_bool gone;	/* it ended and was counted as that */
};

struct segment {
	uint64_t start, end;
	size_t vma;
};

struct task_span {
	struct shared_task *task;
	struct {
		struct segment *data;
		size_t n, cap;
	} segments;
	struct {
		struct pdet_vma *data;
		size_t n, cap;
	} vmas;
	struct {
		char *data;
		size_t n, cap;
	} names;
	size_t at;		/* index of the segment */
	uint64_t addr;		/* address in it */
};

struct walk_task {
	struct pdet_walk walk;
	uint64_t item;
	struct shared_task *task; /* NULL: the next task is not open yet */
	bool whole;		/* its VMAs are not needed */
	struct pdet_range space; /* then the range of all addresses */
	bool has_vma;
	struct pdet_vma vma;
	char *name;		/* name of the VMA */
	size_t name_cap;
	uint64_t addr;		/* address in it */
	struct pdet_range ranges[64];
	int range, n_ranges;
	bool one_range;		/* all items are about the same addresses */
	struct pdet_pairs named; /* pids of the items so far */
	struct pdet_spaces spaces; /* of the tasks so far */
};

static struct walk_task *walk_of(struct pdet_walk *w)
{
	return PDET_CONTAINER(w, struct walk_task, walk);
}

static void task_put(struct shared_task *t)
{
	if (!t || atomic_fetch_sub(&t->users, 1) != 1)
		return;
	t->task->backend->ops->task_close(t->task);
	free(t);
}

/*
 * Counts a task that ended. The rows that were read are still right. Each span
 * and VMA of the task may notice the end, but it is counted once.
 */
static void count_gone(struct shared_task *t, struct pdet_worker *k)
{
	k->cover.tasks_gone += !atomic_exchange(&t->gone, true);
}

/* Whether the query wants something that only a VMA shows. */
static bool wants_vmas(const struct pdet_iter *it)
{
	return pdet_vma_wanted(&it->plan) ||
	       pdet_fields_has(&it->plan.columns, PAGEDET_FIELD_KIND);
}

/* Starts before the first VMA, or with all addresses as one range. */
static int begin_task(struct walk_task *w, struct pdet_session *s,
		      struct pdet_task *task)
{
	const struct pdet_backend_ops *ops = w->walk.backend->ops;
	int r = 0;

	w->has_vma = false;
	if (ops->space && !wants_vmas(w->walk.it))
		r = ops->space(s, task, &w->space);
	w->whole = r > 0;
	return r ? PDET_MIN(r, 0) : ops->vma_first(s, task);
}

static bool has_one_range(const struct pdet_question *q)
{
	uint64_t i;

	for (i = 1; i < q->n_items; i++)
		if (q->items[i].first != q->items[0].first ||
		    q->items[i].count != q->items[0].count)
			return false;
	return true;
}

/* Whether a page of one of two tasks with the same address space stands for
 * that of the other: in sums to which the task does not matter. */
static bool merges(const struct walk_task *w)
{
	static const uint32_t of_task[] = {
		PAGEDET_FIELD_ASK, PAGEDET_FIELD_PID, PAGEDET_FIELD_TGID,
		PAGEDET_FIELD_COMM,
	};
	const struct pdet_iter *it = w->walk.it;
	size_t i;

	for (i = 0; i < PDET_COUNT(of_task); i++)
		if (pdet_fields_has(&it->plan.columns, of_task[i]))
			return false;
	return it->q.n_group_by;
}

/*
 * Counts a task with the address space of one before: its rows are the same.
 * Returns 1 if they are to be left out, 0, or a negative errno.
 */
static int count_again(struct walk_task *w, struct pdet_worker *k,
		       const struct pdet_task *task)
{
	struct pdet_session *s = pdet_session_of(k, &w->walk);
	const struct pdet_backend_ops *ops = w->walk.backend->ops;
	const uint64_t pid = w->walk.it->q.items[w->item].pid;
	struct pdet_task is = *task;
	uint64_t before;
	int r;

	if (w->walk.it->q.n_items == 1 || !w->one_range)
		return 0;
	if (pdet_pairs_get(&w->named, pid, &before)) {
		r = PDET_SPACE_SHARED;
	} else if (!pdet_pairs_set(&w->named, pid, w->item)) {
		r = -ENOMEM;
	} else {
		if (!is.space && ops->space_key)
			is.space_key = ops->space_key(s, is.thread);
		/* It has none, or it is not known. */
		if (!is.space && !is.space_key)
			return 0;
		r = pdet_spaces_add(&w->spaces, s, &is);
	}
	if (r < 0)
		return pdet_fail(&s->env, ENOMEM, "no memory");
	if (r != PDET_SPACE_SHARED)
		return 0;
	if (merges(w)) {
		k->cover.tasks_merged++;
		return 1;
	}
	k->cover.tasks_again++;
	return 0;
}

/*
 * Opens the task of the next item. Returns 1, 0 after the last item, or
 * negative errno.
 */
static int open_next(struct walk_task *w, struct pdet_worker *k)
{
	const struct pdet_question *q = &w->walk.it->q;
	const struct pdet_backend_ops *ops = w->walk.backend->ops;
	struct pdet_session *s = pdet_session_of(k, &w->walk);
	struct shared_task *t;
	int r;

	for (; w->item < q->n_items; w->item++) {
		t = calloc(1, sizeof(*t));
		if (!t)
			return pdet_fail(&s->env, ENOMEM, "no memory");
		r = ops->task_open(s, q->items[w->item].pid, &t->task);
		if (r == 0) {
			atomic_init(&t->users, 1);
			atomic_init(&t->gone, false);
			r = begin_task(w, s, t->task);
			if (r == 0)
				r = count_again(w, k, t->task);
			if (r == 0) {
				w->task = t;
				k->cover.tasks++;
				return 1;
			}
			task_put(t);
			if (r > 0)
				continue;
		} else {
			free(t);
		}
		/*
		 * If the query names one task, an error is its answer. If it
		 * names several, some may have ended or be unreadable.
		 */
		if (q->n_items == 1)
			return r;
		if (r != -ESRCH && r != -EACCES)
			return r;
		pdet_cover_unread(&k->cover, s, q->items[w->item].pid, r);
	}
	return 0;
}

static bool keep_name(struct walk_task *w, struct pdet_vma *vma)
{
	char *name;

	if (vma->name_len > w->name_cap) {
		name = realloc(w->name, vma->name_len);
		if (!name)
			return false;
		w->name = name;
		w->name_cap = vma->name_len;
	}
	if (vma->name_len)
		memcpy(w->name, vma->name, vma->name_len);
	vma->name = w->name;
	return true;
}

/* The last byte of an item. */
static uint64_t item_last(const struct pagedet_item *item)
{
	return item->count - 1 > UINT64_MAX - item->first ?
		UINT64_MAX : item->first + (item->count - 1);
}

/* Takes all addresses, once. */
static int take_space(struct walk_task *w)
{
	if (w->space.first > w->space.last)
		return 0;
	memset(&w->vma, 0, sizeof(w->vma));
	w->vma.start = w->space.first;
	w->vma.end = w->space.last + 1;
	w->space.first = w->vma.end;
	return 1;
}

/*
 * Moves to the next VMA in the item's range. Returns 1, or 0 at the end of the
 * task.
 */
static int next_vma(struct walk_task *w, struct pdet_worker *k)
{
	const struct pagedet_item *item = &w->walk.it->q.items[w->item];
	const struct pdet_backend_ops *ops = w->walk.backend->ops;
	struct pdet_session *s = pdet_session_of(k, &w->walk);
	uint64_t last = item_last(item);
	int r;

	for (;;) {
		r = w->whole ? take_space(w) :
			       ops->vma_next(s, w->task->task, &w->vma);
		if (r == -EBADMSG) {
			k->cover.partial = true;
			return 0;
		}
		if (r <= 0)
			return r;
		if (w->vma.start > last)
			return 0;
		if (w->vma.end > item->first)
			break;
	}
	/* Pages that a driver has mapped may be missing from the rows. */
	if (!w->whole && !k->cover.partial && ops->blind &&
	    ops->blind(s, w->task->task, &w->vma, PDET_BLIND_KERNEL))
		k->cover.partial = true;
	if (!keep_name(w, &w->vma))
		return pdet_fail(&s->env, ENOMEM, "no memory");
	w->has_vma = true;
	w->addr = PDET_MAX(w->vma.start, item->first &
			   ~(w->walk.it->page_size - 1));
	w->range = w->n_ranges = 0;
	return 1;
}

/* Copies the VMA to the span. Returns its index, or -1 without memory. */
static int64_t span_vma(struct walk_task *w, struct task_span *span)
{
	struct pdet_vma vma = w->vma;
	size_t i;

	if (span->vmas.n &&
	    span->vmas.data[span->vmas.n - 1].start == vma.start)
		return (int64_t)span->vmas.n - 1;
	/* Names move while the arena grows: keep the offset. */
	vma.name = (const char *)(uintptr_t)span->names.n;
	for (i = 0; i < w->vma.name_len; i++)
		if (!pdet_vec_push(&span->names, w->vma.name[i]))
			return -1;
	return pdet_vec_push(&span->vmas, vma) ?
		(int64_t)span->vmas.n - 1 : -1;
}

/* Adds pages of the current VMA to the span, at most @room. */
static int add_segments(struct walk_task *w, struct pdet_worker *k,
			struct task_span *span, uint64_t *room)
{
	const struct pagedet_item *item = &w->walk.it->q.items[w->item];
	const struct pdet_backend_ops *ops = w->walk.backend->ops;
	struct pdet_session *s = pdet_session_of(k, &w->walk);
	const uint64_t page = w->walk.it->page_size;
	/* the last byte that is wanted, moved to the end of its page */
	uint64_t last = item_last(item) | (page - 1);
	uint64_t end = last < w->vma.end ? last + 1 : w->vma.end;
	int64_t vma;

	while (*room) {
		struct pdet_range *range;
		struct segment segment;

		if (w->range == w->n_ranges) {
			uint64_t before = w->addr, found = 0;
			int i;

			if (w->addr >= end)
				break;
			w->n_ranges = ops->populated(s, w->task->task,
						     &w->addr, end, w->ranges,
						     PDET_COUNT(w->ranges));
			w->range = 0;
			if (w->n_ranges < 0) {
				int r = w->n_ranges;

				w->n_ranges = 0;
				return r;
			}
			for (i = 0; i < w->n_ranges; i++)
				found += w->ranges[i].last + 1 -
					 w->ranges[i].first;
			/* Addresses outside of VMAs are not places. */
			if (!w->whole)
				k->cover.skipped +=
					(w->addr - before - found) / page;
			continue;
		}
		range = &w->ranges[w->range];
		segment.start = range->first;
		segment.end = range->first +
			PDET_MIN((range->last - range->first) / page + 1,
				 *room) * page;
		vma = span_vma(w, span);
		segment.vma = (size_t)vma;
		if (vma < 0 || !pdet_vec_push(&span->segments, segment))
			return pdet_fail(&s->env, ENOMEM, "no memory");
		*room -= (segment.end - segment.start) / page;
		range->first = segment.end;
		if (range->first > range->last)
			w->range++;
	}
	return 0;
}

static int task_begin(struct pdet_walk *base, struct pdet_worker *k)
{
	struct walk_task *w = walk_of(base);
	int r;

	w->one_range = has_one_range(&base->it->q);
	r = open_next(w, k);
	return r < 0 ? r : 0;
}

static int task_next(struct pdet_walk *base, struct pdet_worker *k,
		     struct pdet_span *span, uint64_t pages)
{
	struct walk_task *w = walk_of(base);
	struct task_span *ts = span->data;
	uint64_t room = pages;
	int r;

	if (!ts)
		span->data = ts = calloc(1, sizeof(*ts));
	if (!ts)
		return pdet_fail(&pdet_session_of(k, base)->env, ENOMEM,
				 "no memory");
	task_put(ts->task);
	ts->task = NULL;
	ts->segments.n = ts->vmas.n = ts->names.n = 0;
	ts->at = 0;
	while (room) {
		if (!w->task) {
			r = open_next(w, k);
			if (r <= 0)
				return r;
		}
		if (!w->has_vma) {
			r = next_vma(w, k);
			if (r < 0)
				return r;
			if (r == 0) {
				/* A span is of one task. */
				bool some = ts->segments.n;

				if (some)
					break;
				task_put(w->task);
				w->task = NULL;
				w->item++;
				continue;
			}
		}
		r = add_segments(w, k, ts, &room);
		if (r == -ESRCH) {
			count_gone(w->task, k);
			w->space.first = UINT64_MAX;
			w->space.last = 0;
			r = 0;
		}
		if (r < 0)
			return r;
		if (room)
			w->has_vma = false;
	}
	atomic_fetch_add(&w->task->users, 1);
	ts->task = w->task;
	ts->addr = ts->segments.data[0].start;
	span->item = w->item;
	span->place = ts->addr;
	span->at = 0;
	span->end = 1;
	return 1;
}

/*
 * Sets the VMA columns of the rows from @row on, which are in ascending order.
 */
static void put_vmas(struct pdet_walk *w, struct task_span *span,
		     struct pdet_batch *b, uint32_t row, unsigned source)
{
	const uint64_t *vaddr = b->value[PAGEDET_FIELD_VADDR];
	size_t i = span->at;
	uint32_t n;

	while (row < b->n) {
		const struct segment *s;
		struct pdet_vma vma;

		while (span->segments.data[i].end <= vaddr[row])
			i++;
		s = &span->segments.data[i];
		for (n = 1; row + n < b->n && vaddr[row + n] < s->end; n++)
			;
		vma = span->vmas.data[s->vma];
		vma.name = vma.name_len ?
			span->names.data + (uintptr_t)vma.name : NULL;
		pdet_vma_put(w->it, b, row, n, &vma, source);
		row += n;
	}
}

/*
 * Drops rows between segments. Their area appeared after the list of areas was
 * made, so it belongs to the next query.
 */
static void drop_strangers(struct pdet_worker *k, const struct task_span *span,
			   struct pdet_batch *b, uint32_t row)
{
	const uint64_t *vaddr = b->value[PAGEDET_FIELD_VADDR];
	size_t i = span->at;
	uint32_t r, dropped = 0;

	memset(k->keep, 1, row);
	for (r = row; r < b->n; r++) {
		while (i < span->segments.n &&
		       span->segments.data[i].end <= vaddr[r])
			i++;
		k->keep[r] = i < span->segments.n &&
			     span->segments.data[i].start <= vaddr[r];
		dropped += !k->keep[r];
	}
	if (dropped)
		pdet_batch_keep(b, k->keep);
}

static int task_place(struct pdet_walk *w, struct pdet_worker *k,
		      struct pdet_span *span, struct pdet_batch *b)
{
	const struct pdet_backend_ops *ops = w->backend->ops;
	struct pdet_session *s = pdet_session_of(k, w);
	struct task_span *ts = span->data;
	const uint64_t gap = GAP_PAGES * w->it->page_size;
	const bool vma = wants_vmas(w->it);
	const unsigned source = w->source;
	int r;

	while (ts->at < ts->segments.n && b->n < b->cap) {
		const struct segment *seg = ts->segments.data;
		size_t last = ts->at;
		uint32_t row = b->n;
		uint64_t before = ts->addr;

		while (last + 1 < ts->segments.n &&
		       seg[last + 1].start - seg[last].end <= gap)
			last++;
		r = ops->entries(s, ts->task->task, &ts->addr, seg[last].end,
				 false, b);
		if (r == -ESRCH) {
			count_gone(ts->task, k);
			ts->at = ts->segments.n;
			break;
		}
		if (r < 0)
			return r;
		k->cover.visited += (ts->addr - before) / w->it->page_size;
		if (last > ts->at)
			drop_strangers(k, ts, b, row);
		if (vma)
			put_vmas(w, ts, b, row, source);
		while (ts->at < ts->segments.n &&
		       seg[ts->at].end <= ts->addr)
			ts->at++;
		if (ts->at < ts->segments.n && ts->addr < seg[ts->at].start)
			ts->addr = seg[ts->at].start;
	}
	pdet_task_put(s, ts->task->task, b, 0, b->n, source);
	pdet_put_run(b, 0, b->n, PAGEDET_FIELD_ASK, span->item,
		     PAGEDET_SOURCE_DERIVED);
	span->place = ts->addr;
	if (ts->at == ts->segments.n)
		span->at = span->end;
	return 0;
}

static int task_recheck(struct pdet_walk *w, struct pdet_worker *k,
			struct pdet_span *span, struct pdet_batch *b)
{
	struct task_span *ts = span->data;

	return w->backend->ops->recheck(pdet_session_of(k, w), ts->task->task,
					b, 0, b->n);
}

static void task_span_free(struct pdet_walk *w, struct pdet_span *span)
{
	struct task_span *ts = span->data;

	(void)w;
	if (!ts)
		return;
	task_put(ts->task);
	pdet_vec_free(&ts->segments);
	pdet_vec_free(&ts->vmas);
	pdet_vec_free(&ts->names);
	free(ts);
	span->data = NULL;
}

static int task_retarget(struct pdet_walk *base, struct pdet_worker *k)
{
	struct walk_task *w = walk_of(base);

	(void)k;
	task_put(w->task);
	w->task = NULL;
	w->has_vma = false;
	w->item = 0;
	w->one_range = has_one_range(&base->it->q);
	pdet_pairs_free(&w->named);
	pdet_spaces_empty(&w->spaces);
	return 0;
}

static void task_free(struct pdet_walk *base)
{
	struct walk_task *w = walk_of(base);

	task_put(w->task);
	pdet_pairs_free(&w->named);
	pdet_spaces_free(&w->spaces);
	free(w->name);
	free(w);
}

static const struct pdet_walk_ops task_ops = {
	.begin = task_begin,
	.next = task_next,
	.place = task_place,
	.recheck = task_recheck,
	.span_free = task_span_free,
	.retarget = task_retarget,
	.free = task_free,
};

int pdet_walk_task(struct pdet_iter *it, struct pdet_walk **ret)
{
	return pdet_walk_new(it, &task_ops, sizeof(struct walk_task), ret);
}
