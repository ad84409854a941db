/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Events of all processors in the order in which perf found them, which become
 * those in the order of their times. perf goes round the buffers of all
 * processors: what comes after a round is not earlier than what the round
 * before it had last.
 */
#ifndef PDET_TRACE_PERF_SORTER_H
#define PDET_TRACE_PERF_SORTER_H

#include "base/pairs.h"
#include "trace/merge.h"
#include "trace/perf/spill.h"

struct pdet_sorter_key {
	uint64_t ns;
	uint32_t cpu, index;
};

struct pdet_sorter_keys {
	struct pdet_sorter_key *data;
	size_t n, cap;
};

/* All but the first two are zeroed at first. */
struct pdet_sorter {
	size_t most;		/* events to keep in memory */
	size_t most_alone;	/* the same where the file cannot be used */
	bool is_alone;		/* it could not; that may change */
	struct {
		struct pdet_kmem_event *data;
		size_t n, cap;
	} events;		/* as they came */
	struct pdet_sorter_keys keys, merged;
	struct {
		size_t *data;
		size_t n, cap;
	} runs;			/* where a part of the keys in order begins */
	struct pdet_sorter_key last; /* of those that were taken */
	bool taken;		/* they are still there */
	char *texts;		/* of the events, each one once */
	size_t n_texts;
	struct pdet_pairs text_at; /* offset << 32 | length, by hash */
	uint64_t latest;	/* time of an event */
	uint64_t round;		/* the latest at the end of the last round */
	struct pdet_spill spill; /* those that came before these */
	/* What a take() gives in several pieces, from both. */
	bool is_giving;
	uint64_t until;
	size_t next;		/* of the keys */
	struct pdet_kmem_event *given; /* copies out of the spill */
};

/*
 * pdet_sorter_room - where the next event is written to, all of it, before it
 * is added; it need not be. NULL without memory.
 */
struct pdet_kmem_event *pdet_sorter_room(struct pdet_sorter *s);

/* pdet_sorter_add - add that event, and copy its text. False without memory. */
bool pdet_sorter_add(struct pdet_sorter *s);

/*
 * pdet_sorter_relieve - before the next record: if there are @s->most events,
 * move them into a file; if that fails, they stay, and it is tried again when
 * there are @s->most_alone. -ENOMEM; then the errors of pdet_spill_put().
 */
int pdet_sorter_relieve(struct pdet_sorter *s);

/* pdet_sorter_round - a round ends. Returns until when a take() may go. */
uint64_t pdet_sorter_round(struct pdet_sorter *s);

/*
 * pdet_sorter_take - give those until @ns to @piece; they stay until the next
 * pdet_sorter_room(). If that is not all of them, @s->is_giving is set, and
 * pdet_sorter_go_on() gives the next ones. Negative errno.
 */
int pdet_sorter_take(struct pdet_sorter *s, uint64_t ns,
		     struct pdet_trace_piece *piece);
int pdet_sorter_go_on(struct pdet_sorter *s, struct pdet_trace_piece *piece);

void pdet_sorter_free(struct pdet_sorter *s);

#endif
