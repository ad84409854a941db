/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Asks a backend for the registers and the memory of a thread, on the calling
 * thread. If the thread has run meanwhile, the result is worthless, and it is
 * asked again. If the caller allows it, a thread that kernel memory does not
 * show is stopped, and asked once more.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "query/walk/task_stacks.h"
#include "query/walk/user_stacks.h"

#define TRIES 4

struct thread {
	struct pdet_session *session;
	struct pdet_task *task;
};

static int read_page(void *arg, uint64_t addr, void *buf)
{
	const struct thread *t = arg;

	return t->session->backend->ops->user_page(t->session, t->task, addr,
						   buf);
}

static uint64_t number_of_maps(void *arg)
{
	const struct thread *t = arg;

	return t->session->backend->ops->user_maps(t->session, t->task);
}

/* --- of a dump --- */

static int next_map(void *arg, struct pdet_vma *ret)
{
	const struct thread *t = arg;

	return t->session->backend->ops->vma_next(t->session, t->task, ret);
}

static int read_cached(void *arg, uint64_t cache, uint64_t index, void *buf)
{
	const struct thread *t = arg;

	return t->session->backend->ops->cached_page(t->session, cache, index,
						     buf);
}

/* Returns 1 if the task is of a dump, 0 if not. */
static int find_dump(struct thread *t, struct pdet_code_dump *ret)
{
	const struct pdet_backend_ops *ops = t->session->backend->ops;
	int r;

	*ret = (struct pdet_code_dump){
		.space = ops->user_space ? ops->user_space(t->session,
							   t->task) : 0,
		.next = next_map, .arg = t, .files = { read_cached, t },
	};
	if (!ret->space)
		return 0;
	r = ops->vma_first(t->session, t->task);
	return r < 0 ? r : 1;
}

/* --- a thread --- */

/* Returns 1 if the thread has run since then, or runs. */
static int has_run(const struct thread *t, const struct pdet_user_regs *before)
{
	const struct pdet_backend_ops *ops = t->session->backend->ops;
	struct pdet_user_regs after;
	int r = ops->user_regs(t->session, t->task, &after);

	if (r < 0 && r != -EAGAIN)
		return r;
	return r != 1 || after.switches != before->switches ||
	       ops->task_same(t->session, t->task) < 0;
}

/* A thread without user code needs neither, and only code of x86-64 needs
 * libunwind. Returns 1. */
static int make_stack(struct pdet_user_stacks *u, struct pdet_env *env,
		      const struct pdet_user_regs *regs)
{
	int r = u->unwinder || regs->compat || regs->arm64 ? 0 :
		pdet_unwinder_new(env, &u->unwinder);

	if (r == 0 && !u->stack) {
		u->stack = calloc(1, sizeof(*u->stack));
		r = u->stack ? 0 : pdet_fail(env, ENOMEM, "no memory");
	}
	return r < 0 ? r : 1;
}

/* Returns 1 if the thread has run meanwhile. */
static int read_once(struct pdet_user_stacks *u, struct thread *t,
		     const struct pdet_perf_file *perf)
{
	struct pdet_session *s = t->session;
	struct pdet_user_source source = {
		.page = read_page, .arg = t,
		.maps = s->backend->ops->user_maps ? number_of_maps : NULL,
		.perf = perf,
	};
	struct pdet_code_dump dump;
	struct pdet_user_regs regs = { .stopped = false };
	int r = s->backend->ops->user_regs(s, t->task, &regs);

	u->stopped |= regs.stopped;
	if (u->stack)
		u->stack->n = 0;
	if (r > 0)
		r = make_stack(u, &s->env, &regs);
	if (r <= 0)
		return r;
	r = find_dump(t, &dump);
	if (r < 0)
		return r;
	source.dump = r ? &dump : NULL;
	r = pdet_user_stack_read(&s->env, u->unwinder, t->task->pid, &regs,
				 &source, u->stack);
	return r < 0 ? r : has_run(t, &regs);
}

static bool has_jit(const struct pdet_user_stack *s)
{
	size_t i;

	for (i = 0; s && i < s->n; i++)
		if (s->frames[i].type == PAGEDET_FRAME_JIT)
			return true;
	return false;
}

/* Whether the frames may have names of functions that are gone. */
static bool is_misnamed(const struct pdet_user_stacks *u, int r)
{
	return r == 0 && has_jit(u->stack) && pdet_perf_file_changed(&u->perf);
}

/* The map file is read before the thread may be stopped: it may be large. If it
 * changes too often, it is not used. Returns 1 if the thread has run each time.
 */
static int read_steady(struct pdet_user_stacks *u, struct thread *t,
		       uint32_t tid, bool perf_map)
{
	struct pdet_perf_file *perf = perf_map ? &u->perf : NULL;
	bool misnamed = false;
	unsigned i;
	int r = 1;

	for (i = 0; r > 0 && i < TRIES; i++) {
		if (perf)
			pdet_perf_file_open(perf, &t->session->env, tid);
		r = read_once(u, t, perf);
		misnamed = perf && is_misnamed(u, r);
		r = misnamed ? 1 : r;
	}
	if (!misnamed)
		return r;
	pdet_perf_file_drop(perf);
	return read_once(u, t, perf);
}

static int read_stack(struct pdet_user_stacks *u, struct pdet_session *s,
		      uint32_t tid, bool perf_map)
{
	struct thread t = { .session = s };
	int r = s->backend->ops->task_open(s, tid, &t.task);

	if (r < 0)
		return r;
	r = read_steady(u, &t, tid, perf_map);
	s->backend->ops->task_close(t.task);
	return r > 0 ? pdet_fail(&s->env, EAGAIN, "thread %u runs again and "
				 "again: its stack changes while it is read",
				 tid) : r;
}

/* --- both sources --- */

static bool is_open(const struct pdet_stack_source *s)
{
	return s->has_backend && !s->error;
}

/* Sets an error text. */
static int why_not_open(const struct pdet_iter *it,
			const struct pdet_stack_source *s)
{
	if (!s->has_backend)
		return pdet_fail(it->env, ENOTSUP, "no source that is open "
				 "here %s", s == &it->user_stacks.stops ?
				 "stops threads" : "reads kernel memory");
	memcpy(it->env->error, s->words, sizeof(s->words));
	memcpy(it->env->advice, s->advice, sizeof(s->advice));
	return s->error;
}

/* Sets the stack, or an error text. */
static int ask(struct pdet_iter *it, const struct pdet_stack_source *s,
	       uint32_t tid)
{
	struct pdet_session *session;
	int r;

	if (!is_open(s))
		return why_not_open(it, s);
	session = it->workers[0].session[s->backend];
	r = read_stack(&it->user_stacks, session, tid, it->live &&
		       it->q.options & PAGEDET_Q_PERF_MAP);
	if (r < 0)
		pdet_take_words(it->env, &session->env);
	return r;
}

/* Whether a thread that is stopped may show what kernel memory does not. What
 * cannot be unwound then, cannot be unwound at all. */
static bool may_stop(const struct pdet_iter *it, int error)
{
	if (!(it->q.options & PAGEDET_Q_STOP_THREADS) || !it->live)
		return false;
	switch (error) {
	case -EAGAIN:
	case -EACCES:
	case -ENOTSUP:
	case -ENODATA:
	case -EBADMSG:
	case -EIO:
		return true;
	default:
		return false;
	}
}

/* Whether the thread that could not be stopped might have a stack in kernel
 * memory. */
static bool may_be_in_memory(int error)
{
	switch (error) {
	case -EAGAIN:
	case -EACCES:
	case -ENOTSUP:
	case -EIO:
		return true;
	default:
		return false;
	}
}

/* @error: why kernel memory does not show the stack, which is the error text.
 * The caller learns both reasons. The one why the thread did not stop decides,
 * unless no thread can be stopped here. */
static int stop(struct pdet_iter *it, uint32_t tid, int error)
{
	struct pdet_env *env = it->env;
	struct pdet_env memory = *env;
	int r = ask(it, &it->user_stacks.stops, tid);

	if (r >= 0 || !may_be_in_memory(r))
		return r;
	pdet_add_words(env, "; without a stop: %s", memory.error);
	if (r == -ENOTSUP || !env->advice[0])
		memcpy(env->advice, memory.advice, sizeof(env->advice));
	return r == -ENOTSUP ? error : r;
}

int pdet_user_stack_get(struct pdet_iter *it, uint32_t tid,
			const struct pagedet_frame **ret)
{
	struct pdet_user_stacks *u = &it->user_stacks;
	int r;

	u->stopped = false;
	if (!pdet_stacks_asked(it, PAGEDET_Q_USER_STACKS))
		return -EINVAL;
	r = ask(it, &u->memory, tid);
	if (may_stop(it, r))
		r = stop(it, tid, r);
	if (r < 0 && !is_open(&u->memory) && !is_open(&u->stops))
		pdet_context(it->env, "cannot read user stacks");
	if (r < 0)
		return r;
	*ret = u->stack ? u->stack->frames : NULL;
	return u->stack ? (int)u->stack->n : 0;
}
