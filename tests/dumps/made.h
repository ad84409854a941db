/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A simulated memory with known contents: blocks of zeroes, text and noise,
 * excluded blocks, and blocks that do not exist. It is written as a dump to an
 * unnamed file, and compared with a reader's result.
 */
#ifndef TESTS_DUMPS_MADE_H
#define TESTS_DUMPS_MADE_H

#include "dump_write.h"
#include "memory/open.h"

struct made {
	uint64_t seed;
	uint64_t frames;
	size_t block;
	bool all;		/* nothing is excluded */
	bool vmcoreinfo;	/* memory has it */
	char *kept;		/* all blocks, by made_keep() */
};

/* made_keep - keep all blocks, for many comparisons. */
void made_keep(struct made *m);
void made_forget(struct made *m);

extern const char made_vmcoreinfo[];

enum dump_state made_state(const struct made *m, uint64_t frame);

/* Make unnamed files, which the caller closes. */
int made_kdump(struct made *m, const struct dump_kdump *kdump, bool flattened);
int made_elf(struct made *m, const struct dump_elf *elf, bool flattened);
int made_copy(int fd, uint64_t n); /* its first @n bytes */
uint64_t made_size(int fd);

/* A reader's result, counted by block. */
struct made_counts {
	uint64_t right;		/* correct blocks of any state */
	uint64_t excluded;	/* correctly reported as excluded */
	uint64_t nothing;
	uint64_t io;		/* existing blocks that were not read */
	uint64_t bad;
	uint64_t wrong;		/* wrong without an error, or skipped by a
				 * walk */
	uint64_t steps;		/* number of steps */
};

struct made_counts made_compare(const struct made *m, struct pdet_reader *r);

/*
 * The same with reads of odd lengths across blocks. Returns how many were
 * wrong.
 */
uint64_t made_compare_odd(const struct made *m, struct pdet_reader *r);

/* made_open - open with its own env; NULL with the error text in @error. */
struct pdet_memory *made_open(const int *fds, size_t n, char *error,
			      size_t size, int *result);

#endif
