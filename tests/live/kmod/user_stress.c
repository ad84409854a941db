/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Asks many questions while the memory in question changes. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user.h"

/* Whether the answer has exactly these frames, each once, in order. */
static int is_about(const char *answer, uint64_t first, int count)
{
	const char *at = answer;
	char want[64];
	int i;

	for (i = 0; i < count; i++) {
		snprintf(want, sizeof(want), "page pfn=0x%llx ",
			 (unsigned long long)(first + (uint64_t)i));
		if (strncmp(at, want, strlen(want)))
			return 0;
		at = strchr(at, '\n');
		if (!at++)
			return 0;
	}
	return !strcmp(at, "end\n");
}

static int one_of_many(int me, int rounds)
{
	const uint64_t first = 0x1000 + (uint64_t)me * 64;
	char text[64], *answer;
	int fd = user_open(), i, count, n;

	for (i = 0; fd >= 0 && i < rounds; i++) {
		count = 1 + i % 64;
		n = snprintf(text, sizeof(text), "pfn 0x%llx+%d content",
			     (unsigned long long)first, count);
		answer = user_ask(fd, text, (size_t)n);
		if (!answer || !is_about(answer, first, count)) {
			printf("process %d: %s\n", me,
			       answer ? answer : strerror(errno));
			return 1;
		}
		free(answer);
	}
	return fd < 0;
}

int user_parallel(int processes, int rounds)
{
	int i, status, failed = 0;

	for (i = 0; i < processes; i++)
		if (fork() == 0)
			exit(one_of_many(i, rounds));
	while (wait(&status) > 0)
		failed |= status;
	printf("parallel %s\n", failed ? "failed" : "good");
	return !!failed;
}

static int ends_well(const char *answer)
{
	const size_t n = strlen(answer);

	return n >= 4 && !strcmp(answer + n - 4, "end\n");
}

/* A frame of memory or past its end, sometimes any number. */
static uint64_t random_frame(uint64_t *seed, uint64_t last)
{
	const uint64_t frame = user_random(seed);

	return user_random(seed) % 16 ? frame % last : frame >> frame % 64;
}

int user_random_frames(uint64_t seed, long count, uint64_t last)
{
	long i, states[3] = { 0 };
	char text[64], *answer;
	int fd = user_open(), n;
	uint64_t kinds = 0;

	for (i = 0; fd >= 0 && i < count; i++) {
		n = snprintf(text, sizeof(text), "%s 0x%llx %s",
			     i % 20 ? "pfn" : "phys",
			     (unsigned long long)random_frame(&seed, last) <<
			     (i % 20 ? 0 : 12),
			     i % 2 ? "content" : "nocontent");
		answer = user_ask(fd, text, (size_t)n);
		if (!answer || !ends_well(answer)) {
			printf("%s: %s\n", text, answer ? answer :
			       strerror(errno));
			return 1;
		}
		states[strstr(answer, "state=have") ? 0 :
		       strstr(answer, "state=nopage") ? 1 : 2]++;
		kinds |= user_number(answer, " kpageflags=");
		free(answer);
	}
	printf("frames %ld: have %ld, nopage %ld, unreferenced %ld, kinds %#"
	       PRIx64 "\n", i, states[0], states[1], states[2], kinds);
	return i != count;
}

/*
 * Whether the task has its own memory. Tasks without it are asked about
 * sometimes.
 */
static int is_wanted(long pid, uint64_t *seed)
{
	char path[64];
	FILE *f;
	int c;

	snprintf(path, sizeof(path), "/proc/%ld/maps", pid);
	f = fopen(path, "re");
	c = f ? fgetc(f) : EOF;
	if (f)
		fclose(f);
	return c != EOF || user_random(seed) % 16 == 0;
}

/* The process after @after. */
static long next_process(long after)
{
	long found = 0, pid, least = 0;
	DIR *dir = opendir("/proc");
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		pid = atol(e->d_name);
		if (pid > after && (!found || pid < found))
			found = pid;
		if (pid > 0 && (!least || pid < least))
			least = pid;
	}
	if (dir)
		closedir(dir);
	return found ? found : least;
}

/* An address in or near its memory, or any address. */
static uint64_t random_address(long pid, uint64_t *seed)
{
	unsigned long start, end;
	uint64_t addr = user_random(seed) >> 16;
	char path[64], line[512];
	long n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/maps", pid);
	f = fopen(path, "re");
	if (!f)
		return addr;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx", &start, &end) == 2 &&
		    user_random(seed) % (uint64_t)++n == 0)
			addr = start + user_random(seed) % (end - start +
							    8192);
	fclose(f);
	return addr;
}

int user_random_addresses(uint64_t seed, long count)
{
	long i, pid = 0, answered = 0, refused = 0;
	char text[96], *answer;
	int fd = user_open(), n;

	for (i = 0; fd >= 0 && i < count; i++) {
		do
			pid = next_process(pid);
		while (!is_wanted(pid, &seed));
		n = snprintf(text, sizeof(text), "virt %ld 0x%llx", pid,
			     (unsigned long long)random_address(pid, &seed));
		answer = user_ask(fd, text, (size_t)n);
		if (answer && ends_well(answer)) {
			answered++;
		} else if (answer || (errno != ESRCH && errno != EINVAL &&
				      errno != ERANGE && errno != EAGAIN)) {
			printf("%s: %s\n", text, answer ? answer :
			       strerror(errno));
			return 1;
		} else {
			refused++;
		}
		free(answer);
	}
	printf("addresses %ld: answered %ld, refused %ld\n", i, answered,
	       refused);
	return i != count;
}
