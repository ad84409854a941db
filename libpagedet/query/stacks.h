/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Stacks that the caller has asked for by id, as text. */
#ifndef PDET_QUERY_STACKS_H
#define PDET_QUERY_STACKS_H

#include "base/io.h"
#include "base/pairs.h"

struct pdet_iter;

struct pdet_stacks {
	struct pdet_pairs by_id; /* where in list */
	struct {
		struct pdet_stack_text {
			struct pdet_text text; /* NULs between frames */
			uint32_t n;
		} *data;
		size_t n, cap;
	} list;
};

/* pdet_stacks_get - the frames of a stack, innermost first, at most @n of them;
 * valid until pdet_stacks_clear(). How many there are, -ENOENT no source has
 * given out that id or has it still, or negative errno. */
int pdet_stacks_get(struct pdet_iter *it, uint64_t id, const char **frames,
		    uint32_t n);

void pdet_stacks_clear(struct pdet_stacks *s);

#endif
