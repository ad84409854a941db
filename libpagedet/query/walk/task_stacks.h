/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The kernel stacks of threads, for queries about tasks. */
#ifndef PDET_QUERY_WALK_TASK_STACKS_H
#define PDET_QUERY_WALK_TASK_STACKS_H

#include "query/query.h"

/*
 * pdet_stacks_asked - whether the query is about tasks and has one of these
 * PAGEDET_Q_* options. If not, sets an error text.
 */
bool pdet_stacks_asked(struct pdet_iter *it, uint32_t options);

/*
 * pdet_threads_get - get at most @n thread ids of a process. Returns the number
 * of all its threads, or negative errno.
 */
int pdet_threads_get(struct pdet_iter *it, uint32_t pid, uint32_t *tids,
		     uint32_t n);

/*
 * pdet_task_stack_get - get at most @n frames of a thread, innermost first.
 * They are valid until the next call or step. Returns the number of all its
 * frames, or negative errno.
 */
int pdet_task_stack_get(struct pdet_iter *it, uint32_t tid,
			const char **frames, uint32_t n);

#endif
