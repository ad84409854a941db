/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests what a thread of DAMON monitors, by simulated kernel memory. */
#include <errno.h>

#include "kernel/object/damon.h"
#include "../../kmem.h"
#include "../../structs.h"

enum { WORKER = 16, DATA = 24, KDAMOND = 64, OPS = 80, TARGETS = 112,
       UNIT = 128, PID_TASKS = 16, NUMBERS = 48, TARGET_LIST = 32 };

static const struct structs_member task_members[] = {
	{ "worker_private", WORKER, 0, 0, 8 },
};
static const struct structs_member kthread_members[] = {
	{ "data", DATA, 0, 0, 8 },
};
static const struct structs_member goal_members[] = { { "aggrs", 8, 0, 0, 8 } };
static const struct structs_member ops_members[] = { { "id", 0, 0, 0, 4 } };
static const struct structs_member target_members[] = {
	{ "pid", 0, 0, 0, 8 }, { "list", TARGET_LIST, 0, 0, 16 },
};
static const struct structs_member pid_members[] = {
	{ "tasks", PID_TASKS, 0, 0, 32 }, { "numbers", NUMBERS, 0, 0, 16 },
};
static const struct structs_member upid_members[] = { { "nr", 0, 0, 0, 4 } };
static const struct structs_constant ops_ids[] = {
	{ "DAMON_OPS_VADDR", 0 }, { "DAMON_OPS_FVADDR", 1 },
	{ "DAMON_OPS_PADDR", 2 },
};

struct damon {
	struct kmem *k;
	struct structs s;
	struct pdet_damon_types t;
	struct pdet_damon_context c;
	uint64_t task, context, last; /* node of the last target */
};

/* @is_new: as of Linux 6.18, otherwise of 5.19. */
static void add_types(struct structs *s, bool is_new)
{
	const uint32_t goal = structs_add(s, "damon_intervals_goal", 32,
					  goal_members, 1);
	const uint32_t ops = structs_add(s, "damon_operations", 32,
					 ops_members, 1);
	const struct structs_member attrs[] = {
		{ "sample_interval", 0, 0, 0, 8 },
		{ "aggr_interval", 8, 0, 0, 8 },
		{ "intervals_goal", 24, 0, 0, STRUCTS_IN(goal) },
	};
	const uint32_t attributes = structs_add(s, "damon_attrs", 56, attrs,
						3);
	const struct structs_member of_new[] = {
		{ "attrs", 0, 0, 0, STRUCTS_IN(attributes) },
		{ "kdamond", KDAMOND, 0, 0, 8 },
		{ "ops", OPS, 0, 0, STRUCTS_IN(ops) },
		{ "adaptive_targets", TARGETS, 0, 0, 16 },
		{ "addr_unit", UNIT, 0, 0, 8 },
	};
	const struct structs_member of_old[] = {
		{ "sample_interval", 0, 0, 0, 8 },
		{ "aggr_interval", 8, 0, 0, 8 },
		{ "kdamond", KDAMOND, 0, 0, 8 },
		{ "ops", OPS, 0, 0, STRUCTS_IN(ops) },
		{ "adaptive_targets", TARGETS, 0, 0, 16 },
	};

	structs_add(s, "damon_ctx", 136, is_new ? of_new : of_old, 5);
	structs_add(s, "task_struct", 64, task_members, 1);
	structs_add(s, "kthread", 64, kthread_members, 1);
	structs_add(s, "damon_target", 48, target_members, 2);
	structs_add(s, "pid", 64, pid_members, 2);
	structs_add(s, "upid", 16, upid_members, 1);
	structs_add_enum(s, "damon_ops_id", ops_ids, 3);
}

static struct damon *start(uint32_t ops, bool is_new)
{
	struct damon *d = calloc(1, sizeof(*d));
	uint64_t kthread;

	ck_assert_ptr_nonnull(d);
	d->k = kmem_new();
	structs_init(&d->s);
	add_types(&d->s, is_new);
	ck_assert(pdet_damon_types_init(&d->t, structs_btf(&d->s)));
	d->task = kmem_object(d->k, 64);
	kthread = kmem_object(d->k, 64);
	d->context = kmem_object(d->k, 136);
	kmem_u64(d->k, d->task + WORKER, kthread);
	kmem_u64(d->k, kthread + DATA, d->context);
	kmem_u64(d->k, d->context, 5000);
	kmem_u64(d->k, d->context + 8, 100000);
	kmem_u64(d->k, d->context + KDAMOND, d->task);
	kmem_u32(d->k, d->context + OPS, ops);
	kmem_u64(d->k, d->context + UNIT, 8);
	d->last = d->context + TARGETS;
	kmem_u64(d->k, d->last, d->last);
	kmem_u64(d->k, d->last + 8, d->last);
	return d;
}

static void end(struct damon *d)
{
	pdet_vec_free(&d->c.targets);
	structs_free(&d->s);
	kmem_free(d->k);
	free(d);
}

static uint64_t add_target(struct damon *d, uint32_t number, bool has_ended)
{
	const uint64_t target = kmem_object(d->k, 48);
	const uint64_t pid = kmem_object(d->k, 64);
	const uint64_t head = d->context + TARGETS, node = target + TARGET_LIST;

	kmem_u64(d->k, target, pid);
	kmem_u64(d->k, pid + PID_TASKS, has_ended ? 0 : d->task);
	kmem_u32(d->k, pid + NUMBERS, number);
	kmem_u64(d->k, d->last, node);
	kmem_u64(d->k, node + 8, d->last);
	kmem_u64(d->k, node, head);
	kmem_u64(d->k, head + 8, node);
	d->last = node;
	return target;
}

static int look(struct damon *d)
{
	return pdet_damon_context_read(&d->k->space, &d->t, d->task, &d->c);
}

START_TEST(physical)
{
	struct damon *d = start(2, _i);

	add_target(d, 4, false); /* it has one, without a process */
	ck_assert_int_eq(look(d), 0);
	ck_assert(d->c.is_physical && !d->c.is_tuned);
	ck_assert_uint_eq(d->c.unit, _i ? 8 : 1);
	ck_assert_uint_eq(d->c.sample_us, 5000);
	ck_assert_uint_eq(d->c.interval_us, 100000);
	ck_assert_uint_eq(d->c.targets.n, 0);
	end(d);
}
END_TEST

START_TEST(processes)
{
	struct damon *d = start((uint32_t)_i, true);

	add_target(d, 500, false);
	add_target(d, 600, true);
	ck_assert_int_eq(look(d), 0);
	ck_assert(!d->c.is_physical);
	ck_assert_uint_eq(d->c.unit, 1);
	ck_assert_uint_eq(d->c.targets.n, 2);
	ck_assert_uint_eq(d->c.targets.data[0], 500);
	ck_assert_uint_eq(d->c.targets.data[1], 0);
	end(d);
}
END_TEST

START_TEST(tuned)
{
	struct damon *d = start(2, true);

	kmem_u64(d->k, d->context + 24 + 8, 3);
	ck_assert_int_eq(look(d), 0);
	ck_assert(d->c.is_tuned);
	end(d);
}
END_TEST

START_TEST(another_thread)
{
	struct damon *d = start(2, true);

	kmem_u64(d->k, d->context + KDAMOND, d->task + 64);
	ck_assert_int_eq(look(d), -EBADMSG);
	kmem_u64(d->k, d->task + WORKER, 0);
	ck_assert_int_eq(look(d), -EBADMSG);
	end(d);
}
END_TEST

/* Later kernels may monitor in other ways. */
START_TEST(what_is_not_known)
{
	struct damon *d = start(3, true);

	ck_assert_int_eq(look(d), -ENOTSUP);
	kmem_u32(d->k, d->context + OPS, 2);
	kmem_u64(d->k, d->context + UNIT, 0);
	ck_assert_int_eq(look(d), -EBADMSG);
	end(d);
}
END_TEST

/* No list of which a part is missing is given. */
START_TEST(damaged_targets)
{
	struct damon *d = start(0, true);
	uint64_t target;

	add_target(d, 500, false);
	target = add_target(d, 600, false);
	if (_i == 0)
		kmem_u64(d->k, target, 0x1234);
	else if (_i == 1)
		kmem_u64(d->k, target, 0xffff8881ffff0000);
	else
		kmem_u64(d->k, d->context + TARGETS, 0x1234);
	if (_i == 2)
		kmem_u64(d->k, d->context + TARGETS + 8, 0x1234);
	ck_assert_int_eq(look(d), -EBADMSG);
	ck_assert_uint_eq(d->c.targets.n, 0);
	end(d);
}
END_TEST

START_TEST(other_types)
{
	struct pdet_damon_types t;
	struct structs s;

	structs_init(&s);
	structs_add(&s, "task_struct", 64, task_members, 1);
	ck_assert(!pdet_damon_types_init(&t, structs_btf(&s)));
	structs_free(&s);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("damon_context");

	unit_loop(s, physical, 2);
	unit_loop(s, processes, 2);
	unit_test(s, tuned);
	unit_test(s, another_thread);
	unit_test(s, what_is_not_known);
	unit_loop(s, damaged_targets, 3);
	unit_test(s, other_types);
	return unit_main(s);
}
