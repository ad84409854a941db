/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Whether an object still exists, by what is at its address now. */
#include <string.h>

#include "breakpoint/watch.h"

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
}
