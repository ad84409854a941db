/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Asking the sources of the plan, one after the other. The first one gets the
 * batch as it is; each later one only rows that the ones before could not
 * answer, in a batch of their own.
 */
#include <errno.h>
#include <string.h>

#include "query/query.h"
#include "schema/page_bytes.h"

/* States for which another source may know better. */
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

/* What the sub-batch says of one field of a row; bytes come along. */
static void take_cell(struct pdet_batch *b, uint32_t row,
		      const struct pdet_batch *sub, uint32_t at, unsigned f)
{
	if (f == PAGEDET_FIELD_CONTENT &&
	    !pdet_page_bytes_copy(b, row, sub, at)) {
		pdet_put_lost(b, row, f, PAGEDET_NO_MEMORY,
			      sub->cell[f][at] >> 8);
		return;
	}
	pdet_batch_copy_cell(b, row, sub, at, f);
}

static bool row_needs(const struct pdet_batch *b, uint32_t row,
		      const struct pdet_fields *want)
{
	unsigned f;

	/* What a log says stays apart from what anybody else does. */
	if (pdet_batch_get(b, row, PAGEDET_FIELD_AT, 0) == PAGEDET_AT_LOG)
		return false;
	pdet_fields_for(f, want)
		if (may_retry(pdet_batch_state(b, row, f)))
			return true;
	return false;
}

/* Pages that are alike to the source that made them one row, and perhaps not to
 * another. */
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

/* A later source: rows that still need it are copied out, asked about, and
 * what it answers is copied back. */
static int fill_rest(struct pdet_worker *k, struct pdet_batch *b,
		     const struct pdet_step *step,
		     const struct pdet_fields *want)
{
	const struct pdet_backend *backend = k->it->backends[step->backend];
	struct pdet_batch *sub = &k->sub;
	uint32_t row, at = 0;
	bool taken;
	unsigned f;
	int r;

	if (!sub->memory &&
	    !pdet_batch_init(sub, &k->it->plan.columns, b->cap,
			     k->it->q.string_bytes))
		return -ENOMEM;
	pdet_batch_clear(sub, 1);
	for (row = 0; row < b->n; row++) {
		k->keep[row] = !is_folded(b, row) && row_needs(b, row, want);
		if (!k->keep[row])
			continue;
		pdet_batch_grow(sub, 1);
		pdet_batch_copy_row(sub, sub->n - 1, b, row);
		pdet_fields_for(f, want)
			if (sub->cell[f] &&
			    may_retry(pdet_batch_state(sub, sub->n - 1, f)))
				sub->cell[f][sub->n - 1] = PAGEDET_NOT_ASKED;
	}
	if (!sub->n)
		return 0;
	r = backend->ops->fill(k->session[step->backend], sub, want,
			       step->source);
	if (r < 0)
		return r;
	for (row = 0; row < b->n; row++) {
		if (!k->keep[row])
			continue;
		taken = false;
		pdet_fields_for(f, want) {
			const unsigned state = pdet_batch_state(sub, at, f);
			const unsigned before = pdet_batch_state(b, row, f);

			/* A reason from the first source is as good as a
			 * second one; an answer is better than both. */
			if (b->cell[f] && may_retry(before) &&
			    (state == PAGEDET_HAVE || state == PAGEDET_NONE ||
			     before == PAGEDET_NOT_ASKED)) {
				take_cell(b, row, sub, at, f);
				taken |= !pdet_is_reason(state);
			}
		}
		if (taken)
			pdet_chain_take_notes(b, row, sub, at);
		at++;
	}
	return 0;
}

int pdet_chain_fill(struct pdet_worker *k, struct pdet_batch *b,
		    const struct pdet_fields *fields)
{
	const struct pdet_plan *plan = &k->it->plan;
	struct pdet_fields seen = { { 0, 0 } };
	unsigned i;
	int r;

	for (i = 0; i < plan->n_steps && b->n; i++) {
		const struct pdet_step *step = &plan->steps[i];
		struct pdet_fields want = intersect(&step->fields, fields);
		struct pdet_fields again = intersect(&want, &seen);
		const struct pdet_backend *backend =
			k->it->backends[step->backend];

		if (pdet_fields_empty(&want))
			continue;
		if (pdet_fields_empty(&again) &&
		    k->it->q.target != PAGEDET_TARGET_LOG)
			r = backend->ops->fill(k->session[step->backend], b,
					       &want, step->source);
		else
			r = fill_rest(k, b, step, &want);
		if (r < 0)
			return r;
		seen.bits[0] |= want.bits[0];
		seen.bits[1] |= want.bits[1];
	}
	return 0;
}
