/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Whether the pages of a file are still where rows say. Between the walk and
 * the reading of flags nothing of it was mapped, so a page may have moved.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "backend/procfs_file.h"

/* One call of mincore costs as much as looking at so many pages. */
#define MINCORE_CALL 13

/* Rows of one window, in order. */
struct group {
	uint64_t base;		/* page of the first row */
	uint32_t n;		/* pages up to the last row's */
	uint32_t first, end;	/* rows */
	uint32_t rows;		/* of them with a page frame */
};

static bool has_page(const struct pdet_batch *b, uint32_t row)
{
	return pdet_batch_state(b, row, PAGEDET_FIELD_PFN) == PAGEDET_HAVE &&
	       pdet_batch_state(b, row, PAGEDET_FIELD_INDEX) == PAGEDET_HAVE;
}

static struct group next_group(const struct pdet_batch *b, uint32_t row,
			       uint32_t end, uint32_t window)
{
	const uint64_t *index = b->value[PAGEDET_FIELD_INDEX];
	struct group g = { 0 };
	uint64_t stop;

	g.base = index[row];
	stop = (g.base / window + 1) * window;
	for (g.first = row; row < end; row++) {
		if (!has_page(b, row))
			continue;
		if (index[row] < g.base + g.n || index[row] >= stop)
			break;
		g.n = (uint32_t)(index[row] - g.base) + 1;
		g.rows++;
	}
	g.end = row;
	return g;
}

/*
 * Which of the rows' pages may be touched: those that would not be read in.
 * Moments ago they all could; while none is missing in the cache, that holds.
 */
static int mark_resident(const struct procfs_cached *f,
			 const struct pdet_batch *b, const struct group *g,
			 const struct procfs_window *w, uint8_t *state)
{
	const uint64_t *index = b->value[PAGEDET_FIELD_INDEX];
	struct procfs_cachestat cs;
	uint32_t row, at;
	bool all, each = (uint64_t)g->rows * MINCORE_CALL < g->n;
	int r = 0;

	all = !each && f->counts &&
	      procfs_cachestat(f, g->base, g->n, &cs) == 0 &&
	      cs.cached >= g->n;
	if (!all && !each)
		r = procfs_window_resident(w, 0, w->n, state);
	for (row = g->first; row < g->end && r == 0; row++) {
		if (!has_page(b, row))
			continue;
		at = (uint32_t)(index[row] - g->base);
		if (each)
			r = procfs_window_resident(w, at, 1, state);
		else if (all)
			state[at] = PROCFS_RESIDENT;
		if (state[at])
			state[at] |= PROCFS_CACHED;
	}
	return r;
}

static int check_group(const struct procfs_cached *f, int pagemap,
		       uint64_t *words, struct pdet_batch *b,
		       const struct group *g)
{
	const uint64_t *index = b->value[PAGEDET_FIELD_INDEX];
	const uint64_t *pfn = b->value[PAGEDET_FIELD_PFN];
	uint8_t state[PROCFS_WINDOW_PAGES];
	struct procfs_window w;
	uint32_t row, i;
	uint64_t word;
	int r;

	r = procfs_window_map(f, g->base, g->n, &w);
	if (r < 0)
		return r;
	memset(state, 0, g->n);
	r = mark_resident(f, b, g, &w, state);
	/* Pages that no row speaks of need not be mapped. */
	for (i = 0; i < g->n; i++)
		if (!(state[i] & PROCFS_CACHED))
			state[i] = 0;
	if (r == 0)
		r = procfs_window_entries(&w, pagemap, state, words);
	procfs_window_unmap(&w);
	for (row = g->first; row < g->end && r == 0; row++) {
		if (!has_page(b, row))
			continue;
		word = words[index[row] - g->base];
		if (!(word & PDET_PM_PRESENT) ||
		    (word & PDET_PM_PFN_MASK) != pfn[row])
			pdet_put_note(b, row, PAGEDET_NOTE_TORN);
	}
	return r;
}

int procfs_file_recheck(struct pdet_session *s, struct pdet_file *file,
			struct pdet_batch *b, uint32_t first, uint32_t n)
{
	struct procfs_session *session = procfs_session_of(s);
	struct procfs_cached *f = procfs_cached_of(file);
	const uint32_t window = procfs_window_pages(f->shift);
	const uint32_t end = first + n;
	int r, pagemap = procfs_file_pagemap(session->p, f);
	struct group g;

	if (pagemap < 0 || f->fd < 0)
		return 0;
	while (first < end) {
		if (!has_page(b, first)) {
			first++;
			continue;
		}
		g = next_group(b, first, end, window);
		r = check_group(f, pagemap, session->words, b, &g);
		if (r < 0) {
			errno = -r;
			return pdet_fail_errno(&s->env, "cannot look at the "
					       "cached pages of %s again",
					       f->path);
		}
		first = g.end;
	}
	return 0;
}
