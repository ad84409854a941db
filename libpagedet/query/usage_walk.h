/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Walks the page tables of a process whose usage the kernel has not counted. */
#ifndef PDET_QUERY_USAGE_WALK_H
#define PDET_QUERY_USAGE_WALK_H

#include "query/query.h"

/* The sums of one process. */
struct pdet_usage_count {
	uint64_t rss, uss, shared, dirty, swap, hugetlb; /* bytes */
	uint64_t pss;		/* in units of 1/4096 bytes */
	uint64_t entries;	/* entries that were read */
	uint32_t why_share;	/* the reason why some mapcounts are not known;
				 * 0 if all are known */
	uint32_t why_dirty;	/* the same for dirty */
	bool roughly;		/* some mapcounts may be averages */
	bool lost;		/* some entries could not be read */
};

/* Adds the rows of a batch to the sums. */
void pdet_usage_count(struct pdet_usage_count *c, const struct pdet_batch *b,
		      uint64_t page_size);
void pdet_usage_sums(const struct pdet_usage_count *c,
		     struct pagedet_usage *ret);

/* The state of walks of several processes, one after the other. */
struct pdet_usage_walk {
	struct pdet_iter_args args;
	struct pagedet_query query;
	struct pagedet_item item;
	struct pdet_iter *it;
};

/*
 * The caller sets @env, backends, sources and page_size in @w->args, and
 * deadline and progress in @w->query. All other members must be zero.
 */
void pdet_usage_walk_init(struct pdet_usage_walk *w);
void pdet_usage_walk_end(struct pdet_usage_walk *w);
/*
 * As pdet_backend_ops.usage, but with an error text. After -EBADMSG, @ret has
 * the values that could be read.
 */
int pdet_usage_walk_next(struct pdet_usage_walk *w, uint32_t pid,
			 struct pdet_usage *ret);

#endif
