/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Takes a batch through its stages. First come the rows of the walk, the
 * columns that the filter reads, and the filter. For the rows that are left
 * come all other columns. Rows that contradict themselves are read again. Then
 * come the second read of translations, and the filter again. In the end, every
 * cell that nobody wrote gets a state.
 */
#include <string.h>

#include "base/clock.h"
#include "heat/rows.h"
#include "kmap/pages.h"
#include "query/counted.h"
#include "query/derive.h"
#include "query/mapindex.h"
#include "query/moment.h"
#include "query/stage.h"

#define DERIVED PAGEDET_SOURCE_DERIVED

/* If a field does not apply to the target, it is nothing in every row. */
static void put_absent(const struct pdet_plan *plan, struct pdet_batch *b)
{
	unsigned f;

	pdet_fields_for(f, &plan->absent)
		pdet_put_none_run(b, 0, b->n, f, DERIVED);
}

/*
 * Frames without a page inside the ranges of a scan: holes, offline memory,
 * device memory.
 */
static bool is_hole(const struct pdet_batch *b, uint32_t row)
{
	if (pdet_batch_state(b, row, PAGEDET_FIELD_FLAGS) == PAGEDET_HAVE)
		return b->value[PAGEDET_FIELD_FLAGS][row] &
		       PAGEDET_PF(PAGEDET_PF_NOPAGE);
	return pdet_batch_get(b, row, PAGEDET_FIELD_KIND, 0) ==
	       PAGEDET_KIND_HOLE;
}

static void drop_holes(struct pdet_worker *k, struct pdet_batch *b)
{
	uint32_t row, holes = 0;

	if (!b->value[PAGEDET_FIELD_FLAGS] && !b->value[PAGEDET_FIELD_KIND])
		return;
	if (b->value[PAGEDET_FIELD_FLAGS]) {
		const uint64_t *flags = b->value[PAGEDET_FIELD_FLAGS];
		uint64_t any = 0;

		for (row = 0; row < b->n; row++)
			any |= flags[row];
		if (!(any & PAGEDET_PF(PAGEDET_PF_NOPAGE)))
			return;
	}
	for (row = 0; row < b->n; row++) {
		k->keep[row] = !is_hole(b, row);
		holes += !k->keep[row];
	}
	if (holes)
		pdet_batch_keep(b, k->keep);
}

/* The number of pages of rows for which the filter is @what. */
static uint64_t count(const struct pdet_batch *b, const uint8_t *truth,
		      unsigned what)
{
	uint64_t pages = 0;
	uint32_t row;

	for (row = 0; row < b->n; row++)
		if (truth[row] == what)
			pages += pdet_batch_get(b, row, PAGEDET_FIELD_PAGES, 1);
	return pages;
}

/* Drops what is false; and what is unknown, unless @unknown. */
static void drop(struct pdet_batch *b, uint8_t *truth, bool unknown)
{
	uint32_t row, dropped = 0;

	for (row = 0; row < b->n; row++) {
		truth[row] = truth[row] == PDET_TRUE ||
			     (unknown && truth[row] == PDET_UNKNOWN);
		dropped += !truth[row];
	}
	if (dropped)
		pdet_batch_keep(b, truth);
}

/* What is known last is not known yet, though something may be there. */
static void eval_early(const struct pdet_iter *it, struct pdet_batch *b,
		       uint8_t *truth)
{
	static const uint8_t last[] = {
		PAGEDET_FIELD_NOTES, PAGEDET_FIELD_PAGES,
		PAGEDET_FIELD_TIME_NS, PAGEDET_FIELD_USER_MAPS,
	};
	uint64_t *value[sizeof(last)];
	unsigned i;

	for (i = 0; i < PDET_COUNT(last); i++) {
		value[i] = b->value[last[i]];
		b->value[last[i]] = NULL;
	}
	pdet_filter_eval(it->filter, b, truth);
	for (i = 0; i < PDET_COUNT(last); i++)
		b->value[last[i]] = value[i];
}

/* By the early columns: what is false is not asked about any more. */
static void judge_early(struct pdet_worker *k, struct pdet_batch *b)
{
	const struct pdet_iter *it = k->it;
	const bool later = it->q.options & PAGEDET_Q_UNDECIDED ||
			   it->plan.judged_late;

	eval_early(it, b, k->keep);
	if (!later)
		k->cover.undecided += count(b, k->keep, PDET_UNKNOWN);
	drop(b, k->keep, later);
}

/* By what is shown: it may not be what it was before. */
static void judge(struct pdet_worker *k, struct pdet_batch *b)
{
	const struct pdet_iter *it = k->it;
	const bool list = it->q.options & PAGEDET_Q_UNDECIDED;
	uint32_t row;

	pdet_filter_eval(it->filter, b, k->keep);
	k->cover.undecided += count(b, k->keep, PDET_UNKNOWN);
	k->cover.matched += count(b, k->keep, PDET_TRUE);
	for (row = 0; list && row < b->n; row++)
		if (k->keep[row] == PDET_UNKNOWN)
			pdet_put_note(b, row, PAGEDET_NOTE_UNDECIDED);
	drop(b, k->keep, list);
}

/* Which rows the walk was asked for. */
static void match(struct pdet_worker *k, struct pdet_batch *b)
{
	struct pdet_walk *w = k->it->walk;

	k->cover.undecided += w->ops->match(w, b, k->keep);
	pdet_batch_keep(b, k->keep);
}

/*
 * True if the index has as many mappings as the kernel counts: there is no
 * other mapping.
 */
static bool is_all(const struct pdet_batch *b, uint32_t row, uint64_t maps)
{
	return pdet_is_proof(pdet_batch_get(b, row, PAGEDET_FIELD_KIND,
					    PAGEDET_KIND_UNKNOWN), maps) &&
	       pdet_batch_get(b, row, PAGEDET_FIELD_MAPCOUNT_KIND, 0) ==
		       PAGEDET_MAPCOUNT_EXACT &&
	       pdet_batch_get(b, row, PAGEDET_FIELD_MAPCOUNT, ~maps) == maps;
}

/*
 * The index is of another moment than the kernel's count. If it has more
 * mappings, some have ended in between. If it has fewer, some were made, or are
 * of tasks that it could not read.
 */
static void compare_maps(const struct pdet_iter *it, struct pdet_batch *b,
			 uint32_t row, uint64_t maps)
{
	const uint64_t counted = pdet_batch_get(b, row, PAGEDET_FIELD_MAPCOUNT,
						maps);

	if (!it->live || maps == counted || counted >> 63 ||
	    pdet_batch_get(b, row, PAGEDET_FIELD_MAPCOUNT_KIND, 0) !=
	    PAGEDET_MAPCOUNT_EXACT ||
	    !pdet_is_counted(pdet_batch_get(b, row, PAGEDET_FIELD_KIND,
					    PAGEDET_KIND_UNKNOWN)))
		return;
	/* Drivers map pages of shmem that are not counted. */
	if (maps < counted)
		pdet_put_note(b, row, PAGEDET_NOTE_PARTIAL);
	else if (pdet_is_proof(pdet_batch_get(b, row, PAGEDET_FIELD_KIND, 0),
			       counted))
		pdet_put_note(b, row, PAGEDET_NOTE_TORN);
}

/* Sets user_maps to the number of mappings in the index. */
static void put_user_maps(const struct pdet_iter *it, struct pdet_batch *b)
{
	const unsigned f = PAGEDET_FIELD_USER_MAPS;
	const struct pdet_mapindex *ix = it->q.index;
	unsigned partial, blind, why;
	uint32_t row;

	if (!b->value[f] || it->plan.why[f] != PAGEDET_HAVE || !ix)
		return;
	partial = pdet_live_reason(it->live, pdet_mapindex_partial(ix));
	blind = pdet_mapindex_blind(ix);
	for (row = 0; row < b->n; row++) {
		unsigned state = pdet_batch_state(b, row, PAGEDET_FIELD_PFN);
		uint64_t maps, unsure;

		if (pdet_batch_get(b, row, PAGEDET_FIELD_AT, 0) ==
		    PAGEDET_AT_LOG)
			continue;
		if (state != PAGEDET_HAVE) {
			pdet_put_lost(b, row, f, state, DERIVED);
			continue;
		}
		maps = pdet_mapindex_count(ix,
					   b->value[PAGEDET_FIELD_PFN][row],
					   &unsure);
		/* It may be that two of these count once. */
		if (unsure && !is_all(b, row, maps)) {
			pdet_put_note(b, row, PAGEDET_NOTE_PARTIAL);
			maps += unsure;
		}
		/* Tasks that were not read may have more, or drivers. */
		why = partial;
		if (!why && blind &&
		    pdet_is_hidden(pdet_batch_get(b, row, PAGEDET_FIELD_KIND,
						  PAGEDET_KIND_UNKNOWN),
				   maps, blind))
			why = PAGEDET_UNSUPPORTED;
		if (why && !is_all(b, row, maps)) {
			pdet_put_note(b, row, PAGEDET_NOTE_PARTIAL);
			if (!maps) {
				pdet_put_lost(b, row, f, why, DERIVED);
				continue;
			}
		}
		compare_maps(it, b, row, maps);
		pdet_put(b, row, f, maps, DERIVED);
	}
}

/* Sets columns of the engine that a file of saved rows lacks. */
static void put_saved_fields(struct pdet_batch *b)
{
	static const uint8_t fields[] = {
		PAGEDET_FIELD_ASK, PAGEDET_FIELD_TIME_NS, PAGEDET_FIELD_NOTES,
	};
	size_t i;

	for (i = 0; i < PDET_COUNT(fields); i++)
		if (b->value[fields[i]] && !b->cell[fields[i]][0])
			pdet_put_lost_run(b, 0, b->n, fields[i],
					  PAGEDET_UNSUPPORTED,
					  PAGEDET_SOURCE_NOBODY);
}

/* Sets the engine's own columns. */
static void put_engine_fields(const struct pdet_iter *it, struct pdet_batch *b)
{
	const unsigned notes = PAGEDET_FIELD_NOTES;
	uint32_t row;

	/* The time and the notes come from the file, or are not known. */
	if (it->saved && b->n)
		put_saved_fields(b);
	/* This is so unless the walk or a source has folded rows. */
	if (b->value[PAGEDET_FIELD_PAGES] && b->n &&
	    !b->cell[PAGEDET_FIELD_PAGES][0])
		pdet_put_run(b, 0, b->n, PAGEDET_FIELD_PAGES, 1, DERIVED);
	if (b->value[PAGEDET_FIELD_TIME_NS] && !it->saved)
		pdet_put_run(b, 0, b->n, PAGEDET_FIELD_TIME_NS,
			     pdet_clock_ns(CLOCK_REALTIME), DERIVED);
	if (!b->value[notes])
		return;
	for (row = 0; row < b->n; row++)
		if (!b->cell[notes][row])
			pdet_put(b, row, notes, 0, DERIVED);
	if (it->q.options & PAGEDET_Q_UNCHECKED && it->walk->ops->recheck)
		for (row = 0; row < b->n; row++)
			pdet_put_note(b, row, PAGEDET_NOTE_UNCHECKED);
}

/* All cells are the same, which is the usual case. */
static bool is_uniform(const uint16_t *cell, uint32_t n)
{
	uint16_t odd = 0;
	uint32_t i;

	for (i = 0; i < n; i++)
		odd |= cell[i] ^ cell[0];
	return !odd;
}

static void count_lost(struct pdet_cover *cover, unsigned state, uint32_t n)
{
	cover->any_lost = true;
	cover->lost[state] += n;
}

/* Gives every cell a state, and counts losses. */
static void settle(struct pdet_worker *k, struct pdet_batch *b)
{
	const struct pdet_plan *plan = &k->it->plan;
	struct pdet_cover *cover = &k->cover;
	uint32_t row;
	unsigned f;

	if (b->n == 1 && pdet_batch_answered(b)) {
		pdet_fields_join(&cover->answered, &b->have);
		return;
	}
	pdet_fields_for(f, &b->have) {
		const uint16_t *cell = b->cell[f];
		unsigned why = plan->why[f];
		bool answered = false;

		if (b->n && cell[0] && is_uniform(cell, b->n)) {
			if ((cell[0] & 0xff) <= PAGEDET_NONE)
				pdet_fields_add(&cover->answered, f);
			else
				count_lost(cover, cell[0] & 0xff, b->n);
			continue;
		}
		if (why != PAGEDET_HAVE) {
			for (row = 0; row < b->n; row++)
				if (!cell[row])
					pdet_put_lost(b, row, f, why,
						      PAGEDET_SOURCE_NOBODY);
		}
		for (row = 0; row < b->n; row++) {
			unsigned state = cell[row] & 0xff;

			if (state == PAGEDET_NOT_ASKED) {
				/*
				 * A source that was to answer has not done so.
				 */
				pdet_put_lost(b, row, f, PAGEDET_UNSUPPORTED,
					      PAGEDET_SOURCE_NOBODY);
				state = PAGEDET_UNSUPPORTED;
			}
			if (state <= PAGEDET_NONE)
				answered = true;
			else
				count_lost(cover, state, 1);
		}
		if (answered)
			pdet_fields_add(&cover->answered, f);
	}
}

/* The bytes of a page that had moved do not belong to the row. */
static void drop_torn_bytes(struct pdet_batch *b)
{
	uint32_t row;

	if (!b->value[PAGEDET_FIELD_CONTENT] || !b->value[PAGEDET_FIELD_NOTES])
		return;
	for (row = 0; row < b->n; row++)
		if (pdet_batch_get(b, row, PAGEDET_FIELD_NOTES, 0) &
		    PAGEDET_NOTE(PAGEDET_NOTE_TORN))
			pdet_moment_drop_bytes(b, row);
}

static void count_torn(struct pdet_worker *k, const struct pdet_batch *b)
{
	const uint64_t *notes = b->value[PAGEDET_FIELD_NOTES];
	uint32_t row;

	for (row = 0; notes && row < b->n; row++)
		k->cover.torn += notes[row] >> PAGEDET_NOTE_TORN & 1;
}

/*
 * The first string id of a batch. A batch without strings does not use up ids.
 */
static uint64_t string_base(struct pdet_iter *it, const struct pdet_batch *b)
{
	if (b->strings.base > 1 && !b->strings.entry.n)
		return b->strings.base;
	return atomic_fetch_add_explicit(&it->next_string, PDET_STRING_STRIDE,
					 memory_order_relaxed);
}

bool pdet_stage_glance(struct pdet_worker *k, struct pdet_batch *b)
{
	struct pdet_iter *it = k->it;

	pdet_batch_clear(b, string_base(it, b));
	pdet_batch_grow(b, 1);
	/* A glance does not set any other column of the engine. */
	pdet_put(b, 0, PAGEDET_FIELD_NOTES,
		 it->q.options & PAGEDET_Q_UNCHECKED && it->walk->ops->recheck ?
			 PAGEDET_NOTE(PAGEDET_NOTE_UNCHECKED) : 0, DERIVED);
	if (!it->walk->ops->glance(it->walk, k, b) ||
	    pdet_moment_is_odd(b, 0) || pdet_chain_is_open(k, b))
		return false;
	k->cover.visited++;
	pdet_fields_join(&k->cover.answered, &b->have);
	return true;
}

int pdet_stage_run(struct pdet_worker *k, struct pdet_span *span,
		   struct pdet_batch *b)
{
	struct pdet_iter *it = k->it;
	const struct pdet_plan *plan = &it->plan;
	struct pdet_fields late;
	int r;

	pdet_batch_clear(b, string_base(it, b));
	r = it->walk->ops->place(it->walk, k, span, b);
	if (r < 0 || !b->n)
		return r;
	put_absent(plan, b);
	late = plan->columns;
	if (it->filter || it->walk->ops->match) {
		r = pdet_chain_fill(k, b, &plan->early);
		if (r < 0)
			return r;
		pdet_derive_bytes(b, &plan->early, it->secret);
		pdet_heat_put(it->q.heat, b, &plan->early, it->page_size);
		pdet_kmap_pages_put(it->q.kmap, b, &plan->early);
		if (it->walk->ops->match)
			match(k, b);
		if (it->filter)
			judge_early(k, b);
		late.bits[0] &= ~plan->early.bits[0];
		late.bits[1] &= ~plan->early.bits[1];
	}
	r = pdet_chain_fill(k, b, &late);
	if (r < 0)
		return r;
	pdet_derive_bytes(b, &late, it->secret);
	pdet_heat_put(it->q.heat, b, &late, it->page_size);
	pdet_kmap_pages_put(it->q.kmap, b, &late);
	if (it->q.target == PAGEDET_TARGET_SCAN && !it->saved &&
	    !(it->q.options & PAGEDET_Q_HOLES))
		drop_holes(k, b);
	r = it->saved ? 0 : pdet_moment_again(k, b);
	if (r < 0)
		return r;
	if (r > 0 && it->walk->ops->match)
		match(k, b);
	if (it->walk->ops->recheck && !(it->q.options & PAGEDET_Q_UNCHECKED) &&
	    !it->count_only && b->n)
		it->walk->ops->recheck(it->walk, k, span, b);
	if (it->walk->ops->compare)
		it->walk->ops->compare(it->walk, b);
	drop_torn_bytes(b);
	put_user_maps(it, b);
	put_engine_fields(it, b);
	if (it->filter)
		judge(k, b);
	settle(k, b);
	count_torn(k, b);
	return 0;
}
