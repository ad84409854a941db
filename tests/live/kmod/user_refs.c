/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests that questions leave no references to a page. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "user.h"

#define PAGE ((size_t)4096)
/* Pages per kind. */
#define EACH ((size_t)64)
#define KINDS 3
#define PAGES (KINDS * EACH)
/* Temporary references come and go. */
#define TRIES 10

static char *at[PAGES];
static uint64_t frames[PAGES];

static int take(size_t kind, int fd)
{
	const int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	char *p = mmap(NULL, EACH * PAGE,
		       fd < 0 ? PROT_READ | PROT_WRITE : PROT_READ, flags,
		       fd, 0);
	size_t i;

	if (p == MAP_FAILED)
		return 1;
	if (fd < 0)
		memset(p, 1, EACH * PAGE);
	for (i = 0; i < EACH; i++)
		at[kind * EACH + i] = p + i * PAGE;
	return mlock(p, EACH * PAGE) < 0;
}

/* Takes anonymous memory, a memfd, and a program's pages. */
static int take_all(void)
{
	int memory = memfd_create("refs", MFD_CLOEXEC);
	int program = open("/bin/busybox", O_RDONLY | O_CLOEXEC);
	char *all = calloc(EACH, PAGE);

	if (!all || write(memory, all, EACH * PAGE) != (ssize_t)(EACH * PAGE))
		return 1;
	free(all);
	return take(0, -1) || take(1, memory) || take(2, program);
}

static int find_frames(void)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t entry;
	size_t i;

	for (i = 0; i < PAGES; i++) {
		if (pread(fd, &entry, 8, (off_t)((uintptr_t)at[i] / PAGE *
						 8)) != 8 || !(entry >> 63))
			return 1;
		frames[i] = entry & ((UINT64_C(1) << 55) - 1);
	}
	close(fd);
	return 0;
}

/* Reads the reference counts from another source. */
static int read_refs(int fd, uint64_t *refs)
{
	char text[PAGES * 20 + 8], *p = text, *answer, *line;
	size_t i;

	p += sprintf(p, "pfn");
	for (i = 0; i < PAGES; i++)
		p += sprintf(p, " %" PRIu64, frames[i]);
	answer = user_ask(fd, text, (size_t)(p - text));
	line = answer;
	for (i = 0; i < PAGES && line; i++) {
		refs[i] = user_number(line, " refcount=");
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	free(answer);
	return !line || i != PAGES;
}

static int ask_all(int fd)
{
	char text[96], *answer;
	size_t i;

	for (i = 0; i < PAGES * 3; i++) {
		const size_t k = i / 3;

		if (i % 3 == 0)
			sprintf(text, "pfn 0x%" PRIx64 " content", frames[k]);
		else if (i % 3 == 1)
			sprintf(text, "phys 0x%" PRIx64 " nowalk",
				frames[k] * PAGE);
		else
			sprintf(text, "virt %d 0x%zx %s", getpid(),
				(size_t)at[k], k % 16 ? "nowalk" : "walk");
		answer = user_ask(fd, text, strlen(text));
		if (!answer || !strstr(answer, "state=have"))
			return 1;
		free(answer);
	}
	return 0;
}

int user_refs(int rounds)
{
	static uint64_t before[PAGES], after[PAGES];
	int fd = user_open(), i;

	if (fd < 0 || take_all() || find_frames() || read_refs(fd, before))
		return 1;
	for (i = 0; i < rounds; i++)
		if (ask_all(fd))
			return 1;
	for (i = 0; i < TRIES; i++) {
		if (read_refs(fd, after))
			return 1;
		if (!memcmp(before, after, sizeof(before)))
			break;
		usleep(100000);
	}
	printf("refs %zu pages, %" PRIu64 " %" PRIu64 " %" PRIu64
	       " before, %" PRIu64 " %" PRIu64 " %" PRIu64 " after\n",
	       PAGES, before[0], before[EACH], before[2 * EACH], after[0],
	       after[EACH], after[2 * EACH]);
	return i == TRIES;
}
