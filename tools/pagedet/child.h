/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A program that runs while the kernel is recorded or watched. */
#ifndef CLI_CHILD_H
#define CLI_CHILD_H

#include <sys/types.h>

#include "cli.h"

/* Zeroed, there is none. */
struct cli_child {
	pid_t pid;		/* 0: there is none, or it has ended */
	int pidfd;
	int go, error;		/* pipes: when to begin, and why it did not */
	int status;		/* of waitpid() */
	const char *name;	/* NULL: there was never one */
	bool alone;		/* what records it has failed, and that was
				 * said */
};

/* These return a status. */

/*
 * cli_child_start - start the program of job->words from @first on, which waits
 * until cli_child_release(). If there is no such word, there is none.
 */
int cli_child_start(struct cli_child *c, struct cli_job *job, int first);
int cli_child_release(struct cli_child *c);

/*
 * cli_child_until - wait until the program ends, the time is over, or a signal
 * comes. @failed is asked often for the error of what records: then a program
 * runs on, and without one that is the end, too. Whoever interrupts ends the
 * program.
 */
void cli_child_until(struct cli_child *c, const struct cli_job *job,
		     uint32_t (*failed)(void *arg), void *arg);

/* cli_child_close - a process that still waits ends. */
void cli_child_close(struct cli_child *c);

/* cli_child_tell - say how it has ended, if that was not well. */
void cli_child_tell(const struct cli_child *c);

/* cli_allow_descriptors - as many as there may be. A program that was started
 * before has the limit of before. */
void cli_allow_descriptors(void);

#endif
