// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who maps a frame in programs: the tables of all address spaces, one after
 * the other. Each is looked at as long as its process lasts; what is mapped or
 * unmapped meanwhile may be found or not.
 */
#include <linux/dcache.h>
#include <linux/mmap_lock.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "detective.h"

/* More processes than there were when they were counted. */
#define SPARE 64

struct user_walk {
	struct pd_walk walk;
	struct pd_maps *maps;
	struct task_struct *task;
	struct mm_struct *mm;
	const struct vm_area_struct *vma;
};

static int hit(struct pd_walk *w, unsigned long addr, const struct pd_entry *e)
{
	struct user_walk *u = container_of(w, struct user_walk, walk);
	const struct pd_map map = {
		.where = PD_USER, .addr = addr, .level = e->level,
		.entry = e->value, .task = u->task, .mm = u->mm,
		.vma = u->vma,
	};

	u->maps->counts[PD_USER]++;
	return u->maps->found(u->maps, &map);
}

/* As many entries as may be looked at while the lock is held. *@done: there
 * are no more.
 */
static int walk_some(struct user_walk *u, unsigned long *addr, bool *done)
{
	struct pd_walk *w = &u->walk;
	int r = 0;

	w->seen = 0;
	while (!r && w->seen < PD_ENTRIES) {
		u->vma = find_vma(u->mm, *addr);
		if (!u->vma) {
			*done = true;
			break;
		}
		w->addr = max(*addr, u->vma->vm_start);
		w->last = u->vma->vm_end - 1;
		w->done = false;
		r = pd_walk_step(w);
		*addr = w->addr;
	}
	return r;
}

static int walk_all(struct user_walk *u)
{
	unsigned long addr = 0;
	bool done = false;
	int r = 0;

	u->maps->tables++;
	/* Of one that is only ours nobody has pages any more. */
	while (!r && !done && atomic_read(&u->mm->mm_users) > 1) {
		if (mmap_read_lock_killable(u->mm))
			return -EINTR;
		r = walk_some(u, &addr, &done);
		mmap_read_unlock(u->mm);
		cond_resched();
		if (!r && fatal_signal_pending(current))
			r = -EINTR;
	}
	return r;
}

/* An address space that several processes share is looked at once, as its
 * owner's.
 */
static bool is_owner(const struct mm_struct *mm, const struct task_struct *task)
{
	const struct task_struct *owner;
	bool ret;

	rcu_read_lock();
	owner = rcu_dereference(mm->owner);
	ret = !owner || same_thread_group((struct task_struct *)owner,
					  (struct task_struct *)task);
	rcu_read_unlock();
	return ret;
}

struct mm_struct *pd_task_mm(struct task_struct *any,
			     struct task_struct **ret)
{
	struct mm_struct *mm = NULL;
	struct task_struct *t;

	rcu_read_lock();
	for_each_thread(any, t) {
		mm = get_task_mm(t);
		if (mm) {
			get_task_struct(t);
			*ret = t;
			break;
		}
	}
	rcu_read_unlock();
	return mm;
}

static int walk_process(struct user_walk *u, struct pid *pid)
{
	struct task_struct *first = get_pid_task(pid, PIDTYPE_TGID);
	int r = 0;

	if (!first)
		return 0;
	u->mm = pd_task_mm(first, &u->task);
	put_task_struct(first);
	if (!u->mm)
		return 0;
	u->walk.mm = u->mm;
	if (is_owner(u->mm, u->task))
		r = walk_all(u);
	/* If it was the last, somebody else takes the time to end it. */
	mmput_async(u->mm);
	put_task_struct(u->task);
	return r;
}

static size_t count_processes(void)
{
	struct task_struct *p;
	size_t n = 0;

	rcu_read_lock();
	for_each_process(p)
		n++;
	rcu_read_unlock();
	return n;
}

static size_t list_processes(struct pid **pids, size_t size, bool *skipped)
{
	struct task_struct *p;
	size_t n = 0;

	rcu_read_lock();
	for_each_process(p) {
		struct pid *pid;

		if (p->flags & PF_KTHREAD)
			continue;
		if (n == size) {
			*skipped = true;
			break;
		}
		pid = get_pid(task_tgid(p));
		if (pid)
			pids[n++] = pid;
	}
	rcu_read_unlock();
	return n;
}

/* Whether there are others than in the list, which has them in the kernel's
 * order: new ones come at its end.
 */
static bool are_more(struct pid **pids, size_t n)
{
	struct task_struct *p;
	size_t i = 0;

	rcu_read_lock();
	for_each_process(p) {
		if (p->flags & PF_KTHREAD)
			continue;
		while (i < n && pids[i] != task_tgid(p))
			i++;
		if (i++ == n)
			break;
	}
	rcu_read_unlock();
	return i > n;
}

int pd_user_maps(struct pd_maps *m)
{
	const size_t size = count_processes() + SPARE;
	struct user_walk *u = kzalloc(sizeof(*u), GFP_KERNEL);
	struct pid **pids = kvcalloc(size, sizeof(*pids), GFP_KERNEL);
	size_t i, n = 0;
	int r = 0;

	if (!u || !pids) {
		r = -ENOMEM;
		goto out;
	}
	u->maps = m;
	u->walk.pfn = m->pfn;
	u->walk.hit = hit;
	n = list_processes(pids, size, &m->skipped);
	for (i = 0; i < n && !r; i++)
		r = walk_process(u, pids[i]);
	m->skipped |= are_more(pids, n);
out:
	for (i = 0; i < n; i++)
		put_pid(pids[i]);
	kvfree(pids);
	kfree(u);
	return r;
}

static const char *file_name(struct file *file, char *buf, size_t size)
{
	const char *name;

#if !PD_6_1
	name = d_path(file_user_path(file), buf, size);
#else
	name = d_path(&file->f_path, buf, size);
#endif
	return IS_ERR(name) ? "[???]" : name;
}

static const char *given_name(const struct vm_area_struct *vma)
{
#ifdef CONFIG_ANON_VMA_NAME
	if (vma->anon_name)
		return vma->anon_name->name;
#endif
	return NULL;
}

/* The name of one that has neither a file nor a given name. */
static const char *fixed_name(const struct vm_area_struct *vma)
{
	const struct mm_struct *mm = vma->vm_mm;
	const char *name;

	if (vma->vm_ops && vma->vm_ops->name) {
		name = vma->vm_ops->name((struct vm_area_struct *)vma);
		if (name)
			return name;
	}
#if !PD_6_1
	if (vma_is_initial_heap(vma))
		return "[heap]";
#else
	if (vma->vm_start <= mm->brk && vma->vm_end >= mm->start_brk)
		return "[heap]";
#endif
	if (vma->vm_start <= mm->start_stack && vma->vm_end >= mm->start_stack)
		return "[stack]";
	return NULL;
}

void pd_vma_name(const struct vm_area_struct *vma, char *buf, size_t size)
{
	const char *given = given_name(vma), *name;

	if (vma->vm_file && !given) {
		name = file_name(vma->vm_file, buf, size);
		memmove(buf, name, strlen(name) + 1);
		return;
	}
	if (vma->vm_file) {
		scnprintf(buf, size, "[anon_shmem:%s]", given);
		return;
	}
	name = fixed_name(vma);
	if (!name && given)
		scnprintf(buf, size, "[anon:%s]", given);
	else
		strscpy(buf, name ? name : "[anon]", size);
}
