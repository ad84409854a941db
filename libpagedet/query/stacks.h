/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The texts of stacks that the caller has asked for by id. */
#ifndef PDET_QUERY_STACKS_H
#define PDET_QUERY_STACKS_H

#include "query/query.h"

/*
 * pdet_stacks_get - get at most @n frames of a stack, innermost first. They are
 * valid until pdet_stacks_clear(). Returns the number of all frames, or
 * negative errno. -ENOENT: no source has given out the id, or the source no
 * longer has it.
 */
int pdet_stacks_get(struct pdet_iter *it, uint64_t id, const char **frames,
		    uint32_t n);

void pdet_stacks_clear(struct pdet_stacks *s);

#endif
