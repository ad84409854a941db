/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Reasons to stop reading page_owner's records, and the progress callback. */
#ifndef PDET_OWNERS_WATCH_H
#define PDET_OWNERS_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "pagedet.h"

struct pdet_owners_watch {
	uint64_t start_ns;	/* CLOCK_MONOTONIC */
	uint64_t deadline_ns;	/* 0: no deadline */
	pagedet_progress_fn *progress; /* may be NULL */
	void *user;
	uint64_t every_ns, told_ns;
	uint64_t total;		/* bytes of text; 0: not known */
	atomic_uint_fast64_t done;
	atomic_int stopped;	/* 0, ETIMEDOUT, ECANCELED */
};

void pdet_owners_watch_init(struct pdet_owners_watch *w,
			    const struct pagedet_owners_query *q);

/* pdet_owners_watched - whether anything may end the reading. */
bool pdet_owners_watched(const struct pdet_owners_watch *w);

/*
 * pdet_owners_stopped - check whether to stop. Returns 0, or the errno to end
 * with. @caller: this is the caller's thread, so progress is reported. If @ms
 * is not NULL, it gets the time after which to ask again.
 */
int pdet_owners_stopped(struct pdet_owners_watch *w, bool caller, int *ms);

#endif
