/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * PAGEDET_EMIT_STACKS: the layout of answers about a page's allocation and
 * free.
 */
#ifndef PDET_EMIT_STACK_H
#define PDET_EMIT_STACK_H

#include "emit/emitter.h"

/* No source keeps longer stacks. */
#define PDET_EMIT_FRAMES 256

/* The object that contains a field. Fields have other names in it. */
enum pdet_stack_part {
	PDET_STACK_PAGE,	/* the page itself */
	PDET_STACK_ALLOC,
	PDET_STACK_FREE
};

const char *pdet_stack_key(unsigned field, enum pdet_stack_part *part);

/*
 * pdet_stack_frames - get frames of the current query. Returns their number, at
 * most PDET_EMIT_FRAMES. If they are not available, returns minus the reason.
 */
int pdet_stack_frames(const struct pagedet_emitter *e, uint64_t id,
		      const char *frames[PDET_EMIT_FRAMES]);

#endif
