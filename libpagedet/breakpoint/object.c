/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Whether an object still exists, by what is at its address now. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "breakpoint/watch.h"

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

/* What changes while it is read is read again. */
static int ask(const struct pdet_bp_sources *sources, struct pdet_env *env,
	       uint64_t address, struct pdet_at *ret)
{
	unsigned i;
	int r = 0;

	ret->state = PAGEDET_RACED;
	for (i = 0; i < MOST_TRIES && r == 0 &&
		    (ret->state == PAGEDET_RACED ||
		     ret->map == PAGEDET_RACED); i++) {
		if (i)
			pause_before(i);
		pdet_clear(env);
		r = pdet_bp_ask(sources, env, &address, 1, ret);
	}
	return r;
}

void pdet_bp_object_look(const struct pdet_bp_sources *sources,
			 struct pdet_env *env, struct pdet_bp_object *o)
{
	struct pdet_at at;
	const int r = ask(sources, env, o->address, &at);

	if (r == 0) {
		pdet_bp_object_take(o, &at);
		return;
	}
	o->state = 0;
	o->why = pdet_reason_of(r);
}

unsigned pdet_bp_object_map(const struct pdet_bp_sources *sources,
			    struct pdet_env *env,
			    const struct pdet_bp_object *o, uint64_t page_size,
			    uint64_t *hole)
{
	const uint64_t last = o->address + o->bytes - 1;
	unsigned state = PAGEDET_HAVE;
	uint64_t at = o->address;
	struct pdet_at page;
	int r;

	do {
		r = ask(sources, env, at, &page);
		if (r < 0)
			return pdet_reason_of(r);
		if (page.map == PAGEDET_NONE) {
			*hole = at;
			return PAGEDET_NONE;
		}
		if (page.map != PAGEDET_HAVE)
			state = page.map;
		at += page_size - at % page_size;
	} while (at && at <= last);
	return state;
}
