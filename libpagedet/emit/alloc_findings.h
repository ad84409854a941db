/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Writes what is wrong with a trace of allocations. */
#ifndef PDET_EMIT_ALLOC_FINDINGS_H
#define PDET_EMIT_ALLOC_FINDINGS_H

#include "allocs/allocs.h"
#include "emit/emit.h"

/* pdet_emit_alloc_findings - returns 0, -EINVAL or -EIO. */
int pdet_emit_alloc_findings(struct pagedet_emitter *e, struct pdet_env *env,
			     struct pdet_allocs *a);

#endif
