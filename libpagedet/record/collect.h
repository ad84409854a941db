/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* From the words of a key, and the sums of processors, to rows. */
#ifndef PDET_RECORD_COLLECT_H
#define PDET_RECORD_COLLECT_H

#include "record/program.h"
#include "record/sums.h"

struct pdet_collect {
	const struct pdet_signature *signature;
	const struct pdet_program_key *key;
	const uint32_t *cpus;	/* numbers of processors, as sums are */
	uint32_t n_cpus;
	bool by_cpu;		/* a row for each processor, not for all */
	bool frees;		/* sums have all of their members */
	uint64_t page_size;
};

/*
 * pdet_collect_add - add what a key has. @stack is the number of its stack in
 * ret->stacks. @sums are as the kernel has them: one behind the other, each
 * of pdet_program_sum_bytes(). False without memory.
 */
bool pdet_collect_add(const struct pdet_collect *c, const uint64_t *words,
		      uint32_t stack, const void *sums,
		      struct pdet_kmem_sums *ret);

/*
 * pdet_collect_event - what a key tells of each of its allocations; a name
 * stays in @words.
 */
struct pdet_kmem_event pdet_collect_event(const struct pdet_collect *c,
					  const uint64_t *words,
					  uint32_t stack);

/*
 * pdet_collect_cpus - read a list such as "0-3,8". *@ret is to be freed; its
 * length, or a negative errno: -EBADMSG it is not a list, or has more than
 * 65536; -ENOMEM.
 */
int pdet_collect_cpus(const char *text, size_t len, uint32_t **ret);

#endif
