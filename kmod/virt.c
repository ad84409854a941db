// SPDX-License-Identifier: GPL-2.0-only
/* The entry that an address of a task has. */
#include <linux/mmap_lock.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "detective.h"

static int look(struct pd_virt *v, struct mm_struct *mm)
{
	int r;

	if (v->addr >= mm->task_size) {
		v->task_size = mm->task_size;
		return -ERANGE;
	}
	if (mmap_read_lock_killable(mm))
		return -EINTR;
	rcu_read_lock();
	r = pd_descend(mm, v->addr, PD_PTE, &v->entry);
	rcu_read_unlock();
	mmap_read_unlock(mm);
	/* Its table went away while it was read: nothing is there now. */
	if (r)
		v->entry = (struct pd_entry){ .level = PD_PMD };
	return v->entry.leaf ? 0 : -ENXIO;
}

int pd_virt(struct pd_virt *v)
{
	struct task_struct *task = NULL, *thread;
	struct mm_struct *mm;
	struct pid *pid;
	int r;

	pid = v->pid <= PID_MAX_LIMIT ? find_get_pid(v->pid) : NULL;
	if (pid)
		task = get_pid_task(pid, PIDTYPE_PID);
	put_pid(pid);
	if (!task)
		return -ESRCH;
	mm = pd_task_mm(task, &thread);
	/* A process that ended is as good as none. */
	r = task->flags & PF_KTHREAD ? -EINVAL : -ESRCH;
	put_task_struct(task);
	if (!mm)
		return r;
	put_task_struct(thread);
	r = look(v, mm);
	mmput_async(mm);
	return r;
}
