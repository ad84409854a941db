/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Memory for comparisons: eight pages that are equal in every process, except
 * for changes by arguments "PAGE=BYTE". Prints their address and waits for the
 * end of its input.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGES 8u

int main(int argc, char **argv)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned i, n, byte;

	if (at == MAP_FAILED)
		return 1;
	madvise(at, PAGES * page, MADV_NOHUGEPAGE);
	/* The last two stay untouched. */
	for (i = 0; i < PAGES - 2; i++)
		memset(at + i * page, (int)i, page);
	for (i = 1; i < (unsigned)argc; i++)
		if (sscanf(argv[i], "%u=%u", &n, &byte) == 2 && n < PAGES)
			at[n * page + 100] = (char)byte;
	printf("%d %lx\n", (int)getpid(), (unsigned long)at);
	fflush(stdout);
	return getchar() == EOF ? 0 : 1;
}
