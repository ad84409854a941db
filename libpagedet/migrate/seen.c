/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Compares and searches the contents of pages. */
#include <stdlib.h>

#include "migrate/seen.h"

bool pdet_seen_known(const struct pagedet_seen *seen)
{
	return seen->state != PAGEDET_SEEN_NOTHING &&
	       seen->state != PAGEDET_SEEN_LOST;
}

static bool is_zero(const struct pagedet_seen *seen)
{
	return seen->state == PAGEDET_SEEN_ABSENT ||
	       seen->state == PAGEDET_SEEN_ZERO;
}

uint32_t pdet_seen_equal(const struct pagedet_seen *a,
			 const struct pagedet_seen *b)
{
	bool same;

	if (!pdet_seen_known(a) || !pdet_seen_known(b))
		return PAGEDET_DUNNO;
	if (is_zero(a) || is_zero(b))
		same = is_zero(a) && is_zero(b);
	else
		same = a->hash == b->hash;
	return same ? PAGEDET_YES : PAGEDET_NO;
}

static int compare(const void *a, const void *b)
{
	const struct pagedet_elsewhere *x = a, *y = b;

	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* The first search with this hash, or NULL. */
static struct pagedet_elsewhere *first_of(struct pagedet_elsewhere *found,
					  uint64_t n, uint64_t hash)
{
	uint64_t low = 0, high = n;

	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;

		if (found[middle].hash < hash)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && found[low].hash == hash ? &found[low] : NULL;
}

/*
 * If several searches are equal, only the first one counts, and its result is
 * copied.
 */
static void spread(struct pagedet_elsewhere *found, uint64_t n)
{
	uint64_t i;

	for (i = 1; i < n; i++)
		if (found[i].hash == found[i - 1].hash)
			found[i] = found[i - 1];
}

void pdet_seen_find(const struct pagedet_seen *seen, uint64_t n,
		    struct pagedet_elsewhere *found, uint64_t n_found)
{
	struct pagedet_elsewhere *e;
	uint64_t i;

	for (i = 0; i < n_found; i++)
		found[i].n = found[i].last = 0;
	if (n_found)
		qsort(found, n_found, sizeof(*found), compare);
	for (i = 0; i < n; i++) {
		if (seen[i].state != PAGEDET_SEEN_DATA)
			continue;
		e = first_of(found, n_found, seen[i].hash);
		if (e) {
			e->last = i;
			e->n++;
		}
	}
	spread(found, n_found);
}

/* The members of version @v in the evidence. */
struct version {
	uint64_t *hash, *key, *ns;
	uint32_t *state, *zero;
};

static struct version version_of(struct pagedet_evidence *e, unsigned v)
{
	const unsigned more = v - PAGEDET_AS_MORE;

	if (v < PAGEDET_AS_MORE)
		return (struct version){ &e->hash[v], &e->hash_key[v],
					 &e->hash_ns[v], &e->hash_state[v],
					 &e->zero[v] };
	return (struct version){ &e->more_hash[more], &e->more_key[more],
				 &e->more_ns[more], &e->more_state[more],
				 &e->more_zero[more] };
}

void pdet_seen_evidence(const struct pagedet_seen *seen, unsigned version,
			uint64_t hash_key, struct pagedet_evidence *e)
{
	const struct version v = version_of(e, version);

	if (!pdet_seen_known(seen))
		return;
	*v.zero = is_zero(seen) ? PAGEDET_YES : PAGEDET_NO;
	if (seen->state == PAGEDET_SEEN_ABSENT)
		return;
	*v.hash = seen->hash;
	*v.key = hash_key;
	*v.ns = seen->time_ns;
	*v.state = PAGEDET_HAVE;
}
