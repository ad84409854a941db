/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Memorizer's log of calls: who called which function, and how often. */
#ifndef PDET_KMAP_CALLS_H
#define PDET_KMAP_CALLS_H

#include "base/env.h"
#include "pagedet.h"

struct pdet_kmap_calls;

/* pdet_kmap_calls_new - read all. Returns 0, or a negative errno with an error
 * text. */
int pdet_kmap_calls_new(struct pdet_env *env,
			const struct pagedet_kmap_query *q,
			struct pdet_kmap_calls **ret);
void pdet_kmap_calls_free(struct pdet_kmap_calls *c);

/* pdet_kmap_next_call - 1, or 0 at the end. */
int pdet_kmap_next_call(struct pdet_kmap_calls *c,
			struct pagedet_kmap_call *ret);

void pdet_kmap_calls_total(const struct pdet_kmap_calls *c,
			   struct pagedet_kmap_calls_total *ret);

#endif
