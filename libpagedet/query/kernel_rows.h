/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Mappings of the kernel's own, among those of a mappers walk. */
#ifndef PDET_QUERY_KERNEL_ROWS_H
#define PDET_QUERY_KERNEL_ROWS_H

#include "query/query.h"

/* Who knows them. */
struct pdet_kernel_rows {
	struct pdet_backend *backend; /* NULL: nobody who is asked */
	unsigned index;		/* of its session in a worker */
	unsigned source;
};

/*
 * pdet_kernel_rows_init - who walks the target, if he knows them. Somebody else
 * only where kernel_maps is asked for: it may take long to open the kernel's
 * memory, which who walks has done.
 */
void pdet_kernel_rows_init(struct pdet_kernel_rows *r,
			   const struct pdet_walk *w);

/* pdet_kernel_rows_put - rows for @n mappings, that fit; @ask has the number of
 * the item of each. 0, or negative errno. */
int pdet_kernel_rows_put(const struct pdet_kernel_rows *r,
			 struct pdet_worker *k, struct pdet_batch *b,
			 const struct pdet_kernel_found *found,
			 const uint64_t *ask, uint32_t n);

#endif
