/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Fields that are computed from the bytes of a page, whoever read them. */
#ifndef PDET_QUERY_DERIVE_H
#define PDET_QUERY_DERIVE_H

#include "schema/batch.h"

/*
 * pdet_derive_bytes - hash and entropy of all rows whose bytes are there, as
 * far as they are among @fields and nobody has answered them; where the class
 * of the bytes could not be told, for the same reason. @secret may be NULL if
 * no hash is among them.
 */
void pdet_derive_bytes(struct pdet_batch *b, const struct pdet_fields *fields,
		       const void *secret);

#endif
