/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Rows that contradict themselves are read again. */
#ifndef PDET_QUERY_MOMENT_H
#define PDET_QUERY_MOMENT_H

#include "query/query.h"

/* pdet_moment_is_odd - whether what the row says cannot all be true of one
 * moment: its page is free, and used. */
bool pdet_moment_is_odd(const struct pdet_batch *b, uint32_t row);

/* pdet_moment_again - reads such rows again, until they are of one moment or
 * the kernel says it again and again: then it is so. What keeps changing is
 * noted as torn. 1: some rows were read again; 0 none; or negative errno. */
int pdet_moment_again(struct pdet_worker *k, struct pdet_batch *b);

/* pdet_moment_drop_bytes - what was read of another page is not the row's. */
void pdet_moment_drop_bytes(struct pdet_batch *b, uint32_t row);

void pdet_again_free(struct pdet_again *a);

#endif
