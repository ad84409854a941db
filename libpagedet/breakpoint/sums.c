/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The memory is that of different words, places and threads, however many
 * watches are added. Nobody knows whether all of the objects still exist.
 */
#include <errno.h>
#include <stdio.h>

#include "base/vec.h"
#include "breakpoint/sums.h"

void pdet_bp_sums_init(struct pdet_bp_sums *s, const char *cache,
		       uint64_t bytes)
{
	*s = (struct pdet_bp_sums){ .object.bytes = bytes };
	snprintf(s->object.cache, sizeof(s->object.cache), "%s", cache);
	pdet_bp_hits_init(&s->hits);
}

void pdet_bp_sums_free(struct pdet_bp_sums *s)
{
	pdet_bp_plan_free(&s->plan);
	pdet_vec_free(&s->turns);
	pdet_bp_hits_free(&s->hits);
}

/* The words of the first object. */
static int take_words(struct pdet_bp_sums *s, struct pdet_env *env,
		      const struct pdet_bp_plan *words, uint64_t base)
{
	size_t i;

	for (i = 0; i < words->n; i++) {
		struct pdet_bp_piece piece = words->data[i];

		piece.address -= base;
		piece.object = 0;
		if (!pdet_vec_push(&s->plan, piece) ||
		    !pdet_vec_push(&s->turns,
				   (struct pdet_bp_turns){ .windows = 0 })) {
			s->plan.n = s->turns.n = 0;
			return pdet_fail(env, ENOMEM, "no memory");
		}
	}
	return 0;
}

/* They ascend. */
static bool are_inside(const struct pdet_bp_sums *s,
		       const struct pdet_bp_plan *words, uint64_t base)
{
	const uint64_t has = s->object.bytes;
	const struct pdet_bp_piece *last;

	if (!words->n)
		return false;
	last = &words->data[words->n - 1];
	return words->data[0].address >= base &&
	       last->address - base < has &&
	       last->bytes <= has - (last->address - base);
}

/* Objects of a cache are aligned alike, and so are their words. */
static bool are_same(const struct pdet_bp_sums *s,
		     const struct pdet_bp_plan *words, uint64_t base)
{
	size_t i;

	if (words->n != s->plan.n || s->turns.n != s->plan.n)
		return false;
	for (i = 0; i < words->n; i++)
		if (words->data[i].address - base != s->plan.data[i].address ||
		    words->data[i].bytes != s->plan.data[i].bytes)
			return false;
	return true;
}

int pdet_bp_sums_add(struct pdet_bp_sums *s, struct pdet_env *env,
		     const struct pdet_bp_text *seen, uint64_t base)
{
	const struct pdet_bp_hits *hits = seen->hits;
	size_t i;
	int r;

	if (!are_inside(s, seen->plan, base))
		return pdet_fail(env, EINVAL, "cannot add up what was watched: "
				 "it is not in the object at %#llx",
				 (unsigned long long)base);
	r = s->plan.n ? 0 : take_words(s, env, seen->plan, base);
	if (r < 0)
		return r;
	if (!are_same(s, seen->plan, base))
		return pdet_fail(env, EINVAL, "cannot add up what was watched: "
				 "other words were watched before");
	for (i = 0; i < seen->plan->n; i++) {
		s->turns.data[i].windows += seen->turns[i].windows;
		s->turns.data[i].ns += seen->turns[i].ns;
		s->turns.data[i].limited += seen->turns[i].limited;
	}
	for (i = 0; i < hits->sums.n; i++) {
		const uint64_t *key = pdet_groups_value(&hits->by, i);

		pdet_bp_hits_sum(&s->hits, key[PDET_BP_PIECE], key[PDET_BP_IP],
				 key[PDET_BP_TID], &hits->sums.data[i]);
	}
	return s->hits.no_memory ? pdet_fail(env, ENOMEM, "no memory") : 0;
}

int pdet_bp_sums_write(const struct pdet_bp_sums *s, struct pdet_env *env,
		       int fd)
{
	const struct pdet_bp_text t = { &s->object, s->turns.data, &s->plan,
					&s->hits };

	return pdet_bp_write(env, fd, &t);
}
