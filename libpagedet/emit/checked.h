/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What a check found, as text. */
#ifndef PDET_EMIT_CHECKED_H
#define PDET_EMIT_CHECKED_H

#include "emit/emit.h"
#include "explain/check.h"

/* pdet_emit_checked - the ranges that are left, and the whole. 0, -EIO,
 * -ENOMEM. */
int pdet_emit_checked(struct pagedet_emitter *e, struct pdet_env *env,
		      struct pdet_checked *c);

#endif
