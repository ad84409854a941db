/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Compares a list of frames with /proc/kpageflags, read before and after by
 * this process, which is itself part of that memory.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <linux/kernel-page-flags.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user.h"

#define BIT(n) (UINT64_C(1) << (n))
/*
 * Flags that come and go, a flag that 6.12 sets for every anonymous page, and
 * the flag for exclusive pages (34).
 */
#define RESTLESS \
	(BIT(KPF_LOCKED) | BIT(KPF_REFERENCED) | BIT(KPF_ACTIVE) | \
	 BIT(KPF_LRU) | BIT(KPF_IDLE) | BIT(KPF_RECLAIM) | \
	 BIT(KPF_WRITEBACK) | BIT(KPF_KSM) | BIT(34))

static long read_flags(uint64_t first, uint64_t *to, long count)
{
	int fd = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	ssize_t n;
	long got = 0;

	while (got < count) {
		n = pread(fd, to + got, (size_t)(count - got) * 8,
			  (off_t)(first + (uint64_t)got) * 8);
		if (n <= 0)
			break;
		got += n / 8;
	}
	close(fd);
	return got;
}

static const char *value_of(const char *line, const char *key)
{
	const char *at = strstr(line, key);
	const char *end = strchr(line, '\n');

	return at && at < end ? at + strlen(key) : NULL;
}

/*
 * Checks one line of the answer. @before, @after: NULL behind the last frame.
 */
static int is_wrong(const char *line, uint64_t pfn, const uint64_t *before,
		    const uint64_t *after)
{
	const char *at = value_of(line, " pfn="), *flags;
	uint64_t said;

	if (!at || strtoull(at, NULL, 0) != pfn)
		return 1;
	at = value_of(line, " state=");
	flags = value_of(line, " kpageflags=");
	if (!before || *before & BIT(KPF_NOPAGE))
		return !at || strncmp(at, "nopage", 6);
	if (!flags)
		return 1;
	said = strtoull(flags, NULL, 0);
	/* A slab uses the place of that count for other data. */
	if (*before & BIT(KPF_SLAB))
		said |= *before & BIT(KPF_ANON);
	/* The question itself takes memory for a while. */
	if (*before != *after ||
	    (*before & BIT(KPF_BUDDY) && !(said & BIT(KPF_BUDDY))))
		return 0;
	return ((said ^ *before) & ~(uint64_t)RESTLESS) != 0;
}

int user_sweep(uint64_t first, long count)
{
	uint64_t *before = calloc((size_t)count, 8), kinds = 0;
	uint64_t *after = calloc((size_t)count, 8);
	int fd = user_open(), n, wrong = 0;
	char text[64], *answer, *line;
	long i, have, still = 0;

	have = read_flags(first, before, count);
	n = snprintf(text, sizeof(text), "pfn 0x%" PRIx64 "+%ld content",
		     first, count);
	answer = user_ask(fd, text, (size_t)n);
	if (!answer || read_flags(first, after, count) != have)
		return 1;
	line = answer;
	for (i = 0; i < count && line; i++) {
		if (is_wrong(line, first + (uint64_t)i,
			     i < have ? before + i : NULL, after + i) &&
		    wrong++ < 20)
			printf("%#" PRIx64 ", %#" PRIx64 ": %.*s\n", before[i],
			       after[i], (int)strcspn(line, "\n"), line);
		if (i < have && before[i] == after[i]) {
			kinds |= before[i];
			still++;
		}
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	printf("sweep %ld of %ld kinds %#" PRIx64 "\n", i, still, kinds);
	return wrong || i != count || !line || strcmp(line, "end\n");
}
