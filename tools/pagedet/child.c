/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Starts a program early, so that nothing of that is recorded, and lets it
 * begin when the recording has begun.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"

/* How often the end of a program is looked for. */
#define LOOK_MS 100
/* A program that was asked to end has so much time. */
#define PATIENCE_NS 1000000000u

/* In the child: waits until the recording has begun. */
static void become(struct cli_child *c, char **words)
{
	char go;

	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	if (read(c->go, &go, 1) == 1) {
		execvp(words[0], words);
		if (write(c->error, &errno, sizeof(errno)) < 0)
			_exit(126);
	}
	_exit(127);
}

int cli_child_start(struct cli_child *c, struct cli_job *job, int first)
{
	int go[2], error[2];

	if (job->n_words <= first)
		return CLI_ANSWERED;
	c->name = job->words[first];
	if (pipe2(go, O_CLOEXEC) || pipe2(error, O_CLOEXEC))
		return cli_fail_errno("cannot run '%s'", c->name);
	c->pid = fork();
	if (c->pid < 0)
		return cli_fail_errno("cannot run '%s'", c->name);
	if (c->pid == 0) {
		close(go[1]);
		c->go = go[0];
		c->error = error[1];
		/* The words stand in the array of main(), which is longer. */
		job->words[job->n_words] = NULL;
		become(c, job->words + first);
	}
	close(go[0]);
	close(error[1]);
	c->go = go[1];
	c->error = error[0];
	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	return CLI_ANSWERED;
}

int cli_child_release(struct cli_child *c)
{
	int code = 0;

	if (!c->pid)
		return CLI_ANSWERED;
	if (write(c->go, "", 1) != 1)
		return cli_fail_errno("cannot run '%s'", c->name);
	if (read(c->error, &code, sizeof(code)) != sizeof(code))
		return CLI_ANSWERED;
	errno = code;
	return cli_fail_errno("cannot run '%s'", c->name);
}

/* Waits at most so long; pid is 0 when it has ended. */
static void wait_for(struct cli_child *c, int ms)
{
	struct pollfd p = { .fd = c->pid ? c->pidfd : -1, .events = POLLIN };

	poll(&p, 1, ms);
	if (c->pid && waitpid(c->pid, &c->status, WNOHANG) == c->pid)
		c->pid = 0;
}

/* The user interrupted: the program shall end, too. */
static void end_child(struct cli_child *c)
{
	const uint64_t end = cli_now_ns() + PATIENCE_NS;

	if (!c->pid)
		return;
	kill(c->pid, SIGTERM);
	while (c->pid && cli_now_ns() < end)
		wait_for(c, LOOK_MS);
	if (c->pid)
		cli_say("the program still runs: process %d", (int)c->pid);
}

/* A program runs on if it can no longer be recorded. */
static bool goes_on(struct cli_child *c, uint32_t error)
{
	if (error && !c->alone && c->pid)
		cli_say("nothing more is counted; the program still runs");
	c->alone |= error;
	return c->pid || !error;
}

void cli_child_until(struct cli_child *c, const struct cli_job *job,
		     uint32_t (*failed)(void *arg), void *arg)
{
	const uint64_t end = job->for_ns ? cli_now_ns() + job->for_ns :
					   UINT64_MAX;
	const bool runs = c->pid;
	uint64_t now = cli_now_ns(), left;

	while (now < end && !cli_must_stop(job) &&
	       goes_on(c, failed(arg))) {
		left = (end - now) / 1000000 + 1;
		wait_for(c, left < LOOK_MS ? (int)left : LOOK_MS);
		if (runs && !c->pid)
			return;
		now = cli_now_ns();
	}
	end_child(c);
}

void cli_child_close(struct cli_child *c)
{
	if (c->go > 0)
		close(c->go);
	if (c->error > 0)
		close(c->error);
	if (c->pidfd > 0)
		close(c->pidfd);
}

void cli_child_tell(const struct cli_child *c)
{
	const int status = c->status;

	if (!c->name || c->pid || !status)
		return;
	if (WIFSIGNALED(status))
		cli_say("the program was ended by signal %d",
			WTERMSIG(status));
	else
		cli_say("the program ended with status %d",
			WEXITSTATUS(status));
}

void cli_allow_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}
