/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Errors that any row may have. */
#include "explain/explain.h"

static struct pdet_state moved(const struct pdet_case *c)
{
	const struct pdet_state s =
		pdet_needs(pdet_row_note(&c->here, PAGEDET_NOTE_TORN),
			   "it stayed the same meanwhile", "it moved meanwhile",
			   "a row that was read while the page did not move");

	/* A torn row can be read again. */
	if (s.state == PAGEDET_ALTERNATIVE_POSSIBLE)
		return pdet_unseen("a row that was read while the page did not "
				   "move");
	return s;
}

static struct pdet_state stale(const struct pdet_case *c)
{
	return pdet_needs(pdet_row_note(&c->here, PAGEDET_NOTE_STALE),
			  "the number is current",
			  "its number is what a page table entry remembers",
			  "whether its number is current");
}

static struct pdet_state estimated(const struct pdet_case *c)
{
	return pdet_needs(pdet_row_note(&c->here, PAGEDET_NOTE_ESTIMATED),
			  "its counts were read",
			  "a count was computed, not read",
			  "whether its counts were read");
}

const struct pdet_rival pdet_rival_moved = {
	"moved", "parts of the row are about another page, or another moment",
	moved, PDET_MEDIUM
};
const struct pdet_rival pdet_rival_stale = {
	"stale", "the page is another one by now", stale, PDET_MEDIUM
};
const struct pdet_rival pdet_rival_estimated = {
	"estimated", "the counts are wrong", estimated, PDET_MEDIUM
};

static struct pdet_state drivers(const struct pdet_case *c)
{
	return pdet_row_cached(&c->here) == PAGEDET_YES ?
	       pdet_gone("it is on an LRU list") :
	       pdet_unseen("whether the cache of the file or a driver has it: "
			   "it is on no LRU list");
}

/* perf and framebuffers set the mapping of their own pages. */
static const struct pdet_rival is_drivers = {
	"driver-page", "a driver's page, which no cache has", drivers,
	PDET_MEDIUM
};

const struct pdet_rival *const pdet_rivals_row[] = {
	&pdet_rival_moved, &pdet_rival_stale, NULL
};
const struct pdet_rival *const pdet_rivals_counts[] = {
	&pdet_rival_moved, &pdet_rival_stale, &pdet_rival_estimated, NULL
};
const struct pdet_rival *const pdet_rivals_cached[] = {
	&pdet_rival_moved, &pdet_rival_stale, &is_drivers, NULL
};
