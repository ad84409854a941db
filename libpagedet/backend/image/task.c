/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* One task, found by its number in the kernel's list of tasks. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/image/task.h"

int pdet_image_refuse_pids(struct pdet_env *env, const char *what)
{
	int r = pdet_fail(env, ENOTSUP, "cannot find %s by its number: the "
			  "kernel's pids are those of the first pid namespace, "
			  "and this, or that of /proc, is another one", what);

	pdet_advise(env, "procfs knows the tasks of this pid namespace");
	return r;
}

const char *pdet_image_broken(const struct image *im)
{
	return im->memory->live ? "changes while it is read" : "is damaged";
}

/* Find the task's root page table. */
static int find_root(struct image_session *s, struct image_task *t)
{
	uint64_t len;
	int r;

	r = pdet_mm_read(&s->space, &s->image->mm_types, t->is.mm, &t->mm);
	if (r == 0)
		r = pdet_space_phys(&s->space, t->mm.pgd, &t->root, &len);
	return r;
}

/* --- by pid --- */

static int add_task(void *arg, const struct pdet_task_struct *task)
{
	struct image_session *s = arg;
	const struct image_known_task known = { task->pid, task->addr };

	return pdet_vec_push(&s->tasks, known) ? 0 : 1;
}

static int compare_known(const void *a, const void *b)
{
	const struct image_known_task *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Keep the whole list when a second task is needed, because a query may need
 * all tasks. */
static void learn_tasks(struct image_session *s)
{
	const struct pdet_tasks_visit visit = { add_task, NULL, s, false };

	if (s->finds++ != 1)
		return;
	/* a task that is missing here is searched for in the list */
	(void)pdet_tasks_each(&s->space, &s->image->task_types, &visit);
	if (s->tasks.n)
		qsort(s->tasks.data, s->tasks.n, sizeof(*s->tasks.data),
		      compare_known);
}

/* On a running kernel, tasks end. Then they are in no list, and their memory
 * may be that of another task. */
static bool is_still(struct image_session *s, uint32_t pid,
		     const struct pdet_task_struct *task)
{
	return !s->image->memory->live ||
	       (task->pid == pid &&
		pdet_task_listed(&s->space, &s->image->task_types,
				 task->addr));
}

static bool find_known(struct image_session *s, uint32_t pid,
		       struct pdet_task_struct *ret)
{
	const struct image_known_task wanted = { pid, 0 }, *known = NULL;

	learn_tasks(s);
	if (s->tasks.n)
		known = bsearch(&wanted, s->tasks.data, s->tasks.n,
				sizeof(*known), compare_known);
	return known && pdet_task_read(&s->space, &s->image->task_types,
				       known->addr, ret) == 0 &&
	       is_still(s, pid, ret);
}

int pdet_image_seek_task(struct image *im, struct pdet_space *space,
			 uint32_t pid, struct pdet_task_struct *ret)
{
	unsigned looks = 0;
	int r;

	do {
		r = pdet_tasks_find(space, &im->task_types, pid, ret);
	} while (pdet_image_again(im, r < 0 && r != -ENOENT, &looks));
	return r;
}

int pdet_image_find_task(struct image_session *s, uint32_t pid,
			 struct pdet_task_struct *ret)
{
	struct pdet_env *env = &s->session.env;
	int r;

	if (s->image->other_pids) {
		char what[32];

		snprintf(what, sizeof(what), "task %u", pid);
		return pdet_image_refuse_pids(env, what);
	}
	if (find_known(s, pid, ret))
		return 0;
	r = pdet_image_seek_task(s->image, &s->space, pid, ret);
	if (r == -ENOENT)
		return pdet_fail(env, ESRCH, "there is no task %u", pid);
	if (r < 0 && r != -EBADMSG && s->image->memory->live) {
		errno = -r;
		return pdet_fail_errno(env, "cannot find task %u: cannot read "
				       "the list of tasks", pid);
	}
	if (r < 0)
		return pdet_fail(env, EBADMSG, "cannot find task %u: the list "
				 "of tasks %s", pid,
				 pdet_image_broken(s->image));
	return 0;
}

/* --- one --- */

int pdet_image_living(struct image_session *s, struct pdet_task_struct *task)
{
	struct pdet_task_struct other;
	int r;

	if (task->mm || task->kthread || !task->is_leader)
		return 0;
	r = pdet_task_living(&s->space, &s->image->task_types, task->addr,
			     &other);
	if (r == 0) {
		*task = other;
		return 1;
	}
	/* Threads that end change the list. */
	return r == -ENOENT || s->image->memory->live ? 0 : -EBADMSG;
}

/* @r: why its page tables are not found. */
static int no_root(struct image_session *s, uint32_t pid, int r)
{
	struct pdet_env *env = &s->session.env;

	if (r == -EBADMSG || !s->image->memory->live)
		return pdet_fail(env, EBADMSG, "cannot read task %u: its "
				 "address space %s%s", pid,
				 pdet_image_broken(s->image),
				 s->image->memory->live ? "" :
				 " or not in the dump");
	errno = -r;
	return pdet_fail_errno(env, "cannot read task %u: cannot read its "
			       "address space", pid);
}

/* The address space of the task. */
static int find_space(struct image_session *s, uint32_t pid,
		      struct image_task *t)
{
	int r;

	memcpy(t->comm, t->is.comm, sizeof(t->comm));
	t->has_ended = t->is.state == 'Z' || t->is.state == 'X';
	r = pdet_image_living(s, &t->is);
	t->task.thread = t->is.pid;
	t->task.space = t->is.kthread ? 0 : t->is.mm;
	r = r < 0 ? no_root(s, pid, r) : 0;
	/* A kernel thread borrows an mm that is not its own. */
	t->has_mm = r == 0 && t->is.mm && !t->is.kthread;
	if (t->has_mm) {
		r = find_root(s, t);
		r = r < 0 ? no_root(s, pid, r) : 0;
	}
	return r;
}

int pdet_image_task_open(struct pdet_session *base, uint32_t pid,
			 struct pdet_task **ret)
{
	struct image_session *s = image_session_of(base);
	struct image_task *t;
	unsigned looks = 0;
	int r;

	t = calloc(1, sizeof(*t));
	if (!t)
		return pdet_fail(&base->env, ENOMEM, "no memory");
	t->task.backend = base->backend;
	t->task.pid = t->task.thread = pid;
	do {
		pdet_clear(&base->env);
		r = pdet_image_find_task(s, pid, &t->is);
		if (r < 0)
			break;
		r = find_space(s, pid, t);
	} while (pdet_image_again(s->image, r == -EBADMSG, &looks));
	if (r < 0) {
		free(t);
		return r;
	}
	*ret = &t->task;
	return 0;
}

void pdet_image_task_close(struct pdet_task *base)
{
	struct image_task *t = image_task_of(base);

	pdet_vec_free(&t->vmas);
	free(t);
}

void pdet_image_task_name(struct pdet_session *s, struct pdet_task *base)
{
	struct image_task *t = image_task_of(base);

	(void)s;
	base->named = true;
	base->tgid = t->is.tgid;
	base->comm_len = strnlen(t->comm, sizeof(t->comm));
	memcpy(base->comm, t->comm, base->comm_len);
	base->comm[base->comm_len] = '\0';
}

bool pdet_image_task_is_same(struct image_session *s,
			     const struct image_task *t)
{
	struct pdet_task_struct now;

	return !s->image->memory->live ||
	       (pdet_task_read(&s->space, &s->image->task_types, t->is.addr,
			       &now) == 0 && now.pid == t->is.pid &&
		now.start_ns == t->is.start_ns && now.mm == t->is.mm);
}

int pdet_image_task_same(struct pdet_session *base, struct pdet_task *task)
{
	if (pdet_image_task_is_same(image_session_of(base),
				    image_task_of(task)))
		return 0;
	return pdet_fail(&base->env, ESRCH, "task %u has ended", task->pid);
}
