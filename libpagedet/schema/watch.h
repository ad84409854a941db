/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reasons to stop a long reading that is not a query: its deadline, and the
 * caller's progress callback.
 */
#ifndef PDET_SCHEMA_WATCH_H
#define PDET_SCHEMA_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "pagedet.h"

struct pdet_watch {
	uint64_t start_ns;	/* CLOCK_MONOTONIC */
	uint64_t deadline_ns;	/* 0: no deadline */
	pagedet_progress_fn *progress; /* may be NULL */
	void *user;
	uint64_t every_ns, told_ns;
	uint64_t total;		/* to read, in bytes; 0: not known */
	atomic_uint_fast64_t done;
	atomic_int stopped;	/* 0, ETIMEDOUT, ECANCELED */
};

/*
 * pdet_watch_init - begin now. @deadline_ns from now, 0: no deadline; @progress
 * may be NULL, and is called each @progress_ns, 0: each 200 ms.
 */
void pdet_watch_init(struct pdet_watch *w, uint64_t deadline_ns,
		     pagedet_progress_fn *progress, void *user,
		     uint64_t progress_ns);

/* pdet_is_watched - whether anything may end the reading. */
bool pdet_is_watched(const struct pdet_watch *w);

/*
 * pdet_watch_stopped - check whether to stop. Returns 0, or the errno to end
 * with. @caller: this is the caller's thread, so progress is reported. If @ms
 * is not NULL, it gets the time after which to ask again.
 */
int pdet_watch_stopped(struct pdet_watch *w, bool caller, int *ms);

#endif
