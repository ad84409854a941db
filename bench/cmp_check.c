/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Is a file clean? One call of cachestat says it. */
#include <stdio.h>

#include "compare.h"

/* So many at a time, for one takes less than a clock tells well. */
#define TIMES 8

struct asking {
	struct pagedet *pd;
	int fd;
};

static uint64_t run_check(void *arg)
{
	const struct asking *a = arg;
	struct pagedet_check check = PAGEDET_CHECK_INIT;
	struct pagedet_verdict v = { .size = sizeof(v) };
	struct pagedet_checked *checked;
	uint64_t start = probe_ns();
	int i;

	check.kind = PAGEDET_CHECK_CLEAN;
	check.fd = a->fd;
	for (i = 0; i < TIMES; i++) {
		if (pagedet_check(a->pd, &check, &checked))
			probe_die("%s", pagedet_error(a->pd));
		pagedet_checked_whole(checked, &v);
		pagedet_checked_free(checked);
		if (v.verdict != PAGEDET_HOLDS)
			probe_die("the file is not clean");
	}
	return (probe_ns() - start) / TIMES;
}

static uint64_t run_stat(void *arg)
{
	uint64_t start = probe_ns();
	int i;

	for (i = 0; i < TIMES; i++)
		probe_cache_stat(arg);
	return (probe_ns() - start) / TIMES;
}

int compare_check(int argc, char **argv)
{
	struct probe_cache cache;
	struct drain lib;
	struct asking a;
	struct trial t = {
		.work = "is a cached file clean?",
		.bound = { "cachestat", run_stat, &cache },
		.library = { "pagedet_check", run_check, &a },
		.bound_most = 1.2,
	};

	if (argc != 1)
		return 64;
	probe_cache_open(&cache, argv[0]);
	drain_open(&lib);
	a.pd = lib.pd;
	a.fd = cache.fd;
	trial_run(&t);
	drain_close(&lib);
	probe_cache_close(&cache);
	return 0;
}
