/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Suggests sums and keys of groups for mistyped ones. */
#ifndef PDET_BASE_TEXT_RANKED_H
#define PDET_BASE_TEXT_RANKED_H

#include "base/ranking.h"

/* pdet_ranked_near - the name that is like @word; NULL: there is none. */
const char *pdet_ranked_near(const struct pdet_ranking *r, const char *word,
			     size_t len);

/* pdet_ranked_advise - what the first wrong word of an order may mean. */
void pdet_ranked_advise(const struct pdet_ranking *r, struct pdet_env *env,
			const char *keys);

#endif
