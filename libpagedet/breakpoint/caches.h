/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What sysfs says of the slab caches of the running kernel. */
#ifndef PDET_BREAKPOINT_CACHES_H
#define PDET_BREAKPOINT_CACHES_H

#include "base/env.h"

#define PDET_BP_FILTER 8192

struct pdet_bp_cache {
	char filter[PDET_BP_FILTER]; /* of pages: the slabs of any name that
				      * stands for the same cache */
	uint64_t names;		/* so many of them */
	uint64_t bytes;		/* of an object, for its user */
	uint64_t stride;	/* from one object to the next */
	bool reused;		/* SLAB_TYPESAFE_BY_RCU */
};

/*
 * pdet_bp_cache_find - find a cache by any of its names. Returns 0, or a
 * negative errno with an error text: -ENOENT there is none; -ENOTSUP the kernel
 * does not tell; -EACCES; -ENOMEM; -EIO.
 */
int pdet_bp_cache_find(struct pdet_env *env, const char *name,
		       struct pdet_bp_cache *ret);

#endif
