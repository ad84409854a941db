/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Sorts short keys, and then moves each event once. */
#include <stdlib.h>

#include "base/env.h"
#include "base/hash.h"
#include "base/vec.h"
#include "trace/sorter.h"

/*
 * A file without rounds, or with very long ones, must not fill the memory. perf
 * itself keeps all.
 */
#define MOST_ENTRIES ((size_t)4 << 20)
#define MOST_TEXT ((size_t)16 << 20)

bool pdet_sorter_add(struct pdet_sorter *s, const struct pdet_kmem_event *e)
{
	struct pdet_sorter_entry entry = { .event = *e };

	/* Texts past the limit are not known; only a hostile file has them. */
	if (e->cache && s->texts.text.n < MOST_TEXT) {
		entry.text = pdet_hash(e->cache, e->cache_len);
		if (!pdet_groups_keep(&s->texts, entry.text, e->cache,
				      e->cache_len))
			return false;
	}
	entry.event.cache = NULL;
	s->latest = PDET_MAX(s->latest, e->ns);
	return pdet_vec_push(&s->entries, entry);
}

bool pdet_sorter_is_full(const struct pdet_sorter *s)
{
	return s->entries.n >= MOST_ENTRIES;
}

uint64_t pdet_sorter_round(struct pdet_sorter *s)
{
	const uint64_t until = s->round;

	s->round = s->latest;
	return until;
}

static int compare(const void *pa, const void *pb)
{
	const struct pdet_sorter_key *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	return a->index < b->index ? -1 : 1;
}

/* The keys of those until @ns, in order. */
static bool sort(struct pdet_sorter *s, uint64_t ns)
{
	bool in_order = true;
	size_t i;

	s->keys.n = 0;
	if (!pdet_vec_reserve(&s->keys, s->entries.n))
		return false;
	for (i = 0; i < s->entries.n; i++) {
		const struct pdet_kmem_event *e = &s->entries.data[i].event;
		struct pdet_sorter_key *key = &s->keys.data[s->keys.n];

		if (e->ns > ns)
			continue;
		*key = (struct pdet_sorter_key){ e->ns, e->cpu, (uint32_t)i };
		in_order = in_order &&
			   (!s->keys.n || compare(key - 1, key) < 0);
		s->keys.n++;
	}
	if (!in_order)
		qsort(s->keys.data, s->keys.n, sizeof(*s->keys.data), compare);
	return true;
}

/* Takes out those of the first @n keys. */
static bool move(struct pdet_sorter *s, size_t n,
		 struct pdet_trace_piece *piece)
{
	size_t i, kept = 0, len;

	piece->n = piece->next = 0;
	if (!pdet_vec_reserve(piece, n))
		return false;
	for (i = 0; i < n; i++) {
		struct pdet_sorter_entry *from =
			&s->entries.data[s->keys.data[i].index];
		struct pdet_kmem_event *e = &piece->data[i];

		*e = from->event;
		if (from->text)
			e->cache = pdet_groups_text(&s->texts, from->text,
						    &len);
		from->event.kind = PDET_KMEM_KINDS; /* taken */
	}
	piece->n = n;
	for (i = 0; i < s->entries.n; i++)
		if (s->entries.data[i].event.kind != PDET_KMEM_KINDS)
			s->entries.data[kept++] = s->entries.data[i];
	s->entries.n = kept;
	return true;
}

bool pdet_sorter_take(struct pdet_sorter *s, uint64_t ns,
		      struct pdet_trace_piece *piece)
{
	return sort(s, ns) && move(s, s->keys.n, piece);
}

bool pdet_sorter_take_half(struct pdet_sorter *s,
			   struct pdet_trace_piece *piece)
{
	return sort(s, UINT64_MAX) && move(s, (s->keys.n + 1) / 2, piece);
}

void pdet_sorter_free(struct pdet_sorter *s)
{
	pdet_vec_free(&s->entries);
	pdet_vec_free(&s->keys);
	pdet_groups_free(&s->texts);
}
