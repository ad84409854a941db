/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Sorts short keys by merging: those of one processor are in order already, or
 * nearly, so that there are few runs. What is too much for the memory goes into
 * a file, and comes back in order.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/hash.h"
#include "base/vec.h"
#include "trace/perf/sorter.h"

#define MOST_TEXT ((size_t)16 << 20)
/* Events of a piece, of those that were in a file. */
#define PIECE ((size_t)2048)

static struct pdet_sorter_key key_of(const struct pdet_sorter *s, size_t i)
{
	const struct pdet_kmem_event *e = &s->events.data[i];

	return (struct pdet_sorter_key){ e->ns, e->cpu, (uint32_t)i };
}

/* Of two events, the first one came before the second one. */
static bool is_before(struct pdet_sorter_key second,
		      struct pdet_sorter_key first)
{
	/* Without branches, whose outcome nobody can foretell. */
	return (second.ns < first.ns) |
	       ((second.ns == first.ns) & (second.cpu < first.cpu));
}

static bool is_taken(const struct pdet_sorter *s, struct pdet_sorter_key key)
{
	if (key.index <= s->last.index)
		return !is_before(s->last, key);
	return is_before(key, s->last);
}

static void drop_taken(struct pdet_sorter *s)
{
	size_t i, kept = 0;

	for (i = 0; i < s->events.n; i++)
		if (!is_taken(s, key_of(s, i)))
			s->events.data[kept++] = s->events.data[i];
	s->events.n = kept;
	s->taken = false;
}

/* Texts past the limit are not known; only a hostile file has them. */
static bool keep_text(struct pdet_sorter *s, struct pdet_kmem_event *e)
{
	const uint64_t hash = pdet_hash(e->cache, e->cache_len);
	uint64_t at;

	if (!s->texts) {
		s->texts = malloc(MOST_TEXT);
		if (!s->texts)
			return false;
	}
	if (!pdet_pairs_get(&s->text_at, hash, &at)) {
		if (e->cache_len > MOST_TEXT - s->n_texts) {
			e->cache = NULL;
			return true;
		}
		at = (uint64_t)s->n_texts << 32 | e->cache_len;
		if (!pdet_pairs_set(&s->text_at, hash, at))
			return false;
		memcpy(s->texts + s->n_texts, e->cache, e->cache_len);
		s->n_texts += e->cache_len;
	}
	e->cache = s->texts + (at >> 32);
	e->cache_len = (uint32_t)at;
	return true;
}

struct pdet_kmem_event *pdet_sorter_room(struct pdet_sorter *s)
{
	if (s->taken)
		drop_taken(s);
	return pdet_vec_reserve(&s->events, 1) ? &s->events.data[s->events.n] :
						 NULL;
}

bool pdet_sorter_add(struct pdet_sorter *s)
{
	struct pdet_kmem_event *e = &s->events.data[s->events.n];

	if (e->cache && !keep_text(s, e))
		return false;
	s->latest = PDET_MAX(s->latest, e->ns);
	s->events.n++;
	return true;
}

uint64_t pdet_sorter_round(struct pdet_sorter *s)
{
	const uint64_t until = s->round;

	s->round = s->latest;
	return until;
}

/* The keys of those until @ns as they came, and their runs. */
static bool list(struct pdet_sorter *s, uint64_t ns)
{
	size_t i;

	s->keys.n = s->runs.n = 0;
	if (!pdet_vec_reserve(&s->keys, s->events.n))
		return false;
	for (i = 0; i < s->events.n; i++) {
		const struct pdet_sorter_key key = key_of(s, i);

		if (key.ns > ns)
			continue;
		if ((!s->keys.n ||
		     is_before(key, s->keys.data[s->keys.n - 1])) &&
		    !pdet_vec_push(&s->runs, s->keys.n))
			return false;
		s->keys.data[s->keys.n++] = key;
	}
	return true;
}

/* Those from @a to @b, and from there to @end. */
static void merge(const struct pdet_sorter_key *a,
		  const struct pdet_sorter_key *b,
		  const struct pdet_sorter_key *end, struct pdet_sorter_key *to)
{
	const struct pdet_sorter_key *const a_end = b;

	while (a < a_end && b < end) {
		const bool second = is_before(*b, *a);

		*to++ = second ? *b : *a;
		a += !second;
		b += second;
	}
	memcpy(to, a, (size_t)(a_end - a) * sizeof(*to));
	to += a_end - a;
	memcpy(to, b, (size_t)(end - b) * sizeof(*to));
}

/* Each two runs become one. */
static void halve_runs(struct pdet_sorter *s)
{
	const struct pdet_sorter_keys from = s->keys;
	const size_t n = s->runs.n;
	size_t i;

	for (i = 0; i < n; i += 2) {
		const size_t begin = s->runs.data[i];
		const size_t end = i + 2 < n ? s->runs.data[i + 2] : from.n;
		const size_t middle = i + 1 < n ? s->runs.data[i + 1] : end;

		merge(from.data + begin, from.data + middle, from.data + end,
		      s->merged.data + begin);
		s->runs.data[i / 2] = begin;
	}
	s->runs.n = (n + 1) / 2;
	s->keys = s->merged;
	s->keys.n = from.n;
	s->merged = from;
}

static bool sort(struct pdet_sorter *s, uint64_t ns)
{
	if (s->taken)
		drop_taken(s);
	s->merged.n = 0;
	if (!list(s, ns) || !pdet_vec_reserve(&s->merged, s->keys.n))
		return false;
	while (s->runs.n > 1)
		halve_runs(s);
	return true;
}

/* All keys were given. */
static void end_giving(struct pdet_sorter *s)
{
	if (s->keys.n)
		s->last = s->keys.data[s->keys.n - 1];
	s->taken = s->keys.n;
	s->is_giving = false;
}

static int give_all(struct pdet_sorter *s, struct pdet_trace_piece *piece)
{
	size_t i;

	piece->n = piece->next = 0;
	if (!pdet_vec_reserve(piece, s->keys.n))
		return -ENOMEM;
	for (i = 0; i < s->keys.n; i++)
		piece->data[i] = &s->events.data[s->keys.data[i].index];
	piece->n = s->keys.n;
	end_giving(s);
	return 0;
}

/* Whether @e of the file, which came before those in memory, is the next. */
static bool is_in_file(const struct pdet_sorter *s,
		       const struct pdet_kmem_event *e)
{
	if (!e || e->ns > s->until)
		return false;
	return s->next == s->keys.n ||
	       !is_before(s->keys.data[s->next],
			  (struct pdet_sorter_key){ e->ns, e->cpu, 0 });
}

int pdet_sorter_go_on(struct pdet_sorter *s, struct pdet_trace_piece *piece)
{
	const struct pdet_kmem_event *e;
	int r = 0;

	piece->n = piece->next = 0;
	if (!s->given)
		s->given = calloc(PIECE, sizeof(*s->given));
	if (!s->given || !pdet_vec_reserve(piece, PIECE))
		return -ENOMEM;
	while (piece->n < PIECE && r == 0) {
		r = pdet_spill_first(&s->spill, &e);
		if (r < 0)
			break;
		if (is_in_file(s, e)) {
			s->given[piece->n] = *e;
			piece->data[piece->n] = &s->given[piece->n];
			r = pdet_spill_next(&s->spill);
		} else if (s->next < s->keys.n) {
			piece->data[piece->n] =
				&s->events.data[s->keys.data[s->next++].index];
		} else {
			end_giving(s);
			break;
		}
		piece->n++;
	}
	return r;
}

int pdet_sorter_take(struct pdet_sorter *s, uint64_t ns,
		     struct pdet_trace_piece *piece)
{
	const struct pdet_kmem_event *e;
	int r = pdet_spill_first(&s->spill, &e);

	if (r < 0)
		return r;
	if (!sort(s, ns))
		return -ENOMEM;
	if (!e || e->ns > ns)
		return give_all(s, piece);
	s->is_giving = true;
	s->until = ns;
	s->next = 0;
	return pdet_sorter_go_on(s, piece);
}

int pdet_sorter_relieve(struct pdet_sorter *s)
{
	size_t i;
	int r = 0;

	if (s->events.n < (s->is_alone ? s->most_alone : s->most) || s->taken)
		return 0;
	if (!sort(s, UINT64_MAX))
		return -ENOMEM;
	for (i = 0; i < s->keys.n && r == 0; i++)
		r = pdet_spill_put(&s->spill,
				   &s->events.data[s->keys.data[i].index]);
	if (r == 0)
		r = pdet_spill_end(&s->spill);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		pdet_spill_undo(&s->spill);
	else
		s->events.n = 0;
	s->is_alone = r < 0;
	return s->events.n < s->most_alone ? 0 : r;
}

void pdet_sorter_free(struct pdet_sorter *s)
{
	pdet_vec_free(&s->events);
	pdet_vec_free(&s->keys);
	pdet_vec_free(&s->merged);
	pdet_vec_free(&s->runs);
	pdet_pairs_free(&s->text_at);
	pdet_spill_free(&s->spill);
	free(s->given);
	free(s->texts);
}
