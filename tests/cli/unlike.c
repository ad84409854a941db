/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Memory for comparisons: eight pages that are equal in every process, except
 * for changes by arguments "PAGE=BYTE". Prints their address, changes what
 * lines of its input say in the same way, and ends with its input.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGES 8u

static void change(char *at, size_t page, const char *text)
{
	unsigned n, byte;

	if (sscanf(text, "%u=%u", &n, &byte) == 2 && n < PAGES)
		at[n * page + 100] = (char)byte;
}

int main(int argc, char **argv)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char line[80];
	unsigned i;

	if (at == MAP_FAILED)
		return 1;
	madvise(at, PAGES * page, MADV_NOHUGEPAGE);
	/* The last two stay untouched. */
	for (i = 0; i < PAGES - 2; i++)
		memset(at + i * page, (int)i, page);
	for (i = 1; i < (unsigned)argc; i++)
		change(at, page, argv[i]);
	printf("%d %lx\n", (int)getpid(), (unsigned long)at);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		change(at, page, line);
		printf("changed\n");
		fflush(stdout);
	}
	return 0;
}
