/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The order of groups, by sums and keys that a user names: "live_bytes,-cpu".
 * After a comparison the name of a sum can end with "_before" or "_grown".
 */
#ifndef PDET_BASE_TEXT_RANKING_H
#define PDET_BASE_TEXT_RANKING_H

#include "base/env.h"
#include "base/groups.h"

struct pdet_ranking {
	const struct pdet_groups *groups;
	size_t n;		/* of these */
	const char *(*key_name)(uint32_t key);
	const uint32_t *by;	/* the keys of the groups */
	const char *(*sum_name)(unsigned sum); /* NULL behind the last one */
	/* Of both sides, @before only if they are compared. */
	uint64_t (*sum)(const void *arg, uint32_t group, unsigned sum,
			bool before);
	bool (*is_empty)(const void *arg, uint32_t group);
	const void *arg;
	bool compared;
};

/* A sum, or a key of the groups, by its name. */
struct pdet_ranked {
	bool is_key;
	unsigned which;		/* sum, or index of the key */
	enum pdet_ranked_side { PDET_NOW, PDET_BEFORE, PDET_GROWN } side;
};

/* pdet_ranked_find - false: there is no such name. */
bool pdet_ranked_find(const struct pdet_ranking *r, const char *word,
		      size_t len, struct pdet_ranked *ret);

/* pdet_ranked_near - the name that is like @word; NULL: there is none. */
const char *pdet_ranked_near(const struct pdet_ranking *r, const char *word,
			     size_t len);

/*
 * pdet_ranked_sum - of a group. What has grown may be *@negative: then the
 * result is by how much it has shrunk.
 */
uint64_t pdet_ranked_sum(const struct pdet_ranking *r,
			 const struct pdet_ranked *which, uint32_t group,
			 bool *negative);

/*
 * pdet_rank - list the groups that are not empty in the order of @keys: sums
 * from the largest, keys upward, a - before one reverses it. Returns 0 and an
 * array that the caller frees, -EINVAL with an error text and perhaps the name
 * that is meant as advice, or -ENOMEM.
 */
int pdet_rank(const struct pdet_ranking *r, struct pdet_env *env,
	      const char *keys, uint32_t **order, size_t *n);

#endif
