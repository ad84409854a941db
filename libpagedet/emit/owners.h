/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Writes groups of page_owner's records as text. */
#ifndef PDET_EMIT_OWNERS_H
#define PDET_EMIT_OWNERS_H

#include "emit/emit.h"
#include "owners/owners.h"

/*
 * pdet_emit_owners - write the next groups, at most @max. Returns 0, -EIO or
 * -ENOMEM.
 */
int pdet_emit_owners(struct pagedet_emitter *e, struct pdet_env *env,
		     struct pdet_owners *o, uint64_t max);

#endif
