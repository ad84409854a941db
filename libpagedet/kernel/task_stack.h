/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Where a task is in the kernel: the addresses that its stack goes back to, as
 * in /proc/PID/stack. Of one that runs, what its processor has in registers is
 * not in memory; dumps have it beside.
 */
#ifndef PDET_KERNEL_TASK_STACK_H
#define PDET_KERNEL_TASK_STACK_H

#include "kernel/orc.h"
#include "memory/note.h"

struct pdet_task_stacks {
	const struct pdet_paging *paging;
	struct pdet_notes cpus;	/* of the processors, if it is a dump */
	struct pdet_struct task, frame, area;
	bool has_orc;
	struct pdet_orc orc;
};

/* pdet_task_stacks_init - @orc as in orc.h; n 0: the kernel has none, and keeps
 * frame pointers. False: types do not say enough. */
bool pdet_task_stacks_init(struct pdet_task_stacks *t,
			   const struct pdet_paging *paging,
			   const struct pdet_btf *btf,
			   const struct pdet_orc_table *orc,
			   const struct pdet_modules *modules);

/*
 * pdet_task_stack - of the task_struct at @task, innermost first; at most @n
 * of them. How many: none if it is in user code. *error: why that is not all
 * of it; 0 it is, -EAGAIN it runs, or ran meanwhile, and what registers there
 * are do not lead to its own stack, -E2BIG there are more, or a result of
 * memory/memory.h.
 */
size_t pdet_task_stack(struct pdet_space *space,
		       const struct pdet_task_stacks *t, uint64_t task,
		       uint64_t *frames, size_t n, int *error);

#endif
