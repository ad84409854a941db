/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The subject of tests: a process to which something happens. It prints the
 * truth as one line of JSON, and then waits.
 *
 *   subject hold N           N anonymous pages
 *   subject poison           4 pages, the second of which is poisoned
 *   subject offline          4 pages, the second of which is moved away
 *   subject broken-file FILE a file's pages, the second of which is poisoned
 *   subject thrash N CGROUP  N pages, touched in random order for ever, charged
 *                            there: a file of processes
 *   subject exits ...        subject_exits.c
 *   subject pidns ...        subject_pidns.c
 *   subject dm ...           subject_dm.c
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "subject.h"

#ifndef MADV_HWPOISON
#define MADV_HWPOISON 100
#endif
#ifndef MADV_SOFT_OFFLINE
#define MADV_SOFT_OFFLINE 101
#endif

#define PM_PRESENT (UINT64_C(1) << 63)
#define PM_PFN ((UINT64_C(1) << 55) - 1)

#define FEW 4

void subject_die(const char *what)
{
	fprintf(stderr, "subject: %s: %s\n", what, strerror(errno));
	exit(74);
}

char *subject_pages(size_t n, int flags)
{
	char *at = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE,
			flags | MAP_ANONYMOUS, -1, 0);
	size_t i;

	if (at == MAP_FAILED)
		subject_die("mmap");
	/* No page may be part of a larger folio. */
	madvise(at, n * PAGE, MADV_NOHUGEPAGE);
	for (i = 0; i < n; i++)
		snprintf(at + i * PAGE, PAGE, "page %zu of %d", i, getpid());
	return at;
}

uint64_t subject_pfn(const void *at)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t word = 0;

	if (fd < 0)
		subject_die("pagemap");
	if (pread(fd, &word, sizeof(word),
		  (off_t)((uintptr_t)at / PAGE * sizeof(word))) < 0)
		subject_die("pagemap");
	close(fd);
	return word & PM_PRESENT ? word & PM_PFN : 0;
}

void subject_join(const char *cgroup)
{
	FILE *f = fopen(cgroup, "w");

	if (!f || fprintf(f, "%d\n", getpid()) < 0 || fclose(f))
		subject_die(cgroup);
}

static void wait_for_ever(void)
{
	fflush(stdout);
	/*
	 * A reader that waits for the end of output must not wait for this
	 * process.
	 */
	fclose(stdout);
	fclose(stderr);
	for (;;)
		pause();
}

static void say(const char *at, const uint64_t *was, int error)
{
	int i;

	printf("{\"pid\": %d, \"vaddr\": %" PRIuPTR ", \"error\": \"%s\", "
	       "\"was\": [", getpid(), (uintptr_t)at,
	       error ? strerror(error) : "");
	for (i = 0; i < FEW; i++)
		printf("%s%" PRIu64, i ? ", " : "", was[i]);
	printf("], \"is\": [");
	for (i = 0; i < FEW; i++)
		printf("%s%" PRIu64, i ? ", " : "",
		       subject_pfn(at + (size_t)i * PAGE));
	printf("]}\n");
}

/* The kernel does not allow to ignore this signal. */
static void go_on(int signal_nr)
{
	(void)signal_nr;
}

/* Applies @advice to the second page, and prints the result. */
static int advise(char *at, int advice)
{
	uint64_t was[FEW];
	int i, error;

	signal(SIGBUS, go_on);
	for (i = 0; i < FEW; i++)
		was[i] = subject_pfn(at + (size_t)i * PAGE);
	error = advice && madvise(at + PAGE, PAGE, advice) < 0 ? errno : 0;
	say(at, was, error);
	wait_for_ever();
	return 0;
}

static int broken_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	volatile char sum = 0;
	char *at;
	int i;

	if (fd < 0)
		subject_die(path);
	at = mmap(NULL, FEW * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		subject_die("mmap");
	for (i = 0; i < FEW; i++)
		sum = (char)(sum + at[(size_t)i * PAGE]);
	return advise(at, MADV_HWPOISON);
}

static int thrash(size_t n, const char *cgroup)
{
	uint32_t random = 1;
	char *at;
	size_t i;

	subject_join(cgroup);
	at = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		subject_die("mmap");
	madvise(at, n * PAGE, MADV_NOHUGEPAGE);
	for (i = 0; i < n; i++)
		at[i * PAGE] = 1;
	printf("{\"pid\": %d, \"vaddr\": %" PRIuPTR ", \"pages\": %zu}\n",
	       getpid(), (uintptr_t)at, n);
	fflush(stdout);
	fclose(stdout);
	for (;;) {
		random = random * 1664525 + 1013904223;
		at[(random >> 8) % n * PAGE]++;
	}
}

void subject_replace(char **argv, const struct subject_words *w)
{
	char text[64];

	for (; *argv; argv++) {
		char *copy = NULL, *at = *argv;
		size_t len = 0;
		FILE *f = open_memstream(&copy, &len);

		if (!f)
			subject_die("open_memstream");
		while (*at) {
			text[0] = '\0';
			if (!strncmp(at, "{pid}", 5)) {
				snprintf(text, sizeof(text), "%d", w->pid);
				at += 5;
			} else if (!strncmp(at, "{vaddr}", 7)) {
				snprintf(text, sizeof(text), "%#" PRIx64,
					 w->vaddr);
				at += 7;
			} else if (!strncmp(at, "{pfn}", 5)) {
				snprintf(text, sizeof(text), "%" PRIu64,
					 w->pfn);
				at += 5;
			} else {
				text[0] = *at++;
				text[1] = '\0';
			}
			fputs(text, f);
		}
		fclose(f);
		*argv = copy;
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "hold") && argc == 3) {
		size_t n = strtoul(argv[2], NULL, 10);

		return advise(subject_pages(n < FEW ? FEW : n, MAP_PRIVATE), 0);
	}
	if (!strcmp(what, "poison") && argc == 2)
		return advise(subject_pages(FEW, MAP_PRIVATE), MADV_HWPOISON);
	if (!strcmp(what, "offline") && argc == 2)
		return advise(subject_pages(FEW, MAP_PRIVATE),
			      MADV_SOFT_OFFLINE);
	if (!strcmp(what, "broken-file") && argc == 3)
		return broken_file(argv[2]);
	if (!strcmp(what, "thrash") && argc == 4)
		return thrash(strtoul(argv[2], NULL, 10), argv[3]);
	if (!strcmp(what, "exits"))
		return subject_exits(argc - 2, argv + 2);
	if (!strcmp(what, "pidns"))
		return subject_pidns(argc - 2, argv + 2);
	if (!strcmp(what, "dm"))
		return subject_dm(argc - 2, argv + 2);
	fprintf(stderr, "subject: no such command\n");
	return 64;
}
