/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The numbers are those of SplitMix64, whose results are the same on every
 * machine, so that a seed repeats a choice.
 */
#include <string.h>

#include "breakpoint/draw.h"

/* Draws of one question, and of one call. */
#define AT_ONCE 32u
#define MOST_DRAWS 1024u

static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* What a modulus prefers is less than 1 of 2^24, as memory is smaller. */
uint64_t pdet_bp_draw(struct pdet_bp_draw *d)
{
	const uint64_t pfn = d->pfns.data[next(&d->state) % d->pfns.n];

	return d->direct + pfn * d->page_size +
	       next(&d->state) % d->page_size;
}

/* Whether it is an object of the cache that is in use. */
static bool take(struct pdet_bp_draw *d, const struct pdet_at *at)
{
	const bool is_here = at->kind == PDET_AT_OBJECT &&
			     !strcmp(at->cache, d->cache);
	const bool is_used = is_here && at->use == PAGEDET_OBJECT_USED;

	d->elsewhere += !is_here;
	d->unknown += is_here && !at->use;
	d->kept |= is_here && at->kept;
	d->free += is_here && at->use && !is_used;
	d->drawn += is_used;
	return is_used;
}

int pdet_bp_draw_object(struct pdet_bp_draw *d,
			const struct pdet_bp_sources *sources,
			struct pdet_env *env, struct pdet_at *ret)
{
	uint64_t addresses[AT_ONCE];
	struct pdet_at at[AT_ONCE];
	unsigned i, n;
	int r = 0;

	for (n = 0; n < MOST_DRAWS && r == 0; n += AT_ONCE) {
		for (i = 0; i < AT_ONCE; i++)
			addresses[i] = pdet_bp_draw(d);
		r = pdet_bp_ask(sources, env, addresses, AT_ONCE, at);
		for (i = 0; i < AT_ONCE && r == 0; i++)
			if (take(d, &at[i])) {
				*ret = at[i];
				r = 1;
			}
	}
	return r;
}
