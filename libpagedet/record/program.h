/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A BPF program that adds up the events of one tracepoint, in a hash table of
 * sums for each processor. With a table of live objects, the programs of
 * allocations fill it, and those of frees find in it whose sum they belong to.
 */
#ifndef PDET_RECORD_PROGRAM_H
#define PDET_RECORD_PROGRAM_H

#include <stdbool.h>

#include "base/bpf.h"
#include "record/signature.h"

/* Words of a key: the site, tid, gfp, node, order, migratetype, bytes_req,
 * bytes_alloc, the number of the stack, and the processor. */
#define PDET_PROGRAM_WORDS 10

/* A sum of the table. */
struct pdet_program_sum {
	uint64_t times, requested, allocated; /* of pages: not bytes, but
					       * pages */
	uint64_t failed;
	/* With a table of live objects only. */
	uint64_t freed, cross_cpu, mismatched, replaced;
	uint64_t untracked;	/* of times: had no room in that table */
	uint64_t gone;		/* of allocated: of those that are freed,
				 * replaced or untracked */
};

static inline uint32_t pdet_program_sum_bytes(bool frees)
{
	return frees ? sizeof(struct pdet_program_sum) :
		       offsetof(struct pdet_program_sum, freed);
}

/*
 * A live object; its key stands behind. To put an entry into the table and to
 * take it out costs more than all the rest, and addresses are soon used again:
 * some entries stay when their object is freed.
 */
struct pdet_program_live {
	uint64_t allocated;	/* as in its sum */
	uint32_t cpu;
	uint16_t of;		/* number of its table of sums, from 1; 0: it is
				 * in no sum; or FREED */
	uint16_t stays;
};

#define PDET_PROGRAM_FREED 0x7fff

/* What is counted beside the sums, each by all processors. */
enum pdet_program_counter {
	PDET_COUNTER_FULL,	/* events without room for their sum */
	PDET_COUNTER_UNTRACKED,	/* of what is in no sum: had no room in the
				 * table of live objects */
	PDET_COUNTER_NOTHING,	/* frees of nothing */
	PDET_COUNTER_OBJECTS,	/* frees of objects that are not in it */
	PDET_COUNTER_PAGES,	/* the same of pages */
	PDET_COUNTER_STAY,	/* entries of that table */
	PDET_COUNTERS
};

/* Bytes of the name of a cache, with a NUL at its end. */
#define PDET_PROGRAM_NAME 64

/* What a key has, in the order of its words: PAGEDET_ALLOC_*. */
struct pdet_program_key {
	uint32_t word[PDET_PROGRAM_WORDS];
	unsigned n;
	bool has_name;		/* behind them, the name of the cache */
};

/* pdet_program_key_has - whether a word of it is that. */
bool pdet_program_key_has(const struct pdet_program_key *k, uint32_t word);

static inline uint32_t pdet_program_key_bytes(const struct pdet_program_key *k)
{
	return 8 * k->n + (k->has_name ? PDET_PROGRAM_NAME : 0);
}

/* The largest key. */
#define PDET_PROGRAM_KEY (PDET_PROGRAM_WORDS + PDET_PROGRAM_NAME / 8)

struct pdet_program_wants {
	const struct pdet_signatures *known;
	const struct pdet_signature *signature; /* one of them */
	const struct pdet_program_key *key;
	/* Descriptors of maps. */
	int sums[PDET_SIGNATURES]; /* by allocation */
	int stacks, counters;
	int live;		/* -1: frees are not looked at */
	uint32_t stay;		/* entries that may, of each processor */
	uint32_t without;	/* thread that is left out; 0: none */
	bool nests;		/* it may be interrupted by itself */
};

struct pdet_program {
	struct bpf_insn insn[320];
	unsigned n;
};

/* pdet_program_assemble - write the program of an allocation, or of a free. */
void pdet_program_assemble(const struct pdet_program_wants *w,
			   struct pdet_program *ret);

/* pdet_program_argument - the argument that a word of the key has, or
 * PDET_ARGUMENT_NONE. */
uint8_t pdet_program_argument(const struct pdet_signature *s, uint32_t word);

#endif
