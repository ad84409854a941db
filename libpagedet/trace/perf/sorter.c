/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Sorts short keys by merging: those of one processor are in order already, or
 * nearly, so that there are few runs.
 */
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/hash.h"
#include "base/vec.h"
#include "trace/perf/sorter.h"

/*
 * A file without rounds, or with very long ones, must not fill the memory. perf
 * itself keeps all.
 */
#define MOST_EVENTS ((size_t)4 << 20)
#define MOST_TEXT ((size_t)16 << 20)

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

bool pdet_sorter_is_full(const struct pdet_sorter *s)
{
	return s->events.n >= MOST_EVENTS && !s->taken;
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

/* Gives those of the first @n keys. */
static bool give(struct pdet_sorter *s, size_t n,
		 struct pdet_trace_piece *piece)
{
	size_t i;

	piece->n = piece->next = 0;
	if (!pdet_vec_reserve(piece, n))
		return false;
	for (i = 0; i < n; i++)
		piece->data[i] = &s->events.data[s->keys.data[i].index];
	piece->n = n;
	if (n)
		s->last = s->keys.data[n - 1];
	s->taken = n;
	return true;
}

bool pdet_sorter_take(struct pdet_sorter *s, uint64_t ns,
		      struct pdet_trace_piece *piece)
{
	return sort(s, ns) && give(s, s->keys.n, piece);
}

bool pdet_sorter_take_half(struct pdet_sorter *s,
			   struct pdet_trace_piece *piece)
{
	return sort(s, UINT64_MAX) && give(s, (s->keys.n + 1) / 2, piece);
}

void pdet_sorter_free(struct pdet_sorter *s)
{
	pdet_vec_free(&s->events);
	pdet_vec_free(&s->keys);
	pdet_vec_free(&s->merged);
	pdet_vec_free(&s->runs);
	pdet_pairs_free(&s->text_at);
	free(s->texts);
}
