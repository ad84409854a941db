/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Events of all processors in the order in which perf found them, which become
 * those in the order of their times. perf goes round the buffers of all
 * processors: what comes after a round is not earlier than what the round
 * before it had last.
 */
#ifndef PDET_TRACE_SORTER_H
#define PDET_TRACE_SORTER_H

#include "base/groups.h"
#include "trace/merge.h"

struct pdet_sorter_entry {
	struct pdet_kmem_event event; /* without its text */
	uint64_t text;		/* the id of that; 0: none */
};

struct pdet_sorter_key {
	uint64_t ns;
	uint32_t cpu, index;
};

struct pdet_sorter {
	struct {
		struct pdet_sorter_entry *data;
		size_t n, cap;
	} entries;
	struct {
		struct pdet_sorter_key *data;
		size_t n, cap;
	} keys;
	struct pdet_groups texts; /* only its texts are used */
	uint64_t latest;	/* time of an entry */
	uint64_t round;		/* the latest at the end of the last round */
};

/* pdet_sorter_add - add an event, and copy its text. False without memory. */
bool pdet_sorter_add(struct pdet_sorter *s, const struct pdet_kmem_event *e);

/* pdet_sorter_is_full - whether no more should be added before a take(). */
bool pdet_sorter_is_full(const struct pdet_sorter *s);

/* pdet_sorter_round - a round ends. Returns until when a take() may go. */
uint64_t pdet_sorter_round(struct pdet_sorter *s);

/*
 * pdet_sorter_take - move those until @ns to @piece; their texts stay until the
 * next pdet_sorter_add(). False without memory.
 */
bool pdet_sorter_take(struct pdet_sorter *s, uint64_t ns,
		      struct pdet_trace_piece *piece);

/* pdet_sorter_take_half - move the earlier half of all. */
bool pdet_sorter_take_half(struct pdet_sorter *s,
			   struct pdet_trace_piece *piece);

void pdet_sorter_free(struct pdet_sorter *s);

#endif
