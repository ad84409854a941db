/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A memory that was made up, of which everything is known: blocks of zeroes,
 * of text, of noise; some excluded, some that do not exist. Written as a dump
 * into a file without a name, and compared with what a reader says of it.
 */
#ifndef TESTS_DUMPS_MADE_H
#define TESTS_DUMPS_MADE_H

#include "dump_write.h"
#include "memory/memory.h"

struct made {
	uint64_t seed;
	uint64_t frames;
	size_t block;
	bool all;		/* nothing is excluded */
	bool vmcoreinfo;	/* is in memory, at made_vmcoreinfo_frame() */
	char *kept;		/* all of it, by made_keep() */
};

/* made_keep - for who compares many times. */
void made_keep(struct made *m);
void made_forget(struct made *m);

extern const char made_vmcoreinfo[];

uint64_t made_vmcoreinfo_frame(const struct made *m);

enum dump_state made_state(const struct made *m, uint64_t frame);
enum dump_state made_block(void *arg, uint64_t frame, void *buf);
struct dump_memory made_memory(struct made *m);

/* Files without a name; the caller closes them. */
int made_kdump(struct made *m, const struct dump_kdump *kdump, bool flattened);
int made_elf(struct made *m, const struct dump_elf *elf, bool flattened);
int made_copy(int fd, uint64_t n); /* the first @n bytes of it */
uint64_t made_size(int fd);

/* What a reader said, block by block. */
struct made_counts {
	uint64_t right;		/* blocks as they should be, of any state */
	uint64_t excluded;	/* said to be, and are */
	uint64_t nothing;
	uint64_t io;		/* blocks that are there and were not read */
	uint64_t bad;
	uint64_t wrong;		/* neither right nor an error; or left out by
				 * who goes from one to the next */
	uint64_t steps;		/* that it took */
};

struct made_counts made_compare(const struct made *m, struct pdet_reader *r);

/* The same in reads of odd lengths over the borders of blocks: how many were
 * wrong. */
uint64_t made_compare_odd(const struct made *m, struct pdet_reader *r);

/* made_open - in an env of its own; NULL: the words are in @error. */
struct pdet_memory *made_open(const int *fds, size_t n, char *error,
			      size_t size, int *result);

#endif
