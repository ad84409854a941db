/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Programs on tracepoints, and their maps. The kernel removes both with the
 * last descriptor, so nothing is left of a process that was killed.
 */
#ifndef PDET_RECORD_ATTACHED_H
#define PDET_RECORD_ATTACHED_H

#include "record/program.h"

/* Frames of a stack; the kernel does not take more by default. */
#define PDET_ATTACHED_FRAMES 127

struct pdet_attached {
	struct pdet_attached_one {
		int program, link;
	} of[PDET_SIGNATURES + PDET_SIGNATURES_OF_FREES]; /* by signature */
	int sums[PDET_SIGNATURES]; /* of allocations */
	int stacks, live;	/* -1: none */
	int counters;		/* by PDET_COUNTER_* */
};

struct pdet_attached_wants {
	const struct pdet_signatures *known;
	const struct pdet_program_key *key;
	uint32_t entries;	/* of each table of sums */
	uint32_t live;		/* of the table of live objects; 0: none */
	uint32_t stay;		/* of each processor: entries besides these,
				 * which are not removed */
	uint32_t cpus;
	bool stacks;
	bool without_caller;	/* the calling thread is left out */
};

/* pdet_attached_none - so that pdet_attached_close() closes nothing. */
void pdet_attached_none(struct pdet_attached *a);

/*
 * pdet_attached_open - make maps, load, attach. -EACCES, -ENOTSUP, -ENOMEM,
 * -EIO with an error text. Call pdet_attached_close() in any case.
 */
int pdet_attached_open(struct pdet_attached *a, struct pdet_env *env,
		       const struct pdet_attached_wants *w);

/* pdet_attached_end - detach; no program runs any more. */
void pdet_attached_end(struct pdet_attached *a);

/* pdet_attached_misses - how often a program was not run because it ran. False:
 * the kernel does not say it. */
bool pdet_attached_misses(const struct pdet_attached *a, uint64_t *ret);

void pdet_attached_close(struct pdet_attached *a);

/* pdet_map_next - the key behind @key, or the first one if it is NULL. */
bool pdet_map_next(int map, const void *key, void *ret);

/* pdet_map_get - read a value, of all processors if it has several. */
bool pdet_map_get(int map, const void *key, void *value);

#endif
