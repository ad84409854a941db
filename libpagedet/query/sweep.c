/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Knows which stretches of a task are worth one call. */
#include "query/sweep.h"

/* Areas closer than this are read with one call: an empty entry costs 3 ns,
 * a call 1000. */
#define GAP_PAGES 128

static int sweep_range(struct pdet_session *s, struct pdet_task *task,
		       const struct pdet_pfnset *set, uint64_t start,
		       uint64_t end, struct pdet_found_list *ret)
{
	const struct pdet_backend_ops *ops = task->backend->ops;
	struct pdet_range ranges[64];
	int n, i, r;

	while (start < end) {
		n = ops->populated(s, task, &start, end, ranges,
				   PDET_COUNT(ranges));
		if (n < 0)
			return n;
		for (i = 0; i < n; i++) {
			r = ops->mappings(s, task, ranges[i].first,
					  ranges[i].last + 1, set, ret);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

int pdet_sweep_task(struct pdet_session *s, struct pdet_task *task,
		    const struct pdet_pfnset *set, uint64_t page_size,
		    const volatile int *stop, struct pdet_found_list *ret)
{
	const struct pdet_backend_ops *ops = task->backend->ops;
	uint64_t start = 0, end = 0;
	struct pdet_vma vma;
	int r;

	r = ops->vma_first(s, task);
	if (r < 0)
		return r;
	while ((r = ops->vma_next(s, task, &vma)) > 0) {
		if (stop && *stop)
			return 0;
		if (end && vma.start - end <= GAP_PAGES * page_size) {
			end = vma.end;
			continue;
		}
		if (end) {
			r = sweep_range(s, task, set, start, end, ret);
			if (r < 0)
				return r;
		}
		start = vma.start;
		end = vma.end;
	}
	return r < 0 || !end ? r : sweep_range(s, task, set, start, end, ret);
}
