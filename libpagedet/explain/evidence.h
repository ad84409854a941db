/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Evidence in a form that means the same on every machine. */
#ifndef PDET_EXPLAIN_EVIDENCE_H
#define PDET_EXPLAIN_EVIDENCE_H

#include <stddef.h>

#include "base/env.h"
#include "pagedet.h"

/* Size of the first struct pagedet_evidence. Old clients may use it. */
#define PDET_EVIDENCE_FIRST offsetof(struct pagedet_evidence, more_hash)

/* Size of the head before the records. */
#define PDET_EVIDENCE_HEAD 32

/*
 * pdet_evidence_get - copy evidence of the client's size to a struct of the
 * library's size.
 */
void pdet_evidence_get(struct pagedet_evidence *e, const void *from,
		       uint64_t size);

/*
 * pdet_evidence_is_known - whether all bytes past those that the library knows
 * are zero.
 */
bool pdet_evidence_is_known(const void *evidence, uint64_t size);

/*
 * pdet_evidence_text - append a text. Returns its id, or 0 if there is no room.
 * pdet_evidence_prose - the same for sentences, of which as much is kept as
 * there is room for. A name that is cut would be another one.
 */
uint64_t pdet_evidence_text(struct pagedet_evidence *e, const char *text);
uint64_t pdet_evidence_prose(struct pagedet_evidence *e, const char *text);

/* The known facts about one version of a page. */
struct pdet_version {
	uint64_t hash, key, ns;
	uint32_t state, zero;
};

/* pdet_version - get version PAGEDET_AS_*, wherever the evidence stores it. */
struct pdet_version pdet_version(const struct pagedet_evidence *e,
				 unsigned version);

/*
 * pdet_evidence_save - as pagedet_evidence_save(), with elements @stride bytes
 * apart.
 */
int pdet_evidence_save(struct pdet_env *env, const void *evidence,
		       uint64_t stride, uint64_t n, void *bytes, uint64_t size,
		       uint64_t *ret);

/* pdet_evidence_load - as pagedet_evidence_load(). */
int pdet_evidence_load(struct pdet_env *env, const void *bytes, uint64_t size,
		       void *evidence, uint64_t stride, uint64_t max);

/*
 * pdet_evidence_join - copy what @peer says about its own page to the peer's
 * side of @e.
 */
void pdet_evidence_join(struct pagedet_evidence *e,
			const struct pagedet_evidence *peer);

/*
 * pdet_evidence_seal - write the checksum into @bytes. Tests and fuzzers use it
 * after a change.
 */
void pdet_evidence_seal(void *bytes, uint64_t size);

#endif
