/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The threads of DAMON that run, and what each monitors
 * (Documentation/admin-guide/mm/damon/usage.rst). Only reads.
 */
#ifndef PDET_HEAT_DAMON_H
#define PDET_HEAT_DAMON_H

#include "base/env.h"

/* A process whose memory is monitored. */
struct pdet_damon_target {
	uint32_t pid;
	bool is_sure;		/* false: perhaps the thread monitors another
				 * process */
};

struct pdet_damon {
	uint32_t thread;	/* kdamond */
	bool is_physical;	/* regions are of physical memory; otherwise
				 * each target is a process */
	uint64_t unit;		/* bytes of one of its units */
	uint64_t sample_us;	/* it looks so often; 0: not known */
	uint64_t interval_us;	/* and adds up so often */
	bool is_tuned;		/* the kernel changes both */
	struct {
		struct pdet_damon_target *data;
		size_t n, cap;
	} targets;
};

struct pdet_damons {
	struct pdet_damon *data;
	size_t n, cap;
	bool is_denied;		/* the caller may not see all of them */
	bool is_partial;	/* more run, or monitor more */
};

/*
 * pdet_damons_find - read /sys below the root of @env. What cannot be
 * understood is left out; is_partial says that. -ENOMEM. In any case the caller
 * frees it.
 */
int pdet_damons_find(const struct pdet_env *env, struct pdet_damons *ret);

void pdet_damons_free(struct pdet_damons *d);

/* pdet_damon_checks - how often it looks in an interval; 0: not known. */
uint64_t pdet_damon_checks(const struct pdet_damon *d);

#endif
