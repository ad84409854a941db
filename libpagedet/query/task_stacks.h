/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Where threads are in the kernel, for who looks at rows of tasks. */
#ifndef PDET_QUERY_TASK_STACKS_H
#define PDET_QUERY_TASK_STACKS_H

#include "query/query.h"

/* pdet_threads_get - at most @n thread ids of a process. How many it has, or
 * negative errno. */
int pdet_threads_get(struct pdet_iter *it, uint32_t pid, uint32_t *tids,
		     uint32_t n);

/* pdet_task_stack_get - at most @n frames of one, innermost first; valid until
 * the next call or step. The same. */
int pdet_task_stack_get(struct pdet_iter *it, uint32_t tid,
			const char **frames, uint32_t n);

#endif
