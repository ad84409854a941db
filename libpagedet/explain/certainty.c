/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Decides the confidence of a finding. A rule declares the alternatives that
 * compete with it. Only this file asks the evidence about each of them, and
 * derives the confidence. More data lowers the confidence only if it supports
 * an alternative. Missing data never raises it.
 */
#include "explain/explain.h"

static void list(struct pdet_case *c, const struct pdet_rival *rival,
		 const struct pdet_state *s)
{
	struct pagedet_alternative *a;

	if (c->arena->none || c->n_alternatives == PDET_ALTERNATIVES)
		return;
	a = &c->alternatives[c->n_alternatives++];
	memset(a, 0, sizeof(*a));
	a->name = rival->name;
	a->cause = rival->cause;
	a->why = s->why;
	a->state = s->state;
}

static void cap(struct pdet_case *c, uint32_t most)
{
	c->confidence = PDET_MIN(c->confidence, most);
}

void pdet_weigh(struct pdet_case *c, const struct pdet_rule *rule,
		const struct pdet_way *way)
{
	const struct pdet_rival *const *rival = way->rivals;
	unsigned left = 0;

	c->confidence = way->most;
	for (; rival && *rival; rival++) {
		struct pdet_state s;

		if (*rival == rule->own)
			continue;
		s = (*rival)->look(c);
		list(c, *rival, &s);
		if (s.state == PAGEDET_ALTERNATIVE_EXCLUDED)
			continue;
		left++;
		if (s.state == PAGEDET_ALTERNATIVE_NOT_LOOKED) {
			cap(c, (*rival)->blind);
			pdet_unknown(c, s.why);
		}
	}
	if (left == 1 && way->most > PAGEDET_CONFIDENCE_MEDIUM)
		cap(c, PAGEDET_CONFIDENCE_MEDIUM);
	else if (left)
		cap(c, PAGEDET_CONFIDENCE_LOW);
	if (rule->info.verdict == PAGEDET_VERDICT_CANNOT_TELL)
		c->confidence = PAGEDET_CONFIDENCE_NONE;
}
