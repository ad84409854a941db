/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Lists all tasks of a kernel: their numbers, or what is known about each.
 * Reads what a thread of DAMON monitors.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend/image/kernel.h"
#include "backend/image/task.h"
#include "base/sort.h"
#include "kernel/object/rss.h"

struct listing {
	struct image *im;
	struct {
		struct pagedet_task *data;
		size_t n, cap;
	} tasks;
	struct {
		uint32_t *data;
		size_t n, cap;
	} pids;
	struct pdet_rss rss;
	bool has_rss;
	uint64_t lost;		/* tasks, or parts of lists */
	bool no_memory;
};

static void put_parent(struct listing *l, const struct pdet_task_struct *task,
		       struct pagedet_task *ret)
{
	struct pdet_task_struct parent;
	int r;

	if (!task->parent)
		return;
	r = pdet_task_read(&l->im->space, &l->im->task_types, task->parent,
			   &parent);
	/* The parent of init is the idle task, which has no pid. */
	if (r < 0 && task->parent != l->im->task_types.init)
		return;
	ret->ppid = r < 0 ? 0 : parent.tgid;
	ret->flags |= PAGEDET_TASK_HAS_PARENT;
}

static int add(void *arg, const struct pdet_task_struct *task)
{
	struct pagedet_task t = { .pid = task->pid, .tgid = task->tgid };
	struct pdet_task_struct other;
	struct listing *l = arg;
	uint64_t mm;

	t.state = (unsigned char)task->state;
	if (task->kthread)
		t.flags |= PAGEDET_TASK_KTHREAD;
	if (task->start_ns) {
		t.start_ns = task->start_ns;
		t.flags |= PAGEDET_TASK_HAS_START;
	}
	put_parent(l, task, &t);
	mm = task->mm;
	if (!mm && !task->kthread && task->is_leader &&
	    pdet_task_living(&l->im->space, &l->im->task_types, task->addr,
			     &other) == 0)
		mm = other.mm;
	/* A kernel thread borrows its mm; a zombie has none. */
	if (task->kthread || !mm ||
	    (l->has_rss && pdet_rss_read(&l->im->space, &l->rss, mm,
					 &t.rss) == 0))
		t.flags |= PAGEDET_TASK_HAS_RSS;
	memcpy(t.comm, task->comm, sizeof(task->comm));
	if (pdet_vec_push(&l->tasks, t))
		return 0;
	l->no_memory = true;
	return 1;
}

static void count_lost(void *arg, uint64_t addr, int error)
{
	struct listing *l = arg;

	(void)addr;
	(void)error;
	l->lost++;
}

static int list(struct listing *l, struct pdet_env *env, bool processes,
		int (*add_task)(void *arg, const struct pdet_task_struct *task))
{
	const struct pdet_tasks_visit visit = { add_task, count_lost, l,
						.processes = processes };
	unsigned looks = 0;

	do {
		l->lost = l->tasks.n = l->pids.n = 0;
		pdet_tasks_each(&l->im->space, &l->im->task_types, &visit);
	} while (pdet_image_again(l->im, l->lost && !l->no_memory, &looks));
	if (!l->no_memory && (!l->lost || l->tasks.n || l->pids.n))
		return 0;
	pdet_vec_free(&l->tasks);
	pdet_vec_free(&l->pids);
	return l->no_memory ? pdet_fail(env, ENOMEM, "no memory") :
		pdet_fail(env, EBADMSG, "cannot read the list of tasks: it %s",
			  pdet_image_broken(l->im));
}

int pdet_image_list_tasks(struct pdet_backend *b, struct pdet_env *env,
			  bool processes, struct pagedet_task **ret, size_t *n,
			  uint64_t *lost)
{
	struct listing l = { .im = image_of(b) };
	int r;

	if (pdet_image_task_types(l.im, env) < 0)
		return pdet_image_fail(env, &l.im->tasks);
	/* The caller would not know these pids. */
	if (l.im->other_pids)
		return pdet_fail(env, ENOTSUP, "cannot list tasks: the "
				 "kernel's pids are those of the first pid "
				 "namespace, and this, or that of /proc, is "
				 "another one");
	pdet_image_kernel_names(l.im, env);
	l.has_rss = pdet_rss_init(&l.rss, l.im->btf, &l.im->kernel.percpu);
	r = list(&l, env, processes, add);
	if (r < 0)
		return r;
	*ret = l.tasks.data;
	*n = l.tasks.n;
	*lost = l.lost;
	return 0;
}

/* --- numbers only --- */

static int add_pid(void *arg, const struct pdet_task_struct *task)
{
	struct listing *l = arg;

	if (pdet_vec_push(&l->pids, task->pid))
		return 0;
	l->no_memory = true;
	return 1;
}

int pdet_image_tasks(struct pdet_backend *b, struct pdet_env *env,
		     uint32_t **ret, size_t *n, uint64_t *lost)
{
	struct listing l = { .im = image_of(b) };
	int r;

	if (pdet_image_task_types(l.im, env) < 0)
		return pdet_image_fail(env, &l.im->tasks);
	if (l.im->other_pids)
		return pdet_image_refuse_pids(env, "a task");
	r = list(&l, env, true, add_pid);
	if (r < 0)
		return r;
	if (l.lost)
		pdet_log(env, PAGEDET_LOG_WARNING, "the list of tasks %s: "
			 "some may be missing", pdet_image_broken(l.im));
	pdet_sort_u32(l.pids.data, l.pids.n);
	*ret = l.pids.data;
	*n = l.pids.n;
	*lost = l.lost;
	return 0;
}

/* --- threads of DAMON --- */

int pdet_image_damon(struct pdet_backend *b, struct pdet_env *env,
		     uint32_t thread, struct pdet_damon_context *ret)
{
	struct image *im = image_of(b);
	struct pdet_damon_types types;
	struct pdet_task_struct task;
	int r;

	if (pdet_image_task_types(im, env) < 0)
		return pdet_image_fail(env, &im->tasks);
	if (!pdet_damon_types_init(&types, im->btf))
		return pdet_fail(env, ENOTSUP, "cannot read the settings of "
				 "DAMON: this kernel's types do not have them, "
				 "or in another form");
	r = pdet_image_seek_task(im, &im->space, thread, &task);
	if (r == 0)
		r = pdet_damon_context_read(&im->space, &types, task.addr, ret);
	if (r == -ENOENT)
		return pdet_fail(env, ENOENT, "thread %u of DAMON has ended",
				 thread);
	if (r == -EBADMSG)
		return pdet_fail(env, EBADMSG, "thread %u is not one of DAMON, "
				 "or has changed meanwhile", thread);
	if (r == 0)
		return 0;
	errno = -r;
	return pdet_fail_errno(env, "cannot read the settings of thread %u of "
			       "DAMON", thread);
}
