/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Unwinds the kernel stack of a task, as in /proc/PID/stack. The registers of a
 * running task are not in memory, but dumps have them in notes.
 */
#ifndef PDET_SYMBOL_TASK_STACK_H
#define PDET_SYMBOL_TASK_STACK_H

#include "kernel/address/percpu.h"
#include "memory/note.h"
#include "symbol/frame_chain.h"
#include "symbol/orc.h"

struct pdet_task_stacks {
	const struct pdet_paging *paging;
	struct pdet_notes cpus;	/* notes of the processors, if it is a dump */
	const struct pdet_percpu *percpu; /* NULL: not known */
	struct pdet_struct task, frame, area;
	bool has_orc;
	struct pdet_orc orc;
	struct pdet_frame_chain chain; /* without ORC */
};

/* pdet_task_stacks_init - @orc as in orc.h. If its n is 0, the kernel has no
 * ORC and uses frame pointers. Returns false if the types lack something that
 * is needed. */
bool pdet_task_stacks_init(struct pdet_task_stacks *t,
			   const struct pdet_paging *paging,
			   const struct pdet_btf *btf,
			   const struct pdet_orc_table *orc,
			   const struct pdet_modules *modules);

/*
 * pdet_task_stack - get the frames of the task_struct at @task, innermost
 * first, at most @n. Returns their number, or 0 if the task is in user code.
 * *@error is 0 if the stack is complete, -EAGAIN if the task is
 * running, or ran meanwhile, and no registers lead to its own stack, -E2BIG if
 * there are more, or a result of memory/memory.h.
 */
size_t pdet_task_stack(struct pdet_space *space,
		       const struct pdet_task_stacks *t, uint64_t task,
		       struct pdet_frame *frames, size_t n, int *error);

/* The kernel stack of a task. */
struct pdet_task_rest {
	uint64_t stack;		/* its lowest address */
	uint64_t bytes;		/* size of that; 0: unknown */
	uint64_t switches;	/* how often it has stopped running */
	uint64_t sp;		/* in a dump, of the processor that is on this
				 * stack; 0: none is */
	uint64_t lowest;	/* the lowest address in use, as the context
				 * switch or a processor left it */
	bool user;		/* in a dump, it ran in user code on processor
				 * @cpu of the notes, for sure */
	uint32_t cpu;
};

/* pdet_task_rest_known - whether the types say where it is. They may, even if
 * pdet_task_stacks_init() failed. */
bool pdet_task_rest_known(const struct pdet_task_stacks *t);

/*
 * pdet_task_rest - find the stack of the task_struct at @task. Returns 0,
 * -EAGAIN if it runs, and neither a processor on its stack nor one in its user
 * code is known for sure; or a result of memory/memory.h.
 */
int pdet_task_rest(struct pdet_space *space, const struct pdet_task_stacks *t,
		   uint64_t task, struct pdet_task_rest *ret);

#endif
