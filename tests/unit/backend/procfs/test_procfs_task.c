/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* needs: procfs */
/*
 * Tests that a task which cannot be read for lack of descriptors does not count
 * as ended, and one that started with the kernel does not either.
 */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/handle.h"
#include "backend/procfs/procfs.h"
#include "../../unit.h"

struct asking {
	struct pagedet *pd;
	struct pdet_session *s;
	struct pdet_wants wants;
};

static struct pdet_backend *procfs_backend(const struct pagedet *pd)
{
	size_t i;

	for (i = 0; i < pd->n_backends; i++)
		if (pd->backends[i]->ops->task_same == procfs_task_same)
			return pd->backends[i];
	ck_abort_msg("there is no procfs");
	return NULL;
}

static void start(struct asking *a)
{
	struct pdet_backend *b;

	memset(a, 0, sizeof(*a));
	a->wants.target = PAGEDET_TARGET_TASK;
	a->pd = pagedet_new();
	ck_assert_int_eq(pagedet_open(a->pd, NULL), 0);
	b = procfs_backend(a->pd);
	ck_assert_int_eq(b->ops->prepare(b, &a->pd->env, &a->wants), 0);
	ck_assert_int_eq(b->ops->session_new(b, &a->pd->env, &a->wants, &a->s),
			 0);
}

static void end(struct asking *a)
{
	a->s->backend->ops->session_free(a->s);
	pagedet_free(a->pd);
}

/* Makes opening of files fail. Returns the previous limit. */
static struct rlimit no_descriptors(void)
{
	struct rlimit before, none;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	return before;
}

START_TEST(without_descriptors_it_has_not_ended)
{
	const uint32_t pid = (uint32_t)getpid();
	struct asking a;
	struct rlimit before;
	struct pdet_usage usage;
	struct pdet_task *t, *other;
	int same, opened, used;

	start(&a);
	ck_assert_int_eq(procfs_task_open(a.s, pid, &t), 0);
	ck_assert_int_eq(procfs_task_same(a.s, t), 0);
	before = no_descriptors();
	same = procfs_task_same(a.s, t);
	opened = procfs_task_open(a.s, pid, &other);
	used = procfs_usage(a.s->backend, &a.s->env, pid, &usage);
	setrlimit(RLIMIT_NOFILE, &before);
	ck_assert_int_lt(same, 0);
	ck_assert_int_ne(same, -ESRCH);
	ck_assert_int_lt(opened, 0);
	ck_assert_int_ne(opened, -ESRCH);
	ck_assert_int_lt(used, 0);
	ck_assert_int_ne(used, -ESRCH);
	ck_assert_int_eq(procfs_task_same(a.s, t), 0);
	procfs_task_close(t);
	end(&a);
}
END_TEST

START_TEST(one_that_has_ended_has)
{
	struct asking a;
	struct pdet_task *t;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (!pid)
		for (;;)
			pause();
	start(&a);
	ck_assert_int_eq(procfs_task_open(a.s, (uint32_t)pid, &t), 0);
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(procfs_task_same(a.s, t), -ESRCH);
	procfs_task_close(t);
	end(&a);
}
END_TEST

/* --- a made-up tree --- */

static void put(const char *root, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

#define STAT "7 (a) S 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 "

/* The first ones start in the first tick of the clock. */
START_TEST(one_that_started_at_zero)
{
	static const struct {
		const char *first, *then;
		int same;
	} cases[] = {
		{ STAT "0 0 0\n", STAT "0 0 0\n", 0 },
		{ STAT "0 0 0\n", STAT "1 0 0\n", -ESRCH },
		{ STAT "0 0 0\n", STAT "\n", -EBADMSG },
		{ STAT "\n", STAT "0 0 0\n", -EBADMSG },
	};
	char root[128], path[256];
	struct pdet_task *t;
	struct asking a;
	char *before;

	start(&a);
	ck_assert_ptr_nonnull(mkdtemp(unit_temp(root, sizeof(root))));
	snprintf(path, sizeof(path), "%s/proc", root);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/proc/7", root);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	put(root, "proc/7/pagemap", "");
	put(root, "proc/7/stat", cases[_i].first);
	before = a.s->env.root;
	a.s->env.root = root;
	ck_assert_int_eq(procfs_task_open(a.s, 7, &t), 0);
	put(root, "proc/7/stat", cases[_i].then);
	ck_assert_int_eq(procfs_task_same(a.s, t), cases[_i].same);
	procfs_task_close(t);
	a.s->env.root = before;
	snprintf(path, sizeof(path), "rm -rf '%s'", root);
	ck_assert_int_eq(system(path), 0);
	end(&a);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("procfs_task");

	unit_test(s, without_descriptors_it_has_not_ended);
	unit_test(s, one_that_has_ended_has);
	unit_loop(s, one_that_started_at_zero, 4);
	return unit_main(s);
}
