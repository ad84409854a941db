/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Creates rows for the cached pages of a file. cachestat finds parts with
 * cached pages: 0.3 us for an empty range of any size, where mincore costs 40
 * ns a page. Other parts are read window by window: mincore, touch, our own
 * pagemap.
 *
 * bench: file
 */
#include <errno.h>
#include <string.h>

#include "backend/procfs/file.h"

/*
 * With at most this many pages in a window, cachestat locates them faster than
 * mincore.
 */
#define FEW 4

struct walk {
	struct procfs_session *s;
	struct procfs_cached *f;
	struct pdet_batch *b;
	struct procfs_lens lens;
	int pagemap;
	bool touch;		/* pfns are requested and available */
	unsigned reason;	/* otherwise the reason */
	bool touched;		/* the current window was touched */
	uint32_t window;	/* pages */
	uint32_t full;		/* most of them that may be mapped */
	uint64_t path;		/* id of the path's text; 0: none yet */
	bool path_lost;
};

/* A part of a file that may have cached pages. */
struct span {
	uint64_t first;
	uint32_t n;
	bool counted;		/* counts is from cachestat */
	struct pdet_cachestat counts;
};

static int file_fail(struct walk *k, int code)
{
	errno = -code;
	return pdet_fail_errno(&k->s->session.env, "cannot see the cached "
			       "pages of %s", k->f->path);
}

static int begin(struct walk *k, struct pdet_session *s, struct pdet_file *f,
		 struct pdet_batch *b)
{
	int r;

	memset(k, 0, sizeof(*k));
	k->s = procfs_session_of(s);
	k->f = procfs_cached_of(f);
	k->b = b;
	k->window = procfs_window_pages(k->f->shift);
	k->full = procfs_window_full(k->f->shift);
	r = procfs_lens(&s->env, k->f, &k->lens);
	if (r < 0)
		return r;
	k->pagemap = procfs_file_pagemap(k->s->p, k->f);
	k->reason = PAGEDET_NO_ACCESS;
	k->touch = pdet_batch_has(b, PAGEDET_FIELD_PFN) && k->lens.honest &&
		   k->pagemap >= 0;
	return 0;
}

/*
 * True if nearly all of the last window was resident, so that mincore is
 * cheaper as the first call. Sessions share this hint; if it is wrong, it only
 * costs time. For tmpfs mincore alone is not enough.
 */
static bool is_dense(const struct walk *k)
{
	return k->touch && !k->f->swaps &&
	       atomic_load_explicit(&k->f->dense, memory_order_relaxed);
}

static void set_dense(struct walk *k, bool dense)
{
	atomic_store_explicit(&k->f->dense, dense, memory_order_relaxed);
}

/* --- finding pages --- */

static int count(struct walk *k, uint64_t first, uint64_t n,
		 struct pdet_cachestat *ret)
{
	int r = procfs_cachestat(k->f, first, n, ret);

	return r < 0 ? file_fail(k, r) : 0;
}

static uint64_t window_end(uint64_t first, uint64_t end, uint32_t window)
{
	return PDET_MIN(end, (first / window + 1) * window);
}

/*
 * Find the next span at or after *at. Returns 1, or 0 if there is none. Looks
 * ahead in increasing steps, so that the cost is proportional to the pages
 * skipped, and bisects the last step.
 */
static int next_span(struct walk *k, uint64_t *at, uint64_t end,
		     struct span *ret)
{
	uint64_t first = *at, step = k->window, middle, stop;
	struct pdet_cachestat cs = { 0 };
	bool counted = true;
	int r;

	/* A dense file usually stays dense, so mincore alone is enough. */
	ret->counted = k->lens.counts && !is_dense(k);
	stop = window_end(first, end, ret->counted ? k->window : k->full);
	while (ret->counted) {
		r = count(k, first, stop - first, &cs);
		if (r < 0)
			return r;
		if (cs.cached)
			break;
		*at = first = stop;
		if (first == end)
			return 0;
		step += step;
		stop = end - first > step ? first + step : end;
	}
	while (stop - first > k->window) {
		middle = (stop - first) / 2 + k->window - 1;
		middle = first + middle / k->window * k->window;
		r = count(k, first, middle - first, &cs);
		if (r < 0)
			return r;
		counted = cs.cached;
		if (counted)
			stop = middle;
		else
			first = middle;
	}
	/* If too much is cached, take only a part of the window. */
	if (ret->counted && counted && cs.cached > k->full) {
		stop = window_end(first, stop, k->full);
		counted = false;
	}
	if (!counted) {
		r = count(k, first, stop - first, &cs);
		if (r < 0)
			return r;
	}
	*at = first;
	ret->first = first;
	ret->n = (uint32_t)(stop - first);
	ret->counts = cs;
	return 1;
}

/* Locate the cached pages of a span by bisection. */
static int locate(struct walk *k, uint64_t first, uint32_t n, uint64_t cached,
		  uint8_t *state)
{
	struct pdet_cachestat part = { 0 };
	uint32_t half = n / 2;
	int r;

	if (!cached)
		return 0;
	if (cached >= n) {
		memset(state, PROCFS_CACHED, n);
		return 0;
	}
	r = count(k, first, half, &part);
	if (r == 0)
		r = locate(k, first, half, part.cached, state);
	if (r == 0)
		r = count(k, first + half, n - half, &part);
	if (r == 0)
		r = locate(k, first + half, n - half, part.cached,
			   state + half);
	return r;
}

/*
 * Find the cached pages of a span if mincore and cachestat differ. A page with
 * incomplete content is cached but not resident. A tmpfs page in the swap cache
 * is resident but not cached.
 */
static int reconcile(struct walk *k, const struct span *span, uint8_t *state)
{
	const struct pdet_cachestat *cs = &span->counts;
	const bool all = cs->cached >= span->n;
	struct span part = *span;
	uint32_t i, resident = 0;
	int r;

	for (i = 0; i < span->n; i++)
		resident += !!(state[i] & PROCFS_RESIDENT);
	if (!cs->cached) {
		memset(state, 0, span->n);
		return 0;
	}
	if (all || (cs->cached == resident &&
		    !(k->f->swaps && cs->evicted))) {
		for (i = 0; i < span->n; i++)
			if (all || state[i])
				state[i] |= PROCFS_CACHED;
		return 0;
	}
	part.n = span->n / 2;
	r = count(k, part.first, part.n, &part.counts);
	if (r == 0)
		r = reconcile(k, &part, state);
	if (r < 0)
		return r;
	part.first += part.n;
	state += part.n;
	part.n = span->n - part.n;
	r = count(k, part.first, part.n, &part.counts);
	return r < 0 ? r : reconcile(k, &part, state);
}

/* --- rows --- */

static void put_path(struct walk *k, uint32_t row, uint32_t n)
{
	const unsigned f = PAGEDET_FIELD_PATH;

	if (!pdet_batch_has(k->b, f))
		return;
	if (!k->path && !k->path_lost) {
		pdet_put_text(k->b, row, f, k->f->path, strlen(k->f->path),
			      PROCFS);
		k->path = pdet_batch_get(k->b, row, f, 0);
		k->path_lost = !k->path;
	}
	if (k->path)
		pdet_put_run(k->b, row, n, f, k->path, PROCFS);
	else
		pdet_put_lost_run(k->b, row, n, f, PAGEDET_NO_MEMORY, PROCFS);
}

/* Put the values common to all pages of the file. */
static void put_common(struct walk *k, uint32_t row, uint32_t n)
{
	const struct pdet_file *f = &k->f->file;

	pdet_put_run(k->b, row, n, PAGEDET_FIELD_KIND, f->kind, PROCFS);
	if (k->touched)
		pdet_put_run(k->b, row, n, PAGEDET_FIELD_NOTES,
			     PAGEDET_NOTE(PAGEDET_NOTE_PERTURBED),
			     PAGEDET_SOURCE_DERIVED);
	put_path(k, row, n);
	if (f->dev || f->inode) {
		pdet_put_run(k->b, row, n, PAGEDET_FIELD_DEV, f->dev, PROCFS);
		pdet_put_run(k->b, row, n, PAGEDET_FIELD_INODE, f->inode,
			     PROCFS);
		return;
	}
	pdet_put_lost_run(k->b, row, n, PAGEDET_FIELD_DEV, PAGEDET_UNSUPPORTED,
			  PROCFS);
	pdet_put_lost_run(k->b, row, n, PAGEDET_FIELD_INODE,
			  PAGEDET_UNSUPPORTED, PROCFS);
}

/* The reason for a page whose entry does not show its frame. */
static unsigned lost_reason(const struct walk *k, unsigned state,
			    uint64_t word)
{
	if (!k->touch)
		return k->reason;
	if (word & PDET_PM_PRESENT)
		return PAGEDET_NO_ACCESS;
	if (!(state & PROCFS_RESIDENT))
		return PAGEDET_UNSUPPORTED;
	return state & PROCFS_REFUSED ? PAGEDET_IO : PAGEDET_RACED;
}

/*
 * Put as many rows as there is room for. Returns how many pages of the span
 * they cover.
 */
static uint32_t put_rows(struct walk *k, const struct span *span,
			 const uint8_t *state, const uint64_t *words)
{
	const uint32_t room = k->b->cap - k->b->n;
	uint32_t i, n = 0, row, pages;
	uint64_t pfn;

	for (pages = 0; pages < span->n && n < room; pages++)
		n += state[pages] & PROCFS_CACHED;
	if (!n)
		return pages;
	row = (uint32_t)pdet_batch_grow(k->b, n);
	put_common(k, row, n);
	for (i = 0; i < pages; i++) {
		if (!(state[i] & PROCFS_CACHED))
			continue;
		pdet_put(k->b, row, PAGEDET_FIELD_INDEX, span->first + i,
			 PROCFS);
		pfn = words[i] & PDET_PM_PRESENT ?
			words[i] & PDET_PM_PFN_MASK : 0;
		if (pfn)
			pdet_put(k->b, row, PAGEDET_FIELD_PFN, pfn, PROCFS);
		else
			pdet_put_lost(k->b, row, PAGEDET_FIELD_PFN,
				      lost_reason(k, state[i], words[i]),
				      PROCFS);
		row++;
	}
	return pages;
}

/* --- one window --- */

/* Call mincore for the few pages that cachestat found. */
static int resident_runs(struct walk *k, const struct procfs_window *w,
			 uint8_t *state)
{
	uint32_t i, n;
	int r;

	for (i = 0; i < w->n; i += n) {
		for (n = 1; i + n < w->n && state[i] == state[i + n]; n++)
			;
		if (!state[i])
			continue;
		r = procfs_window_resident(w, i, n, state);
		if (r < 0)
			return file_fail(k, r);
	}
	return 0;
}

/*
 * Resident pages are cached. Count the cached pages, to find out whether there
 * are others.
 */
static int ask_for_others(struct walk *k, const struct span *span,
			  uint8_t *state)
{
	struct span part;
	uint32_t i, n;
	int r = 0;

	for (i = 0; i < span->n && r == 0; i += n) {
		for (n = 1; i + n < span->n && state[i] == state[i + n]; n++)
			;
		part.first = span->first + i;
		part.n = n;
		if (state[i]) {
			memset(state + i, PROCFS_CACHED | PROCFS_RESIDENT, n);
			continue;
		}
		r = count(k, part.first, n, &part.counts);
		if (r == 0)
			r = reconcile(k, &part, state + i);
	}
	return r;
}

/* Add results of mincore to @state, which is complete if @located. */
static int look(struct walk *k, const struct span *span,
		const struct procfs_window *w, bool located, uint8_t *state)
{
	uint32_t i;
	int r;

	if (located && span->counts.cached < span->n)
		return resident_runs(k, w, state);
	r = procfs_window_resident(w, 0, w->n, state);
	if (r < 0)
		return file_fail(k, r);
	if (located)
		return 0;
	if (span->counted)
		return reconcile(k, span, state);
	if (k->lens.counts)
		return ask_for_others(k, span, state);
	for (i = 0; i < w->n; i++)
		if (state[i] & PROCFS_RESIDENT)
			state[i] |= PROCFS_CACHED;
	return 0;
}

static int read_window(struct walk *k, const struct procfs_window *w,
		       uint8_t *state)
{
	uint64_t *words = k->s->words;
	uint32_t i;
	int r;

	for (i = 0; i < w->n && !k->touched; i++)
		k->touched = state[i] & PROCFS_RESIDENT;
	if (!k->touched)
		return 0;
	r = procfs_window_entries(w, k->pagemap, state, words);
	if (r < 0)
		return file_fail(k, r);
	/* The kernel hides the frames of all pages or of none. */
	for (i = 0; i < w->n; i++)
		if (words[i] & PDET_PM_PRESENT)
			break;
	if (i < w->n && !(words[i] & PDET_PM_PFN_MASK)) {
		k->touch = false;
		k->reason = PAGEDET_NO_ACCESS;
	}
	return 0;
}

/* Pages of a file that cannot be mapped can still be counted. */
static int no_window(struct walk *k, int code)
{
	if (!k->lens.counts ||
	    (code != -ENODEV && code != -EACCES && code != -EPERM))
		return file_fail(k, code);
	set_dense(k, false);
	k->touch = k->lens.honest = false;
	k->reason = code == -ENODEV ? PAGEDET_UNSUPPORTED : PAGEDET_NO_ACCESS;
	return 0;
}

static bool mostly_resident(const uint8_t *state, uint32_t n, uint64_t of)
{
	uint64_t resident = 0;
	uint32_t i;

	for (i = 0; i < n; i++)
		resident += state[i] / PROCFS_RESIDENT & 1;
	return resident * 16 >= of * 15;
}

/* Cut a span to its first and last cached page. */
static void trim(struct span *span, uint8_t **state)
{
	uint8_t *first = memchr(*state, PROCFS_CACHED, span->n);
	uint8_t *last = memrchr(*state, PROCFS_CACHED, span->n);

	if (!first) {
		span->n = 0;
		return;
	}
	span->first += (uint64_t)(first - *state);
	span->n = (uint32_t)(last - first) + 1;
	*state = first;
}

/* Put the rows of a span, and advance *at past it. */
static int do_span(struct walk *k, struct span span, uint64_t *at)
{
	const uint64_t first = span.first, end = first + span.n;
	uint8_t buffer[PROCFS_WINDOW_PAGES], *state = buffer;
	struct procfs_window w;
	bool located;
	uint32_t n;
	int r;

	memset(state, 0, span.n);
	k->touched = false;
	located = span.counted &&
		  (span.counts.cached >= span.n || span.counts.cached <= FEW ||
		   !k->lens.honest);
	if (located) {
		r = locate(k, span.first, span.n, span.counts.cached, state);
		if (r < 0)
			return r;
		trim(&span, &state);
	}
	if (span.n && (k->touch || !located)) {
		r = procfs_window_map(k->f, span.first, span.n, &w);
		if (r < 0)
			return no_window(k, r);
		r = look(k, &span, &w, located, state);
		if (r == 0 && k->touch)
			r = read_window(k, &w, state);
		procfs_window_unmap(&w);
		if (r < 0)
			return r;
	}
	if (!k->touched)
		memset(k->s->words, 0, span.n * sizeof(*k->s->words));
	if (k->touched)
		set_dense(k, mostly_resident(state, span.n, end - first));
	n = put_rows(k, &span, state, k->s->words);
	*at = n == span.n ? end : span.first + n;
	return 0;
}

/*
 * Cut a span to the room in the batch. Returns 1, or 0 if the next batch should
 * take the span, because a part of a window costs as much as a whole one.
 */
static int fit(struct walk *k, struct span *span)
{
	const uint32_t room = k->b->cap - k->b->n;
	int r;

	if (span->n <= room || (span->counted && span->counts.cached <= room))
		return 1;
	if (room <= k->b->n)
		return 0;
	span->n = room;
	if (!span->counted)
		return 1;
	r = count(k, span->first, span->n, &span->counts);
	return r < 0 ? r : 1;
}

int procfs_file_pages(struct pdet_session *s, struct pdet_file *f,
		      uint64_t *at, uint64_t end, struct pdet_batch *b)
{
	struct span span;
	struct walk k;
	int r;

	end = PDET_MIN(end, f->pages);
	if (*at >= end)
		return 0;
	r = begin(&k, s, f, b);
	while (r == 0 && *at < end && b->n < b->cap) {
		r = next_span(&k, at, end, &span);
		if (r > 0)
			r = fit(&k, &span);
		if (r <= 0)
			return r;
		r = do_span(&k, span, at);
	}
	return r;
}
