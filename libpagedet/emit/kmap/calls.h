/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Writes a log of calls. */
#ifndef PDET_EMIT_KMAP_CALLS_H
#define PDET_EMIT_KMAP_CALLS_H

#include "emit/emit.h"
#include "kmap/calls.h"

/* pdet_emit_kmap_calls - write the next calls, at most @max, and the sums of
 * all. Returns 0, -EINVAL or -EIO. */
int pdet_emit_kmap_calls(struct pagedet_emitter *e, struct pdet_env *env,
			 struct pdet_kmap_calls *c, uint64_t max);

#endif
