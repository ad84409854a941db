/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads where a task maps pages. It knows which areas are worth one call
 * together.
 */
#include <errno.h>

#include "query/sweep.h"

/*
 * If areas are closer than this, they are read with one call: an empty entry
 * costs 3 ns, a call 1000 ns.
 */
#define GAP_PAGES 128

/* The pages of one call: half a millisecond. */
#define STEP_PAGES 16384

struct sweep {
	struct pdet_session *s;
	struct pdet_task *task;
	const struct pdet_pfnset *set;
	uint64_t page_size;
	bool (*stop)(void *arg);
	void *arg;
	struct pdet_found_list *ret;
};

/* Reads the populated pages in [start, end). */
static int look(const struct sweep *w, uint64_t start, uint64_t end)
{
	const struct pdet_backend_ops *ops = w->task->backend->ops;
	uint64_t to;
	int r;

	for (; start < end; start = to) {
		if (w->stop(w->arg))
			return 1;
		to = end - start > STEP_PAGES * w->page_size ?
			start + STEP_PAGES * w->page_size : end;
		r = ops->mappings(w->s, w->task, start, to, w->set, w->ret);
		if (r < 0)
			return r;
	}
	return 0;
}

static int sweep_range(const struct sweep *w, uint64_t start, uint64_t end)
{
	const struct pdet_backend_ops *ops = w->task->backend->ops;
	struct pdet_range ranges[64];
	int n, i, r;

	while (start < end) {
		n = ops->populated(w->s, w->task, &start, end, ranges,
				   PDET_COUNT(ranges));
		if (n < 0)
			return n;
		for (i = 0; i < n; i++) {
			r = look(w, ranges[i].first, ranges[i].last + 1);
			if (r)
				return r;
		}
	}
	return 0;
}

int pdet_sweep_task(struct pdet_session *s, struct pdet_task *task,
		    const struct pdet_pfnset *set, uint64_t page_size,
		    bool (*stop)(void *arg), void *arg, unsigned *blind,
		    struct pdet_found_list *ret)
{
	const struct sweep w = { s, task, set, page_size, stop, arg, ret };
	const struct pdet_backend_ops *ops = task->backend->ops;
	uint64_t start = 0, end = 0;
	struct pdet_vma vma;
	int r, last;

	r = ops->vma_first(s, task);
	if (r < 0)
		return r;
	while ((r = ops->vma_next(s, task, &vma)) > 0) {
		if (ops->blind)
			*blind |= ops->blind(s, task, &vma, *blind);
		if (end && vma.start - end <= GAP_PAGES * page_size) {
			end = vma.end;
			continue;
		}
		if (end) {
			r = sweep_range(&w, start, end);
			if (r)
				return r;
		}
		start = vma.start;
		end = vma.end;
	}
	/* Other areas may be missing, but these are true. */
	if ((r < 0 && r != -EBADMSG) || !end)
		return r;
	last = sweep_range(&w, start, end);
	return last ? last : r;
}
