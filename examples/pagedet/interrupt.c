/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Signals. The first one asks a running query to stop, so that what was found
 * is still written and said; the second one, or one without a query, ends the
 * process after removing the unfinished file. A handler has no argument of our
 * own: these are the command's only variables of file scope that change.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static struct pagedet_iter *volatile running[2];
static volatile sig_atomic_t asked; /* somebody looks at interrupted */
static const char *volatile unfinished;
static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	int saved = errno;
	size_t i;

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

	/* A reader that went away is a failed write, with words, and so is
	 * the limit of a file's size. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = on_signal;
	for (i = 0; i < CLI_COUNT(signals); i++) {
		/* nohup and background jobs of a shell ignore some */
		if (!sigaction(signals[i], NULL, &old) &&
		    old.sa_handler != SIG_IGN)
			sigaction(signals[i], &sa, NULL);
	}
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

void cli_interrupt_removes(const char *path)
{
	unfinished = path;
}

bool cli_interrupted(void)
{
	return interrupted;
}
