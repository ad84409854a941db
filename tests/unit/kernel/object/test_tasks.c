/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests listing tasks: each thread of each process once, whatever pointers are
 * wrong.
 */
#include "kernel/container/list.h"
#include "kernel/object/tasks.h"
#include "../../kmem.h"
#include "../../structs.h"

enum { PID = 100, TGID = 104, FLAGS = 40, MM = 80, TASKS = 16, NODE = 120,
       SIGNAL = 136, PARENT = 144, COMM = 200, TASK_SIZE = 256, THREADS = 8 };

static const struct structs_member task_members[] = {
	{ "flags", FLAGS, 0, 0, 4 }, { "pid", PID, 0, 0, 4 },
	{ "tgid", TGID, 0, 0, 4 }, { "mm", MM, 0, 0, 8 },
	{ "tasks", TASKS, 0, 0, 16 }, { "thread_node", NODE, 0, 0, 16 },
	{ "signal", SIGNAL, 0, 0, 8 }, { "comm", COMM, 0, 0, 16 },
	{ "real_parent", PARENT, 0, 0, 8 },
};
static const struct structs_member signal_members[] = {
	{ "thread_head", THREADS, 0, 0, 16 },
};

struct sched {
	struct kmem *k;
	struct structs s;
	struct pdet_tasks t;
	uint64_t init;
};

static void link_list(struct kmem *k, uint64_t prev, uint64_t next)
{
	kmem_u64(k, prev, next);
	kmem_u64(k, next + 8, prev);
}

static uint64_t task(struct sched *s, uint32_t pid, uint32_t tgid,
		     uint64_t signal, const char *comm)
{
	const uint64_t t = kmem_object(s->k, TASK_SIZE);

	kmem_u32(s->k, t + PID, pid);
	kmem_u32(s->k, t + TGID, tgid);
	kmem_u64(s->k, t + SIGNAL, signal);
	kmem_write(s->k, t + COMM, comm, strlen(comm));
	return t;
}

static struct sched *start(void)
{
	struct sched *s = calloc(1, sizeof(*s));

	ck_assert_ptr_nonnull(s);
	s->k = kmem_new();
	structs_init(&s->s);
	structs_add(&s->s, "task_struct", TASK_SIZE, task_members, 9);
	structs_add(&s->s, "signal_struct", 64, signal_members, 1);
	s->init = task(s, 0, 0, 0, "swapper/0");
	link_list(s->k, s->init + TASKS, s->init + TASKS);
	ck_assert(pdet_tasks_init(&s->t, structs_btf(&s->s), s->init));
	return s;
}

static void end(struct sched *s)
{
	structs_free(&s->s);
	kmem_free(s->k);
	free(s);
}

/* Adds a process with @n threads; sets the addresses of their task_structs. */
static void process(struct sched *s, uint32_t pid, unsigned n, uint64_t *ret)
{
	const uint64_t signal = kmem_object(s->k, 64);
	uint64_t last = signal + THREADS, tail = 0;
	unsigned i;

	for (i = 0; i < n; i++) {
		ret[i] = task(s, pid + i, pid, signal, i ? "thread" : "main");
		link_list(s->k, last, ret[i] + NODE);
		last = ret[i] + NODE;
	}
	link_list(s->k, last, signal + THREADS);
	ck_assert_int_eq(pdet_space_u64(&s->k->space, s->init + TASKS + 8,
					&tail), 0);
	link_list(s->k, tail, ret[0] + TASKS);
	link_list(s->k, ret[0] + TASKS, s->init + TASKS);
}

struct seen {
	unsigned pid[1000];
	unsigned n, lost;
	int error;
};

static int see(void *arg, const struct pdet_task_struct *t)
{
	struct seen *seen = arg;

	ck_assert_uint_lt(t->pid, 1000);
	seen->pid[t->pid]++;
	seen->n++;
	return 0;
}

static void lose(void *arg, uint64_t addr, int error)
{
	struct seen *seen = arg;

	(void)addr;
	seen->lost++;
	seen->error = error;
}

static void look(struct sched *s, struct seen *seen, bool processes)
{
	const struct pdet_tasks_visit visit = { see, lose, seen, processes };

	memset(seen, 0, sizeof(*seen));
	ck_assert_int_eq(pdet_tasks_each(&s->k->space, &s->t, &visit), 0);
}

START_TEST(threads)
{
	struct sched *s = start();
	uint64_t t[3][4];
	struct pdet_task_struct found;
	struct seen seen;

	process(s, 1, 1, t[0]);
	process(s, 10, 4, t[1]);
	process(s, 20, 2, t[2]);
	kmem_u32(s->k, t[2][0] + FLAGS, 0x00200000);
	kmem_u64(s->k, t[1][2] + MM, 0xffff888000001000);
	kmem_write(s->k, t[1][2] + COMM, "a) b\n (c \\567890", 16);
	look(s, &seen, false);
	ck_assert_uint_eq(seen.n, 7);
	ck_assert(seen.pid[1] == 1 && seen.pid[13] == 1 && seen.pid[21] == 1);
	ck_assert_uint_eq(seen.lost, 0);
	look(s, &seen, true);
	ck_assert_uint_eq(seen.n, 3);
	ck_assert_int_eq(pdet_tasks_find(&s->k->space, &s->t, 12, &found), 0);
	ck_assert_uint_eq(found.addr, t[1][2]);
	ck_assert_uint_eq(found.tgid, 10);
	ck_assert_uint_eq(found.mm, 0xffff888000001000);
	ck_assert(!found.is_leader && !found.kthread);
	ck_assert_str_eq(found.comm, "a) b\n (c \\56789");
	ck_assert_int_eq(pdet_tasks_find(&s->k->space, &s->t, 20, &found), 0);
	ck_assert(found.is_leader && found.kthread && !found.mm);
	ck_assert_int_eq(pdet_tasks_find(&s->k->space, &s->t, 99, &found),
			 -ENOENT);
	end(s);
}
END_TEST

/* With any single wrong pointer, all are found, each once. */
START_TEST(wrong_pointers)
{
	static const uint64_t wrong[] = { 0, 0x4141414141414141,
					  0xdead000000000100, 1 };
	struct sched *s = start();
	uint64_t t[5][2], at;
	struct seen seen;
	unsigned i;

	for (i = 0; i < 5; i++)
		process(s, 100 + 10 * i, 2, t[i]);
	at = t[_i / 2 % 5][0] + TASKS + (_i % 2 ? 8 : 0);
	/* An invalid address, or another task of the list. */
	kmem_u64(s->k, at, _i < 40 ? wrong[_i / 10] : t[_i % 3][0] + TASKS);
	look(s, &seen, false);
	for (i = 0; i < 5; i++) {
		ck_assert_uint_eq(seen.pid[100 + 10 * i], 1);
		ck_assert_uint_eq(seen.pid[101 + 10 * i], 1);
	}
	ck_assert_uint_eq(seen.lost, 0);
	end(s);
}
END_TEST

/* A list that one pointer says is at its end, and the others not. */
START_TEST(ends_early)
{
	struct sched *s = start();
	const uint64_t head = s->init + TASKS;
	uint64_t t[4][1];
	struct seen seen;
	unsigned i;

	for (i = 0; i < 4; i++)
		process(s, 100 + 10 * i, 1, t[i]);
	switch (_i) {
	case 0:
	case 1:
	case 2:
		kmem_u64(s->k, _i ? t[_i][0] + TASKS : head, head);
		break;
	case 3:			/* only the way back is wrong */
		kmem_u64(s->k, head + 8, head);
		break;
	case 4:
		kmem_u64(s->k, head + 8, t[1][0] + TASKS);
		break;
	default:
		kmem_u64(s->k, head + 8, 0);
	}
	look(s, &seen, true);
	for (i = 0; i < 4; i++)
		ck_assert_uint_eq(seen.pid[100 + 10 * i], 1);
	ck_assert_uint_eq(seen.lost, 0);
	end(s);
}
END_TEST

/* A running kernel may have removed the last one while it was looked at. */
START_TEST(ends_live)
{
	struct sched *s = start();
	uint64_t t[3][1];
	struct seen seen;
	unsigned i;

	for (i = 0; i < 3; i++)
		process(s, 100 + 10 * i, 1, t[i]);
	kmem_u64(s->k, s->init + TASKS + 8, t[1][0] + TASKS);
	kmem_u64(s->k, t[1][0] + TASKS, s->init + TASKS);
	s->k->m->memory.live = true;
	look(s, &seen, true);
	ck_assert_uint_eq(seen.n, 2);
	ck_assert_uint_eq(seen.lost, 0);
	end(s);
}
END_TEST

START_TEST(lost_tasks)
{
	struct sched *s = start();
	uint64_t t[5][3];
	struct pdet_task_struct found;
	struct seen seen;
	unsigned i;

	for (i = 0; i < 5; i++) {
		process(s, 100 + 10 * i, 3, t[i]);
		s->k->next = (s->k->next | 4095) + 1;
	}
	/* The dump lacks all data on the third one's page. */
	kmem_fail(s->k, t[2][0], -ENODATA);
	look(s, &seen, false);
	ck_assert(seen.pid[100] == 1 && seen.pid[112] == 1 &&
		  seen.pid[130] == 1 && seen.pid[142] == 1);
	ck_assert_uint_eq(seen.n, 12);
	ck_assert_uint_ge(seen.lost, 1);
	ck_assert_int_eq(seen.error, -ENODATA);
	ck_assert_int_eq(pdet_tasks_find(&s->k->space, &s->t, 121, &found),
			 -ENODATA);
	end(s);
	/* The object in the list is not a task. */
	s = start();
	process(s, 1, 1, t[0]);
	process(s, 2, 1, t[1]);
	kmem_u32(s->k, t[0][0] + PID, 0x6b6b6b6b);
	look(s, &seen, false);
	ck_assert(seen.n == 1 && seen.pid[2] == 1 && seen.lost == 1);
	ck_assert_int_eq(seen.error, -EBADMSG);
	end(s);
}
END_TEST

START_TEST(thread_lists)
{
	struct sched *s = start();
	uint64_t t[2][3], signal;
	struct seen seen;

	process(s, 1, 3, t[0]);
	process(s, 10, 3, t[1]);
	/* A process whose list of threads is cyclic. */
	ck_assert_int_eq(pdet_space_u64(&s->k->space, t[0][0] + SIGNAL,
					&signal), 0);
	kmem_u64(s->k, t[0][2] + NODE, t[0][1] + NODE);
	kmem_u64(s->k, signal + THREADS + 8, 0);
	look(s, &seen, false);
	ck_assert(seen.pid[1] == 1 && seen.pid[2] == 1 && seen.pid[3] == 1);
	ck_assert(seen.pid[10] == 1 && seen.pid[12] == 1);
	ck_assert_uint_eq(seen.lost, 1);
	/* No thread: only the process itself. */
	kmem_u64(s->k, t[1][0] + SIGNAL, 0xffff8880dead0000);
	look(s, &seen, false);
	ck_assert(seen.pid[10] == 1 && !seen.pid[11]);
	end(s);
}
END_TEST

START_TEST(root)
{
	struct sched *s = start();
	uint64_t a[2], b[1], found;

	process(s, 1, 1, b);
	process(s, 10, 2, a);
	kmem_u64(s->k, b[0] + PARENT, s->init);
	/* A thread may be a parent. */
	kmem_u64(s->k, a[0] + PARENT, b[0]);
	kmem_u64(s->k, a[1] + PARENT, a[0]);
	ck_assert_int_eq(pdet_tasks_root(&s->k->space, &s->t, a[1], &found),
			 0);
	ck_assert_uint_eq(found, s->init);
	kmem_u64(s->k, b[0] + PARENT, a[0]);
	ck_assert_int_eq(pdet_tasks_root(&s->k->space, &s->t, a[1], &found),
			 -EBADMSG);
	kmem_u64(s->k, b[0] + PARENT, 0);
	ck_assert_int_eq(pdet_tasks_root(&s->k->space, &s->t, a[1], &found),
			 -EBADMSG);
	end(s);
}
END_TEST

START_TEST(no_types)
{
	struct pdet_tasks t;
	struct structs s;

	structs_init(&s);
	structs_add(&s, "task_struct", TASK_SIZE, task_members, 8);
	ck_assert(!pdet_tasks_init(&t, structs_btf(&s), 0));
	structs_free(&s);
}
END_TEST

/* What list_del_rcu() leaves: the way on, and no way back. */
START_TEST(listed)
{
	struct sched *s = start();
	uint64_t t[4];
	unsigned i;

	process(s, 100, 4, t);
	for (i = 0; i < 4; i++)
		ck_assert(pdet_task_listed(&s->k->space, &s->t, t[i]));
	link_list(s->k, t[1] + NODE, t[3] + NODE);
	ck_assert(!pdet_task_listed(&s->k->space, &s->t, t[2]));
	ck_assert(pdet_task_listed(&s->k->space, &s->t, t[3]));
	kmem_u64(s->k, t[2] + NODE + 8, 0xdead000000000122);
	ck_assert(!pdet_task_listed(&s->k->space, &s->t, t[2]));
	ck_assert(!pdet_task_listed(&s->k->space, &s->t, 0));
	end(s);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tasks");

	unit_test(s, threads);
	unit_loop(s, wrong_pointers, 50);
	unit_loop(s, ends_early, 6);
	unit_test(s, ends_live);
	unit_test(s, lost_tasks);
	unit_test(s, thread_lists);
	unit_test(s, listed);
	unit_test(s, root);
	unit_test(s, no_types);
	return unit_main(s);
}
