/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fills the columns of a batch from the sources of the plan, one after the
 * other. The first source gets the batch as it is. Each later one gets a batch
 * of only the rows that the earlier ones could not answer. A look-up starts
 * expensive sources when the first page needs them.
 */
#include <errno.h>
#include <string.h>

#include "query/query.h"
#include "schema/page_bytes.h"

/* Whether another source may have an answer if this source gave this state. */
static bool may_retry(unsigned state)
{
	switch (state) {
	case PAGEDET_NOT_ASKED:
	case PAGEDET_UNSUPPORTED:
	case PAGEDET_UNSAFE:
	case PAGEDET_NO_ACCESS:
	case PAGEDET_RACED:
	case PAGEDET_EXCLUDED:
		return true;
	default:
		return false;
	}
}

static struct pdet_fields intersect(const struct pdet_fields *a,
				    const struct pdet_fields *b)
{
	struct pdet_fields both = { { a->bits[0] & b->bits[0],
				      a->bits[1] & b->bits[1] } };

	return both;
}

/* Copies one field of a row of the sub-batch, and its page bytes. */
static void take_cell(struct pdet_batch *b, uint32_t row,
		      const struct pdet_batch *sub, uint32_t at, unsigned f)
{
	if (f == PAGEDET_FIELD_CONTENT &&
	    !pdet_page_bytes_copy(&b->bytes, b->cap, row, sub->bytes, at)) {
		pdet_put_lost(b, row, f, PAGEDET_NO_MEMORY,
			      sub->cell[f][at] >> 8);
		return;
	}
	pdet_batch_copy_cell(b, row, sub, at, f);
}

/* The value itself can show that a source is not certain. */
static bool is_vague(const struct pdet_batch *b, uint32_t row, unsigned field)
{
	return field == PAGEDET_FIELD_KIND &&
	       pdet_batch_get(b, row, field, PAGEDET_KIND_FREE) ==
		       PAGEDET_KIND_UNKNOWN;
}

static bool row_needs(const struct pdet_batch *b, uint32_t row,
		      const struct pdet_fields *want)
{
	unsigned f;

	pdet_fields_for(f, want)
		if (may_retry(pdet_batch_state(b, row, f)))
			return true;
	return false;
}

/* A row of what a log says never takes answers of other sources. */
static bool is_said(const struct pdet_batch *b, uint32_t row)
{
	return pdet_batch_get(b, row, PAGEDET_FIELD_AT, 0) == PAGEDET_AT_LOG;
}

/*
 * Whether the row is folded. Its pages are equal for the source that folded
 * them, but may differ for another source.
 */
static bool is_folded(const struct pdet_batch *b, uint32_t row)
{
	return pdet_batch_get(b, row, PAGEDET_FIELD_PAGES, 1) > 1;
}

void pdet_chain_take_notes(struct pdet_batch *b, uint32_t row,
			   const struct pdet_batch *sub, uint32_t at)
{
	uint64_t notes = pdet_batch_get(sub, at, PAGEDET_FIELD_NOTES, 0) &
			 ~pdet_batch_get(b, row, PAGEDET_FIELD_NOTES, 0);

	for (; notes; notes &= notes - 1)
		pdet_put_note(b, row, (unsigned)__builtin_ctzll(notes));
}

/* The answers that a row still needs. */
enum need { NOTHING, SOME, KIND_AND_ALL };

static enum need need_of(const struct pdet_worker *k,
			 const struct pdet_batch *b, uint32_t row,
			 const struct pdet_fields *want, bool late)
{
	struct pdet_fields worth;

	if (is_folded(b, row) || is_said(b, row))
		return NOTHING;
	/*
	 * If a source is not certain of the kind of a row, the row is usually
	 * folded.
	 */
	if (!late)
		return !k->it->fold && is_vague(b, row, PAGEDET_FIELD_KIND) &&
			       pdet_fields_has(want, PAGEDET_FIELD_KIND) ?
			       KIND_AND_ALL :
		       row_needs(b, row, want) ? SOME : NOTHING;
	worth = intersect(&k->it->plan.worth_it, want);
	if (pdet_fields_has(&worth, PAGEDET_FIELD_KIND) &&
	    is_vague(b, row, PAGEDET_FIELD_KIND))
		return KIND_AND_ALL;
	return row_needs(b, row, &worth) ? SOME : NOTHING;
}

/* Copies rows that need a later source into the sub-batch. */
static void copy_out(struct pdet_worker *k, const struct pdet_batch *b,
		     const struct pdet_fields *want, bool late)
{
	const struct pdet_fields with = pdet_plan_with_kind();
	struct pdet_batch *sub = &k->sub;
	uint32_t row;
	unsigned f;

	pdet_batch_clear(sub, 1);
	for (row = 0; row < b->n; row++) {
		const enum need need = need_of(k, b, row, want, late);

		k->keep[row] = (uint8_t)need;
		if (need == NOTHING)
			continue;
		pdet_batch_grow(sub, 1);
		pdet_batch_copy_row(sub, sub->n - 1, b, row);
		pdet_fields_for(f, want)
			if (sub->cell[f] &&
			    (may_retry(pdet_batch_state(sub, sub->n - 1, f)) ||
			     (need == KIND_AND_ALL &&
			      pdet_fields_has(&with, f))))
				sub->cell[f][sub->n - 1] = PAGEDET_NOT_ASKED;
	}
}

/* Copies the answers of a later source for one row back. */
static void copy_back(struct pdet_batch *b, uint32_t row,
		      const struct pdet_batch *sub, uint32_t at,
		      const struct pdet_fields *want, bool all)
{
	const struct pdet_fields with = pdet_plan_with_kind();
	bool taken = false;
	unsigned f;

	pdet_fields_for(f, want) {
		const unsigned state = pdet_batch_state(sub, at, f);
		const unsigned before = pdet_batch_state(b, row, f);
		const bool again = all && pdet_fields_has(&with, f);

		/*
		 * A second reason does not replace that of the first source. An
		 * answer replaces any reason.
		 */
		if (b->cell[f] && (again || may_retry(before)) &&
		    (state == PAGEDET_HAVE || state == PAGEDET_NONE ||
		     before == PAGEDET_NOT_ASKED)) {
			take_cell(b, row, sub, at, f);
			taken |= !pdet_is_reason(state);
		}
	}
	if (taken)
		pdet_chain_take_notes(b, row, sub, at);
}

/*
 * Asks a later source: copies out the rows that still need it, fills them and
 * copies the answers back.
 */
static int fill_rest(struct pdet_worker *k, struct pdet_batch *b,
		     const struct pdet_step *step,
		     const struct pdet_fields *want, bool late)
{
	const struct pdet_backend *backend = k->it->backends[step->backend];
	struct pdet_batch *sub = &k->sub;
	uint32_t row, at = 0;
	int r;

	if (!sub->memory &&
	    !pdet_batch_init(sub, &k->it->plan.columns, b->cap,
			     k->it->q.string_bytes))
		return -ENOMEM;
	copy_out(k, b, want, late);
	if (!sub->n)
		return 0;
	r = backend->ops->fill(k->session[step->backend], sub, want,
			       step->source);
	if (r < 0)
		return r;
	for (row = 0; row < b->n; row++) {
		if (k->keep[row] == NOTHING)
			continue;
		/*
		 * If this source is not certain either, rows stay as they are.
		 */
		copy_back(b, row, sub, at, want,
			  k->keep[row] == KIND_AND_ALL &&
			  pdet_batch_state(sub, at, PAGEDET_FIELD_KIND) ==
				  PAGEDET_HAVE &&
			  !is_vague(sub, at, PAGEDET_FIELD_KIND));
		at++;
	}
	return 0;
}

static bool is_open(const struct pdet_worker *k, const struct pdet_batch *b,
		    const struct pdet_fields *fields)
{
	const struct pdet_fields want = intersect(&k->it->plan.later, fields);
	uint32_t row;

	for (row = 0; row < b->n; row++)
		if (need_of(k, b, row, &want, true) != NOTHING)
			return true;
	return false;
}

bool pdet_chain_is_open(const struct pdet_worker *k, const struct pdet_batch *b)
{
	const struct pdet_plan *plan = &k->it->plan;

	return !pdet_fields_empty(&plan->worth_it) &&
	       !(k->it->tried_later && !plan->n_late) &&
	       is_open(k, b, &plan->columns);
}

/*
 * The fields for which a step asks a source. The source of page bytes is asked
 * for contents last: everything that all sources know of a page decides whether
 * it may be read.
 */
static struct pdet_fields part(const struct pdet_worker *k,
			       const struct pdet_step *step,
			       const struct pdet_fields *fields, bool bytes)
{
	struct pdet_fields want = intersect(&step->fields, fields);
	struct pdet_fields content = { { 0, 0 } };

	if (!k->it->backends[step->backend]->ops->reads_bytes)
		return bytes ? content : want;
	if (!bytes) {
		pdet_fields_remove(&want, PAGEDET_FIELD_CONTENT);
		return want;
	}
	pdet_fields_add(&content, PAGEDET_FIELD_CONTENT);
	return intersect(&want, &content);
}

/* Asks expensive sources, if an open field is worth the cost. */
static int fill_later(struct pdet_worker *k, struct pdet_batch *b,
		      const struct pdet_fields *fields, bool bytes)
{
	const struct pdet_plan *plan = &k->it->plan;
	unsigned i;
	int r;

	if (pdet_fields_empty(&plan->worth_it) || !is_open(k, b, fields))
		return 0;
	r = pdet_iter_later(k->it);
	for (i = 0; i < plan->n_late && r == 0; i++) {
		const struct pdet_step *step = &plan->late[i];
		const struct pdet_fields want = part(k, step, fields, bytes);

		if (!pdet_fields_empty(&want))
			r = fill_rest(k, b, step, &want, true);
	}
	return r;
}

static int fill_part(struct pdet_worker *k, struct pdet_batch *b,
		     const struct pdet_fields *fields, bool bytes,
		     struct pdet_fields *seen)
{
	const struct pdet_plan *plan = &k->it->plan;
	unsigned i;
	int r;

	for (i = 0; i < plan->n_steps && b->n; i++) {
		const struct pdet_step *step = &plan->steps[i];
		struct pdet_fields want = part(k, step, fields, bytes);
		struct pdet_fields again = intersect(&want, seen);
		const struct pdet_backend *backend =
			k->it->backends[step->backend];

		if (pdet_fields_empty(&want))
			continue;
		if (!backend->ops->folds)
			pdet_batch_write_out(b);
		if (pdet_fields_empty(&again) &&
		    k->it->q.target != PAGEDET_TARGET_LOG &&
		    !pdet_is_of_trace(k->it->q.target))
			r = backend->ops->fill(k->session[step->backend], b,
					       &want, step->source);
		else
			r = fill_rest(k, b, step, &want, false);
		if (r < 0)
			return r;
		seen->bits[0] |= want.bits[0];
		seen->bits[1] |= want.bits[1];
	}
	pdet_batch_write_out(b);
	return fill_later(k, b, fields, bytes);
}

int pdet_chain_fill(struct pdet_worker *k, struct pdet_batch *b,
		    const struct pdet_fields *fields)
{
	struct pdet_fields seen = { { 0, 0 } };
	int r;

	r = fill_part(k, b, fields, false, &seen);
	if (r < 0 || !pdet_fields_has(fields, PAGEDET_FIELD_CONTENT))
		return r;
	return fill_part(k, b, fields, true, &seen);
}
