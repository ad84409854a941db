/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds out which lines of interleaved reports can only be of one report. It
 * follows all ways to distribute the lines in which each report has the order
 * of the kernel (Linux mm/debug.c), and in which the words and counts of its
 * lines agree. A line belongs to a report if it does in all of them.
 */
#include <string.h>

#include "backend/log/writers.h"
#include "base/hash.h"

/* Most states of all reports after one line. If there are more, nothing is
 * decided. */
#define MOST_STATES 512
#define SLOTS 2048

/* Most lines of "raw:" that a block has. */
#define MOST_RAWS 4

struct state {
	uint8_t stage[PDET_LOG_WRITERS];
	uint8_t flags[PDET_LOG_WRITERS]; /* the line of flags, from 1; 0: it
					  * came before */
};

struct edge {
	uint32_t from, to;
	size_t line;
	uint8_t by;
};

struct search {
	struct pdet_log_tangle *t;
	unsigned raws;
	struct { struct state *data; size_t n, cap; } states;
	struct { struct edge *data; size_t n, cap; } edges;
	size_t first;		/* of the states after the last line */
	size_t slots[SLOTS];	/* states of the next layer, + 1 */
	uint64_t words[UINT8_MAX + 1]; /* of the lines of flags */
	unsigned n_words;
	bool gives_up;
};

uint8_t pdet_log_advance(const struct pdet_log_writer *w, uint8_t stage,
			 const struct pdet_log_step *s, unsigned raws)
{
	const bool is_block = stage >= PDET_LOG_AT_FLAGS &&
			      stage <= PDET_LOG_AT_RAW_4;
	const unsigned n = is_block ? stage - PDET_LOG_AT_FLAGS : 0;

	switch (s->kind) {
	case PDET_LOG_BEGIN:
		return stage == PDET_LOG_AT_NONE ? PDET_LOG_AT_HEAD : 0;
	case PDET_LOG_STEP_LEVELS:
		return w->form == PDET_LOG_OF_MAP &&
		       stage == PDET_LOG_AT_HEAD ? stage : 0;
	case PDET_LOG_STEP_PAGE:
		return stage == PDET_LOG_AT_HEAD ||
		       (stage == PDET_LOG_AT_NONE &&
			w->form == PDET_LOG_OF_DUMP) ? PDET_LOG_AT_PAGE : 0;
	case PDET_LOG_STEP_HEAD:
		/* The hex dump has the same word before it. */
		return stage == PDET_LOG_AT_PAGE || n ? stage : 0;
	case PDET_LOG_STEP_MEMCG:
		return stage == PDET_LOG_AT_PAGE || n ||
		       stage == PDET_LOG_AT_REASON ? stage : 0;
	case PDET_LOG_STEP_MAPPING:
		return stage == PDET_LOG_AT_PAGE ? stage : 0;
	case PDET_LOG_STEP_FLAGS:
		return stage == PDET_LOG_AT_PAGE ? PDET_LOG_AT_FLAGS : 0;
	case PDET_LOG_STEP_TYPE:
		return stage == PDET_LOG_AT_FLAGS ? stage : 0;
	case PDET_LOG_STEP_RAW:
		return is_block && n < (raws ? raws : MOST_RAWS) ?
			stage + 1 : 0;
	case PDET_LOG_STEP_REASON:
		return is_block && (!raws || n == raws) &&
		       (s->named ? s->form == w->form :
			w->form != PDET_LOG_OF_MAP &&
			w->form != PDET_LOG_OF_KASAN) ? PDET_LOG_AT_REASON : 0;
	case PDET_LOG_STEP_OWNER:
		return stage == PDET_LOG_AT_REASON ||
		       stage == PDET_LOG_AT_OWNER ||
		       (w->form == PDET_LOG_OF_DUMP && is_block) ?
			PDET_LOG_AT_OWNER : 0;
	case PDET_LOG_STEP_ADDR:
		return w->form == PDET_LOG_OF_MAP &&
		       (stage == PDET_LOG_AT_HEAD ||
			stage == PDET_LOG_AT_REASON ||
			stage == PDET_LOG_AT_OWNER) ? PDET_LOG_AT_ADDR : 0;
	case PDET_LOG_STEP_FILE:
		return stage == PDET_LOG_AT_ADDR ? PDET_LOG_AT_FILE : 0;
	case PDET_LOG_STEP_CPU:
		/* A block alone may be followed by the stack of its task, whose
		 * name is not known. */
		if (w->form == PDET_LOG_OF_DUMP)
			return !w->idle && stage == PDET_LOG_AT_REASON ?
				stage : 0;
		return !strcmp(w->head.comm, s->comm) &&
		       (w->form == PDET_LOG_OF_STATE ?
			stage == PDET_LOG_AT_REASON ||
			stage == PDET_LOG_AT_OWNER :
			w->form == PDET_LOG_OF_MAP &&
			stage >= PDET_LOG_AT_ADDR && stage < PDET_LOG_AT_END) ?
			PDET_LOG_AT_END : 0;
	default:
		return 0;
	}
}

/* @lenient: a block alone may lack the reason, and a report its task. */
static bool is_complete(const struct pdet_log_writer *w, uint8_t stage,
			unsigned raws, bool lenient)
{
	switch (w->form) {
	case PDET_LOG_OF_STATE:
		return stage == PDET_LOG_AT_END ||
		       (lenient && stage >= PDET_LOG_AT_REASON);
	case PDET_LOG_OF_MAP:
		return stage == PDET_LOG_AT_END ||
		       (lenient && stage >= PDET_LOG_AT_ADDR);
	default:
		return stage >= PDET_LOG_AT_REASON ||
		       (w->form == PDET_LOG_OF_DUMP && lenient && raws &&
			stage == PDET_LOG_AT_FLAGS + raws);
	}
}

/* The sixth and seventh word of a struct page of 64 bytes: _mapcount, which
 * counts from -1, and _refcount above it. */
static bool counts_agree(const struct pdet_log_writer *w, uint64_t counts,
			 bool both)
{
	return counts >> 32 == (uint32_t)w->refcount &&
	       (!both || (uint32_t)counts + 1 == (uint32_t)w->mapcount);
}

/* Whether the second line of "raw:" may belong to @w. If the counts of some
 * report agree, it belongs to one of those. */
static bool may_count(const struct search *s, const struct pdet_log_writer *w,
		      const struct pdet_log_step *step)
{
	const struct pdet_log_writer *x;
	unsigned i, both;

	if (!step->wide || !w->counted)
		return true;
	for (both = 2; both-- > 0;)
		for (i = 0; i < s->t->n; i++) {
			x = &s->t->writers[i];
			if (x->counted && !x->idle &&
			    counts_agree(x, step->counts, both))
				return counts_agree(w, step->counts, both);
		}
	return true;
}

static bool agrees(const struct search *s, const struct state *from,
		   unsigned i, const struct pdet_log_step *step)
{
	const struct pdet_log_writer *w = &s->t->writers[i];
	const uint64_t flags = from->flags[i] ? s->words[from->flags[i]] :
						w->flags;

	if (step->kind != PDET_LOG_STEP_RAW)
		return true;
	if (from->stage[i] == PDET_LOG_AT_FLAGS)
		return step->word == flags;
	return from->stage[i] != PDET_LOG_AT_RAW || may_count(s, w, step);
}

/* Add a state to the next layer unless it is there. Returns its index. */
static bool add_state(struct search *s, size_t layer, const struct state *is,
		      uint32_t *ret)
{
	size_t i = pdet_hash(is, sizeof(*is)) % SLOTS;

	for (; s->slots[i]; i = (i + 1) % SLOTS)
		if (!memcmp(&s->states.data[s->slots[i] - 1], is,
			    sizeof(*is))) {
			*ret = (uint32_t)(s->slots[i] - 1);
			return true;
		}
	if (s->states.n - layer >= MOST_STATES) {
		s->gives_up = true;
		return true;
	}
	if (!pdet_vec_push(&s->states, *is))
		return false;
	s->slots[i] = s->states.n;
	*ret = (uint32_t)(s->states.n - 1);
	return true;
}

static bool step_from(struct search *s, size_t from, size_t layer, size_t line)
{
	const struct pdet_log_held *l = &s->t->lines.data[line];
	uint32_t to = 0;
	unsigned i;

	for (i = 0; i < s->t->n; i++) {
		struct state next = s->states.data[from];
		uint8_t stage;

		if (!(l->may >> i & 1) || !agrees(s, &next, i, &l->step))
			continue;
		stage = pdet_log_advance(&s->t->writers[i], next.stage[i],
					 &l->step, s->raws);
		if (!stage)
			continue;
		next.stage[i] = stage;
		if (l->step.kind == PDET_LOG_STEP_FLAGS)
			next.flags[i] = (uint8_t)s->n_words;
		if (!add_state(s, layer, &next, &to) ||
		    (!s->gives_up &&
		     !pdet_vec_push(&s->edges, (struct edge){ (uint32_t)from,
				    to, line, (uint8_t)i })))
			return false;
	}
	return true;
}

/* The states after one more line. If it fits nowhere, lines are missing, and
 * order proves nothing. */
static bool step_all(struct search *s, size_t line)
{
	const struct pdet_log_step *step = &s->t->lines.data[line].step;
	const size_t layer = s->states.n;
	size_t i;

	if (step->kind == PDET_LOG_STEP_FLAGS) {
		if (s->n_words == UINT8_MAX) {
			s->gives_up = true;
			return true;
		}
		s->words[++s->n_words] = step->word;
	}
	memset(s->slots, 0, sizeof(s->slots));
	for (i = s->first; i < layer && !s->gives_up; i++)
		if (!step_from(s, i, layer, line))
			return false;
	s->gives_up |= s->states.n == layer;
	s->first = layer;
	return true;
}

/* Each block has the same number of lines of "raw:". */
static unsigned count_raws(const struct pdet_log_tangle *t)
{
	unsigned raws = 0, blocks = 0, i;
	size_t n;

	for (i = 0; i < t->n; i++) {
		const uint8_t stage = t->writers[i].stage;

		blocks += stage >= PDET_LOG_AT_PAGE &&
			  stage <= PDET_LOG_AT_RAW_4;
		if (stage > PDET_LOG_AT_FLAGS && stage <= PDET_LOG_AT_RAW_4)
			raws += stage - PDET_LOG_AT_FLAGS;
	}
	for (n = 0; n < t->lines.n; n++) {
		const enum pdet_log_step_kind kind = t->lines.data[n].step.kind;

		blocks += kind == PDET_LOG_STEP_PAGE;
		raws += kind == PDET_LOG_STEP_RAW;
	}
	return blocks && raws % blocks == 0 && raws / blocks <= MOST_RAWS ?
		raws / blocks : 0;
}

static bool all_complete(const struct search *s, const struct state *is,
			 bool lenient)
{
	unsigned i;

	for (i = 0; i < s->t->n; i++)
		if (!s->t->writers[i].idle &&
		    !is_complete(&s->t->writers[i], is->stage[i], s->raws,
				 lenient))
			return false;
	return true;
}

static bool keep_complete(const struct search *s, bool *alive, bool lenient)
{
	bool some = false;
	size_t n;

	for (n = s->first; n < s->states.n; n++) {
		alive[n] = all_complete(s, &s->states.data[n], lenient);
		some |= alive[n];
	}
	return some;
}

/* Keep the last states in which all reports are complete, if there are some.
 * The writers of the lines on a way to one of them are possible. */
static bool go_back(struct search *s, bool *done,
		    uint8_t stages[PDET_LOG_WRITERS])
{
	bool *alive = calloc(s->states.n, sizeof(*alive)), some;
	size_t n;
	unsigned i;

	if (!alive)
		return false;
	some = keep_complete(s, alive, false);
	*done = some;
	for (n = s->first; n < s->states.n; n++)
		*done &= alive[n];
	if (!some)
		some = keep_complete(s, alive, true);
	for (n = s->first; n < s->states.n; n++) {
		alive[n] |= !some;
		for (i = 0; i < s->t->n && alive[n]; i++)
			stages[i] = PDET_LOG_AT_NONE == stages[i] ||
				    stages[i] == s->states.data[n].stage[i] ?
				s->states.data[n].stage[i] : UINT8_MAX;
	}
	for (n = s->edges.n; n-- > 0;) {
		const struct edge *e = &s->edges.data[n];

		if (!alive[e->to])
			continue;
		alive[e->from] = true;
		s->t->lines.data[e->line].by |= (uint8_t)(1 << e->by);
	}
	free(alive);
	return true;
}

/* Only what names a report is certain. */
static void give_up(struct pdet_log_tangle *t)
{
	size_t n;

	for (n = 0; n < t->lines.n; n++)
		t->lines.data[n].by = t->lines.data[n].may;
}

static bool search(struct search *s, bool *done,
		   uint8_t stages[PDET_LOG_WRITERS])
{
	struct pdet_log_tangle *t = s->t;
	struct state start = { { 0 }, { 0 } };
	unsigned i;
	size_t n;

	for (i = 0; i < t->n; i++)
		start.stage[i] = t->writers[i].stage;
	if (!pdet_vec_push(&s->states, start))
		return false;
	for (n = 0; n < t->lines.n && !s->gives_up; n++)
		if (t->lines.data[n].may && !step_all(s, n))
			return false;
	if (!s->gives_up)
		return go_back(s, done, stages);
	give_up(t);
	return true;
}

bool pdet_log_untangle(struct pdet_log_tangle *t, bool *done,
		       uint8_t stages[PDET_LOG_WRITERS])
{
	struct search *s = calloc(1, sizeof(*s));
	bool memory;
	size_t n;

	*done = false;
	memset(stages, PDET_LOG_AT_NONE, PDET_LOG_WRITERS);
	if (!s)
		return false;
	for (n = 0; n < t->lines.n; n++)
		t->lines.data[n].by = 0;
	s->t = t;
	s->raws = count_raws(t);
	memory = search(s, done, stages);
	pdet_vec_free(&s->states);
	pdet_vec_free(&s->edges);
	free(s);
	return memory;
}
