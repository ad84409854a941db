/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Opens a flattened dump: one walk over all of its chunks. */
#ifndef PDET_MEMORY_FLAT_SCAN_H
#define PDET_MEMORY_FLAT_SCAN_H

#include "memory/flat.h"

/* pdet_flat_open - read the heads of all chunks of a file of @stream bytes.
 * Fails with an error text. */
int pdet_flat_open(struct pdet_flat *flat, struct pdet_env *env, int fd,
		   uint64_t stream);

#endif
