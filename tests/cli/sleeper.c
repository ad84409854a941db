/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * sleeper - threads that sleep below a chain of functions
 *
 * usage: sleeper THREADS
 *
 * Each thread prints "TID ADDRESS...": its return addresses in hex, as
 * backtrace() has them. Then it sleeps in nanosleep(), read() or a futex. The
 * first one sleeps in the handler of a signal. The program ends when
 * its input does.
 */
#include <errno.h>
#include <execinfo.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FRAMES 64

/* For a function that stays as it is written. */
#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noipa))
#endif

static int never[2];
static uint32_t word;

static void sleep_somehow(unsigned how)
{
	const struct timespec long_time = { 100000, 0 };
	char c;

	if (how % 3 == 0)
		nanosleep(&long_time, NULL);
	else if (how % 3 == 1)
		(void)!read(never[0], &c, 1);
	else
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

/* One write, so that lines of threads stay whole. */
static void say(void *const *frames, int n)
{
	char line[FRAMES * 20];
	size_t len = (size_t)snprintf(line, sizeof(line), "%ld",
				      syscall(SYS_gettid));
	int i;

	for (i = 0; i < n; i++)
		len += (size_t)snprintf(line + len, sizeof(line) - len, " %lx",
					(unsigned long)(uintptr_t)frames[i]);
	line[len++] = '\n';
	(void)!write(STDOUT_FILENO, line, len);
}

APART static unsigned inner(unsigned how)
{
	void *frames[FRAMES];

	say(frames, backtrace(frames, FRAMES));
	sleep_somehow(how);
	return how + (unsigned)word;
}

APART static unsigned middle(unsigned how)
{
	return inner(how) + 1;
}

APART static unsigned outer(unsigned how)
{
	return middle(how) + 2;
}

static void handle(int number)
{
	(void)number;
	outer(0);
}

static void *run(void *how)
{
	if (!how) {
		signal(SIGUSR1, handle);
		pthread_kill(pthread_self(), SIGUSR1);
	}
	outer((unsigned)(uintptr_t)how);
	return NULL;
}

int main(int argc, char **argv)
{
	const int n = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t thread;
	void *first;
	char c;
	int i;

	/* backtrace() loads a library for its first call. */
	backtrace(&first, 1);
	if (pipe(never) < 0)
		return 1;
	for (i = 0; i < n; i++)
		if (pthread_create(&thread, NULL, run, (void *)(uintptr_t)i))
			return 1;
	while (read(STDIN_FILENO, &c, 1) > 0)
		continue;
	return 0;
}
