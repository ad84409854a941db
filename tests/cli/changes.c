/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * changes - makes known changes to pages
 *
 * Prints "PID ADDRESS" (hex), waits for a line of input, makes all changes,
 * prints "done" and waits for the end of its input. By page from ADDRESS on:
 *   0 stays; 1 is written; 2 is unmapped; 3 is moved to 16 by mremap;
 *   4 is discarded; 5 is copied on write; 6 is touched for the first time
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGES 20

static char *at;
static size_t size;

static char *page(int n)
{
	return at + (size_t)n * size;
}

/* The child keeps the old page until this process writes to it. */
static int copy_on_write(int n)
{
	int ready[2], status;
	pid_t child;
	char c;

	if (pipe(ready))
		return -1;
	child = fork();
	if (child < 0)
		return -1;
	if (!child) {
		close(ready[1]);
		_exit(read(ready[0], &c, 1) != 0);
	}
	close(ready[0]);
	page(n)[0] = 'n';
	close(ready[1]);
	return waitpid(child, &status, 0) == child && !status ? 0 : -1;
}

int main(void)
{
	char line[16];
	int i;

	size = (size_t)sysconf(_SC_PAGESIZE);
	at = mmap(NULL, PAGES * size, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return 1;
	/*
	 * A kernel without huge pages rejects the advice, which does no harm.
	 */
	madvise(at, PAGES * size, MADV_NOHUGEPAGE);
	for (i = 0; i < 6; i++)
		memset(page(i), 'a' + i, size);
	printf("%d %lx\n", (int)getpid(), (unsigned long)at);
	if (fflush(stdout) || !fgets(line, sizeof(line), stdin))
		return 1;
	page(1)[5] = 'x';
	if (munmap(page(2), size) ||
	    mremap(page(3), size, size, MREMAP_MAYMOVE | MREMAP_FIXED,
		   page(16)) != page(16) ||
	    madvise(page(4), size, MADV_DONTNEED) || copy_on_write(5))
		return 1;
	page(6)[0] = 'g';
	printf("done\n");
	return fflush(stdout) || fgets(line, sizeof(line), stdin);
}
