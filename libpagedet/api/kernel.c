/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The border for the kernel as a whole: its tasks, symbols and log. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/handle.h"

static int check_open(struct pagedet *pd)
{
	pdet_clear(&pd->env);
	pd->stopped = false;
	return pd->open ? 0 :
		pdet_fail(&pd->env, EINVAL, "the handle is not open");
}

/*
 * Asks one backend after the other. The error text of the first failure is
 * kept, because the first backend is the preferred one. Once *@begun is set
 * (@begun may be NULL), the caller has a part of the answer, and no other
 * backend is asked.
 */
static int ask(struct pagedet *pd, bool (*can)(const struct pdet_backend *b),
	       int (*one)(struct pdet_backend *b, struct pdet_env *env,
			  void *arg), void *arg, const bool *begun,
	       const char *what)
{
	struct pdet_env first;
	size_t i;
	int r = 0, error = 0;

	if (pd->env.stop && pd->env.stop(pd->env.stop_arg))
		return pdet_fail(&pd->env, ECANCELED, "the caller canceled");
	for (i = 0; i < pd->n_backends; i++) {
		if (!can(pd->backends[i]))
			continue;
		r = one(pd->backends[i], &pd->env, arg);
		if (r >= 0 || r == -ECANCELED || r == -ENOMEM)
			return r;
		if (pd->stopped)
			return pdet_fail(&pd->env, ECANCELED, "the caller "
					 "stopped the search for %s", what);
		if (!error) {
			error = r;
			first = pd->env;
		}
		if (begun && *begun)
			break;
	}
	if (!error)
		return pdet_fail(&pd->env, ENOTSUP,
				 "no open source knows %s", what);
	pdet_take_words(&pd->env, &first);
	return -pdet_errno_closed(-error);
}

/* --- tasks --- */

struct tasks {
	bool processes;
	struct pagedet_task *data;
	size_t n;
	uint64_t lost;
};

static bool knows_tasks(const struct pdet_backend *b)
{
	return b->ops->list_tasks;
}

static int list(struct pdet_backend *b, struct pdet_env *env, void *arg)
{
	struct tasks *t = arg;

	t->lost = 0;
	return b->ops->list_tasks(b, env, t->processes, &t->data, &t->n,
				  &t->lost);
}

static int by_number(const void *a, const void *b)
{
	const struct pagedet_task *x = a, *y = b;

	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

int pagedet_tasks(struct pagedet *pd, uint32_t options,
		  struct pagedet_task *tasks, uint64_t n, uint64_t *lost)
{
	struct tasks t = { .processes = options & PAGEDET_TASKS_PROCESSES };
	int r = check_open(pd);

	if (r < 0)
		return r;
	if (options & ~(uint32_t)PAGEDET_TASKS_PROCESSES)
		return pdet_fail(&pd->env, E2BIG,
				 "lists of tasks do not have this option");
	r = ask(pd, knows_tasks, list, &t, NULL, "tasks");
	if (r < 0)
		return r;
	if (t.n)
		qsort(t.data, t.n, sizeof(*t.data), by_number);
	if (tasks && t.n)
		memcpy(tasks, t.data, PDET_MIN(n, t.n) * sizeof(*tasks));
	free(t.data);
	if (lost)
		*lost = t.lost;
	return (int)t.n;
}

/* --- areas --- */

struct areas {
	uint32_t pid;
	pagedet_area_fn *fn;
	void *user;
	bool begun;
};

static bool knows_areas(const struct pdet_backend *b)
{
	return b->ops->task_open && b->ops->vma_first;
}

static int hand_on_areas(struct pdet_session *s, struct pdet_task *task,
			 struct areas *a)
{
	struct pdet_vma vma;
	int r = s->backend->ops->vma_first(s, task);

	while (r == 0) {
		r = s->backend->ops->vma_next(s, task, &vma);
		if (r <= 0)
			return r;
		const struct pagedet_area area = {
			.size = sizeof(area), .start = vma.start,
			.end = vma.end, .offset = vma.offset, .dev = vma.dev,
			.inode = vma.inode, .len = vma.name_len,
			.name = vma.name_len ? vma.name : "", .prot = vma.prot,
		};
		a->begun = true;
		r = a->fn(a->user, &area) ?
			pdet_fail(&s->env, ECANCELED, "the caller canceled") :
			0;
	}
	return r;
}

static int read_areas(struct pdet_backend *b, struct pdet_env *env, void *arg)
{
	struct pdet_wants wants = { .target = PAGEDET_TARGET_TASK,
				    .walks = true, .alone = true };
	struct areas *a = arg;
	struct pdet_session *s;
	struct pdet_task *task;
	int r;

	pdet_fields_add(&wants.fields, PAGEDET_FIELD_VMA_START);
	pdet_fields_add(&wants.fields, PAGEDET_FIELD_VMA_NAME);
	r = b->ops->prepare ? b->ops->prepare(b, env, &wants) : 0;
	if (r == 0)
		r = b->ops->session_new(b, env, &wants, &s);
	if (r < 0)
		return r;
	s->stop = env->stop;
	s->stop_arg = env->stop_arg;
	r = b->ops->task_open(s, a->pid, &task);
	if (r == 0) {
		r = hand_on_areas(s, task, a);
		b->ops->task_close(task);
	}
	pdet_take_words(env, &s->env);
	b->ops->session_free(s);
	return r;
}

int pagedet_areas(struct pagedet *pd, uint32_t pid, pagedet_area_fn *fn,
		  void *user)
{
	struct areas a = { pid, fn, user, false };
	int r = check_open(pd);

	return r < 0 ? r : ask(pd, knows_areas, read_areas, &a, &a.begun,
			       "tasks");
}

/* --- symbols --- */

struct symbol {
	const char *name;
	uint64_t address;
};

static bool knows_symbols(const struct pdet_backend *b)
{
	return b->ops->symbol;
}

static int find(struct pdet_backend *b, struct pdet_env *env, void *arg)
{
	struct symbol *s = arg;

	return b->ops->symbol(b, env, s->name, &s->address);
}

int pagedet_symbol(struct pagedet *pd, const char *name, uint64_t *ret)
{
	struct symbol s = { name, 0 };
	int r = check_open(pd);

	if (r == 0)
		r = ask(pd, knows_symbols, find, &s, NULL, "symbols");
	if (r == 0)
		*ret = s.address;
	return r;
}

/* --- the log --- */

struct log {
	pagedet_log_record_fn *fn;
	void *user;
	const struct pdet_env *env;
	uint64_t lost;
	bool begun, stopped;
};

static bool knows_log(const struct pdet_backend *b)
{
	return b->ops->kernel_log;
}

static int hand_on(void *user, const struct pagedet_log_record *record)
{
	struct log *l = user;

	l->begun = true;
	l->stopped = l->fn(l->user, record) ||
		     (l->env->stop && l->env->stop(l->env->stop_arg));
	return l->stopped;
}

static int read_log(struct pdet_backend *b, struct pdet_env *env, void *arg)
{
	struct log *l = arg;
	int r;

	l->lost = 0;
	l->env = env;
	r = b->ops->kernel_log(b, env, hand_on, l, &l->lost);
	return l->stopped ? pdet_fail(env, ECANCELED, "the caller canceled") :
			    r;
}

int pagedet_kernel_log(struct pagedet *pd, pagedet_log_record_fn *fn,
		       void *user, uint64_t *lost)
{
	struct log l = { .fn = fn, .user = user };
	int r = check_open(pd);

	if (r == 0)
		r = ask(pd, knows_log, read_log, &l, &l.begun,
			"the kernel's log");
	if (lost)
		*lost = l.lost;
	return r;
}
