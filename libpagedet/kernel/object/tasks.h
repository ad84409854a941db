/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads the kernel's tasks: all threads of all processes
 * (include/linux/sched.h, sched/signal.h). pids are those of the initial pid
 * namespace.
 */
#ifndef PDET_KERNEL_OBJECT_TASKS_H
#define PDET_KERNEL_OBJECT_TASKS_H

#include "kernel/types/fields.h"

#define PDET_COMM 16

struct pdet_task_struct {
	uint64_t addr;		/* address of its task_struct */
	uint32_t pid, tgid;
	char comm[PDET_COMM];	/* NUL-terminated; may hold any other byte */
	bool kthread;
	bool is_leader;		/* leader of its process */
	/* addresses; 0: none */
	uint64_t mm;
	uint64_t files, fs, nsproxy, cgroups, stack;
	uint64_t parent;	/* task_struct; 0: unknown */
	uint64_t start_ns;	/* since boot; 0: unknown */
	uint32_t flags;		/* PF_* */
	char state;		/* as in ps; 0: unknown */
};

struct pdet_tasks {
	struct pdet_struct task, signal;
	uint64_t init;		/* address of init_task */
};

/*
 * pdet_tasks_init - returns false if the types lack something that is needed.
 */
bool pdet_tasks_init(struct pdet_tasks *t, const struct pdet_btf *btf,
		     uint64_t init_task);

/* pdet_task_read - read the task at @addr. Returns a result of memory/memory.h.
 * -EBADMSG: it is not a task_struct. */
int pdet_task_read(struct pdet_space *space, const struct pdet_tasks *t,
		   uint64_t addr, struct pdet_task_struct *ret);

/* pdet_tasks_root - follow the parents of @task to the last one, on kernels
 * that do not export init_task. Needs only the types. */
int pdet_tasks_root(struct pdet_space *space, const struct pdet_tasks *t,
		    uint64_t task, uint64_t *ret);

struct pdet_tasks_visit {
	/* Any value but 0 ends the walk. */
	int (*task)(void *arg, const struct pdet_task_struct *task);
	/*
	 * One task cannot be read, or the rest of a list (@addr is then 0). May
	 * be NULL.
	 */
	void (*lost)(void *arg, uint64_t addr, int error);
	void *arg;
	bool processes;		/* visit only one thread of each process */
};

/*
 * pdet_tasks_each - returns 0, or the result of a visit. Idle tasks are not
 * visited.
 */
int pdet_tasks_each(struct pdet_space *space, const struct pdet_tasks *t,
		    const struct pdet_tasks_visit *visit);

/* pdet_tasks_find - find the thread with @pid. Returns 0, -ENOENT if there is
 * none, or the reason why that is uncertain. */
int pdet_tasks_find(struct pdet_space *space, const struct pdet_tasks *t,
		    uint32_t pid, struct pdet_task_struct *ret);

/*
 * pdet_task_living - find a thread with an address space in the process of the
 * task at @addr, which has none: the kernel keeps a main thread that has ended
 * as long as the process has others. Returns 0, -ENOENT if there is none, or
 * the reason why that is uncertain.
 */
int pdet_task_living(struct pdet_space *space, const struct pdet_tasks *t,
		     uint64_t addr, struct pdet_task_struct *ret);

/* pdet_task_listed - whether the list of its process has the task at @addr.
 * Memory of a task that has ended is in no list. */
bool pdet_task_listed(struct pdet_space *space, const struct pdet_tasks *t,
		      uint64_t addr);

#endif
