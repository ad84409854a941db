/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Processes of which the kernel's lists of tasks show less than there is, for
 * tests of who maps a page. Prints what it has made, and waits until its
 * standard input ends.
 *
 *   shared space    two processes with one address space, and a third one,
 *                   forked after both, that shares a page with them
 *   shared last     the same, but the second one's main thread has ended, and
 *                   there is no third one
 *   shared ended    a process whose main thread ends before another thread
 *   shared zombies  many processes that have ended, and that nobody waits for
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK 65536
#define ZOMBIES 300

static void wait_for_end(void)
{
	char c;

	while (read(0, &c, 1) > 0)
		;
}

static int wait_as_child(void *arg)
{
	(void)arg;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
	return 0;
}

/* A page that only this process maps, until it forks. */
static volatile char *new_page(void)
{
	volatile char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		exit(1);
	*page = 1;
	return page;
}

static int make_space(void)
{
	volatile char *page = new_page();
	char *stack = malloc(STACK);
	int other, third;

	other = clone(wait_as_child, stack + STACK, CLONE_VM | SIGCHLD, NULL);
	third = fork();
	if (!third) {
		/* fork() has not mapped it. */
		page[1] = 1;
		return wait_as_child(NULL);
	}
	/* It is mapped there before it is told. */
	while (!page[1])
		usleep(1000);
	printf("%d %d %d %#lx\n", (int)getpid(), other, third,
	       (unsigned long)page);
	fflush(stdout);
	wait_for_end();
	kill(other, SIGKILL);
	kill(third, SIGKILL);
	return 0;
}

/* Its main thread ends, another one waits. */
static int leave_to_thread(void *stack)
{
	if (clone(wait_as_child, stack, CLONE_VM | CLONE_THREAD |
		  CLONE_SIGHAND | CLONE_FS | CLONE_FILES, NULL) < 0)
		return 1;
	syscall(SYS_exit, 0);
	return 0;
}

static int make_last(void)
{
	volatile char *page = new_page();
	char *stacks = malloc((size_t)2 * STACK);
	int other;

	other = clone(leave_to_thread, stacks + STACK, CLONE_VM | SIGCHLD,
		      stacks + (size_t)2 * STACK);
	printf("%d %d %#lx\n", (int)getpid(), other, (unsigned long)page);
	fflush(stdout);
	wait_for_end();
	kill(other, SIGKILL);
	return 0;
}

static void *go_on(void *arg)
{
	(void)arg;
	wait_for_end();
	exit(0);
}

static int make_ended(void)
{
	volatile char *page = new_page();
	pthread_t thread;

	if (pthread_create(&thread, NULL, go_on, NULL))
		return 1;
	printf("%d %#lx\n", (int)getpid(), (unsigned long)page);
	fflush(stdout);
	pthread_exit(NULL);
	return 0;
}

/* More than any machine ends while a list of tasks is read. */
static int make_zombies(void)
{
	int child = 0, i;

	for (i = 0; i < ZOMBIES; i++) {
		siginfo_t is;

		child = fork();
		if (!child)
			_exit(0);
		if (child < 0 || waitid(P_PID, (id_t)child, &is,
					WEXITED | WNOWAIT))
			return 1;
	}
	printf("%d %d\n", child, ZOMBIES);
	fflush(stdout);
	wait_for_end();
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "space"))
		return make_space();
	if (argc == 2 && !strcmp(argv[1], "last"))
		return make_last();
	if (argc == 2 && !strcmp(argv[1], "ended"))
		return make_ended();
	if (argc == 2 && !strcmp(argv[1], "zombies"))
		return make_zombies();
	return 1;
}
