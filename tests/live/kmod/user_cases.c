/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Asks about unusual pages of this process. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user.h"

#ifndef MAP_HUGE_1GB
#define MAP_HUGE_1GB (30 << 26)
#endif

#define PAGE ((size_t)4096)
#define GB ((size_t)1 << 30)
#define CGROUPS "/sys/fs/cgroup/"

/*
 * The first answer about an address that contains a word, or the last answer.
 */
static int ask_for(const void *p, const char *word, int tries)
{
	int fd = user_open();
	char text[64], *answer = NULL;

	snprintf(text, sizeof(text), "virt %d 0x%zx", getpid(), (size_t)p);
	do {
		free(answer);
		answer = fd < 0 ? NULL : user_ask(fd, text, strlen(text));
		if (!answer) {
			perror(text);
			return 1;
		}
	} while (!strstr(answer, word) && --tries);
	fputs(answer, stdout);
	fflush(stdout);
	free(answer);
	close(fd);
	return 0;
}

static int ask_about(const void *p)
{
	return ask_for(p, "", 1);
}

/* Asks about the first page of a file, which is present. */
static int ask_about_file(int fd)
{
	char *p;

	if (fd < 0 || write(fd, "x", 1) != 1)
		return 1;
	p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return 1;
	*(volatile char *)p = 1;
	return ask_about(p);
}

static int file_of(const char *path)
{
	return open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

static int new_file(void)
{
	const int failed = ask_about_file(file_of("/disk/new"));

	unlink("/disk/new");
	return failed;
}

static int removed_file(void)
{
	const int fd = file_of("/disk/removed");

	unlink("/disk/removed");
	return ask_about_file(fd);
}

static int unnamed_file(void)
{
	return ask_about_file(memfd_create("unnamed", MFD_CLOEXEC));
}

static void *own_page(size_t size, int flags)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	*p = 1;
	return p;
}

/* Whether the first thread is no more than its entry. */
static int first_has_ended(void)
{
	char path[64], text[512], *state;
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", getpid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	text[n < 0 ? 0 : n] = '\0';
	state = strrchr(text, ')');
	return state && state[1] == ' ' && state[2] == 'Z';
}

static void *ask_and_end(void *page)
{
	int i;

	for (i = 0; i < 6000 && !first_has_ended(); i++)
		usleep(10000);
	_exit(ask_about(page));
}

/* The first thread has ended, but the process continues. */
static int thread_ended(void)
{
	void *page = own_page(PAGE, 0);
	pthread_t thread;

	if (!page || pthread_create(&thread, NULL, ask_and_end, page))
		return 1;
	syscall(SYS_exit, 0);
	return 1;
}

static int enter(const char *cgroup)
{
	char path[128];
	int fd, r;

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	r = fd < 0 || write(fd, "0", 1) != 1;
	close(fd);
	return r;
}

/* The page stays charged to a removed cgroup. */
static int removed_cgroup(void)
{
	struct stat st;
	void *page;

	if (mkdir(CGROUPS "testcg/removed", 0700) < 0 ||
	    enter(CGROUPS "testcg/removed"))
		return 1;
	page = own_page(PAGE, 0);
	if (!page || enter(CGROUPS) || rmdir(CGROUPS "testcg/removed") < 0 ||
	    stat(CGROUPS "testcg", &st) < 0)
		return 1;
	printf("parent=%llu\n", (unsigned long long)st.st_ino);
	/* The kernel removes it a little later. */
	return ask_for(page, " memcg_removed=1 ", 1000);
}

static void *fork_often(void *arg)
{
	for (;;) {
		if (fork() == 0) {
			usleep(20000);
			_exit(0);
		}
		usleep(1000);
	}
	return arg;
}

/* Processes are created during the walk. */
static int forking(void)
{
	void *page = own_page(PAGE, 0);
	pthread_t thread;

	if (!page || pthread_create(&thread, NULL, fork_often, NULL))
		return 1;
	return ask_for(page, " complete=0\n", 1000);
}

static int alone(void)
{
	void *page = own_page(PAGE, 0);

	/* Another process may start just then. */
	return !page || ask_for(page, " complete=1\n", 10);
}

/* A huge page without access permissions. */
static int protected_huge(void)
{
	char *p = own_page(GB, MAP_HUGETLB | MAP_HUGE_1GB);

	if (!p || mprotect(p, GB, PROT_NONE) < 0)
		return 1;
	return ask_about(p + 5 * PAGE);
}

int user_case(const char *name)
{
	static const struct {
		const char *name;
		int (*ask)(void);
	} cases[] = {
		{ "new_file", new_file },
		{ "removed_file", removed_file },
		{ "unnamed_file", unnamed_file },
		{ "thread_ended", thread_ended },
		{ "removed_cgroup", removed_cgroup },
		{ "forking", forking },
		{ "alone", alone },
		{ "protected_huge", protected_huge },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (!strcmp(cases[i].name, name))
			return cases[i].ask();
	return 64;
}
