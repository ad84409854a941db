/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What is equal by the named keys is ordered by all keys of the groups. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/nearest.h"
#include "base/text/ranking.h"

#define MOST_ORDERS 8u
/* More than there are. */
#define MOST_NAMES 64u

struct order {
	struct pdet_ranked by;
	bool reverse;
};

struct ranking {
	const struct pdet_ranking *r;
	struct order by[MOST_ORDERS];
	unsigned n_by;
};

/* Ascending; what has shrunk is less than what has grown. */
static int compare_growth(uint64_t x, uint64_t x_before, uint64_t y,
			  uint64_t y_before)
{
	const uint64_t dx = x - x_before, dy = y - y_before;
	const bool up_x = x >= x_before, up_y = y >= y_before;

	if (up_x != up_y)
		return up_x ? 1 : -1;
	return (dx > dy) - (dx < dy);
}

static uint64_t sum(const struct pdet_ranking *r, const struct pdet_ranked *by,
		    uint32_t group, bool before)
{
	return r->sum(r->arg, group, by->which, before);
}

uint64_t pdet_ranked_sum(const struct pdet_ranking *r,
			 const struct pdet_ranked *which, uint32_t group,
			 bool *negative)
{
	const uint64_t n = sum(r, which, group, which->side == PDET_BEFORE);
	uint64_t before;

	*negative = false;
	if (which->side != PDET_GROWN)
		return n;
	before = sum(r, which, group, true);
	*negative = n < before;
	return *negative ? before - n : n - before;
}

static int compare_sums(const struct pdet_ranking *r,
			const struct pdet_ranked *by, uint32_t x, uint32_t y)
{
	if (by->side == PDET_GROWN)
		return compare_growth(sum(r, by, x, false),
				      sum(r, by, x, true),
				      sum(r, by, y, false),
				      sum(r, by, y, true));
	return compare_growth(sum(r, by, x, by->side == PDET_BEFORE), 0,
			      sum(r, by, y, by->side == PDET_BEFORE), 0);
}

static int compare(const void *pa, const void *pb, void *arg)
{
	const struct ranking *a = arg;
	const uint32_t x = *(const uint32_t *)pa, y = *(const uint32_t *)pb;
	unsigned i;
	int r;

	for (i = 0; i < a->n_by; i++) {
		const struct pdet_ranked *by = &a->by[i].by;

		r = by->is_key ? pdet_groups_compare_key(a->r->groups, x, y,
							 by->which) :
				 -compare_sums(a->r, by, x, y);
		if (r)
			return a->by[i].reverse ? -r : r;
	}
	return pdet_groups_compare(a->r->groups, x, y);
}

static bool is_word(const char *word, size_t len, const char *name)
{
	return strlen(name) == len && !memcmp(word, name, len);
}

/* Takes the ending of a word off that says which sums are meant. */
static enum pdet_ranked_side side_of(const char *word, size_t *len)
{
	static const struct {
		const char *name;
		enum pdet_ranked_side side;
	} endings[] = { { "_before", PDET_BEFORE }, { "_grown", PDET_GROWN } };
	size_t i, n;

	for (i = 0; i < PDET_COUNT(endings); i++) {
		n = strlen(endings[i].name);
		if (*len > n && is_word(word + *len - n, n, endings[i].name)) {
			*len -= n;
			return endings[i].side;
		}
	}
	return PDET_NOW;
}

bool pdet_ranked_find(const struct pdet_ranking *r, const char *word,
		      size_t len, struct pdet_ranked *ret)
{
	const char *name;
	unsigned i;

	*ret = (struct pdet_ranked){ 0 };
	for (i = 0; i < r->groups->n_keys; i++)
		if (is_word(word, len, r->key_name(r->by[i]))) {
			ret->is_key = true;
			ret->which = i;
			return true;
		}
	if (r->compared)
		ret->side = side_of(word, &len);
	for (i = 0; (name = r->sum_name(i)); i++)
		if (is_word(word, len, name)) {
			ret->which = i;
			return true;
		}
	return false;
}

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

static int no_name(const struct pdet_ranking *r, struct pdet_env *env,
		   const char *word, size_t len)
{
	const char *near = pdet_ranked_near(r, word, len);

	pdet_fail(env, EINVAL, "cannot sort by '%.*s': it is not a sum, nor a "
		  "key of these groups", (int)len, word);
	if (near)
		pdet_advise(env, "did you mean '%s'?", near);
	return -EINVAL;
}

static int parse(struct ranking *a, struct pdet_env *env, const char *keys)
{
	size_t len;

	for (;; keys += len + 1) {
		struct order order = { .reverse = *keys == '-' };

		keys += order.reverse;
		len = strcspn(keys, ",");
		if (!pdet_ranked_find(a->r, keys, len, &order.by))
			return no_name(a->r, env, keys, len);
		if (a->n_by == MOST_ORDERS)
			return pdet_fail(env, EINVAL, "cannot sort by more "
					 "than %u keys", MOST_ORDERS);
		a->by[a->n_by++] = order;
		if (!keys[len])
			return 0;
	}
}

int pdet_rank(const struct pdet_ranking *r, struct pdet_env *env,
	      const char *keys, uint32_t **order, size_t *n)
{
	struct ranking a = { .r = r };
	size_t i, kept = 0;
	uint32_t *list;
	int error = parse(&a, env, keys);

	if (error < 0)
		return error;
	list = calloc(r->n + 1, sizeof(*list));
	if (!list)
		return pdet_fail(env, ENOMEM, "no memory");
	for (i = 0; i < r->n; i++)
		if (!r->is_empty(r->arg, (uint32_t)i))
			list[kept++] = (uint32_t)i;
	qsort_r(list, kept, sizeof(*list), compare, &a);
	*order = list;
	*n = kept;
	return 0;
}
