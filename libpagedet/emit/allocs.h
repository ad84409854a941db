/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Writes groups of allocations. */
#ifndef PDET_EMIT_ALLOCS_H
#define PDET_EMIT_ALLOCS_H

#include "allocs/allocs.h"
#include "emit/emit.h"

/* pdet_emit_allocs - write the next groups, at most @max. Returns 0, -EINVAL or
 * -EIO. */
int pdet_emit_allocs(struct pagedet_emitter *e, struct pdet_env *env,
		     struct pdet_allocs *a, uint64_t max);

#endif
