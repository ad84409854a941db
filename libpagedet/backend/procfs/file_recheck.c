/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Checks that the pages of a file are still in the frames of their rows.
 * Nothing was mapped between the walk and the reading of flags, so a page may
 * have moved.
 *
 * A folio moves as a whole. Checking the previous row's page is enough if flags
 * show that a page was the tail after it.
 */
#include <errno.h>
#include <string.h>

#include "backend/procfs/file.h"
#include "backend/reused_frame.h"

/* Number of pages that mincore examines in the time of one cachestat call, 0.6
 * us. A mincore call, which allocates a page, takes twice that. */
#define CALL_PAGES 13

/* Most pages mapped by one touch: 64 KiB. */
#define BLOCK_PAGES 16

/* Rows of one window, in order. */
struct group {
	uint64_t base;		/* page index of the first row */
	uint32_t n;		/* pages up to the last row */
	uint32_t first, end;	/* rows */
	uint32_t look;		/* number of pages to check */
	uint32_t row[PROCFS_WINDOW_PAGES]; /* their rows */
};

struct recheck {
	struct procfs_cached *f;
	struct pdet_batch *b;
	const uint64_t *index, *pfn;
	bool flags;		/* the batch has columns of flags */
	int pagemap;
	uint32_t window;	/* pages */
	uint32_t full;		/* most of them that may be mapped */
	uint64_t *words;
};

static bool has_page(const struct pdet_batch *b, uint32_t row)
{
	return pdet_batch_state(b, row, PAGEDET_FIELD_PFN) == PAGEDET_HAVE &&
	       pdet_batch_state(b, row, PAGEDET_FIELD_INDEX) == PAGEDET_HAVE;
}

/* True if the page was the next one in the folio of the previous row. */
static bool behind(const struct recheck *k, uint32_t row)
{
	const uint64_t tail = KPF(COMPOUND_TAIL);

	return k->flags && k->index[row] == k->index[row - 1] + 1 &&
	       k->pfn[row] == k->pfn[row - 1] + 1 && has_page(k->b, row - 1) &&
	       pdet_batch_get(k->b, row, PAGEDET_FIELD_FLAGS, 0) &
	       pdet_batch_get(k->b, row, PAGEDET_FIELD_FLAGS_KNOWN, 0) & tail;
}

/* Collect rows from @row on in one window, up to a full one. A touch also maps
 * the other pages of its block. Check all rows, or only those that do not
 * continue the folio of the row before. */
static void gather(const struct recheck *k, uint32_t row, uint32_t end,
		   bool all, struct group *g)
{
	const uint64_t base = k->index[row];
	const uint64_t stop = (base / k->window + 1) * k->window;

	g->base = base;
	g->first = row;
	g->n = g->look = 0;
	for (; row < end; row++) {
		if (!has_page(k->b, row))
			continue;
		if (k->index[row] < base + g->n || k->index[row] >= stop ||
		    (k->index[row] >= base + k->full &&
		     g->look >= k->full / BLOCK_PAGES))
			break;
		g->n = (uint32_t)(k->index[row] - base) + 1;
		if (all || row == g->first || !behind(k, row))
			g->row[g->look++] = row;
	}
	g->end = row;
}

/*
 * The number of consecutive pages to check, starting with the one at index @i.
 */
static uint32_t run(const struct recheck *k, const struct group *g, uint32_t i)
{
	uint32_t n = 1;

	while (i + n < g->look && k->index[g->row[i + n]] ==
	       k->index[g->row[i + n - 1]] + 1)
		n++;
	return n;
}

/* All of these pages were resident moments ago. They still are, if none is
 * missing in the cache. */
static bool all_cached(const struct recheck *k, uint64_t first, uint32_t n)
{
	struct pdet_cachestat cs;

	return k->f->counts &&
	       procfs_cachestat(k->f, first, n, &cs) == 0 && cs.cached >= n;
}

/* Find the pages that may be touched because they need no I/O. */
static int mark_resident(const struct recheck *k, const struct group *g,
			 const struct procfs_window *w, uint8_t *state)
{
	uint32_t i, j, n, at, runs = 0;
	bool all, each;
	int r = 0;

	for (i = 0; i < g->look; i += run(k, g, i))
		runs++;
	/* Every page has a row. */
	all = runs > 1 && g->end - g->first >= g->n &&
	      all_cached(k, g->base, g->n);
	each = all || (uint64_t)runs * CALL_PAGES < g->n;
	if (!each)
		r = procfs_window_resident(w, 0, w->n, state);
	for (i = 0; i < g->look && r == 0; i += n) {
		n = run(k, g, i);
		at = (uint32_t)(k->index[g->row[i]] - g->base);
		if (all || (each && all_cached(k, g->base + at, n)))
			memset(state + at, PROCFS_RESIDENT, n);
		else if (each)
			r = procfs_window_resident(w, at, n, state);
		for (j = 0; j < n; j++)
			state[at + j] |= PROCFS_CACHED;
	}
	/* Pages without a row need not be mapped. */
	for (at = 0; at < g->n; at++)
		if (!(state[at] & PROCFS_CACHED))
			state[at] = 0;
	return r;
}

static int read_group(const struct recheck *k, const struct group *g)
{
	uint8_t state[PROCFS_WINDOW_PAGES];
	struct procfs_window w;
	int r;

	r = procfs_window_map(k->f, g->base, g->n, &w);
	if (r < 0)
		return r;
	memset(state, 0, g->n);
	r = mark_resident(k, g, &w, state);
	if (r == 0)
		r = procfs_window_entries(&w, k->pagemap, state, k->words);
	procfs_window_unmap(&w);
	return r;
}

/* Note which pages have moved. Returns 1 if any has moved, otherwise 0. */
static int look(const struct recheck *k, const struct group *g)
{
	int r = read_group(k, g), torn = 0;
	uint64_t word;
	uint32_t i;

	for (i = 0; i < g->look && r == 0; i++) {
		word = k->words[k->index[g->row[i]] - g->base];
		if (word & PDET_PM_PRESENT &&
		    (word & PDET_PM_PFN_MASK) == k->pfn[g->row[i]])
			continue;
		pdet_put_note(k->b, g->row[i], PAGEDET_NOTE_TORN);
		torn = 1;
	}
	return r < 0 ? r : torn;
}

static int check(const struct recheck *k, uint32_t row, uint32_t end,
		 uint32_t *behind_it)
{
	struct group g;
	int r;

	gather(k, row, end, false, &g);
	*behind_it = g.end;
	r = look(k, &g);
	if (r > 0) {
		/* The tails after it must now be checked too. */
		gather(k, row, end, true, &g);
		r = look(k, &g);
	}
	return r < 0 ? r : 0;
}

int procfs_file_recheck(struct pdet_session *s, struct pdet_file *file,
			struct pdet_batch *b, uint32_t first, uint32_t n)
{
	struct procfs_session *session = procfs_session_of(s);
	struct recheck k = { .f = procfs_cached_of(file), .b = b };
	const uint32_t end = first + n;
	int r;

	k.pagemap = procfs_file_pagemap(session->p, k.f);
	k.window = procfs_window_pages(k.f->shift);
	k.full = procfs_window_full(k.f->shift);
	k.words = session->words;
	k.index = b->value[PAGEDET_FIELD_INDEX];
	k.pfn = b->value[PAGEDET_FIELD_PFN];
	k.flags = pdet_batch_has(b, PAGEDET_FIELD_FLAGS) &&
		  pdet_batch_has(b, PAGEDET_FIELD_FLAGS_KNOWN);
	if (k.pagemap < 0 || k.f->fd < 0)
		return 0;
	pdet_reused_cached(b, first, n);
	while (first < end) {
		if (!has_page(b, first)) {
			first++;
			continue;
		}
		r = check(&k, first, end, &first);
		if (r < 0) {
			errno = -r;
			return pdet_fail_errno(&s->env, "cannot check the "
					       "cached pages of %s again",
					       k.f->path);
		}
	}
	return 0;
}
