/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The hash of a page of zeroes, for those who compare hashes. */
#ifndef PDET_API_CONTENT_H
#define PDET_API_CONTENT_H

#include "api/handle.h"

/*
 * pdet_hash_of_zeroes - the hash that a page of zeroes has among the hashes of
 * this handle. -ENODATA: these are saved, and neither the snapshot tells it nor
 * is the key theirs.
 */
int pdet_hash_of_zeroes(struct pagedet *pd, uint64_t *ret);

#endif
