/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Stops a thread by ptrace(2) while its stack is read. The kernel lets a thread
 * go when its tracer ends, even if it has not stopped yet. So each has a tracer
 * of its own: a thread of this process that ends when the stack was read.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "backend/procfs/task.h"
#include "base/clock.h"
#include "base/namespace.h"
#include "base/privilege.h"
#include "base/team.h"
#include "kernel/page/pagemap.h"
#include "symbol/user_regs.h"

/* A thread that waits for a device cannot be stopped. */
#define PATIENCE_NS ((uint64_t)1000000000)
#define PAUSE_NS 20000
/* No thread is held longer, whatever the reading of its files waits for: that
 * may be the thread. */
#define HOLD_S 2

struct procfs_hold {
	pid_t tid;
	pthread_t tracer;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_known;		/* the tracer has set the next two */
	int error;		/* negative errno: why it does not hold it */
	struct pdet_user_regs regs;
	bool is_over;		/* the tracer may end */
	bool is_lost;		/* it has ended, too early */
	int signal;		/* that was on its way to the thread */
};

/* --- the tracer --- */

#ifdef __x86_64__
/* struct user_regs_struct32 of arch/x86/include/asm/user32.h. */
struct narrow_regs {
	uint32_t bx, cx, dx, si, di, bp, ax, ds, es, fs, gs, orig_ax, ip, cs,
		 flags, sp, ss;
};

/* Both by the numbers that DWARF gives to registers of x86-64. */
static void take_narrow(struct procfs_hold *h, const struct narrow_regs *r)
{
	h->regs = (struct pdet_user_regs){ .compat = true, .reg = {
		r->ax, r->dx, r->cx, r->bx, r->si, r->di, r->bp, r->sp,
		[PDET_USER_IP] = r->ip } };
}

static int get_regs(struct procfs_hold *h)
{
	union {
		struct user_regs_struct wide;
		struct narrow_regs narrow;
	} both;
	struct iovec all = { &both, sizeof(both) };
	const struct user_regs_struct *r = &both.wide;

	if (ptrace(PTRACE_GETREGSET, h->tid, (void *)NT_PRSTATUS, &all) < 0)
		return -errno;
	if (all.iov_len == sizeof(both.narrow)) {
		take_narrow(h, &both.narrow);
		return 0;
	}
	if (all.iov_len != sizeof(both.wide))
		return -EBADMSG;
	h->regs = (struct pdet_user_regs){ .reg = {
		r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp,
		r->r8, r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15,
		r->rip } };
	return 0;
}
#else
static int get_regs(struct procfs_hold *h)
{
	(void)h;
	return -ENOSYS;
}
#endif

/* Looks without taking a status from the thread, which may be a child of the
 * caller. A stop is seen by this, too. */
static bool has_ended(const struct procfs_hold *h)
{
	siginfo_t said = { .si_pid = 0 };

	if (waitid(P_PID, (id_t)h->tid, &said, WEXITED | WNOHANG | WNOWAIT |
		   __WALL) < 0)
		return true;
	return said.si_pid && said.si_code != CLD_TRAPPED &&
	       said.si_code != CLD_STOPPED;
}

/* The caller's process may wait for its children, and take what the kernel says
 * of the thread. So this is asked of the kernel otherwise. */
static int wait_for_stop(struct procfs_hold *h)
{
	const uint64_t end = pdet_clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
	const struct timespec pause = { 0, PAUSE_NS };
	siginfo_t why;

	do {
		if (ptrace(PTRACE_GETSIGINFO, h->tid, NULL, &why) == 0) {
			/* Without an event it is about to take a signal. */
			if (why.si_code >> 8 != PTRACE_EVENT_STOP)
				h->signal = why.si_signo;
			return 0;
		}
		/* Stopped by a signal before. */
		if (errno == EINVAL)
			return 0;
		if (has_ended(h))
			return -ESRCH;
		nanosleep(&pause, NULL);
	} while (pdet_clock_ns(CLOCK_MONOTONIC) < end);
	return -EAGAIN;
}

static int stop(struct procfs_hold *h)
{
	int r;

	if (ptrace(PTRACE_INTERRUPT, h->tid, NULL, NULL) < 0)
		return -errno;
	r = wait_for_stop(h);
	if (r < 0)
		return r;
	r = get_regs(h);
	h->regs.stopped = true;
	return r;
}

static void *trace(void *arg)
{
	struct procfs_hold *h = arg;
	const bool seized = ptrace(PTRACE_SEIZE, h->tid, NULL, NULL) == 0;
	const int error = seized ? stop(h) : -errno;
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += HOLD_S;
	pthread_mutex_lock(&h->lock);
	h->error = error;
	h->is_known = true;
	pthread_cond_signal(&h->changed);
	while (!h->is_over && !h->is_lost)
		h->is_lost = pthread_cond_timedwait(&h->changed, &h->lock,
						    &end) != 0;
	if (seized)
		ptrace(PTRACE_DETACH, h->tid, NULL, (void *)(long)h->signal);
	pthread_mutex_unlock(&h->lock);
	return NULL;
}

/* --- the caller --- */

static int failed(struct pdet_env *env, uint32_t tid, int error)
{
	switch (error) {
	case -EPERM:
	case -EACCES:
		pdet_fail(env, EACCES, "cannot stop thread %u: Operation not "
			  "permitted", tid);
		pdet_advise_trace(env, "needs the thread's owner or "
				  "CAP_SYS_PTRACE; a thread of this process, "
				  "and one that a debugger has, cannot be "
				  "stopped");
		return -EACCES;
	case -ESRCH:
		return pdet_fail(env, ESRCH, "cannot stop thread %u: it has "
				 "ended", tid);
	case -EAGAIN:
		return pdet_fail(env, EAGAIN, "thread %u does not stop: it "
				 "waits in the kernel", tid);
	case -ENOSYS:
		return pdet_fail(env, ENOSYS, "cannot read the user stack of "
				 "thread %u: that is supported only for x86-64",
				 tid);
	default:
		errno = -error;
		return pdet_fail_errno(env, "cannot stop thread %u", tid);
	}
}

void procfs_release(struct procfs_task *t)
{
	struct procfs_hold *h = t->hold;

	if (!h)
		return;
	pthread_mutex_lock(&h->lock);
	h->is_over = true;
	pthread_cond_signal(&h->changed);
	pthread_mutex_unlock(&h->lock);
	pthread_join(h->tracer, NULL);
	pthread_cond_destroy(&h->changed);
	pthread_mutex_destroy(&h->lock);
	free(h);
	t->hold = NULL;
}

static int hold(struct pdet_env *env, struct procfs_task *t)
{
	struct procfs_hold *h = calloc(1, sizeof(*h));
	pthread_condattr_t how;
	int r;

	if (!h)
		return pdet_fail(env, ENOMEM, "no memory");
	h->tid = (pid_t)t->task.pid;
	pthread_mutex_init(&h->lock, NULL);
	pthread_condattr_init(&how);
	pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
	pthread_cond_init(&h->changed, &how);
	pthread_condattr_destroy(&how);
	if (pdet_team_thread(&h->tracer, trace, h)) {
		pthread_cond_destroy(&h->changed);
		pthread_mutex_destroy(&h->lock);
		free(h);
		return pdet_fail(env, ENOMEM, "cannot stop thread %u: cannot "
				 "start a thread that does it", t->task.pid);
	}
	t->hold = h;
	pthread_mutex_lock(&h->lock);
	while (!h->is_known)
		pthread_cond_wait(&h->changed, &h->lock);
	r = h->error;
	pthread_mutex_unlock(&h->lock);
	/* Nor may one that is ending be stopped. */
	if (r == -EPERM && procfs_is_ending(env, t->task.pid))
		r = -ESRCH;
	return r < 0 ? failed(env, t->task.pid, r) : 0;
}

static bool is_lost(struct procfs_hold *h)
{
	bool lost;

	pthread_mutex_lock(&h->lock);
	lost = h->is_lost;
	pthread_mutex_unlock(&h->lock);
	return lost;
}

int procfs_user_regs(struct pdet_session *s, struct pdet_task *base,
		     struct pdet_user_regs *ret)
{
	struct procfs_task *t = procfs_task_of(base);
	int r = 0;

	/* A kernel thread. */
	if (t->pagemap < 0)
		return 0;
	/* The memory is that of another thread. */
	if (base->thread != base->pid)
		return failed(&s->env, base->pid, -ESRCH);
	/* The numbers of a tree elsewhere, or of another namespace, are not
	 * those of threads here. */
	if (!t->hold &&
	    (!t->p->live || *s->env.root || !pdet_proc_is_ours("")))
		return pdet_fail(&s->env, ENOTSUP, "cannot stop thread %u: "
				 "/proc has the numbers of another namespace, "
				 "or is below a root", base->pid);
	if (!t->hold)
		r = hold(&s->env, t);
	ret->stopped = t->hold && t->hold->regs.stopped;
	if (r < 0)
		return r;
	if (is_lost(t->hold))
		return pdet_fail(&s->env, EAGAIN, "thread %u was let go: its "
				 "stack could not be read in %d s", base->pid,
				 HOLD_S);
	*ret = t->hold->regs;
	return 1;
}

int procfs_user_page(struct pdet_session *s, struct pdet_task *base,
		     uint64_t addr, void *buf)
{
	struct procfs_task *t = procfs_task_of(base);
	struct iovec here = { buf, PDET_USER_PAGE };
	struct iovec there = { (void *)(uintptr_t)addr, PDET_USER_PAGE };
	uint64_t entry;
	ssize_t n = procfs_pagemap_words(s, t, addr, 1, &entry);

	if (n < 0)
		pdet_clear(&s->env);
	if (n <= 0)
		return n < 0 ? (int)n : -EFAULT;
	if (!(entry & PDET_PM_PRESENT))
		return entry & PDET_PM_SWAP ? -ENXIO : -ENOENT;
	n = process_vm_readv((pid_t)base->pid, &here, 1, &there, 1, 0);
	if (n == PDET_USER_PAGE)
		return 0;
	return n >= 0 || errno == EFAULT ? -ENXIO : -errno;
}
