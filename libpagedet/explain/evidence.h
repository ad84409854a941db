/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Evidence as bytes that mean the same on every machine. */
#ifndef PDET_EXPLAIN_EVIDENCE_H
#define PDET_EXPLAIN_EVIDENCE_H

#include "base/env.h"
#include "pagedet.h"

/* What stands before the records. */
#define PDET_EVIDENCE_HEAD 32

/* pdet_evidence_save - as pagedet_evidence_save(); @stride apart. */
int pdet_evidence_save(struct pdet_env *env, const void *evidence,
		       uint64_t stride, uint64_t n, void *bytes, uint64_t size,
		       uint64_t *ret);

/* pdet_evidence_load - as pagedet_evidence_load(). */
int pdet_evidence_load(struct pdet_env *env, const void *bytes, uint64_t size,
		       void *evidence, uint64_t stride, uint64_t max);

/* pdet_evidence_join - what @peer says of its own page is what @e says of the
 * peer's. */
void pdet_evidence_join(struct pagedet_evidence *e,
			const struct pagedet_evidence *peer);

/* pdet_evidence_seal - the checksum of all of @bytes into its place: what
 * tests and fuzzers do after they have changed something. */
void pdet_evidence_seal(void *bytes, uint64_t size);

#endif
