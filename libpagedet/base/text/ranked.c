/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Compares a word with the names of sums and of the keys of groups. */
#include <string.h>

#include "base/text/nearest.h"
#include "base/text/ranked.h"

/* More than there are. */
#define MOST_NAMES 64

const char *pdet_ranked_near(const struct pdet_ranking *r, const char *word,
			     size_t len)
{
	const char *names[MOST_NAMES], *name;
	size_t n = 0;
	unsigned i;
	int near;

	for (i = 0; i < r->groups->n_keys && n < MOST_NAMES; i++)
		names[n++] = r->key_name(r->by[i]);
	for (i = 0; (name = r->sum_name(i)) && n < MOST_NAMES; i++)
		names[n++] = name;
	near = pdet_nearest(word, len, names, n);
	return near < 0 ? NULL : names[near];
}

void pdet_ranked_advise(const struct pdet_ranking *r, struct pdet_env *env,
			const char *keys)
{
	struct pdet_ranked ranked;
	const char *near;
	size_t len;

	for (;; keys += len + 1) {
		keys += *keys == '-';
		len = strcspn(keys, ",");
		if (!pdet_ranked_find(r, keys, len, &ranked))
			break;
		if (!keys[len])
			return;
	}
	near = pdet_ranked_near(r, keys, len);
	if (near)
		pdet_advise(env, "did you mean '%s'?", near);
}
