/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The user stacks of threads, for queries about tasks. */
#ifndef PDET_QUERY_WALK_USER_STACKS_H
#define PDET_QUERY_WALK_USER_STACKS_H

#include "query/query.h"

/*
 * pdet_user_stack_get - the frames of a thread, innermost first. They are valid
 * until the next call or step. it->user_stacks.stopped says whether the thread
 * was stopped, also if the call fails. Returns their number, or negative errno.
 */
int pdet_user_stack_get(struct pdet_iter *it, uint32_t tid,
			const struct pagedet_frame **ret);

#endif
