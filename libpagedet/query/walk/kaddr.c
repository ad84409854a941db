/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Walks kernel addresses. Each one gets a row about the page that it is mapped
 * to, or about the page whose struct page is there.
 */
#include <errno.h>
#include <stdlib.h>

#include "query/query.h"

struct walk_kaddr {
	struct pdet_walk walk;
	uint64_t item;		/* index of the next one */
};

static struct walk_kaddr *walk_of(struct pdet_walk *w)
{
	return PDET_CONTAINER(w, struct walk_kaddr, walk);
}

/* A span is a few items. */
static int kaddr_next(struct pdet_walk *base, struct pdet_worker *k,
		      struct pdet_span *span, uint64_t pages)
{
	struct walk_kaddr *w = walk_of(base);
	const uint64_t n = base->it->q.n_items;

	(void)k;
	if (w->item == n)
		return 0;
	span->item = w->item;
	span->at = 0;
	span->end = PDET_MIN(pages, n - w->item);
	span->place = w->item;
	w->item += span->end;
	return 1;
}

static int kaddr_place(struct pdet_walk *base, struct pdet_worker *k,
		       struct pdet_span *span, struct pdet_batch *b)
{
	struct pdet_session *s = pdet_session_of(k, base);
	const struct pagedet_item *items = base->it->q.items + span->item;
	int r;

	for (; span->at < span->end && b->n < b->cap; span->at++) {
		const uint32_t row = b->n;

		r = base->backend->ops->kaddr(s, items[span->at].first,
					      items[span->at].flags, b);
		if (r < 0)
			return r;
		pdet_put(b, row, PAGEDET_FIELD_ASK, span->item + span->at,
			 PAGEDET_SOURCE_DERIVED);
		k->cover.visited++;
	}
	span->place = span->item + span->at;
	return 0;
}

static int kaddr_recheck(struct pdet_walk *base, struct pdet_worker *k,
			 struct pdet_span *span, struct pdet_batch *b)
{
	const struct pagedet_item *items = base->it->q.items;
	const uint64_t *ask = b->value[PAGEDET_FIELD_ASK];
	uint32_t row;

	(void)span;
	for (row = 0; row < b->n; row++)
		base->backend->ops->kaddr_recheck(pdet_session_of(k, base),
						  items[ask[row]].first,
						  items[ask[row]].flags, b,
						  row);
	return 0;
}

static int kaddr_retarget(struct pdet_walk *base, struct pdet_worker *k)
{
	struct walk_kaddr *w = walk_of(base);

	(void)k;
	w->item = 0;
	base->total = base->it->q.n_items;
	return 0;
}

static void kaddr_free(struct pdet_walk *base)
{
	free(walk_of(base));
}

static const struct pdet_walk_ops kaddr_ops = {
	.next = kaddr_next,
	.place = kaddr_place,
	.recheck = kaddr_recheck,
	.retarget = kaddr_retarget,
	.free = kaddr_free,
};

static int no_source(struct pdet_iter *it)
{
	pdet_fail(it->env, ENOTSUP,
		  "cannot look up kernel addresses: no source that reads kernel memory is open");
	pdet_advise(it->env, "needs a vmcore, /proc/kcore or BPF");
	return -ENOTSUP;
}

int pdet_walk_kaddr(struct pdet_iter *it, struct pdet_walk **ret)
{
	int r;

	if (pdet_walker(it) < 0)
		return no_source(it);
	r = pdet_walk_new(it, &kaddr_ops, sizeof(struct walk_kaddr), ret);
	if (r == 0)
		(*ret)->total = it->q.n_items;
	return r;
}
