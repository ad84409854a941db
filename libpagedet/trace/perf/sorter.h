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

struct pdet_sorter_key {
	uint64_t ns;
	uint32_t cpu, index;
};

struct pdet_sorter_keys {
	struct pdet_sorter_key *data;
	size_t n, cap;
};

struct pdet_sorter {
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
};

/*
 * pdet_sorter_room - where the next event is written to, all of it, before it
 * is added; it need not be. NULL without memory.
 */
struct pdet_kmem_event *pdet_sorter_room(struct pdet_sorter *s);

/* pdet_sorter_add - add that event, and copy its text. False without memory. */
bool pdet_sorter_add(struct pdet_sorter *s);

/* pdet_sorter_is_full - whether no more should be added before a take(). */
bool pdet_sorter_is_full(const struct pdet_sorter *s);

/* pdet_sorter_round - a round ends. Returns until when a take() may go. */
uint64_t pdet_sorter_round(struct pdet_sorter *s);

/*
 * pdet_sorter_take - give those until @ns to @piece; they stay until the next
 * pdet_sorter_room(). False without memory.
 */
bool pdet_sorter_take(struct pdet_sorter *s, uint64_t ns,
		      struct pdet_trace_piece *piece);

/* pdet_sorter_take_half - give the earlier half of all. */
bool pdet_sorter_take_half(struct pdet_sorter *s,
			   struct pdet_trace_piece *piece);

void pdet_sorter_free(struct pdet_sorter *s);

#endif
