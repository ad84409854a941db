/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What bytes are: class, hash and entropy of pages in memory, against a plain
 * pass of the same hash over them, and one in the library's own flavour. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"

/* The bound, for AVX2. */
#ifdef __x86_64__
#include <immintrin.h>
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), \
			     apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
#define XXH_VECTOR XXH_AVX2
#endif

#define XXH_INLINE_ALL
#include <xxhash.h>

#define PAGE 4096

static uint64_t wide_hash(const void *page, const void *secret)
{
	return XXH3_128bits_withSecret(page, PAGE, secret,
				       COMPARE_SECRET).low64;
}

#ifdef __x86_64__
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#define MAY_RUN __builtin_cpu_supports("avx2")
#else
#define MAY_RUN 1
#endif

struct content {
	struct pagedet *pd;
	unsigned char *bytes;
	size_t n;
	uint32_t want;
	unsigned char secret[COMPARE_SECRET];
	uint64_t seen;		/* so that nothing is left out */
};

static uint64_t run_plain(void *arg)
{
	struct content *c = arg;
	const uint64_t start = probe_ns();
	size_t at;

	for (at = 0; at < c->n; at += PAGE)
		c->seen += compare_plain_hash(c->bytes + at, PAGE, c->secret);
	return probe_ns() - start;
}

static uint64_t run_wide(void *arg)
{
	struct content *c = arg;
	const uint64_t start = probe_ns();
	size_t at;

	for (at = 0; at < c->n; at += PAGE)
		c->seen += wide_hash(c->bytes + at, c->secret);
	return probe_ns() - start;
}

static uint64_t run_content(void *arg)
{
	struct pagedet_content said = { .size = sizeof(said) };
	struct content *c = arg;
	const uint64_t start = probe_ns();
	size_t at;

	for (at = 0; at < c->n; at += PAGE) {
		if (pagedet_content(c->pd, c->bytes + at, PAGE, c->want,
				    &said) < 0)
			probe_die("%s", pagedet_error(c->pd));
		c->seen += said.hash + said.entropy + (uint64_t)*said.name;
	}
	return probe_ns() - start;
}

/* Whole pages from the beginning of a file. */
static void read_file(struct content *c, const char *path, size_t most)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 1;

	c->bytes = aligned_alloc(PAGE, most + PAGE);
	if (fd < 0 || !c->bytes)
		probe_die("cannot read %s", path);
	while (c->n < most && n > 0) {
		n = read(fd, c->bytes + c->n, most - c->n);
		c->n += n > 0 ? (size_t)n : 0;
	}
	close(fd);
	c->n &= ~(size_t)(PAGE - 1);
	if (!c->n)
		probe_die("%s is too short", path);
}

int compare_content(int argc, char **argv)
{
	struct content c = { .want = PAGEDET_CONTENT_CLASS |
				     PAGEDET_CONTENT_HASH };
	char work[128];
	struct trial t = {
		.work = work,
		.peer = { "XXH3-128 of each page", run_plain, &c },
		.bound = { "the same for AVX2", run_wide, &c },
		.library = { "pagedet_content", run_content, &c },
		.rounds = TRIAL_TIGHT_ROUNDS, .peer_most = 1.25
	};

	if (argc != 3)
		return 64;
	if (!MAY_RUN)
		probe_die("this processor has no AVX2");
	read_file(&c, argv[1], strtoul(argv[2], NULL, 10) << 20);
	memset(c.secret, 0x5c, sizeof(c.secret));
	c.pd = pagedet_new();
	if (!c.pd || pagedet_open(c.pd, NULL) < 0)
		probe_die("cannot open");
	snprintf(work, sizeof(work), "%s, %zu MiB, class and hash", argv[0],
		 c.n >> 20);
	trial_run(&t);
	c.want = PAGEDET_CONTENT_ENTROPY;
	snprintf(work, sizeof(work), "%s, %zu MiB, entropy", argv[0],
		 c.n >> 20);
	t.peer = t.bound = (struct trial_side){ NULL, NULL, NULL };
	t.peer_most = 0;
	/* 2 GB/s */
	t.most_ns = (double)c.n / 2;
	trial_run(&t);
	pagedet_free(c.pd);
	free(c.bytes);
	return 0;
}
