/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* page_owner's text by several threads, into one sum. */
#ifndef PDET_QUERY_OWNERS_READ_H
#define PDET_QUERY_OWNERS_READ_H

#include "query/owners_count.h"
#include "query/owners_watch.h"

struct pdet_owners_reading {
	struct pdet_env *env;
	const struct pdet_owner_asked *asked;
	struct pdet_owners_watch *watch;
	unsigned threads;
	/* what came of it */
	struct pdet_owner_count sum;
	bool partial;		/* there is more than was counted */
};

/* pdet_owners_read_path - a file or a pipe, "-" is the standard input; or the
 * running kernel's. 0, or a negative errno with words. */
int pdet_owners_read_path(struct pdet_owners_reading *r, const char *path);

/* pdet_owners_read_live - the running kernel's, opened; @name for words. */
int pdet_owners_read_live(struct pdet_owners_reading *r, int fd,
			  const char *name);

/* --- between owners_read.c and owners_live.c --- */

/* Their parts of it, one a thread; NULL without memory. @n: how many. */
struct pdet_owner_count *
pdet_owners_parts(const struct pdet_owners_reading *r, unsigned *n);
/* Into the sum; @parts is freed. 0, -ENOMEM. */
int pdet_owners_add_up(struct pdet_owners_reading *r,
		       struct pdet_owner_count *parts, unsigned n);
/* What came before the text went bad is worth something; @end: how it ended,
 * with words. 0, or a negative errno with words. */
int pdet_owners_judge(struct pdet_owners_reading *r, const char *name,
		      int end);
int pdet_owners_no_memory(struct pdet_env *env);

#endif
