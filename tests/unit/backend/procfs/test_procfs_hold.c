/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* needs: procfs */
/*
 * Tests that a thread which was stopped for its stack is let go, even if its
 * stack is never read to the end.
 */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/handle.h"
#include "backend/procfs/procfs.h"
#include "base/clock.h"
#include "symbol/user_regs.h"
#include "../../unit.h"

/* What the manual promises. */
#define HOLD_NS ((uint64_t)2000000000)
#define PATIENCE_S 60

struct holding {
	struct pagedet *pd;
	struct pdet_session *s;
	struct pdet_wants wants;
	struct pdet_task *task;
	pid_t pid;		/* a child that waits */
	uint64_t since;		/* before it was stopped */
};

static struct pdet_backend *stopping_backend(const struct pagedet *pd)
{
	size_t i;

	for (i = 0; i < pd->n_backends; i++)
		if (pd->backends[i]->ops->stops_threads)
			return pd->backends[i];
	ck_abort_msg("no source stops threads");
	return NULL;
}

/* Whether a line of the child's status has this value. */
static bool has_status(pid_t pid, const char *wanted)
{
	char path[64], line[256];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	while (!found && fgets(line, sizeof(line), f))
		found = !strncmp(line, wanted, strlen(wanted));
	fclose(f);
	return found;
}

static void wait_until(pid_t pid, const char *wanted)
{
	const struct timespec pause = { 0, 10000000 };
	const uint64_t end = pdet_clock_ns(CLOCK_MONOTONIC) +
			     (uint64_t)PATIENCE_S * 1000000000;

	while (!has_status(pid, wanted)) {
		ck_assert_msg(pdet_clock_ns(CLOCK_MONOTONIC) < end,
			      "it is not '%s'", wanted);
		nanosleep(&pause, NULL);
	}
}

/* A busy machine may not let the child stop in time. */
static int stop(struct holding *h, struct pdet_user_regs *regs)
{
	const uint64_t end = pdet_clock_ns(CLOCK_MONOTONIC) +
			     (uint64_t)PATIENCE_S * 1000000000;
	int r;

	for (;;) {
		ck_assert_int_eq(procfs_task_open(h->s, (uint32_t)h->pid,
						  &h->task), 0);
		h->since = pdet_clock_ns(CLOCK_MONOTONIC);
		r = procfs_user_regs(h->s, h->task, regs);
		if (r != -EAGAIN || pdet_clock_ns(CLOCK_MONOTONIC) >= end)
			return r;
		procfs_task_close(h->task);
	}
}

static void start(struct holding *h, struct pdet_user_regs *regs)
{
	struct pdet_backend *b;
	bool traced;
	int r;

	memset(h, 0, sizeof(*h));
	h->wants.target = PAGEDET_TARGET_TASK;
	h->wants.user_stacks = true;
	h->pd = pagedet_new();
	ck_assert_int_eq(pagedet_open(h->pd, NULL), 0);
	b = stopping_backend(h->pd);
	ck_assert_int_eq(b->ops->prepare(b, &h->pd->env, &h->wants), 0);
	ck_assert_int_eq(b->ops->session_new(b, &h->pd->env, &h->wants, &h->s),
			 0);
	h->pid = fork();
	ck_assert_int_ge(h->pid, 0);
	if (!h->pid)
		for (;;)
			pause();
	r = stop(h, regs);
	if (r == -EACCES || r == -ENOSYS || r == -ENOTSUP) {
		kill(h->pid, SIGKILL);
		unit_skip("threads cannot be stopped here");
	}
	ck_assert_msg(r == 1, "%d: %s", r, h->s->env.error);
	ck_assert(regs->stopped);
	traced = !has_status(h->pid, "TracerPid:\t0\n");
	/* Later it may have been let go. */
	if (pdet_clock_ns(CLOCK_MONOTONIC) - h->since < HOLD_NS)
		ck_assert(traced);
}

static void end(struct holding *h)
{
	kill(h->pid, SIGKILL);
	ck_assert_int_eq(waitpid(h->pid, NULL, 0), h->pid);
	h->s->backend->ops->session_free(h->s);
	pagedet_free(h->pd);
}

START_TEST(until_it_is_closed)
{
	struct pdet_user_regs regs;
	struct holding h;

	start(&h, &regs);
	procfs_task_close(h.task);
	ck_assert(has_status(h.pid, "TracerPid:\t0\n"));
	wait_until(h.pid, "State:\tS");
	end(&h);
}
END_TEST

START_TEST(no_longer_than_two_seconds)
{
	struct pdet_user_regs regs, again = { .stopped = false };
	struct holding h;

	start(&h, &regs);
	wait_until(h.pid, "TracerPid:\t0\n");
	ck_assert_uint_ge(pdet_clock_ns(CLOCK_MONOTONIC) - h.since, HOLD_NS);
	wait_until(h.pid, "State:\tS");
	/* What was read since may be of a thread that ran. */
	ck_assert_int_eq(procfs_user_regs(h.s, h.task, &again), -EAGAIN);
	ck_assert_ptr_nonnull(strstr(h.s->env.error, "was let go"));
	ck_assert(again.stopped);
	procfs_task_close(h.task);
	end(&h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("procfs_hold");

	unit_test(s, until_it_is_closed);
	unit_test(s, no_longer_than_two_seconds);
	return unit_main(s);
}
