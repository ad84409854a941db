/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The arguments of the tracepoints of allocations, which differ between
 * kernels. The kernel's own types tell them by name.
 */
#ifndef PDET_RECORD_SIGNATURE_H
#define PDET_RECORD_SIGNATURE_H

#include "base/env.h"
#include "kernel/types/btf.h"

/* An argument that a tracepoint does not have. */
#define PDET_ARGUMENT_NONE 0xff

struct pdet_signature {
	const char *event;	/* the name of the tracepoint */
	uint8_t kind;		/* PDET_KMEM_* */
	/* Indexes of arguments, or ARGUMENT_NONE. */
	uint8_t site, object, cache, requested, allocated, gfp, node, order,
		migratetype;
	/* Of a kmem_cache, if the sizes are not arguments. */
	uint32_t requested_at, allocated_at;
	/* The place of its name, if it is an argument of a cache's event. */
	uint32_t name_at;
	bool tells_name;
};

/* Allocations and frees that a kernel can have; not all kernels have all. */
#define PDET_SIGNATURES 5
#define PDET_SIGNATURES_OF_FREES 3

struct pdet_signatures {
	unsigned n;		/* of allocations, which are the first ones */
	unsigned n_all;
	struct pdet_signature data[PDET_SIGNATURES + PDET_SIGNATURES_OF_FREES];
	bool counts_misses;	/* the kernel does not run a program within
				 * itself, and counts how often */
};

/*
 * pdet_signatures_find - what the running kernel has; @pages: of pages, too;
 * @frees: the events of frees, too.
 * -ENOTSUP: the types do not tell all that is needed of an event.
 */
int pdet_signatures_find(struct pdet_env *env, const struct pdet_btf *btf,
			 bool pages, bool frees, struct pdet_signatures *ret);

#endif
