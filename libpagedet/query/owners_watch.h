/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Who may end the reading of page_owner's records, and hears how far it is. */
#ifndef PDET_QUERY_OWNERS_WATCH_H
#define PDET_QUERY_OWNERS_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "pagedet.h"

struct pdet_owners_watch {
	uint64_t start_ns;	/* CLOCK_MONOTONIC */
	uint64_t deadline_ns;	/* 0: none */
	pagedet_progress_fn *progress; /* may be NULL */
	void *user;
	uint64_t every_ns, told_ns;
	uint64_t total;		/* bytes of text; 0 not known */
	atomic_uint_fast64_t done;
	atomic_int stopped;	/* 0, ETIMEDOUT, ECANCELED */
};

void pdet_owners_watch_init(struct pdet_owners_watch *w,
			    const struct pagedet_owners_query *q);

/* pdet_owners_watched - somebody may end it. */
bool pdet_owners_watched(const struct pdet_owners_watch *w);

/*
 * pdet_owners_stopped - 0, or the errno to end with. @caller: on the caller's
 * thread, where he is told how far it is. @ms: if not NULL, after which time to
 * ask again.
 */
int pdet_owners_stopped(struct pdet_owners_watch *w, bool caller, int *ms);

#endif
