/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Asks what changed, and checks answers given while something failed: no change
 * is invented, and a missing one is accounted for.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "asking.h"

#define BIT(name) ((uint32_t)1 << PAGEDET_CHANGE_##name)
#define CAME_OR_WENT (BIT(APPEARED) | BIT(GONE))
/* If the new place of a page is not found, its old place has another change. */
#define ELSEWHERE (BIT(MOVED) | BIT(MIGRATED))
/* Changes that single fields show. */
#define OF_FIELDS \
	(BIT(FLAGS) | BIT(OWNER) | BIT(MAPCOUNT) | BIT(MEMCG) | BIT(CONTENT) | \
	 BIT(OTHER))

static bool have(const struct pagedet_page *row, unsigned field)
{
	return PAGEDET_CELL_STATE(row->cell[field]) == PAGEDET_HAVE;
}

static void keep_place(struct kept_change *c, unsigned side,
		       const struct pagedet_page *row)
{
	c->pid[side] = have(row, PAGEDET_FIELD_PID) ? row->pid : 0;
	c->at[side] = have(row, PAGEDET_FIELD_VADDR) ? row->vaddr :
		      have(row, PAGEDET_FIELD_PFN) ? row->pfn : UINT64_MAX;
}

static int take_changes(struct answer *a, const struct pagedet *was,
			struct pagedet_diff *diff)
{
	struct pagedet_page rows[2][16];
	struct pagedet_change changes[16];
	int n, i;

	while ((n = pagedet_diff_next(diff, changes, rows[0], rows[1],
				      16)) > 0)
		for (i = 0; i < n; i++) {
			struct kept_change *c = &a->change[a->n_changes];

			if (a->n_changes == MAX_CHANGES) {
				ask_broken(a, "more changes than there is "
					   "room for");
				return 0;
			}
			keep_place(c, 0, &rows[0][i]);
			keep_place(c, 1, &rows[1][i]);
			c->changes = changes[i].changes;
			memcpy(c->fields, changes[i].fields,
			       sizeof(c->fields));
			a->n_changes++;
		}
	if (n == 0)
		return 0;
	ask_failed(a, was, n, "diff_next");
	if (pagedet_diff_totals(diff, &a->totals) < 0 || a->totals.complete)
		ask_broken(a, "what has failed is a whole comparison");
	return n;
}

static int emit_changes(struct answer *a, const struct question *q,
			struct pagedet *was, struct pagedet_diff *diff)
{
	struct pagedet_emit_options o = PAGEDET_EMIT_OPTIONS_INIT;
	struct pagedet_emitter *e;
	int r;

	o.format = q->format;
	if (q->writes)
		o.fd = a->fd;
	r = pagedet_emitter_new(was, &o, &e);
	if (r < 0)
		return ask_failed(a, was, r, "emitter_new");
	r = pagedet_emit_diff(e, diff);
	if (r < 0)
		ask_failed(a, was, r, "emit_diff");
	r = pagedet_emitter_finish(e);
	if (r < 0)
		ask_failed(a, was, r, "emitter_finish");
	ask_take_text(a, e);
	pagedet_emitter_free(e);
	return a->result;
}

static int compare(struct answer *a, const struct question *q,
		   struct pagedet *was, struct pagedet_iter *before,
		   struct pagedet_iter *it)
{
	struct pagedet_diff *diff = NULL;
	int r;

	r = pagedet_diff(before, it, NULL, &diff);
	if (r < 0)
		return ask_failed(a, was, r, "diff");
	a->totals.size = sizeof(a->totals);
	r = q->format ? emit_changes(a, q, was, diff) :
			take_changes(a, was, diff);
	if (pagedet_diff_totals(diff, &a->totals) < 0)
		ask_broken(a, "a comparison has no totals");
	a->ended = r == 0;
	pagedet_diff_free(diff);
	return r;
}

int ask_changes(struct answer *a, const struct question *q,
		struct pagedet_iter *it)
{
	struct pagedet_options o = PAGEDET_OPTIONS_INIT;
	struct pagedet_query query = PAGEDET_QUERY_INIT;
	struct pagedet_iter *before = NULL;
	struct pagedet *was = pagedet_new();
	int r;

	if (!was)
		return ask_failed(a, NULL, -ENOMEM, "new");
	query.target = PAGEDET_TARGET_SCAN;
	query.options = PAGEDET_Q_CHEAP;
	query.threads = q->threads;
	o.files = &q->file;
	o.n_files = 1;
	r = pagedet_open(was, &o);
	if (r == 0)
		r = pagedet_query(was, &query, &before);
	if (r < 0)
		ask_failed(a, was, r, "snapshot");
	else
		r = compare(a, q, was, before, it);
	pagedet_iter_free(before);
	pagedet_free(was);
	return r;
}

/* --- is it still so? --- */

static bool same_side(const struct kept_change *a, const struct kept_change *b,
		      unsigned side)
{
	return a->at[side] == b->at[side] && a->pid[side] == b->pid[side];
}

/* A side without its place, now or before, is not comparable. */
static bool may_be_side(const struct kept_change *all,
			const struct kept_change *now, unsigned side)
{
	return now->at[side] == UINT64_MAX || same_side(all, now, side);
}

static bool is_known(const struct kept_change *all,
		     const struct kept_change *now)
{
	uint32_t allowed = all->changes | BIT(OTHER);

	if (now->fields[0] & ~all->fields[0] ||
	    now->fields[1] & ~all->fields[1])
		return false;
	/* Without the decisive field, the other fields decide. */
	if (all->changes & (CAME_OR_WENT | BIT(REUSED)))
		allowed |= OF_FIELDS;
	return !(now->changes & ~allowed) && may_be_side(all, now, 0) &&
	       may_be_side(all, now, 1) &&
	       (same_side(all, now, 0) || same_side(all, now, 1));
}

/*
 * One half of a page that moved: either it was not searched, or several pages
 * may be it.
 */
static bool is_half(const struct answer *answer, const struct kept_change *all,
		    const struct kept_change *now)
{
	if (!(all->changes & ELSEWHERE) ||
	    !(answer->totals.spilled || answer->totals.ambiguous ||
	      answer->result || !answer->totals.complete))
		return false;
	return (now->changes == BIT(GONE) && same_side(all, now, 0)) ||
	       (now->changes == BIT(APPEARED) && same_side(all, now, 1));
}

static const char *invented(const struct answer *all,
			    const struct answer *now)
{
	static char words[256];
	unsigned i, k;

	for (i = 0; i < now->n_changes; i++) {
		const struct kept_change *c = &now->change[i];

		for (k = 0; k < all->n_changes; k++)
			if (is_known(&all->change[k], c) ||
			    is_half(now, &all->change[k], c))
				break;
		if (k < all->n_changes)
			continue;
		snprintf(words, sizeof(words), "change %u is invented: %#x "
			 "from %llx to %llx", i, c->changes,
			 (unsigned long long)c->at[0],
			 (unsigned long long)c->at[1]);
		return words;
	}
	return NULL;
}

/* How much more could not be compared or found. */
static uint64_t untold(const struct answer *all, const struct answer *now)
{
	const struct pagedet_diff_totals *a = &all->totals, *t = &now->totals;
	uint64_t more = 0;
	unsigned i;

	if (now->result || t->complete < a->complete)
		return UINT64_MAX;
	for (i = 0; i < PAGEDET_FIELDS_MAX; i++)
		if (t->undecided_in[i] > a->undecided_in[i])
			more += t->undecided_in[i] - a->undecided_in[i];
	if (t->unmatched > a->unmatched)
		more += t->unmatched - a->unmatched;
	if (t->unplaced > a->unplaced)
		more += t->unplaced - a->unplaced;
	return more;
}

/* Counts values that are shown as unknown. */
static unsigned marks(const struct answer *a)
{
	const char *at = a->emitted;
	unsigned n = 0;

	while ((at = strchr(at, '?'))) {
		at++;
		n++;
	}
	return n;
}

const char *untrue_changes(const struct question *q, const struct answer *all,
			   const struct answer *now)
{
	unsigned i;

	if (q->format)
		return !strcmp(all->emitted, now->emitted) ||
		       untold(all, now) || marks(now) > marks(all) ||
		       now->totals.notes & ~all->totals.notes ||
		       now->totals.spilled ? NULL : "other text, and no why";
	for (i = 0; i < PAGEDET_FIELDS_MAX; i++)
		if (!now->totals.undecided_in[i] != !now->totals.why[i])
			return "what cannot be compared has no reason";
	if (now->n_changes < all->n_changes &&
	    all->n_changes - now->n_changes > untold(all, now))
		return "changes are missing";
	return invented(all, now);
}
