/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Ends commands early: at the deadline of the whole command, or after a signal.
 */
#include <time.h>

#include "cli.h"

uint64_t cli_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

void cli_deadline_begin(struct cli_job *job)
{
	const uint64_t now = cli_now_ns();

	if (job->deadline_ns)
		job->end_ns = job->deadline_ns < UINT64_MAX - now ?
			      now + job->deadline_ns : UINT64_MAX;
}

uint64_t cli_deadline_left(const struct cli_job *job)
{
	const uint64_t now = cli_now_ns();

	if (!job->end_ns)
		return 0;
	return now < job->end_ns ? job->end_ns - now : 1;
}

bool cli_must_stop(const struct cli_job *job)
{
	return cli_interrupted() ||
	       (job->end_ns && cli_now_ns() >= job->end_ns);
}

const char *cli_stop_words(void)
{
	return cli_interrupted() ? "interrupted" : "the deadline passed first";
}

static int must_stop(void *job)
{
	return cli_must_stop(job);
}

void cli_stops(struct cli_job *job, struct pagedet *pd)
{
	pagedet_set_stop(pd, must_stop, job);
}
