/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Measures queries of the same frames: in one question, one by one, and through
 * the three files of /proc.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "user.h"

#define ROUNDS 3

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int batch(int fd, uint64_t first, long count)
{
	char *text = malloc((size_t)count * 20 + 16), *at = text, *answer;
	long i;

	if (!text)
		return 1;
	at += sprintf(at, "pfn");
	for (i = 0; i < count; i++)
		at += sprintf(at, " 0x%llx", (unsigned long long)first +
			      (unsigned long long)i);
	answer = user_ask(fd, text, (size_t)(at - text));
	i = !answer || !strstr(answer, "\nend\n");
	free(text);
	free(answer);
	return (int)i;
}

/*
 * Opens and closes the file for each page, like a caller that does not know
 * lists.
 */
static int single(uint64_t first, long count, const char *option)
{
	char text[64], *answer;
	long i;
	int n, fd;

	for (i = 0; i < count; i++) {
		fd = user_open();
		n = snprintf(text, sizeof(text), "phys 0x%llx%s",
			     ((unsigned long long)first +
			      (unsigned long long)i) << 12, option);
		answer = fd < 0 ? NULL : user_ask(fd, text, (size_t)n);
		if (!answer)
			return 1;
		free(answer);
		close(fd);
	}
	return 0;
}

static int files(uint64_t first, long count)
{
	static const char *const names[] = { "/proc/kpageflags",
					     "/proc/kpagecount",
					     "/proc/kpagecgroup" };
	uint64_t word;
	long i;
	int f, fd;

	for (f = 0; f < 3; f++) {
		fd = open(names[f], O_RDONLY);
		for (i = 0; i < count; i++)
			if (pread(fd, &word, 8, (off_t)(first + (uint64_t)i) *
				  8) != 8)
				return 1;
		close(fd);
	}
	return 0;
}

int user_bench(uint64_t first, long count)
{
	double start, best[4] = { 1e9, 1e9, 1e9, 1e9 };
	int fd = user_open(), round, failed = fd < 0, i;
	const long few = count / 50;

	for (round = 0; round < ROUNDS && !failed; round++) {
		for (i = 0; i < 4 && !failed; i++) {
			start = now();
			failed = i == 0 ? batch(fd, first, count) :
				i == 1 ? single(first, count,
						" nowalk nocontent") :
				i == 2 ? files(first, count) :
				single(first, few, "");
			start = now() - start;
			if (start < best[i])
				best[i] = start;
		}
	}
	printf("bench %ld batch %.6f single %.6f files %.6f walk %.6f\n",
	       count, best[0], best[1], best[2],
	       best[3] * (double)count / (double)few);
	return failed;
}
