/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* User stacks of all threads of a process, whole process: the time of the
 * processor, and that by the clock. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

#define MOST_NS 100000		/* of the processor, a thread */
#define FASTER 20

/* How many lines of a program's output start with @prefix. */
static uint64_t stacks_of(const char *command, const char *prefix)
{
	uint64_t n = 0;
	char line[4096];
	FILE *out = popen(command, "r");

	if (!out)
		probe_die("cannot start %s", command);
	while (fgets(line, sizeof(line), out))
		n += !strncmp(line, prefix, strlen(prefix));
	pclose(out);
	return n;
}

static void same_threads(const char *pid, const char *peer, uint64_t threads)
{
	char script[160];

	snprintf(script, sizeof(script),
		 "\"$PAGEDET\" task %s --stacks=user", pid);
	compare_same("threads", stacks_of(script, "thread "), threads);
	snprintf(script, sizeof(script), "\"$EU_STACK\" -p %s", pid);
	if (peer)
		compare_same("threads", stacks_of(script, "TID "), threads);
}

int compare_stacks(int argc, char **argv)
{
	const char *pid = argv[0], *no_peer;
	const char *path = command_peer("EU_STACK", &no_peer);
	struct command peer = { .argv = { path, "-p", pid } };
	struct command pagedet = { .argv = {
		command_pagedet(), "task", pid, "--stacks=user"
	} };
	struct trial t = {
		.library = { "pagedet task --stacks=user", command_run_cpu,
			     &pagedet },
		.no_peer = no_peer, .most_ns = MOST_NS
	};
	char work[80];

	if (argc != 2)
		return 64;
	t.work = work;
	t.per = atof(argv[1]);
	if (path) {
		t.peer = (struct trial_side){ "eu-stack -p PID",
					      command_run_cpu, &peer };
		t.faster = FASTER;
	}
	same_threads(pid, path, (uint64_t)t.per);
	snprintf(work, sizeof(work), "%.0f threads: a thread, CPU time",
		 t.per);
	trial_run(&t);
	t.library.run = t.peer.run = command_run;
	t.faster = t.most_ns = 0;
	snprintf(work, sizeof(work), "%.0f threads: a thread, by the clock",
		 t.per);
	trial_run(&t);
	trial_value("memory used for it", (double)pagedet.rss_kib / 1024,
		    "MiB", 0);
	return 0;
}
