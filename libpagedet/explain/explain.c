/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Applies the tables of rules, in order, to the evidence, and places findings
 * in the caller's memory. It reads and allocates nothing else.
 */
#include <errno.h>
#include <limits.h>

#include "base/hash.h"
#include "explain/evidence.h"
#include "explain/explain.h"

static const struct pdet_rule *const tables[] = {
	pdet_rules_mismatch, pdet_rules_use, pdet_rules_move, pdet_rules_charge,
};

const struct pdet_rule *pdet_rule(uint32_t n)
{
	const struct pdet_rule *r;
	size_t i;

	for (i = 0; i < PDET_COUNT(tables); i++)
		for (r = tables[i]; r->info.name; r++)
			if (!n--)
				return r;
	return NULL;
}

/* --- pages with the contents of other pages --- */

#define NOBODY UINT32_MAX
/* Bounds the search if an attacker makes hashes collide. */
#define PROBES 64

/* The first two pages whose contents are certain and are these. */
struct holder {
	uint32_t first, second;
};

struct others {
	struct holder *slot;	/* NULL: do not search */
	uint64_t mask;
};

struct array {
	const char *data;
	uint64_t stride;
	uint64_t n;
};

#define PEEK(array, i, member, to) \
	memcpy((to), (array)->data + (i) * (array)->stride + \
	       offsetof(struct pagedet_evidence, member), sizeof(*(to)))

struct print {
	uint64_t hash, key;
};

/*
 * Returns false if there is no hash, or if it is useless because many pages are
 * zero.
 */
static bool print_of(const struct array *a, uint64_t i, unsigned version,
		     struct print *p)
{
	uint32_t state, zero;

	PEEK(a, i, hash_state[version], &state);
	PEEK(a, i, zero[version], &zero);
	PEEK(a, i, hash[version], &p->hash);
	PEEK(a, i, hash_key[version], &p->key);
	return state == PAGEDET_HAVE && zero != PAGEDET_YES;
}

/*
 * Finds the slot of these contents, used or free. Returns NULL if too many
 * other slots had to be tried.
 */
static struct holder *find(const struct others *o, const struct array *a,
			   const struct print *p)
{
	uint64_t at = pdet_hash(p, sizeof(*p));
	unsigned probes;

	for (probes = 0; probes < PROBES; probes++, at++) {
		struct holder *h = &o->slot[at & o->mask];
		struct print has;

		if (h->first == NOBODY)
			return h;
		print_of(a, h->first, PAGEDET_AS_NOW, &has);
		if (has.hash == p->hash && has.key == p->key)
			return h;
	}
	return NULL;
}

static void add_holder(const struct others *o, const struct array *a,
		       uint32_t i)
{
	struct print p;
	struct holder *h;

	if (!print_of(a, i, PAGEDET_AS_NOW, &p))
		return;
	h = find(o, a, &p);
	if (!h)
		return;
	if (h->first == NOBODY)
		h->first = i;
	else if (h->second == NOBODY)
		h->second = i;
}

static int look_for_others(struct others *o, const struct array *a,
			   struct pdet_arena *arena)
{
	uint64_t slots = 2, i;

	o->slot = NULL;
	if (arena->none || a->n < 2)
		return 0;
	while (slots < 2 * a->n)
		slots *= 2;
	o->slot = pdet_arena_take(arena, slots * sizeof(*o->slot),
				  _Alignof(struct holder));
	if (!o->slot)
		return -ENOMEM;
	memset(o->slot, 0xff, slots * sizeof(*o->slot));
	o->mask = slots - 1;
	for (i = 0; i < a->n; i++)
		add_holder(o, a, (uint32_t)i);
	return 0;
}

/* An answer of the caller itself stays. */
static void meet_others(const struct others *o, const struct array *a,
			uint64_t i, struct pagedet_evidence *e)
{
	const struct holder *h;
	uint32_t other;
	struct print p;

	if (!o->slot || e->same_as_other != PAGEDET_DUNNO ||
	    !print_of(a, i, PAGEDET_AS_PEER, &p))
		return;
	h = find(o, a, &p);
	if (!h || h->first == NOBODY)
		return;
	other = h->first == i ? h->second : h->first;
	if (other == NOBODY)
		return;
	e->same_as_other = PAGEDET_YES;
	e->unique = h->second == NOBODY ? PAGEDET_YES : PAGEDET_NO;
	PEEK(a, other, id, &e->same_as);
}

/* --- findings --- */

struct findings {
	char *data;
	uint64_t size;		/* size of each one */
	uint64_t n, max;
	uint64_t pages;		/* pages with evidence */
	bool rest;		/* a finding has named the number of others */
};

static bool is_mismatch(const struct pagedet_evidence *e)
{
	unsigned i;

	for (i = 0; i < 4; i++)
		if (e->hash_state[i] || e->zero[i] || e->more_state[i] ||
		    e->more_zero[i])
			return true;
	return e->compared || e->peer_frozen || e->peer_read;
}

static void forget(struct pdet_case *c, const struct pdet_rule *rule,
		   char *mark)
{
	c->arena->at = mark;
	c->arena->full = false;
	c->n_facts = c->n_unknown = c->n_alternatives = 0;
	c->cause = rule->info.cause;
	c->advice = rule->info.advice;
	c->otherwise = rule->otherwise;
	c->likely = "";
	c->advice_unless = c->likely_unless = 0;
	c->confidence = PAGEDET_CONFIDENCE_NONE;
	c->likely_confidence = PAGEDET_CONFIDENCE_NONE;
}

static bool fits(struct pdet_case *c, const struct pdet_rule *rule)
{
	char *mark = c->arena->at;
	unsigned i;

	for (i = 0; i < PDET_WAYS && rule->ways[i].fits; i++) {
		forget(c, rule, mark);
		if (!rule->ways[i].fits(c))
			continue;
		pdet_weigh(c, rule, &rule->ways[i]);
		if (rule->info.verdict == PAGEDET_VERDICT_CANNOT_TELL &&
		    !c->n_unknown)
			pdet_unknown(c, "which part is true: the evidence "
				     "contradicts itself");
		return true;
	}
	forget(c, rule, mark);
	return false;
}

static const void *keep(struct pdet_arena *arena, const void *from,
			size_t n, size_t width)
{
	void *to;

	if (!n)
		return NULL;
	to = pdet_arena_take(arena, n * width, _Alignof(uint64_t));
	return to ? memcpy(to, from, n * width) : NULL;
}

/* Without privilege no other source helps. */
static const char *advice_of(struct pdet_case *c, const struct pdet_rule *rule)
{
	const uint16_t kind = c->here.cell[PAGEDET_FIELD_KIND];

	if (rule->info.question == PAGEDET_ASK_MISMATCH)
		return rule->lets_run && !pdet_may_run(c, rule->lets_run) ?
		       c->otherwise : c->advice;
	return pdet_fit_advice(c,
		rule->info.verdict == PAGEDET_VERDICT_CANNOT_TELL &&
		PAGEDET_CELL_STATE(kind) == PAGEDET_NO_ACCESS ?
		"run it as root: the kernel shows this page only to root" :
		c->advice);
}

static void put_sides(struct pagedet_finding *f, const struct pdet_case *c,
		      const struct pdet_rule *rule)
{
	if (rule->info.question != PAGEDET_ASK_MISMATCH)
		return;
	f->here_intact = pdet_intact(c, PAGEDET_SIDE_HERE);
	f->peer_intact = pdet_intact(c, PAGEDET_SIDE_PEER);
	if (rule->lets_run && pdet_may_run(c, rule->lets_run))
		f->lets_run = rule->lets_run;
}

static int put(struct findings *out, struct pdet_case *c, uint64_t i,
	       const struct pdet_rule *rule)
{
	struct pagedet_finding f;
	char *to = out->data + out->n * out->size;

	pdet_drop_guesses(c);
	memset(&f, 0, sizeof(f));
	f.size = out->size;
	f.evidence = i;
	f.id = c->e.id;
	f.name = rule->info.name;
	f.cause = c->cause;
	f.likely = c->likely;
	f.advice = advice_of(c, rule);
	f.facts = keep(c->arena, c->facts, c->n_facts, sizeof(*c->facts));
	f.unknown = keep(c->arena, c->unknown, c->n_unknown,
			 sizeof(*c->unknown));
	/* An old client has no room for them. */
	if (out->size >= sizeof(f)) {
		f.alternatives = keep(c->arena, c->alternatives,
				      c->n_alternatives,
				      sizeof(*c->alternatives));
		f.n_alternatives = c->n_alternatives;
	}
	put_sides(&f, c, rule);
	f.n_facts = c->n_facts;
	f.n_unknown = c->n_unknown;
	f.rule = rule->info.id;
	f.question = rule->info.question;
	f.verdict = rule->info.verdict;
	f.confidence = c->confidence;
	f.likely_confidence = c->likely_confidence;
	if (c->arena->full)
		return -ENOMEM;
	memset(to, 0, out->size);
	memcpy(to, &f, PDET_MIN(out->size, sizeof(f)));
	return 0;
}

/*
 * Finds the first rule of the table that fits. Returns NULL if no rule is for
 * the question.
 */
static const struct pdet_rule *first_that_fits(struct pdet_case *c,
					       const struct pdet_rule *rule,
					       uint32_t question)
{
	for (; rule->info.name; rule++)
		if (rule->info.question == question && fits(c, rule))
			return rule;
	return NULL;
}

/* In the first mismatch only, states the number of other pages that differ. */
static void name_rest(struct findings *out, struct pdet_case *c,
		      uint32_t question)
{
	if (out->rest || question != PAGEDET_ASK_MISMATCH ||
	    c->e.differences <= out->pages)
		return;
	out->rest = true;
	pdet_fact_number(c, "differences", c->e.differences,
			 PAGEDET_TYPE_NUMBER, PAGEDET_SIDE_BOTH, 0);
	pdet_unknown(c, "what happened to the other pages that differ: "
		     "evidence was collected for only some of them");
}

static int ask(struct findings *out, struct pdet_case *c, uint64_t i,
	       uint32_t question, bool only_causes)
{
	char *mark = c->arena->at;
	const struct pdet_rule *rule = NULL;
	size_t t;
	int r = 0;

	for (t = 0; !rule && t < PDET_COUNT(tables); t++)
		rule = first_that_fits(c, tables[t], question);
	if (!rule || (only_causes &&
		      rule->info.verdict != PAGEDET_VERDICT_CAUSE)) {
		c->arena->at = mark;
		c->arena->full = false;
		return 0;
	}
	if (question == PAGEDET_ASK_NOT_FREE)
		pdet_report_first(c);
	pdet_unknown_past(c);
	name_rest(out, c, question);
	if (out->n < out->max) {
		r = put(out, c, i, rule);
	} else {
		c->arena->at = mark;
		c->arena->full = false;
	}
	out->n++;
	return r;
}

/*
 * Questions that are asked by default, beside the main one. If a pin or poison
 * is plainly visible, it must be reported.
 */
#define BESIDE (PAGEDET_ASK_PINNED | PAGEDET_ASK_POISONED)

static int explain(struct findings *out, struct pdet_case *c, uint64_t i)
{
	/* Poison comes before pins: it explains references. */
	static const uint32_t order[] = {
		PAGEDET_ASK_MISMATCH, PAGEDET_ASK_NOT_FREE,
		PAGEDET_ASK_POISONED, PAGEDET_ASK_NOT_MIGRATABLE,
		PAGEDET_ASK_PINNED, PAGEDET_ASK_UNRECLAIMABLE,
		PAGEDET_ASK_UNACCOUNTED, PAGEDET_ASK_LEAKED,
	};
	uint32_t main = c->e.questions, beside = 0;
	size_t k;
	int r = 0;

	if (!main) {
		main = is_mismatch(&c->e) ? PAGEDET_ASK_MISMATCH :
					    PAGEDET_ASK_NOT_FREE;
		beside = main == PAGEDET_ASK_NOT_FREE ? BESIDE : 0;
	}
	for (k = 0; r == 0 && k < PDET_COUNT(order); k++)
		if ((main | beside) & order[k])
			r = ask(out, c, i, order[k], !(main & order[k]));
	return r;
}

int pdet_explain(const void *evidence, uint64_t stride, uint64_t n,
		 struct pdet_arena *arena, void *findings,
		 uint64_t finding_size, uint64_t max)
{
	const struct array a = { evidence, stride, n };
	struct findings out = { findings, finding_size, 0, max, n, false };
	struct others others;
	struct pdet_case c;
	uint64_t i;
	int r;

	/* There are eight questions, and the result is an int. */
	if (n > INT_MAX / 8 || stride < PDET_EVIDENCE_FIRST || stride % 8 ||
	    finding_size < PDET_FINDING_FIRST || finding_size % 8)
		return -EINVAL;
	for (i = 0; i < n; i++)
		if (!pdet_evidence_is_known(a.data + i * stride, stride))
			return -E2BIG;
	r = look_for_others(&others, &a, arena);
	c.arena = arena;
	for (i = 0; r == 0 && i < n; i++) {
		pdet_evidence_get(&c.e, a.data + i * stride, stride);
		memcpy(&c.here, c.e.here, sizeof(c.here));
		memcpy(&c.peer, c.e.peer, sizeof(c.peer));
		meet_others(&others, &a, i, &c.e);
		pdet_drop_early(&c);
		r = explain(&out, &c, i);
	}
	return r < 0 ? r : (int)out.n;
}
