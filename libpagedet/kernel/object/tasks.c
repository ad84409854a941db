/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Walks all tasks: processes are in a list that begins with init_task, threads
 * in a list in their process's signal_struct.
 */
#include <errno.h>
#include <string.h>

#include "kernel/container/list.h"
#include "kernel/object/tasks.h"

/* PID_MAX_LIMIT */
#define MOST_TASKS ((uint64_t)1 << 22)
#define PF_KTHREAD 0x00200000
#define MOST_PARENTS 65536

enum task_field {
	TASK_PID, TASK_TGID, TASK_COMM, TASK_FLAGS, TASK_MM, TASK_TASKS,
	TASK_THREAD_NODE, TASK_SIGNAL, TASK_FILES, TASK_FS, TASK_NSPROXY,
	TASK_CGROUPS, TASK_STACK, TASK_PARENT, TASK_START, TASK_LEADER,
	TASK_STATE, TASK_EXIT,
	TASK_FIELDS
};

static const pdet_field_names task_names[TASK_FIELDS] = {
	[TASK_PID] = { "task_struct.pid" },
	[TASK_TGID] = { "task_struct.tgid" },
	[TASK_COMM] = { "task_struct.comm" },
	[TASK_FLAGS] = { "task_struct.flags" },
	[TASK_MM] = { "task_struct.mm" },
	[TASK_TASKS] = { "task_struct.tasks" },
	[TASK_THREAD_NODE] = { "task_struct.thread_node" },
	[TASK_SIGNAL] = { "task_struct.signal" },
	[TASK_FILES] = { "task_struct.files" },
	[TASK_FS] = { "task_struct.fs" },
	[TASK_NSPROXY] = { "task_struct.nsproxy" },
	[TASK_CGROUPS] = { "task_struct.cgroups" },
	[TASK_STACK] = { "task_struct.stack" },
	[TASK_PARENT] = { "task_struct.real_parent" },
	[TASK_START] = { "task_struct.start_boottime" },
	[TASK_LEADER] = { "task_struct.group_leader" },
	/* "state" until 5.13 (2f064a59a11f) */
	[TASK_STATE] = { "task_struct.__state", "task_struct.state" },
	[TASK_EXIT] = { "task_struct.exit_state" },
};

enum signal_field { SIGNAL_THREADS, SIGNAL_FIELDS };

static const pdet_field_names signal_names[SIGNAL_FIELDS] = {
	[SIGNAL_THREADS] = { "signal_struct.thread_head" },
};

bool pdet_tasks_init(struct pdet_tasks *t, const struct pdet_btf *btf,
		     uint64_t init_task)
{
	unsigned i;

	pdet_struct_find(&t->task, btf, task_names, TASK_FIELDS);
	pdet_struct_find(&t->signal, btf, signal_names, SIGNAL_FIELDS);
	t->init = init_task;
	for (i = TASK_PID; i <= TASK_SIGNAL; i++)
		if (!pdet_struct_has(&t->task, i))
			return false;
	return pdet_struct_has(&t->signal, SIGNAL_THREADS);
}

/* --- one --- */

static bool is_pointer(uint64_t v)
{
	return !v || pdet_is_address(v);
}

/* Bytes that are not a task_struct fail one of these tests. */
static bool is_plausible(const struct pdet_task_struct *task, uint64_t signal)
{
	return task->pid < MOST_TASKS && task->tgid < MOST_TASKS &&
	       task->tgid && task->pid && is_pointer(task->mm) &&
	       pdet_is_address(signal);
}

/*
 * The state letter as in ps: include/linux/sched.h, __task_state_index();
 * fs/proc/array.c, task_state_array. The bits have not changed since 4.14
 * (8ef9925b02c2). A frozen task, or one that waits for an RT lock, appears as
 * uninterruptible.
 */
static char state_letter(uint64_t state, uint64_t exit_state)
{
	static const char letters[] = "RSDTtXZPI";
	enum { UNINTERRUPTIBLE = 2, REPORT = 0x7f, REPORT_IDLE = 0x80,
	       IDLE = 0x402, RTLOCK_OR_FROZEN = 0x9000 };
	uint64_t shown = (state | exit_state) & REPORT;

	if ((state & IDLE) == IDLE)
		shown = REPORT_IDLE;
	if (state & RTLOCK_OR_FROZEN)
		shown = UNINTERRUPTIBLE;
	return letters[shown ? 64 - __builtin_clzll(shown) : 0];
}

static int read_task(struct pdet_space *space, const struct pdet_tasks *t,
		     uint64_t addr, struct pdet_task_struct *ret,
		     uint64_t *signal)
{
	const struct pdet_struct *s = &t->task;
	char buf[PDET_STRUCT_BYTES];
	int r = pdet_struct_read(space, s, addr, buf);

	if (r < 0)
		return r;
	memset(ret, 0, sizeof(*ret));
	ret->addr = addr;
	ret->pid = (uint32_t)pdet_struct_get(s, buf, TASK_PID);
	ret->tgid = (uint32_t)pdet_struct_get(s, buf, TASK_TGID);
	memcpy(ret->comm, pdet_struct_bytes(s, buf, TASK_COMM),
	       PDET_MIN(s->field[TASK_COMM].size, PDET_COMM - 1u));
	ret->flags = (uint32_t)pdet_struct_get(s, buf, TASK_FLAGS);
	ret->kthread = ret->flags & PF_KTHREAD;
	ret->mm = pdet_struct_get(s, buf, TASK_MM);
	ret->files = pdet_struct_get(s, buf, TASK_FILES);
	ret->fs = pdet_struct_get(s, buf, TASK_FS);
	ret->nsproxy = pdet_struct_get(s, buf, TASK_NSPROXY);
	ret->cgroups = pdet_struct_get(s, buf, TASK_CGROUPS);
	ret->stack = pdet_struct_get(s, buf, TASK_STACK);
	ret->parent = pdet_struct_get(s, buf, TASK_PARENT);
	ret->start_ns = pdet_struct_get(s, buf, TASK_START);
	ret->is_leader = pdet_struct_has(s, TASK_LEADER) ?
			 pdet_struct_get(s, buf, TASK_LEADER) == addr :
			 ret->pid == ret->tgid;
	if (pdet_struct_has(s, TASK_STATE) && pdet_struct_has(s, TASK_EXIT))
		ret->state = state_letter(pdet_struct_get(s, buf, TASK_STATE),
					  pdet_struct_get(s, buf, TASK_EXIT));
	*signal = pdet_struct_get(s, buf, TASK_SIGNAL);
	return is_plausible(ret, *signal) ? 0 : -EBADMSG;
}

int pdet_task_read(struct pdet_space *space, const struct pdet_tasks *t,
		   uint64_t addr, struct pdet_task_struct *ret)
{
	uint64_t signal;

	return read_task(space, t, addr, ret, &signal);
}

int pdet_tasks_root(struct pdet_space *space, const struct pdet_tasks *t,
		    uint64_t task, uint64_t *ret)
{
	uint64_t pid;
	unsigned i;
	int r = 0;

	for (i = 0; r == 0 && i < MOST_PARENTS; i++) {
		r = pdet_struct_value(space, &t->task, task, TASK_PID, &pid);
		if (r == 0 && !pid) {
			*ret = task;
			return 0;
		}
		if (r == 0)
			r = pdet_struct_value(space, &t->task, task,
					      TASK_PARENT, &task);
	}
	return r < 0 ? r : -EBADMSG;
}

/* --- all --- */

struct walk {
	struct pdet_space *space;
	const struct pdet_tasks *t;
	const struct pdet_tasks_visit *visit;
	uint64_t leader;	/* leader of the process whose threads are
				 * visited */
	bool met;		/* the leader was visited */
	uint64_t left;		/* limit of further tasks */
	bool ended;		/* a visit ended the walk */
};

static void lose(const struct walk *w, uint64_t addr, int error)
{
	if (w->visit->lost)
		w->visit->lost(w->visit->arg, addr, error);
}

static int give(struct walk *w, const struct pdet_task_struct *task)
{
	int r = w->visit->task(w->visit->arg, task);

	w->ended = r;
	return r;
}

static int visit_thread(void *arg, uint64_t node)
{
	struct walk *w = arg;
	struct pdet_task_struct task;
	int r;

	if (!w->left--)
		return -EBADMSG;
	node -= (uint64_t)w->t->task.field[TASK_THREAD_NODE].at;
	w->met |= node == w->leader;
	r = pdet_task_read(w->space, w->t, node, &task);
	if (r < 0) {
		lose(w, node, r);
		return 0;
	}
	return give(w, &task);
}

static int visit_process(void *arg, uint64_t node)
{
	struct walk *w = arg;
	struct pdet_task_struct task;
	uint64_t signal;
	int r;

	node -= (uint64_t)w->t->task.field[TASK_TASKS].at;
	r = read_task(w->space, w->t, node, &task, &signal);
	if (r < 0) {
		lose(w, node, r);
		return 0;
	}
	if (w->visit->processes)
		return give(w, &task);
	w->leader = node;
	w->met = false;
	r = pdet_list_each(w->space, pdet_struct_addr(&w->t->signal, signal,
						      SIGNAL_THREADS),
			   w->left, visit_thread, w);
	if (w->ended)
		return r;
	if (r < 0)
		lose(w, 0, r);
	/*
	 * The leader is in the list of processes, so visit it even if the
	 * thread list lacks it.
	 */
	return w->met ? 0 : give(w, &task);
}

int pdet_tasks_each(struct pdet_space *space, const struct pdet_tasks *t,
		    const struct pdet_tasks_visit *visit)
{
	struct walk w = { space, t, visit, 0, false, MOST_TASKS, false };
	int r = pdet_list_each(space,
			       pdet_struct_addr(&t->task, t->init, TASK_TASKS),
			       MOST_TASKS, visit_process, &w);

	if (w.ended)
		return r;
	if (r < 0)
		lose(&w, 0, r);
	return 0;
}

bool pdet_task_listed(struct pdet_space *space, const struct pdet_tasks *t,
		      uint64_t addr)
{
	return pdet_list_has(space, pdet_struct_addr(&t->task, addr,
						     TASK_THREAD_NODE));
}

struct search {
	uint32_t pid;
	struct pdet_task_struct *ret;
	int error;
};

static int compare(void *arg, const struct pdet_task_struct *task)
{
	struct search *s = arg;

	if (task->pid != s->pid)
		return 0;
	*s->ret = *task;
	return 1;
}

static void note(void *arg, uint64_t addr, int error)
{
	struct search *s = arg;

	(void)addr;
	if (!s->error)
		s->error = error;
}

int pdet_tasks_find(struct pdet_space *space, const struct pdet_tasks *t,
		    uint32_t pid, struct pdet_task_struct *ret)
{
	struct search s = { pid, ret, 0 };
	const struct pdet_tasks_visit visit = { compare, note, &s, false };

	if (pdet_tasks_each(space, t, &visit) == 1)
		return 0;
	/* The unmapped task may be the wanted one. */
	return s.error == -ENOENT ? -EBADMSG : s.error ? s.error : -ENOENT;
}

/* --- of a process whose main thread has ended --- */

struct living {
	struct pdet_space *space;
	const struct pdet_tasks *t;
	struct pdet_task_struct *ret;
	int error;		/* of the first unreadable thread */
};

static int take_living(void *arg, uint64_t node)
{
	struct living *l = arg;
	int r;

	node -= (uint64_t)l->t->task.field[TASK_THREAD_NODE].at;
	r = pdet_task_read(l->space, l->t, node, l->ret);
	if (r < 0) {
		l->error = l->error ? l->error : r;
		return 0;
	}
	return l->ret->mm && !l->ret->kthread;
}

int pdet_task_living(struct pdet_space *space, const struct pdet_tasks *t,
		     uint64_t addr, struct pdet_task_struct *ret)
{
	struct living l = { space, t, ret, 0 };
	struct pdet_task_struct task;
	uint64_t signal;
	int r = read_task(space, t, addr, &task, &signal);

	if (r == 0)
		r = pdet_list_each(space, pdet_struct_addr(&t->signal, signal,
							   SIGNAL_THREADS),
				   MOST_TASKS, take_living, &l);
	if (r > 0)
		return 0;
	return r < 0 ? r : l.error ? l.error : -ENOENT;
}
