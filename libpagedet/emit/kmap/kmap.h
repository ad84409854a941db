/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Writes a KMAP. */
#ifndef PDET_EMIT_KMAP_KMAP_H
#define PDET_EMIT_KMAP_KMAP_H

#include "emit/emit.h"
#include "kmap/kmap.h"

/*
 * pdet_emit_kmap - write the next objects, at most @max, and then the sums of
 * all; @accesses: and the accesses to each. Returns 0, -EINVAL, -EIO, or an
 * error of reading.
 */
int pdet_emit_kmap(struct pagedet_emitter *e, struct pdet_env *env,
		   struct pdet_kmap *k, bool accesses, uint64_t max);

/* pdet_emit_kmap_groups - the same of groups. */
int pdet_emit_kmap_groups(struct pagedet_emitter *e, struct pdet_env *env,
			  struct pdet_kmap *k, uint64_t max);

/* pdet_emit_kmap_total - the last line of both; CSV has none. */
void pdet_emit_kmap_total(struct pagedet_emitter *e, const struct pdet_kmap *k);

/* pdet_emit_kmap_check - -EINVAL: the format cannot be written. */
int pdet_emit_kmap_check(const struct pagedet_emitter *e, struct pdet_env *env);

#endif
