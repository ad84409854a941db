/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What each process uses: smem, which reads smaps; the kernel's own sums as
 * they are; and the index of all mappings, which sees every page. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "compare.h"

/* Every smaps_rollup, read and not looked at. */
static uint64_t run_rollups(void *arg)
{
	uint64_t start = probe_ns(), *bytes = arg;
	char path[300], text[4096];
	struct dirent *entry;
	DIR *proc = opendir("/proc");
	ssize_t n;
	int fd;

	*bytes = 0;
	while (proc && (entry = readdir(proc))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/smaps_rollup",
			 entry->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		while ((n = read(fd, text, sizeof(text))) > 0)
			*bytes += (uint64_t)n;
		close(fd);
	}
	if (proc)
		closedir(proc);
	return probe_ns() - start;
}

static uint64_t run_index(void *arg)
{
	struct drain *d = arg;
	struct pagedet_index *index;
	uint64_t start = probe_ns();

	if (pagedet_index_new(d->pd, NULL, &index) < 0)
		drain_die(d, "pagedet_index_new");
	start = probe_ns() - start;
	pagedet_index_free(index);
	return start;
}

static uint64_t run_usage(void *arg)
{
	struct pagedet_usages *usages;
	struct drain *d = arg;
	uint64_t start = probe_ns();

	if (pagedet_usage(d->pd, NULL, &usages) < 0)
		drain_die(d, "pagedet_usage");
	start = probe_ns() - start;
	pagedet_usage_free(usages);
	return start;
}

int compare_top(int argc, char **argv)
{
	struct command pagedet = { .argv = {
		command_pagedet(), "top", "--json", "-q"
	}, .may_fail = true };
	struct command smem = { .argv = { NULL } };
	struct drain drain;
	uint64_t bytes;
	struct trial t = {
		.work = "every process, whole process",
		.bound = { "smaps_rollup read bare, in process", run_rollups,
			   &bytes },
		.library = { "pagedet top", command_run, &pagedet },
		.faster = 10
	};

	(void)argv;
	if (argc)
		return 64;
	smem.argv[0] = command_peer("SMEM", &t.no_peer);
	if (smem.argv[0])
		t.peer = (struct trial_side){ "smem", command_run, &smem };
	trial_run(&t);
	drain_open(&drain);
	t = (struct trial){
		.work = "every process, against the index of all mappings",
		.bound = { "pagedet_index_new", run_index, &drain },
		.library = { "pagedet_usage", run_usage, &drain },
		.bound_most = 1.2
	};
	trial_run(&t);
	drain_close(&drain);
	return 0;
}
