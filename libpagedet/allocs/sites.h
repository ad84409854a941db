/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What a first reading of a trace finds: the call sites of allocations, before
 * anything is named; or whether its addresses mean anything.
 */
#ifndef PDET_ALLOCS_SITES_H
#define PDET_ALLOCS_SITES_H

#include "trace/trace.h"

struct pdet_sites {
	struct {
		uint64_t *data;
		size_t n, cap;
	} addresses;		/* each one once */
	struct pdet_trace_kernel kernel; /* as the trace tells it */
};

/*
 * pdet_sites_read - read a trace of its own to its end, or until @stopped says
 * so. The errors are those of pdet_trace_open(); -ENOMEM; -EIO.
 */
int pdet_sites_read(struct pdet_sites *s, struct pdet_env *env,
		    const char *path, bool (*stopped)(void *arg), void *arg);
void pdet_sites_free(struct pdet_sites *s);

struct pdet_trace_survey {
	uint64_t end_ns;	/* of the last event */
	bool hashed;		/* the addresses of objects are hashed */
	struct pdet_trace_kernel kernel; /* as the trace tells it */
};

/* pdet_trace_survey - the same, with the same errors. */
int pdet_trace_survey(struct pdet_trace_survey *s, struct pdet_env *env,
		      const char *path, bool (*stopped)(void *arg), void *arg);

#endif
