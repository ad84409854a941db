/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Walks the rows of a snapshot. A span is one block of the file. Blocks that a
 * filter on pfn excludes are not read. If rows can be compared without being
 * made, they are not made.
 */
#include <errno.h>
#include <stdlib.h>

#include "diff/alike.h"
#include "query/query.h"
#include "snapshot/format.h"
#include "snapshot/read.h"

struct walk_saved {
	struct pdet_walk walk;
	const struct pdet_snapshot *file;
	struct pdet_fields fields; /* saved and wanted fields */
	uint64_t first, last;	/* frames that the filter may match */
	size_t next;		/* index of the next block */
	struct pdet_alike *alike; /* names the rows of this side that are left
				   * out; or NULL */
	unsigned side;
};

static struct walk_saved *walk_of(struct pdet_walk *w)
{
	return PDET_CONTAINER(w, struct walk_saved, walk);
}

static bool may_match(const struct walk_saved *w,
		      const struct pdet_snapshot_place *place)
{
	return !(pdet_snapshot_end(w->file)->flags & PDET_SNAPSHOT_ALL_PFN) ||
	       (place->first <= w->last && place->last >= w->first);
}

/*
 * Moves *@at to the next row of a block that must be made, and *@end to the end
 * of these rows. If there is none, both are at the end of the block.
 */
static int next_rows(struct walk_saved *w, size_t block, uint64_t *at,
		     uint64_t *end)
{
	*end = pdet_snapshot_places(w->file)->data[block].rows;
	return w->alike ? pdet_alike_rows(w->alike, w->side, block, at, end) :
			  0;
}

static int saved_next(struct pdet_walk *base, struct pdet_worker *k,
		      struct pdet_span *span, uint64_t pages)
{
	struct walk_saved *w = walk_of(base);
	const struct pdet_snapshot_places *places =
		pdet_snapshot_places(w->file);
	uint64_t end;
	int r;

	(void)pages;
	for (; w->next < places->n; w->next++) {
		if (!may_match(w, &places->data[w->next]))
			continue;
		span->item = w->next;
		span->place = w->next;
		span->at = 0;
		span->end = places->data[w->next].rows;
		/* Many rows may be skipped in a loop. */
		r = w->alike ? pdet_engine_check(k) : 0;
		if (r == 0)
			r = next_rows(w, span->item, &span->at, &end);
		if (r < 0)
			return r;
		if (span->at == span->end)
			continue;
		w->next++;
		return 1;
	}
	return 0;
}

/* If a walk leaves out rows, it must check the places of the others. */
static bool is_placed(const struct walk_saved *w, size_t block,
		      const struct pdet_batch *b)
{
	const struct pdet_snapshot_place *place =
		&pdet_snapshot_places(w->file)->data[block];
	uint32_t row;
	uint64_t pfn;

	for (row = 0; row < b->n; row++) {
		pfn = pdet_batch_get(b, row, PAGEDET_FIELD_PFN, place->first);
		if (pfn < place->first || pfn > place->last)
			return false;
	}
	return true;
}

static int saved_place(struct pdet_walk *base, struct pdet_worker *k,
		       struct pdet_span *span, struct pdet_batch *b)
{
	struct walk_saved *w = walk_of(base);
	struct pdet_env *env = &pdet_session_of(k, base)->env;
	uint64_t end;
	uint32_t n;
	int r;

	if (!span->data)
		span->data = pdet_snapshot_block_new();
	if (!span->data)
		return pdet_fail(env, ENOMEM, "no memory");
	r = pdet_snapshot_load(w->file, env, span->item, &w->fields,
			       span->data);
	if (r < 0)
		return r;
	for (;;) {
		r = next_rows(w, span->item, &span->at, &end);
		if (r < 0)
			return r;
		n = (uint32_t)PDET_MIN(end - span->at, b->cap - b->n);
		if (!n)
			break;
		pdet_snapshot_get(span->data, (uint32_t)span->at, n, &w->fields,
				  b, (uint32_t)pdet_batch_grow(b, n),
				  base->source);
		span->at += n;
	}
	k->cover.visited += b->n;
	if (w->alike && !is_placed(w, span->item, b))
		return pdet_fail(env, EBADMSG, "cannot compare: rows are not "
				 "in the order of frames");
	return 0;
}

static void saved_span_free(struct pdet_walk *w, struct pdet_span *span)
{
	(void)w;
	pdet_snapshot_block_free(span->data);
	span->data = NULL;
}

static void saved_free(struct pdet_walk *base)
{
	struct walk_saved *w = walk_of(base);

	if (w->alike)
		pdet_alike_free(w->alike);
	free(w);
}

static const struct pdet_walk_ops saved_ops = {
	.next = saved_next,
	.place = saved_place,
	.span_free = saved_span_free,
	.free = saved_free,
};

void pdet_walk_saved_leave(struct pdet_walk *base, struct pdet_alike *alike,
			   unsigned side)
{
	struct walk_saved *w = walk_of(base);

	w->alike = alike;
	w->side = side;
}

static void start(struct walk_saved *w)
{
	const struct pdet_snapshot_places *places =
		pdet_snapshot_places(w->file);
	const struct pagedet_coverage *c =
		&pdet_snapshot_end(w->file)->coverage;
	struct pdet_iter *it = w->walk.it;
	size_t i;

	w->last = UINT64_MAX;
	if (it->filter)
		pdet_filter_range(it->filter, PAGEDET_FIELD_PFN, &w->first,
				  &w->last);
	for (i = 0; i < places->n; i++)
		if (may_match(w, &places->data[i]))
			w->walk.total += places->data[i].rows;
	/* A snapshot of a part is incomplete. */
	w->walk.partial = !c->complete || c->tasks_denied ||
			  c->tasks_damaged || c->files_denied;
}

int pdet_walk_saved(struct pdet_iter *it, struct pdet_walk **ret)
{
	const struct pdet_fields *there =
		&pdet_snapshot_about(it->saved)->fields;
	const int r = pdet_walk_new(it, &saved_ops, sizeof(struct walk_saved),
				    ret);
	struct walk_saved *w;

	if (r < 0)
		return r;
	w = walk_of(*ret);
	w->file = it->saved;
	w->fields.bits[0] = there->bits[0] & it->plan.columns.bits[0];
	w->fields.bits[1] = there->bits[1] & it->plan.columns.bits[1];
	start(w);
	return 0;
}
