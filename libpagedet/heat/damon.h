/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The threads of DAMON that run, by sysfs, and what each monitors, by the
 * kernel's memory (Documentation/admin-guide/mm/damon/usage.rst). Only reads.
 */
#ifndef PDET_HEAT_DAMON_H
#define PDET_HEAT_DAMON_H

#include "backend/backend.h"

/* A process whose memory is monitored. */
struct pdet_damon_target {
	uint32_t pid;
	bool is_sure;		/* false: perhaps another process has this pid
				 * here */
};

struct pdet_damon {
	uint32_t thread;	/* kdamond */
	bool is_module;		/* of a module, whose parameters say the rest */
	bool is_read;		/* the rest is what the kernel's memory says */
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
 * pdet_damons_find - which threads run, by /sys below the root of @env. What
 * they monitor is known only of modules. What cannot be understood is left out;
 * is_partial says that. -ENOMEM. In any case the caller frees it.
 */
int pdet_damons_find(const struct pdet_env *env, struct pdet_damons *ret);

/*
 * pdet_damons_read - what each of them monitors, by the first of @backends that
 * knows it. A thread of which that is not known is left out; is_partial says
 * that, and the error text why. -ENOMEM.
 */
int pdet_damons_read(struct pdet_damons *d, struct pdet_env *env,
		     struct pdet_backend *const *backends, size_t n);

/* pdet_damon_read - what the thread of @d monitors now; @d has nothing else.
 * Fails with an error text. The caller frees the targets. */
int pdet_damon_read(struct pdet_damon *d, struct pdet_env *env,
		    struct pdet_backend *const *backends, size_t n);

void pdet_damons_free(struct pdet_damons *d);

/* pdet_damon_checks - how often it looks in an interval; 0: not known. */
uint64_t pdet_damon_checks(const struct pdet_damon *d);

#endif
