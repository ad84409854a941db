/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Rows for the cached pages of a file. cachestat finds where there are any:
 * 0.3 us for any range without pages, where mincore costs 40 ns a page. The
 * rest goes window by window: mincore, touch, our own pagemap.
 */
#include <errno.h>
#include <string.h>

#include "backend/procfs_file.h"

/* With so few pages in a window, cachestat finds them faster than mincore. */
#define FEW 4

struct walk {
	struct procfs_session *s;
	struct procfs_cached *f;
	struct pdet_batch *b;
	struct procfs_lens lens;
	int pagemap;
	bool touch;		/* pfns are wanted and can be had */
	unsigned reason;	/* why not */
	bool touched;		/* this window */
	uint32_t window;	/* pages */
	uint64_t path;		/* id of the path's text; 0 none yet */
	bool path_lost;
};

/* Part of a file that may have cached pages. */
struct span {
	uint64_t first;
	uint32_t n;
	bool counted;		/* by cachestat */
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
 * Nearly all of the last window was resident, so that asking mincore first is
 * cheaper. A hint that sessions share: where it is wrong, it costs time. For
 * tmpfs, mincore alone does not tell.
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

/* --- where there are pages --- */

static int count(struct walk *k, uint64_t first, uint64_t n,
		 struct pdet_cachestat *ret)
{
	int r = procfs_cachestat(k->f, first, n, ret);

	return r < 0 ? file_fail(k, r) : 0;
}

/*
 * The next span at or after *at: 1; 0 there is none. Looks ahead in ever larger
 * steps, so that what it costs is in proportion to what is skipped, and halves
 * the last step.
 */
static int next_span(struct walk *k, uint64_t *at, uint64_t end,
		     struct span *ret)
{
	uint64_t first = *at, step = k->window, middle, stop;
	struct pdet_cachestat cs = { 0 };
	bool counted = true;
	int r;

	stop = PDET_MIN(end, (first / k->window + 1) * k->window);
	/* A dense file goes on being so: mincore alone tells, mostly. */
	ret->counted = k->lens.counts && !is_dense(k);
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

/* Which pages of a span are cached, by halving. */
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
 * Which pages of a span are cached where mincore and cachestat differ: a page
 * whose content is not complete is cached and not resident, one of tmpfs in the
 * swap cache is resident and not cached.
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

/* What all pages of the file have in common. */
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

/* A page whose entry does not show where it is. */
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

/* As many as there is room for; returns how many pages of the span that was. */
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

/* mincore for the few pages that cachestat found. */
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

/* Pages that are resident are cached. The others may be, too. */
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

/* What mincore adds to @state, which is complete if @located. */
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
	/* Numbers are hidden from all of them or from none. */
	for (i = 0; i < w->n; i++)
		if (words[i] & PDET_PM_PRESENT)
			break;
	if (i < w->n && !(words[i] & PDET_PM_PFN_MASK)) {
		k->touch = false;
		k->reason = PAGEDET_NO_ACCESS;
	}
	return 0;
}

/* A file that cannot be mapped still has pages that can be counted. */
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

/* A span from its first to its last cached page. */
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

/* Rows of a span; *at becomes the place behind them. */
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
 * Cuts a span to what the batch surely has room for: 1; 0 if it is better left
 * to the next batch, for a cut window costs as much as a whole one.
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
