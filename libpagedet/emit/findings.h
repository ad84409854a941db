/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Writes findings as text. */
#ifndef PDET_EMIT_FINDINGS_H
#define PDET_EMIT_FINDINGS_H

#include "emit/emit.h"

/*
 * pdet_emit_finding - write one finding. @evidence is what it was made from, or
 * NULL. Errors stay in the emitter; pdet_out_result() returns them.
 */
void pdet_emit_finding(struct pagedet_emitter *e,
		       const struct pagedet_finding *f,
		       const struct pagedet_evidence *evidence);
/* pdet_emit_finding_head - write the header; only CSV has one. */
void pdet_emit_finding_head(struct pagedet_emitter *e);

#endif
