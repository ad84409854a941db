/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Separates the fields about a page's allocation from those about its last
 * free, and gets the frames of a stack id.
 */
#include <errno.h>

#include "emit/stack.h"

static const struct {
	uint8_t field, part;
	const char *key;
} keys[] = {
	{ PAGEDET_FIELD_ALLOC_STACK, PDET_STACK_ALLOC, "stack" },
	{ PAGEDET_FIELD_ALLOC_PID, PDET_STACK_ALLOC, "pid" },
	{ PAGEDET_FIELD_ALLOC_TGID, PDET_STACK_ALLOC, "tgid" },
	{ PAGEDET_FIELD_ALLOC_COMM, PDET_STACK_ALLOC, "comm" },
	{ PAGEDET_FIELD_ALLOC_NS, PDET_STACK_ALLOC, "ns" },
	{ PAGEDET_FIELD_GFP_MASK, PDET_STACK_ALLOC, "gfp_mask" },
	{ PAGEDET_FIELD_GFP, PDET_STACK_ALLOC, "gfp" },
	{ PAGEDET_FIELD_ALLOC_ORDER, PDET_STACK_ALLOC, "order" },
	{ PAGEDET_FIELD_ALLOCATOR, PDET_STACK_ALLOC, "allocator" },
	{ PAGEDET_FIELD_MIGRATE_REASON, PDET_STACK_ALLOC, "migrate_reason" },
	{ PAGEDET_FIELD_FREE_STACK, PDET_STACK_FREE, "stack" },
	{ PAGEDET_FIELD_FREE_NS, PDET_STACK_FREE, "ns" },
};

const char *pdet_stack_key(unsigned field, enum pdet_stack_part *part)
{
	size_t i;

	for (i = 0; i < PDET_COUNT(keys); i++)
		if (keys[i].field == field) {
			*part = keys[i].part;
			return keys[i].key;
		}
	*part = PDET_STACK_PAGE;
	return pdet_field_info(field)->name;
}

int pdet_stack_frames(const struct pagedet_emitter *e, uint64_t id,
		      const char *frames[PDET_EMIT_FRAMES])
{
	int n = e->query.stack ? e->query.stack(e->query.user, id, frames,
						PDET_EMIT_FRAMES) : -ENOENT;

	switch (n) {
	case -ENOMEM:
		return -(int)PAGEDET_NO_MEMORY;
	case -ENOENT:
		/* They existed when the id was answered. */
		return -(int)PAGEDET_RACED;
	default:
		return n < 0 ? -(int)PAGEDET_IO :
			       PDET_MIN(n, PDET_EMIT_FRAMES);
	}
}
