/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Damages members of kernel objects by their types. The damage happens between
 * dump and reader, so the file stays unchanged.
 */
#ifndef TESTS_DUMPS_HARM_H
#define TESTS_DUMPS_HARM_H

#include "objects.h"

/* The subjects of queries, as bits. */
#define ABOUT_PAGES 1u
#define ABOUT_FILES 2u
#define ABOUT_ENTRIES 4u	/* of page tables */
#define ABOUT_TASKS 8u
#define ABOUT_CGROUPS 16u
#define ABOUT_LOG 32u
#define ABOUT_STACKS 64u
#define ABOUT_ZONES 128u
#define ABOUT_OWNERS 256u	/* who allocated pages */
#define ABOUT_VMALLOC 512u
#define ABOUT_ALL 1023u

#define HARM_PATCHES 64

struct harm {
	struct pdet_memory_ops ops; /* comes first: finds this struct */
	const struct pdet_memory_ops *real;
	struct {
		uint64_t addr;	/* physical address */
		unsigned n;
		unsigned char bytes[8];
	} patch[HARM_PATCHES];
	unsigned n;
	/* The damage. */
	const char *what, *how;
	enum object_kind kind;
	struct object object;
	unsigned may_change;	/* ABOUT_*: subjects whose true answers
				 * change */
	uint64_t info_at;	/* place and digit in the text of VMCOREINFO */
	char info_byte;
};

/* The number of ways. */
unsigned harm_ways(void);

/*
 * harm_choose - choose way @way modulo harm_ways() and an object by @seed.
 * Returns false if the dump has no such object.
 */
bool harm_choose(struct harm *h, const struct objects *o, unsigned way,
		 uint64_t seed);

/*
 * harm_put - let the @n bytes at @va have this value. False: the dump has no
 * such address, or there are too many patches.
 */
bool harm_put(struct harm *h, const struct objects *o, uint64_t va,
	      uint64_t value, unsigned n);

/*
 * harm_do - @im reads damaged data from now on. Call it before anything but the
 * dump's headers was read.
 */
void harm_do(struct harm *h, struct image *im);

#endif
