/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A BPF program that adds up the events of one tracepoint, in a hash table of
 * sums for each processor.
 */
#ifndef PDET_RECORD_PROGRAM_H
#define PDET_RECORD_PROGRAM_H

#include "base/bpf.h"
#include "record/signature.h"

/* Words of a key: the site, tid, gfp, node, order, migratetype, bytes_req,
 * bytes_alloc, and the number of the stack. */
#define PDET_PROGRAM_WORDS 9

/* A sum of the table. */
struct pdet_program_sum {
	uint64_t times, requested, allocated; /* of pages: not bytes, but
					       * pages */
	uint64_t failed;
};

/* Bytes of the name of a cache, with a NUL at its end. */
#define PDET_PROGRAM_NAME 64

/* What a key has, in the order of its words: PAGEDET_ALLOC_*. */
struct pdet_program_key {
	uint32_t word[PDET_PROGRAM_WORDS];
	unsigned n;
	bool has_name;		/* behind them, the name of the cache */
};

static inline uint32_t pdet_program_key_bytes(const struct pdet_program_key *k)
{
	return 8 * k->n + (k->has_name ? PDET_PROGRAM_NAME : 0);
}

/* The largest key. */
#define PDET_PROGRAM_KEY (PDET_PROGRAM_WORDS + PDET_PROGRAM_NAME / 8)

struct pdet_program_wants {
	const struct pdet_signature *signature;
	const struct pdet_program_key *key;
	int sums, stacks, full;	/* descriptors of maps; full counts events
				 * without room for their sum */
	uint32_t without;	/* thread that is left out; 0: none */
	bool nests;		/* it may be interrupted by itself */
};

struct pdet_program {
	struct bpf_insn insn[160];
	unsigned n;
};

/* pdet_program_assemble - write the program. */
void pdet_program_assemble(const struct pdet_program_wants *w,
			   struct pdet_program *ret);

/* pdet_program_argument - the argument that a word of the key has, or
 * PDET_ARGUMENT_NONE. */
uint8_t pdet_program_argument(const struct pdet_signature *s, uint32_t word);

#endif
