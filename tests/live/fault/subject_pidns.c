/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A page that a process in a pid namespace shares with one outside.
 *
 *   subject pidns COMMAND
 *
 * A shell inside the namespace runs COMMAND, where {pid} is the inner process
 * with the page. The first line of output names the outer one.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "subject.h"

/* The first process of the namespace. */
static int inside(char *at, char *command)
{
	char *argv[] = { "sh", "-c", command, NULL };
	struct subject_words w = { .vaddr = (uintptr_t)at };
	int status;
	pid_t pid;

	if (unshare(CLONE_NEWNS) < 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("proc", "/proc", "proc", 0, NULL) < 0)
		subject_die("mount of /proc");
	/* A shared page is not mapped until it is touched. */
	if (*(volatile char *)(at + 1) == 'a')
		w.pfn = subject_pfn(at);
	w.pid = fork();
	if (w.pid < 0)
		subject_die("fork");
	if (w.pid == 0) {
		at[1]++;
		for (;;)
			pause();
	}
	/* The child maps the page by writing to it. */
	while (*(volatile char *)(at + 1) == 'a')
		usleep(1000);
	/* Only these two may map it. */
	munmap(at, PAGE);
	subject_replace(argv, &w);
	pid = fork();
	if (pid < 0)
		subject_die("fork");
	if (pid == 0) {
		execvp(argv[0], argv);
		subject_die(argv[0]);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 75;
}

int subject_pidns(int argc, char **argv)
{
	int status;
	char *at;
	pid_t pid;

	if (argc != 1)
		return 64;
	at = subject_pages(1, MAP_SHARED);
	at[1] = 'a';
	printf("{\"outside\": %d, \"vaddr\": %lu, \"pfn\": %lu}\n", getpid(),
	       (unsigned long)at, (unsigned long)subject_pfn(at));
	fflush(stdout);
	if (unshare(CLONE_NEWPID) < 0)
		subject_die("unshare");
	pid = fork();
	if (pid < 0)
		subject_die("fork");
	if (pid == 0)
		_exit(inside(at, argv[0]));
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 75;
}
