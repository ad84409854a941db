/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Collects a task that maps each page and is not known to the caller. It
 * searches only for pages that have more mappings than are known.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/arguments.h"
#include "api/collect.h"
#include "explain/evidence.h"

static bool is_other(const struct pdet_collecting *c, uint64_t i, uint32_t pid)
{
	const uint32_t own = c->items[i].pid ? c->items[i].pid :
					       (uint32_t)getpid();

	return c->o.target != PAGEDET_TARGET_VIRT || pid != own;
}

static void take_mapper(struct pdet_collecting *c, const uint64_t *which,
			const struct pagedet_iter *it,
			const struct pagedet_page *row)
{
	const uint64_t i = which[row->ask];
	struct pagedet_evidence *e = pdet_evidence_at(&c->list, i);
	const char *comm;

	if (e->mapper_pid ||
	    PAGEDET_CELL_STATE(row->cell[PAGEDET_FIELD_PID]) != PAGEDET_HAVE ||
	    !is_other(c, i, row->pid))
		return;
	e->mapper_pid = row->pid;
	comm = PAGEDET_CELL_STATE(row->cell[PAGEDET_FIELD_COMM]) ==
	       PAGEDET_HAVE ? pagedet_string(it, row->comm, NULL) : NULL;
	e->mapper_comm = comm ? pdet_evidence_text(e, comm) : 0;
}

static int sweep(struct pdet_collecting *c, const struct pagedet_item *pfns,
		 const uint64_t *which, uint64_t n)
{
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	const uint64_t left = pdet_clock_left(c->start_ns, c->o.deadline_ns);
	struct pagedet_page rows[8];
	struct pagedet_iter *it;
	int r, i;

	q.target = PAGEDET_TARGET_MAPPERS;
	q.items = pfns;
	q.n_items = n;
	q.sources = c->o.sources;
	q.deadline_ns = left ? PDET_MIN(left, c->o.mappers_ns) :
			       c->o.mappers_ns;
	pdet_want(&q, PAGEDET_FIELD_ASK);
	pdet_want(&q, PAGEDET_FIELD_PID);
	pdet_want(&q, PAGEDET_FIELD_COMM);
	r = pagedet_query(c->pd, &q, &it);
	if (r < 0)
		return r;
	while ((r = pagedet_next(it, rows, PDET_COUNT(rows))) > 0)
		for (i = 0; i < r; i++)
			if (rows[i].ask < n)
				take_mapper(c, which, it, &rows[i]);
	pagedet_iter_free(it);
	return r;
}

int pdet_collect_mappers(struct pdet_collecting *c)
{
	struct pagedet_item *pfns = calloc(c->list.n, sizeof(*pfns));
	uint64_t *which = calloc(c->list.n, sizeof(*which));
	uint64_t i, n = 0;
	int r = 0;

	for (i = 0; pfns && which && i < c->list.n; i++) {
		const struct pagedet_evidence *e =
			pdet_evidence_at(&c->list, i);
		struct pagedet_page row;

		memcpy(&row, e->here, sizeof(row));
		if (e->extra_mappers != PAGEDET_YES ||
		    PAGEDET_CELL_STATE(row.cell[PAGEDET_FIELD_PFN]) !=
		    PAGEDET_HAVE)
			continue;
		pfns[n].first = row.pfn;
		pfns[n].count = 1;
		which[n++] = i;
	}
	if (!pfns || !which)
		r = pdet_fail(&c->pd->env, ENOMEM, "no memory");
	else if (n)
		r = sweep(c, pfns, which, n);
	free(pfns);
	free(which);
	/* Names are optional: a failure leaves the rest valid. */
	return r == -ENOMEM || r == -ECANCELED ? r : 0;
}
