/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Computes fields from the bytes of a page, whichever source read them. */
#ifndef PDET_QUERY_DERIVE_H
#define PDET_QUERY_DERIVE_H

#include "schema/batch.h"

/*
 * pdet_derive_bytes - compute hash and entropy of all rows with bytes. Only
 * those of @fields that do not have an answer yet are set. If the class has no
 * answer, hash and entropy get the same reason. @secret may be NULL if no hash
 * is among @fields.
 */
void pdet_derive_bytes(struct pdet_batch *b, const struct pdet_fields *fields,
		       const void *secret);

#endif
