/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* page_owner's text: who allocated what, against the kernel's own program. */
#include <stdio.h>
#include <stdlib.h>

#include "compare.h"

/* The peer takes half a minute for a gigabyte. */
#define SLOW_ROUNDS 3

/* "sh -c" for what is read through a pipe. */
static struct command piped(const char *script, const char *file,
			    const char *threads)
{
	return (struct command){ .argv = {
		"/bin/sh", "-c", script, "sh", file, command_pagedet(),
		threads
	} };
}

int compare_owners(int argc, char **argv)
{
	struct command sort = { .argv = {
		"", "--cull=stacktrace", argv[0], "/dev/null"
	} };
	struct command pagedet = { .argv = {
		command_pagedet(), "owners", argv[0], "--by",
		"stack,memcg_name,slab,migrate_reason", "--json", "--threads",
		argv[1]
	} };
	char work[120];
	struct trial t = {
		.work = work, .library = { "pagedet", command_run, &pagedet },
		.rounds = SLOW_ROUNDS
	};

	if (argc != 3)
		return 64;
	snprintf(work, sizeof(work), "groups of page_owner_sort, whole process,"
		 " %s thread(s)", argv[1]);
	t.faster = atof(argv[2]);
	sort.argv[0] = command_peer("PAGE_OWNER_SORT", &t.no_peer);
	if (sort.argv[0])
		t.peer = (struct trial_side){ "page_owner_sort", command_run,
					      &sort };
	trial_run(&t);
	return 0;
}

static uint64_t run_probe(void *arg)
{
	const uint64_t start = probe_ns();

	probe_owners(arg);
	return probe_ns() - start;
}

/* A bound of half the work is none: the library sees as many records. */
static void check_probe(struct probe_owners *probe)
{
	struct pagedet_owners_query q = PAGEDET_OWNERS_QUERY_INIT;
	struct pagedet_owners_total total = { .size = sizeof(total) };
	struct pagedet_owners *owners;
	struct pagedet *pd = pagedet_new();

	q.path = probe->path;
	q.threads = 2;
	if (!pd || pagedet_owners(pd, &q, &owners) < 0)
		probe_die("pagedet_owners: %s", pd ? pagedet_error(pd) : "");
	pagedet_owners_total(owners, &total);
	pagedet_owners_free(owners);
	pagedet_free(pd);
	probe_owners(probe);
	if (probe->records != total.times)
		probe_die("%llu records, the library saw %llu",
			  (unsigned long long)probe->records,
			  (unsigned long long)total.times);
	compare_same("stacks", probe->groups, total.groups);
}

/* By stack alone: the bounds are the least that groups it, and the file read
 * and nothing done; of a pipe the same from the file. */
int compare_owners_stack(int argc, char **argv)
{
	struct command read = { .argv = { "/usr/bin/wc", "-l", argv[0] } };
	struct command pagedet = { .argv = {
		command_pagedet(), "owners", argv[0], "--json", "--threads",
		argv[1]
	} };
	struct command pipe = piped("cat \"$1\" | \"$2\" owners - --json "
				    "--threads \"$3\"", argv[0], argv[1]);
	char work[120];
	struct probe_owners probe = { .path = argv[0] };
	struct trial t = {
		.work = work, .library = { "pagedet", command_run, &pagedet },
		.bound = { "least aggregator", run_probe, &probe },
		.bound_most = 1.5
	};

	if (argc != 2)
		return 64;
	probe.threads = (unsigned)atoi(argv[1]);
	check_probe(&probe);
	snprintf(work, sizeof(work), "by stack, whole process, %s thread(s)",
		 argv[1]);
	trial_run(&t);
	t.bound = (struct trial_side){ "wc -l", command_run, &read };
	t.bound_most = 4;
	trial_run(&t);
	snprintf(work, sizeof(work), "the same through a pipe");
	t.library.arg = &pipe;
	t.bound = (struct trial_side){ "the file", command_run, &pagedet };
	t.bound_most = 2;
	trial_run(&t);
	return 0;
}

int compare_owners_rss(int argc, char **argv)
{
	struct command pagedet = { .argv = {
		command_pagedet(), "owners", argv[0], "--json", "--threads",
		"2", "--by", argc > 1 ? argv[1] : ""
	} };
	char work[120];

	if (argc != 2)
		return 64;
	command_run(&pagedet);
	snprintf(work, sizeof(work), "memory used, by %s", argv[1]);
	trial_value(work, (double)pagedet.rss_kib / 1024, "MiB", 64);
	return 0;
}
