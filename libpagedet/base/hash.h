/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Hashes, from libxxhash. */
#ifndef PDET_BASE_HASH_H
#define PDET_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* pdet_hash - for tables in memory; not keyed, not for export. */
uint64_t pdet_hash(const void *data, size_t len);

#endif
