/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Reads page_owner's text with several threads into one sum. */
#ifndef PDET_OWNERS_READ_H
#define PDET_OWNERS_READ_H

#include "owners/count.h"
#include "schema/watch.h"

struct pdet_owners_reading {
	struct pdet_env *env;
	const struct pdet_owner_asked *asked;
	struct pdet_watch *watch;
	unsigned threads;
	/* The result. */
	struct pdet_owner_count sum;
	bool partial;		/* there are more records than were counted */
	bool refused;		/* the text has no such records, for sure */
};

/*
 * pdet_owners_read_path - read a file or a pipe, or the running kernel's text;
 * "-" is standard input. Returns 0, or negative errno with an error text.
 */
int pdet_owners_read_path(struct pdet_owners_reading *r, const char *path);

/*
 * pdet_owners_read_live - read the running kernel's open file. @name is its
 * path.
 */
int pdet_owners_read_live(struct pdet_owners_reading *r, int fd,
			  const char *name);

/*
 * pdet_owners_read_numbers - the same, if @fd is open for writing. A kernel
 * that can write numbers of stacks does so, which is several times less text.
 * Their stacks are in the file at @stacks.
 */
int pdet_owners_read_numbers(struct pdet_owners_reading *r, int fd,
			     const char *name, const char *stacks);

/* --- between read.c and live.c --- */

/*
 * Makes one part for each thread. *@n gets their number. Returns NULL without
 * memory.
 */
struct pdet_owner_count *
pdet_owners_parts(const struct pdet_owners_reading *r, unsigned *n);
/* Adds the parts up and frees @parts. Returns 0 or -ENOMEM. */
int pdet_owners_add_up(struct pdet_owners_reading *r,
		       struct pdet_owner_count *parts, unsigned n);
/*
 * Decides the result of text that ended with @end. Records before damage count.
 * Returns 0, or negative errno with an error text.
 */
int pdet_owners_judge(struct pdet_owners_reading *r, const char *name,
		      int end);
int pdet_owners_no_memory(struct pdet_env *env);

#endif
