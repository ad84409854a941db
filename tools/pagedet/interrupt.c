/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Handles signals. The first signal stops a running query, so that the results
 * so far are still written. The second one, or one without a query, removes the
 * incomplete file and ends the process. A handler does not have an argument, so
 * its data is in variables of file scope.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static struct pagedet_iter *volatile running[2];
static volatile sig_atomic_t asked; /* someone polls interrupted */
static const char *volatile unfinished;
static volatile sig_atomic_t interrupted;
static volatile sig_atomic_t held;	/* nothing may be left undone */
static volatile sig_atomic_t came;	/* how many signals */

static void on_signal(int sig)
{
	int saved = errno;
	size_t i;

	came++;
	if (held) {
		interrupted = 1;
		return;
	}
	if ((running[0] || asked) && !interrupted) {
		interrupted = 1;
		for (i = 0; i < 2 && running[i]; i++)
			pagedet_cancel(running[i]);
		errno = saved;
		return;
	}
	if (unfinished)
		unlink(unfinished);
	signal(sig, SIG_DFL);
	raise(sig);	/* delivered when this handler returns */
	errno = saved;
}

void cli_interrupt_init(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction sa, old;
	size_t i;

	/*
	 * A closed pipe makes a write fail, which ends the process after
	 * incomplete files are removed. The same is done, with a message, at
	 * the limit of the file size.
	 */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = on_signal;
	for (i = 0; i < CLI_COUNT(signals); i++) {
		/*
		 * nohup, and a shell for its background jobs, ignore some
		 * signals.
		 */
		if (!sigaction(signals[i], NULL, &old) &&
		    old.sa_handler != SIG_IGN)
			sigaction(signals[i], &sa, NULL);
	}
}

bool cli_nobody_reads(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	return poll(&p, 1, 0) == 1 && p.revents & POLLERR;
}

void cli_interrupt_pipe(void)
{
	if (unfinished)
		unlink(unfinished);
	signal(SIGPIPE, SIG_DFL);
	raise(SIGPIPE);
	_exit(128 + SIGPIPE);	/* the signal is blocked */
}

void cli_interrupt_cancels(struct pagedet_iter *it)
{
	cli_interrupt_cancels_both(it, NULL);
}

void cli_interrupt_cancels_both(struct pagedet_iter *a, struct pagedet_iter *b)
{
	running[1] = NULL;
	running[0] = a;
	running[1] = b;
}

void cli_interrupt_asked(bool yes)
{
	asked = yes;
}

void cli_interrupt_holds(bool yes)
{
	held = yes;
}

int cli_interrupts(void)
{
	return came;
}

void cli_interrupt_removes(const char *path)
{
	unfinished = path;
}

bool cli_interrupted(void)
{
	return interrupted;
}
