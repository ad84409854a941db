/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Writes who holds blocks of memory. */
#ifndef PDET_EMIT_BLAME_H
#define PDET_EMIT_BLAME_H

#include "allocs/allocs.h"
#include "emit/emit.h"

/* What is written, and where it comes from. */
struct pdet_emit_blame {
	const struct pdet_allocs *allocs;
	bool blocks;		/* each row is a block; else a holder */
	/* Returns 1, or 0 at the end. One of them is used. */
	int (*next_block)(void *arg, struct pagedet_blame_block *ret);
	int (*next_holder)(void *arg, struct pagedet_blame_holder *ret);
	void *arg;
	struct pagedet_blame_total total;
	uint64_t max;		/* rows */
};

/* pdet_emit_blame - returns 0, -EINVAL or -EIO. */
int pdet_emit_blame(struct pagedet_emitter *e, struct pdet_env *env,
		    const struct pdet_emit_blame *b);

#endif
