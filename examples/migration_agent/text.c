/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Prints messages on stderr, and reads clocks. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "agent.h"

static void say(const char *fmt, va_list ap)
{
	fputs("migration_agent: ", stderr);
	vfprintf(stderr, fmt, ap);
}

void agent_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

int agent_fail(int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return status;
}

int agent_fail_errno(int status, const char *fmt, ...)
{
	const int error = errno;
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	fprintf(stderr, ": %s\n", strerror(error));
	return error == EACCES || error == EPERM ? AGENT_DENIED : status;
}

/* The clock of file times, so that both can be compared. */
uint64_t agent_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME_COARSE, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t agent_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void agent_sleep(unsigned ms)
{
	struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}
