/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The kernel's tasks: all threads of all processes (include/linux/sched.h,
 * sched/signal.h). pids are those of the first pid namespace.
 */
#ifndef PDET_KERNEL_TASKS_H
#define PDET_KERNEL_TASKS_H

#include "kernel/fields.h"

#define PDET_COMM 16

struct pdet_task_struct {
	uint64_t addr;		/* of its task_struct */
	uint32_t pid, tgid;
	char comm[PDET_COMM];	/* with a NUL; any other byte may be in it */
	bool kthread;
	bool is_leader;		/* of its process */
	/* addresses; 0: it has none */
	uint64_t mm;
	uint64_t files, fs, nsproxy, cgroups, stack;
	uint64_t parent;	/* task_struct; 0: unknown */
	uint64_t start_ns;	/* since boot; 0: unknown */
	uint32_t flags;		/* PF_* */
};

struct pdet_tasks {
	struct pdet_struct task, signal;
	uint64_t init;		/* address of init_task */
};

/* pdet_tasks_init - false: the types do not say enough. */
bool pdet_tasks_init(struct pdet_tasks *t, const struct pdet_btf *btf,
		     uint64_t init_task);

/* pdet_task_read - the one at @addr; a result of memory/memory.h, -EBADMSG if
 * what is there is none. */
int pdet_task_read(struct pdet_space *space, const struct pdet_tasks *t,
		   uint64_t addr, struct pdet_task_struct *ret);

/* pdet_tasks_root - for kernels that do not say where init_task is: the last of
 * the parents of @task. The types alone must be there. */
int pdet_tasks_root(struct pdet_space *space, const struct pdet_tasks *t,
		    uint64_t task, uint64_t *ret);

struct pdet_tasks_visit {
	/* Not 0 ends it. */
	int (*task)(void *arg, const struct pdet_task_struct *task);
	/* One, or the rest of a list (@addr 0), cannot be read. May be NULL. */
	void (*lost)(void *arg, uint64_t addr, int error);
	void *arg;
	bool processes;		/* one thread of each is enough */
};

/* pdet_tasks_each - 0, or what a visit returned. The idle tasks are not among
 * them. */
int pdet_tasks_each(struct pdet_space *space, const struct pdet_tasks *t,
		    const struct pdet_tasks_visit *visit);

/* pdet_tasks_find - the thread of that number; -ENOENT there is none, or why
 * that is not sure. */
int pdet_tasks_find(struct pdet_space *space, const struct pdet_tasks *t,
		    uint32_t pid, struct pdet_task_struct *ret);

#endif
