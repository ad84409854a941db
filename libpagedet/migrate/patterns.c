/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Each page that differs gets a class: one of the kinds of patterns, and one
 * for each shift. The classes that say most come first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "migrate/patterns.h"
#include "migrate/seen.h"

/* Pages that vote for a shift, and the fewest that are not an accident. */
#define VOTERS 4096u
#define FEWEST 4u
/* A shift has at least this part of the votes. */
#define PART 16u
/* More pages are not searched for at other places. */
#define MOST_SEARCHED 65536u

/* Classes of a page; the others are PAGEDET_PATTERN_*, and shifts. */
#define EQUAL 0u
#define SHIFT (PAGEDET_PATTERN_EXCHANGED + 1u) /* and so on, for the others */
#define UNKNOWN 254u
#define OPEN 255u

struct pattern {
	const struct pdet_sides *s;
	unsigned char *class;	/* by page */
	int64_t shifts[PDET_MOST_SHIFTS];
	unsigned n_shifts;
	uint64_t unsearched;
	uint64_t exchanged, with; /* the first page that changed places, and the
				   * other one */
	struct pagedet_pattern of[SHIFT + PDET_MOST_SHIFTS];
};

static bool is_data(const struct pagedet_seen *seen)
{
	return seen->state == PAGEDET_SEEN_DATA;
}

static bool is_empty(const struct pagedet_seen *seen)
{
	return seen->state == PAGEDET_SEEN_ABSENT ||
	       seen->state == PAGEDET_SEEN_ZERO;
}

static void compare(struct pattern *w)
{
	uint64_t i;

	for (i = 0; i < w->s->n; i++) {
		const uint32_t same = pdet_seen_equal(&w->s->here[i],
						      &w->s->peer[i]);

		w->class[i] = same == PAGEDET_YES ? EQUAL :
			      same == PAGEDET_NO ? OPEN : UNKNOWN;
	}
}

/* --- places --- */

static bool place(const struct pdet_sides *s, uint64_t page,
		  struct pagedet_page_at *at)
{
	*at = (struct pagedet_page_at){ .size = sizeof(*at) };
	return s->blocks && !pdet_blocks_at(s->blocks, page, at);
}

static bool same_block(const struct pdet_sides *s, uint64_t a, uint64_t b)
{
	struct pagedet_page_at x, y;

	return !s->blocks || (place(s, a, &x) && place(s, b, &y) &&
			      x.block == y.block);
}

/* Whether a block, or a range of guest addresses, begins at @page. */
static bool is_border(const struct pdet_sides *s, uint64_t page)
{
	struct pagedet_page_at at, before;

	if (!s->blocks || !page || page >= s->n)
		return s->blocks != NULL;
	if (!place(s, page, &at) || !place(s, page - 1, &before))
		return false;
	return at.block != before.block || at.has_guest != before.has_guest ||
	       (at.has_guest && at.guest - before.guest !=
					at.offset - before.offset);
}

/* --- contents at other places --- */

struct sample {
	uint64_t page, hash;
};

static int by_hash(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

static int by_shift(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Pages that are open, and of which the peer has data. */
static uint64_t count_open(const struct pattern *w)
{
	uint64_t i, n = 0;

	for (i = 0; i < w->s->n; i++)
		n += w->class[i] == OPEN && is_data(&w->s->peer[i]);
	return n;
}

/*
 * Takes @most of them, at equal distances, ordered by hash; @found gets where
 * they are on this side, in the same order.
 */
static uint64_t search(const struct pattern *w, uint64_t most,
		       struct sample **samples,
		       struct pagedet_elsewhere **found)
{
	const uint64_t all = count_open(w), each = all / (most + 1) + 1;
	uint64_t i, n = 0, open = 0;

	*samples = calloc(all / each + 1, sizeof(**samples));
	*found = calloc(all / each + 1, sizeof(**found));
	if (!*samples || !*found)
		return 0;
	for (i = 0; i < w->s->n; i++)
		if (w->class[i] == OPEN && is_data(&w->s->peer[i]) &&
		    !(open++ % each))
			(*samples)[n++] = (struct sample){
				i, w->s->peer[i].hash };
	if (!n)
		return 0;
	qsort(*samples, n, sizeof(**samples), by_hash);
	for (i = 0; i < n; i++)
		(*found)[i].hash = (*samples)[i].hash;
	pdet_seen_find(w->s->here, w->s->n, *found, n);
	return n;
}

/* The value that most of them have; returns how many. */
static uint64_t most_frequent(const int64_t *votes, uint64_t n, int64_t *ret)
{
	uint64_t i, from = 0, best = 0;

	for (i = 1; i <= n; i++) {
		if (i < n && votes[i] == votes[from])
			continue;
		if (i - from > best) {
			best = i - from;
			*ret = votes[from];
		}
		from = i;
	}
	return best;
}

/* Only contents that exist once here tell where a page comes from. */
static int find_shift(struct pattern *w, bool *is_found)
{
	struct pagedet_elsewhere *found;
	struct sample *samples;
	int64_t *votes, shift = 0;
	uint64_t i, n, cast = 0;

	*is_found = false;
	if (count_open(w) < FEWEST)
		return 0;
	n = search(w, VOTERS, &samples, &found);
	votes = calloc(n + 1, sizeof(*votes));
	if (!samples || !found || !votes) {
		free(samples);
		free(found);
		free(votes);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++)
		if (found[i].n == 1 &&
		    same_block(w->s, samples[i].page, found[i].last))
			votes[cast++] = (int64_t)(found[i].last -
						  samples[i].page);
	qsort(votes, cast, sizeof(*votes), by_shift);
	if (most_frequent(votes, cast, &shift) >=
	    (n / PART > FEWEST ? n / PART : FEWEST)) {
		w->shifts[w->n_shifts++] = shift;
		*is_found = true;
	}
	free(samples);
	free(found);
	free(votes);
	return 0;
}

/* Whether the peer has at @page what is here at the distance of the shift. */
static bool fits(const struct pattern *w, uint64_t page, int64_t shift)
{
	const uint64_t from = page + (uint64_t)shift;

	return from < w->s->n &&
	       pdet_seen_equal(&w->s->here[from], &w->s->peer[page]) ==
		       PAGEDET_YES &&
	       same_block(w->s, page, from);
}

/*
 * Pages without data say nothing alone: they are taken next to those with data,
 * as far as they fit.
 */
static void mark_shift(struct pattern *w, unsigned k)
{
	const unsigned char class = (unsigned char)(SHIFT + k);
	const struct pdet_sides *s = w->s;
	uint64_t i;

	for (i = 0; i < s->n; i++)
		if (w->class[i] == OPEN && fits(w, i, w->shifts[k]) &&
		    (is_data(&s->peer[i]) || (i && w->class[i - 1] == class)))
			w->class[i] = class;
	for (i = s->n; i-- > 1;)
		if (w->class[i] == class && w->class[i - 1] == OPEN &&
		    fits(w, i - 1, w->shifts[k]))
			w->class[i - 1] = class;
}

static int find_shifts(struct pattern *w)
{
	bool is_found = true;
	int r = 0;

	while (!r && is_found && w->n_shifts < PDET_MOST_SHIFTS) {
		r = find_shift(w, &is_found);
		if (!r && is_found)
			mark_shift(w, w->n_shifts - 1);
	}
	return r;
}

/* --- pages that have changed places --- */

static bool is_older(const struct pattern *w, uint64_t page)
{
	return w->s->versions &&
	       pdet_versions_had_seen(w->s->versions, page,
				      &w->s->peer[page]) == PAGEDET_YES;
}

/* Whether the peer has at @b what is here at @a, where both have data. */
static bool is_at(const struct pattern *w, uint64_t a, uint64_t b)
{
	return is_data(&w->s->here[a]) && is_data(&w->s->peer[b]) &&
	       pdet_seen_equal(&w->s->here[a], &w->s->peer[b]) == PAGEDET_YES;
}

static void mark_exchanged(struct pattern *w, uint64_t a, uint64_t b)
{
	const uint64_t first = PDET_MIN(a, b);

	if (first < w->exchanged) {
		w->exchanged = first;
		w->with = first == a ? b : a;
	}
	w->class[a] = w->class[b] = PAGEDET_PATTERN_EXCHANGED;
}

/* Several of them would look like two shifts, by 1 on and back. */
static void find_neighbours(struct pattern *w)
{
	uint64_t i;

	for (i = 0; i + 1 < w->s->n; i++)
		if (w->class[i] == OPEN && w->class[i + 1] == OPEN &&
		    is_at(w, i, i + 1) && is_at(w, i + 1, i) &&
		    !is_older(w, i) && !is_older(w, i + 1))
			mark_exchanged(w, i, i + 1);
}

/* --- the others --- */

static void find_empty_and_older(struct pattern *w)
{
	const struct pdet_sides *s = w->s;
	uint64_t i;

	for (i = 0; i < s->n; i++) {
		if (w->class[i] != OPEN)
			continue;
		if (is_empty(&s->peer[i]))
			w->class[i] = PAGEDET_PATTERN_EMPTY_PEER;
		else if (is_older(w, i))
			w->class[i] = PAGEDET_PATTERN_OLDER;
	}
}

/* The peer's contents that most pages have, if it is not an accident. */
static void mark_alike(struct pattern *w, const struct sample *samples,
		       uint64_t n)
{
	uint64_t i, from = 0, best = 0, hash = 0;

	for (i = 1; i <= n; i++) {
		if (i < n && samples[i].hash == samples[from].hash)
			continue;
		if (i - from > best && w->class[samples[from].page] == OPEN) {
			best = i - from;
			hash = samples[from].hash;
		}
		from = i;
	}
	for (i = 0; best >= FEWEST && i < w->s->n; i++)
		if (w->class[i] == OPEN && is_data(&w->s->peer[i]) &&
		    w->s->peer[i].hash == hash)
			w->class[i] = PAGEDET_PATTERN_ALIKE;
}

static int find_moved_and_alike(struct pattern *w)
{
	struct pagedet_elsewhere *found;
	struct sample *samples;
	uint64_t i, n = search(w, MOST_SEARCHED, &samples, &found);
	struct pagedet_pattern *moved = &w->of[PAGEDET_PATTERN_MOVED];
	uint64_t first = UINT64_MAX;
	const bool room = samples && found;

	for (i = 0; room && i < n; i++) {
		const uint64_t page = samples[i].page, at = found[i].last;

		if (found[i].n && w->class[page] == OPEN &&
		    w->class[at] == OPEN && is_at(w, page, at))
			mark_exchanged(w, page, at);
	}
	for (i = 0; room && i < n; i++) {
		if (!found[i].n || w->class[samples[i].page] != OPEN)
			continue;
		w->class[samples[i].page] = PAGEDET_PATTERN_MOVED;
		if (samples[i].page < first) {
			first = samples[i].page;
			moved->from = found[i].last;
		}
	}
	if (room) {
		mark_alike(w, samples, n);
		w->unsearched = count_open(w);
		for (i = 0; i < n; i++)
			w->unsearched -= w->class[samples[i].page] == OPEN;
	}
	free(samples);
	free(found);
	return room ? 0 : -ENOMEM;
}

static void find_rest(struct pattern *w)
{
	uint64_t i;

	for (i = 0; i < w->s->n; i++)
		if (w->class[i] == OPEN)
			w->class[i] = is_empty(&w->s->here[i]) ?
				PAGEDET_PATTERN_EMPTY_HERE :
				PAGEDET_PATTERN_OTHER;
}

/* --- sums --- */

static void add(struct pattern *w, uint64_t page, struct pagedet_pattern *p)
{
	const struct pagedet_seen *here = &w->s->here[page];
	const struct pagedet_seen *peer = &w->s->peer[page];
	const bool empty_here = p->kind == PAGEDET_PATTERN_EMPTY_HERE;
	const struct pagedet_seen *data = empty_here ? peer : here;
	const struct pagedet_seen *other = empty_here ? here : peer;

	p->pages++;
	p->last = page;
	p->swapped += is_data(data) && (data->bits & PAGEDET_SEEN_SWAPPED);
	if (p->kind != PAGEDET_PATTERN_EMPTY_PEER && !empty_here)
		return;
	p->absent += other->state == PAGEDET_SEEN_ABSENT;
	p->older += !empty_here && is_older(w, page);
}

/* What lies between its first and its last page is counted on the way. */
static void sum(struct pattern *w)
{
	struct { uint64_t equal, differ; } at[SHIFT + PDET_MOST_SHIFTS];
	uint64_t i, equal = 0, differ = 0;

	for (i = 0; i < w->s->n; i++) {
		const unsigned class = w->class[i];
		struct pagedet_pattern *p;

		equal += class == EQUAL;
		if (class == EQUAL || class == UNKNOWN)
			continue;
		p = &w->of[class];
		if (!p->pages) {
			p->first = i;
			p->kind = class < SHIFT ? class :
						  PAGEDET_PATTERN_SHIFTED;
			at[class].equal = equal;
			at[class].differ = differ;
		}
		differ++;
		add(w, i, p);
		p->equal = equal - at[class].equal;
		p->differ = differ - at[class].differ - p->pages;
	}
}

static int by_pages(const void *a, const void *b)
{
	const struct pagedet_pattern *x = a, *y = b;

	if (x->pages != y->pages)
		return x->pages > y->pages ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static int give(struct pattern *w, struct pagedet_pattern *ret)
{
	unsigned class;
	int n = 0;

	w->of[PAGEDET_PATTERN_OTHER].unsearched = w->unsearched;
	w->of[PAGEDET_PATTERN_EXCHANGED].from = w->with;
	for (class = 0; class < SHIFT + PDET_MOST_SHIFTS; class++) {
		struct pagedet_pattern *p = &w->of[class];

		if (!p->pages)
			continue;
		if (class >= SHIFT) {
			p->shift = w->shifts[class - SHIFT];
			p->from = p->first + (uint64_t)p->shift;
		}
		if (is_border(w->s, p->first))
			p->borders |= PAGEDET_BORDER_FIRST;
		if (is_border(w->s, p->last + 1))
			p->borders |= PAGEDET_BORDER_LAST;
		ret[n++] = *p;
	}
	qsort(ret, (size_t)n, sizeof(*ret), by_pages);
	return n;
}

/* Patterns are told apart by their kinds and shifts, as classes are. */
static uint8_t place_of(const struct pattern *w, unsigned class,
			const struct pagedet_pattern *ret, int n)
{
	const struct pagedet_pattern *p = &w->of[class];
	int i = 0;

	while (i < n && (ret[i].kind != p->kind || ret[i].shift != p->shift))
		i++;
	return (uint8_t)(i + 1);
}

static void give_places(const struct pattern *w,
			const struct pagedet_pattern *ret, int n, uint8_t *of)
{
	uint8_t place[UINT8_MAX + 1] = { 0 };
	unsigned class;
	uint64_t i;

	for (class = 0; class < SHIFT + PDET_MOST_SHIFTS; class++)
		if (w->of[class].pages)
			place[class] = place_of(w, class, ret, n);
	for (i = 0; i < w->s->n; i++)
		of[i] = place[w->class[i]];
}

int pdet_patterns(const struct pdet_sides *s, struct pagedet_pattern *ret,
		  uint8_t *of)
{
	struct pattern w = { .s = s, .exchanged = UINT64_MAX };
	int r;

	w.class = malloc(s->n + 1);
	if (!w.class)
		return -ENOMEM;
	compare(&w);
	find_neighbours(&w);
	r = find_shifts(&w);
	if (!r) {
		find_empty_and_older(&w);
		r = find_moved_and_alike(&w);
	}
	if (!r) {
		find_rest(&w);
		sum(&w);
		r = give(&w, ret);
		if (of)
			give_places(&w, ret, r, of);
	}
	free(w.class);
	return r;
}
