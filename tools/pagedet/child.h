/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A program that runs while something is recorded: the words of the command
 * after its first one. */
#ifndef CLI_CHILD_H
#define CLI_CHILD_H

#include <sys/types.h>

#include "cli.h"

struct cli_child {
	pid_t pid;		/* 0: there is none, or it has ended */
	int pidfd;
	int go, error;		/* pipes: when to begin, and why it did not */
	int status;		/* of waitpid() */
};

/* These two return a status. */

/* cli_child_prepare - have the process, if there is a program. It waits. */
int cli_child_prepare(struct cli_child *c, const struct cli_job *job);

/* cli_child_release - let it begin. */
int cli_child_release(struct cli_child *c, const struct cli_job *job);

/*
 * cli_child_until - wait until the program ends, the time is over, a signal
 * comes, or @goes_on says no, which is asked often. Whoever interrupts ends the
 * program, too.
 */
void cli_child_until(struct cli_child *c, const struct cli_job *job,
		     bool (*goes_on)(void *arg), void *arg);

/* cli_child_close - a process that still waits ends. */
void cli_child_close(struct cli_child *c);

/* cli_child_tell - say how it has ended, if not well. */
void cli_child_tell(const struct cli_child *c, const struct cli_job *job);

#endif
