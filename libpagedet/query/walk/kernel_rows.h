/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The kernel's own mappings among the rows of a mappers walk. */
#ifndef PDET_QUERY_WALK_KERNEL_ROWS_H
#define PDET_QUERY_WALK_KERNEL_ROWS_H

#include "query/query.h"

/* The source of kernel mappings. */
struct pdet_kernel_rows {
	struct pdet_backend *backend; /* NULL: no source can answer */
	unsigned index;		/* index of its session in a worker */
	unsigned source;
};

/*
 * pdet_kernel_rows_init - choose the backend that knows kernel mappings. This
 * is the walking backend if it knows them. Another one is chosen only if
 * kernel_maps is wanted, because opening the kernel's memory may take long; the
 * walking backend has done that already.
 */
void pdet_kernel_rows_init(struct pdet_kernel_rows *r,
			   const struct pdet_walk *w);

/*
 * pdet_kernel_rows_put - add rows for @n mappings, which must fit. @ask has the
 * item of each. Returns 0, or negative errno.
 */
int pdet_kernel_rows_put(const struct pdet_kernel_rows *r,
			 struct pdet_worker *k, struct pdet_batch *b,
			 const struct pdet_kernel_found *found,
			 const uint64_t *ask, uint32_t n);

#endif
