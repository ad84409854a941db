/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* PAGEDET_EMIT_STACKS: what stands where in an answer about who allocated and
 * freed a page. */
#ifndef PDET_EMIT_STACK_H
#define PDET_EMIT_STACK_H

#include "emit/emitter.h"

/* Nobody keeps longer ones. */
#define PDET_EMIT_FRAMES 256

/* Of which object a field is part; fields have other names there. */
enum pdet_stack_part {
	PDET_STACK_PAGE,	/* the page itself */
	PDET_STACK_ALLOC,
	PDET_STACK_FREE
};

const char *pdet_stack_key(unsigned field, enum pdet_stack_part *part);

/* pdet_stack_frames - of the query at hand: how many there are, at most
 * PDET_EMIT_FRAMES; below 0 they cannot be had, and it is minus the reason. */
int pdet_stack_frames(const struct pagedet_emitter *e, uint64_t id,
		      const char *frames[PDET_EMIT_FRAMES]);

#endif
