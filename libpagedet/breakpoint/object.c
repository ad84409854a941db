/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Whether an object still exists, by what is at its address now. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "breakpoint/plan.h"
#include "breakpoint/watch.h"

/* Of the pages of what may be watched; the smallest has 4 KiB. */
#define MOST_PAGES (PDET_BP_MOST_BYTES / 4096 + 1)
#define MOST_TRIES 16
#define PAUSE_NS 200000		/* before the second one; then more */

/* It is not kept in a list that can be read. */
static unsigned why_unknown(const struct pdet_at *at)
{
	return at->kept ? PAGEDET_NO_KERNEL : at->state;
}

void pdet_bp_object_take(struct pdet_bp_object *o, const struct pdet_at *at)
{
	const bool had_cache = *o->cache, has_cache = *at->cache;
	const bool is_gone = had_cache && (at->state == PAGEDET_NONE ||
		(has_cache && strcmp(o->cache, at->cache) != 0));

	_Static_assert(sizeof(o->cache) == sizeof(at->cache),
		       "a name fits in the other");
	memcpy(o->cache, at->cache, sizeof(o->cache));
	o->is_data = at->kind == PDET_AT_NAMED;
	o->state = is_gone ? PAGEDET_OBJECT_FREE : at->use;
	o->why = o->state ? PAGEDET_HAVE : why_unknown(at);
}

/* --- asking --- */

static void pause_before(unsigned try)
{
	const struct timespec t = { 0, (long)try * PAUSE_NS };

	nanosleep(&t, NULL);
}

/* Only a running kernel can be watched. */
static unsigned reason_of(int error)
{
	return pdet_live_reason(true, pdet_reason_of(error));
}

static bool has_raced(const struct pdet_at *at, size_t n)
{
	while (n--)
		if (at[n].state == PAGEDET_RACED || at[n].map == PAGEDET_RACED)
			return true;
	return false;
}

/* What changes while it is read is read again. */
static int ask(const struct pdet_bp_sources *sources, struct pdet_env *env,
	       const uint64_t *addresses, size_t n, struct pdet_at *ret)
{
	unsigned i;
	int r;

	for (i = 0;; i++) {
		pdet_clear(env);
		r = pdet_bp_ask(sources, env, addresses, n, ret);
		if (r < 0 || !has_raced(ret, n) || i + 1 == MOST_TRIES)
			return r;
		pause_before(i + 1);
	}
}

void pdet_bp_object_look(const struct pdet_bp_sources *sources,
			 struct pdet_env *env, struct pdet_bp_object *o)
{
	struct pdet_at at;
	const int r = ask(sources, env, &o->address, 1, &at);

	if (r == 0) {
		pdet_bp_object_take(o, &at);
		return;
	}
	o->state = 0;
	o->why = reason_of(r);
}

unsigned pdet_bp_object_map(const struct pdet_bp_sources *sources,
			    struct pdet_env *env,
			    const struct pdet_bp_object *o, uint64_t page_size,
			    uint64_t *hole)
{
	const uint64_t last = o->address + o->bytes - 1;
	unsigned state = PAGEDET_HAVE;
	uint64_t at[MOST_PAGES], next = o->address;
	struct pdet_at page[MOST_PAGES];
	size_t i, n = 0;
	int r;

	do {
		at[n++] = next;
		next += page_size - next % page_size;
	} while (next && next <= last && n < MOST_PAGES);
	r = ask(sources, env, at, n, page);
	if (r < 0)
		return reason_of(r);
	for (i = 0; i < n; i++) {
		if (page[i].map == PAGEDET_NONE) {
			*hole = at[i];
			return PAGEDET_NONE;
		}
		if (page[i].map != PAGEDET_HAVE)
			state = page[i].map;
	}
	return state;
}
