/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The call sites of allocations in a trace, read before anything is named. */
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

#endif
