/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Findings become text. */
#ifndef PDET_EMIT_FINDINGS_H
#define PDET_EMIT_FINDINGS_H

#include "emit/emit.h"

/*
 * pdet_emit_finding - one finding; @evidence is what it was made of, or NULL.
 * What was written is in the emitter's hands; pdet_emit_failed() says if that
 * went well.
 */
void pdet_emit_finding(struct pagedet_emitter *e,
		       const struct pagedet_finding *f,
		       const struct pagedet_evidence *evidence);
/* pdet_emit_finding_head - what stands above all of them: of CSV, names. */
void pdet_emit_finding_head(struct pagedet_emitter *e);
int pdet_emit_failed(struct pagedet_emitter *e);

#endif
