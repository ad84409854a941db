/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Reads a trace as the caller's query says it. */
#ifndef PDET_API_KMEM_READING_H
#define PDET_API_KMEM_READING_H

#include "allocs/allocs.h"
#include "api/arguments.h"

/*
 * pdet_read_allocs - check the query, and read its trace. @sink may be NULL; it
 * is used during the call only. The errors are those of pagedet_allocs().
 */
int pdet_read_allocs(struct pagedet *pd,
		     const struct pagedet_allocs_query *query,
		     const struct pdet_alloc_sink *sink,
		     struct pdet_allocs **ret);

#endif
