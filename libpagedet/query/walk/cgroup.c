/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads a cgroup through the mappings of its tasks, if no source can see its
 * charges. The mapped pages are a part of the charges, and usually the larger
 * one.
 */
#include <errno.h>
#include <stdlib.h>

#include "query/query.h"

static struct pdet_backend *backend_of(const struct pdet_iter *it)
{
	size_t i;

	for (i = 0; i < it->n_backends; i++)
		if (it->backends[i]->ops->cgroup &&
		    it->backends[i]->ops->cgroup_tasks)
			return it->backends[i];
	return NULL;
}

/* Changes the query to all pages of these tasks. */
static int ask_tasks(struct pdet_question *q, const uint32_t *pids, size_t n)
{
	struct pagedet_item *items = calloc(n, sizeof(*items));
	size_t i;

	if (!items)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		items[i].count = PAGEDET_TO_END;
		items[i].pid = pids[i];
	}
	free(q->items);
	q->items = items;
	q->n_items = q->items_cap = n;
	q->target = PAGEDET_TARGET_TASK;
	return 0;
}

int pdet_cgroup_by_tasks(struct pdet_iter *it)
{
	struct pdet_backend *b = backend_of(it);
	struct pdet_ability a;
	uint32_t *pids;
	size_t n;
	int r;

	if (it->q.target != PAGEDET_TARGET_CGROUP || !b)
		return 0;
	b->ops->survey(b, it->env, it->q.target, PAGEDET_FIELD_MEMCG_INO,
		       (unsigned)__builtin_ctz(b->sources), &a);
	if (a.reason == PAGEDET_HAVE)
		return 0;
	r = b->ops->cgroup_tasks(b, it->env, it->q.path, &pids, &n);
	if (r < 0)
		return r;
	/*
	 * Otherwise the walk through the charges reports the reason why there
	 * are none.
	 */
	if (n)
		r = ask_tasks(&it->q, pids, n);
	free(pids);
	if (r < 0 || !n)
		return r;
	it->by_tasks = true;
	pdet_log(it->env, PAGEDET_LOG_WARNING, "cannot find the pages that are "
		 "charged to %s: %s%s%s; these are the pages that its tasks "
		 "map",
		 it->q.path, pdet_state_text(a.reason), *a.advice ? "; " : "",
		 a.advice);
	return 0;
}
