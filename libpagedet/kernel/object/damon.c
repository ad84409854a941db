/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The argument of the thread is its damon_ctx, which points back to the
 * thread. A target keeps a struct pid. If that has no task, the process has
 * ended, and its number may be that of another one.
 */
#include <errno.h>
#include <string.h>

#include "kernel/container/list.h"
#include "kernel/object/damon.h"

#define MOST_TARGETS 4096u

static const pdet_field_names task_names[] = {
	{ "task_struct.worker_private" }
};
static const pdet_field_names kthread_names[] = { { "kthread.data" } };

enum { CTX_THREAD, CTX_OPS, CTX_TARGETS, CTX_SAMPLE, CTX_INTERVAL, CTX_TUNED,
       CTX_UNIT, CTX_FIELDS };
static const pdet_field_names context_names[CTX_FIELDS] = {
	[CTX_THREAD] = { "damon_ctx.kdamond" },
	[CTX_OPS] = { "damon_ctx.ops.id" },
	[CTX_TARGETS] = { "damon_ctx.adaptive_targets" },
	/* "sample_interval" alone until 6.0 (cbeaa77b0449) */
	[CTX_SAMPLE] = { "damon_ctx.attrs.sample_interval",
			 "damon_ctx.sample_interval" },
	[CTX_INTERVAL] = { "damon_ctx.attrs.aggr_interval",
			   "damon_ctx.aggr_interval" },
	/* since 6.15 */
	[CTX_TUNED] = { "damon_ctx.attrs.intervals_goal.aggrs" },
	/* since 6.18 */
	[CTX_UNIT] = { "damon_ctx.addr_unit" },
};

enum { TARGET_PID, TARGET_LIST, TARGET_FIELDS };
static const pdet_field_names target_names[TARGET_FIELDS] = {
	[TARGET_PID] = { "damon_target.pid" },
	[TARGET_LIST] = { "damon_target.list" },
};

enum { PID_NUMBERS, PID_TASKS, PID_FIELDS };
static const pdet_field_names pid_names[PID_FIELDS] = {
	[PID_NUMBERS] = { "pid.numbers" },
	[PID_TASKS] = { "pid.tasks" },
};

static const pdet_field_names upid_names[] = { { "upid.nr" } };

bool pdet_damon_types_init(struct pdet_damon_types *t,
			   const struct pdet_btf *btf)
{
	static const char ops[] = "damon_ops_id";
	unsigned i;

	pdet_struct_find(&t->task, btf, task_names, 1);
	pdet_struct_find(&t->kthread, btf, kthread_names, 1);
	pdet_struct_find(&t->context, btf, context_names, CTX_FIELDS);
	pdet_struct_find(&t->target, btf, target_names, TARGET_FIELDS);
	pdet_struct_find(&t->pid, btf, pid_names, PID_FIELDS);
	pdet_struct_find(&t->upid, btf, upid_names, 1);
	for (i = CTX_THREAD; i <= CTX_INTERVAL; i++)
		if (!pdet_struct_has(&t->context, i))
			return false;
	t->fixed = UINT64_MAX;	/* since 5.19 */
	pdet_btf_enumerator(btf, ops, "DAMON_OPS_FVADDR", &t->fixed);
	return pdet_btf_enumerator(btf, ops, "DAMON_OPS_PADDR", &t->physical) &&
	       pdet_btf_enumerator(btf, ops, "DAMON_OPS_VADDR", &t->virtual) &&
	       pdet_struct_has(&t->task, 0) &&
	       pdet_struct_has(&t->kthread, 0) &&
	       pdet_struct_has(&t->target, TARGET_PID) &&
	       pdet_struct_has(&t->target, TARGET_LIST) &&
	       pdet_struct_has(&t->pid, PID_NUMBERS) &&
	       pdet_struct_has(&t->pid, PID_TASKS) &&
	       pdet_struct_has(&t->upid, 0);
}

/* --- targets --- */

struct reading {
	struct pdet_space *space;
	const struct pdet_damon_types *t;
	struct pdet_damon_context *ret;
};

/* The first of its tasks is that of PIDTYPE_PID. */
static int read_pid(const struct reading *r, uint64_t pid, uint32_t *ret)
{
	const struct pdet_damon_types *t = r->t;
	uint64_t task, number;
	int e = pdet_space_u64(r->space, pdet_struct_addr(&t->pid, pid,
							  PID_TASKS), &task);

	if (e == 0)
		e = pdet_struct_value(r->space, &t->upid,
				      pdet_struct_addr(&t->pid, pid,
						       PID_NUMBERS), 0,
				      &number);
	if (e == 0)
		*ret = task ? (uint32_t)number : 0;
	return e == -ENOENT ? -EBADMSG : e;
}

static int add_target(void *arg, uint64_t node)
{
	const struct reading *r = arg;
	const struct pdet_struct *s = &r->t->target;
	uint32_t number = 0;
	uint64_t pid;
	int e;

	node -= (uint64_t)s->field[TARGET_LIST].at;
	e = pdet_struct_value(r->space, s, node, TARGET_PID, &pid);
	if (e == 0)
		e = pdet_is_address(pid) ? read_pid(r, pid, &number) :
					   -EBADMSG;
	if (e < 0)
		return e;
	return pdet_vec_push(&r->ret->targets, number) ? 0 : -ENOMEM;
}

/* --- the context --- */

static int find_context(struct pdet_space *space,
			const struct pdet_damon_types *t, uint64_t task,
			uint64_t *ret)
{
	uint64_t kthread;
	int r = pdet_struct_value(space, &t->task, task, 0, &kthread);

	if (r == 0)
		r = pdet_is_address(kthread) ?
			pdet_struct_value(space, &t->kthread, kthread, 0, ret) :
			-EBADMSG;
	if (r == 0 && !pdet_is_address(*ret))
		r = -EBADMSG;
	return r == -ENOENT ? -EBADMSG : r;
}

static int read_targets(struct pdet_space *space,
			const struct pdet_damon_types *t, uint64_t context,
			struct pdet_damon_context *ret)
{
	struct reading reading = { space, t, ret };
	int r = pdet_list_each(space, pdet_struct_addr(&t->context, context,
						       CTX_TARGETS),
			       MOST_TARGETS, add_target, &reading);

	if (r < 0)
		pdet_vec_free(&ret->targets);
	return r;
}

int pdet_damon_context_read(struct pdet_space *space,
			    const struct pdet_damon_types *t, uint64_t task,
			    struct pdet_damon_context *ret)
{
	const struct pdet_struct *s = &t->context;
	char buf[PDET_STRUCT_BYTES];
	uint64_t context, ops;
	int r = find_context(space, t, task, &context);

	memset(ret, 0, sizeof(*ret));
	if (r == 0)
		r = pdet_struct_read(space, s, context, buf);
	if (r < 0)
		return r;
	if (pdet_struct_get(s, buf, CTX_THREAD) != task)
		return -EBADMSG;
	ops = pdet_struct_get(s, buf, CTX_OPS);
	ret->is_physical = ops == t->physical;
	ret->sample_us = pdet_struct_get(s, buf, CTX_SAMPLE);
	ret->interval_us = pdet_struct_get(s, buf, CTX_INTERVAL);
	ret->is_tuned = pdet_struct_get(s, buf, CTX_TUNED);
	ret->unit = pdet_struct_has(s, CTX_UNIT) && ret->is_physical ?
			    pdet_struct_get(s, buf, CTX_UNIT) : 1;
	if (ret->is_physical)
		return ret->unit ? 0 : -EBADMSG;
	return ops == t->virtual || ops == t->fixed ?
		       read_targets(space, t, context, ret) : -ENOTSUP;
}
