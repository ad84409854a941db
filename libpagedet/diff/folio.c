/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Joins the changes of single pages into one. The kernel makes, splits, moves
 * or frees a huge page as a whole. The decision needs only the previous page.
 */
#include "diff/diff.h"

#define F(name) PAGEDET_FIELD_##name

/* Changes of a whole folio. Other changes are reported page by page. */
#define WHOLE \
	(PDET_CHANGE(APPEARED) | PDET_CHANGE(GONE) | PDET_CHANGE(MIGRATED) | \
	 PDET_CHANGE(MOVED) | PDET_CHANGE(SPLIT) | PDET_CHANGE(MERGED))

static uint64_t get(struct pdet_diff_row r, unsigned f)
{
	return pdet_batch_get(r.b, r.at, f, 0);
}

static bool has_flag(struct pdet_diff_row r, unsigned bit)
{
	return get(r, F(FLAGS)) & PAGEDET_PF(bit);
}

/*
 * The folio of a row, as its first frame + 1, or 0 if it is not known. A row
 * without head_pfn and order may be a tail page. Then its folio is that of
 * @before, the page in the frame before it.
 */
static uint64_t folio_of(struct pdet_diff_row r,
			 const struct pdet_diff_frame *before)
{
	const uint64_t pfn = pdet_batch_get(r.b, r.at, F(PFN), UINT64_MAX);
	const uint64_t order = get(r, F(ORDER));

	if (pfn == UINT64_MAX)
		return 0;
	if (pdet_batch_state(r.b, r.at, F(HEAD_PFN)) == PAGEDET_HAVE)
		return get(r, F(HEAD_PFN)) + 1;
	if (order && order < 64)
		return (pfn >> order << order) + 1;
	if (has_flag(r, PAGEDET_PF_COMPOUND_HEAD))
		return pfn + 1;
	return has_flag(r, PAGEDET_PF_COMPOUND_TAIL) &&
	       before->pfn + 1 == pfn ? before->folio : 0;
}

static struct pdet_place place_of(const struct pdet_diff *d,
				  struct pdet_diff_row r)
{
	switch (d->by) {
	case PAGEDET_DIFF_BY_PFN:
		return (struct pdet_place){ 0, 0, get(r, F(PFN)) };
	case PAGEDET_DIFF_BY_ADDRESS:
		return (struct pdet_place){ get(r, F(PID)), 0,
					    get(r, F(VADDR)) };
	default:
		return (struct pdet_place){ get(r, F(DEV)), get(r, F(INODE)),
					    get(r, F(INDEX)) };
	}
}

bool pdet_diff_joins(struct pdet_diff *d, const struct pagedet_change *c,
		     struct pdet_diff_row was, struct pdet_diff_row now)
{
	const struct pdet_diff_row row[2] = {
		{ c->change == PAGEDET_CHANGE_APPEARED ? NULL : was.b, was.at },
		{ c->change == PAGEDET_CHANGE_GONE ? NULL : now.b, now.at },
	};
	struct pdet_diff_last *last = &d->last, is = { .change = 0 };
	bool same = false;
	unsigned i;

	/* A picture shows single frames. */
	if (d->same || !(1u << c->change & WHOLE)) {
		last->change = 0;
		return false;
	}
	is.change = c->change;
	is.place = place_of(d, now.b ? now : was);
	for (i = 0; i < 2; i++) {
		if (!row[i].b)
			continue;
		is.frame[i].pfn = get(row[i], F(PFN));
		is.frame[i].folio = folio_of(row[i], &last->frame[i]);
		/* Several addresses may map one frame. */
		same |= is.frame[i].folio &&
			is.frame[i].folio == last->frame[i].folio &&
			is.frame[i].pfn == last->frame[i].pfn + 1;
	}
	last->place.c += d->by == PAGEDET_DIFF_BY_ADDRESS ? d->page_size : 1;
	same &= is.change == last->change &&
		!pdet_place_cmp(&is.place, &last->place);
	*last = is;
	return same;
}
