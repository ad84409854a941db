/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Writes the results of a check. */
#ifndef PDET_EMIT_CHECKED_H
#define PDET_EMIT_CHECKED_H

#include "check/check.h"
#include "emit/emit.h"

/*
 * pdet_emit_checked - write the remaining ranges and the verdict on the whole.
 * Returns 0, -EIO or -ENOMEM.
 */
int pdet_emit_checked(struct pagedet_emitter *e, struct pdet_env *env,
		      struct pdet_checked *c);

#endif
