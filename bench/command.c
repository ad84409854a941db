/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Programs as sides of a trial. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"
#include "trial.h"

extern char **environ;

static uint64_t ns_of(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_usec * 1000;
}

uint64_t command_run(void *arg)
{
	struct command *c = arg;
	posix_spawn_file_actions_t actions;
	struct rusage usage;
	uint64_t start, end;
	int r, status;
	pid_t pid;

	if (c->made)
		unlink(c->made);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
					 O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO,
					 c->out ? c->out : "/dev/null",
					 O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (c->may_fail)
		posix_spawn_file_actions_addopen(&actions, STDERR_FILENO,
						 "/dev/null", O_WRONLY, 0);
	start = probe_ns();
	r = posix_spawn(&pid, c->argv[0], &actions, NULL,
			(char *const *)(uintptr_t)c->argv, environ);
	if (r)
		probe_die("cannot start %s: %s", c->argv[0], strerror(r));
	while (wait4(pid, &status, 0, &usage) < 0)
		if (errno != EINTR)
			probe_die("wait4: %s", strerror(errno));
	end = probe_ns();
	posix_spawn_file_actions_destroy(&actions);
	c->status = WIFEXITED(status) ? WEXITSTATUS(status) :
		128 + WTERMSIG(status);
	c->rss_kib = (uint64_t)usage.ru_maxrss;
	c->cpu_ns = ns_of(&usage.ru_utime) + ns_of(&usage.ru_stime);
	if (c->status && !c->may_fail)
		probe_die("%s %s ... ended with status %d", c->argv[0],
			  c->argv[1] ? c->argv[1] : "", c->status);
	return end - start;
}

uint64_t command_run_cpu(void *arg)
{
	const struct command *c = arg;

	command_run(arg);
	return c->cpu_ns;
}

uint64_t report_run(void *arg)
{
	struct report *r = arg;
	unsigned long long ns = 0, seen = 0;
	char line[256];
	FILE *f;
	int fd;

	if (!*r->path) {
		snprintf(r->path, sizeof(r->path), "%s/pagedet-report.XXXXXX",
			 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
		fd = mkstemp(r->path);
		if (fd < 0)
			probe_die("%s: %s", r->path, strerror(errno));
		close(fd);
		r->command.out = r->path;
	}
	command_run(&r->command);
	f = fopen(r->path, "r");
	if (!f)
		probe_die("%s: %s", r->path, strerror(errno));
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%llu %llu", &ns, &seen) < 1)
			ns = 0;
	fclose(f);
	if (!ns)
		probe_die("%s said no time", r->command.argv[0]);
	r->seen = seen;
	return ns;
}

void report_end(struct report *r)
{
	if (*r->path)
		unlink(r->path);
}

const char *command_peer(const char *variable, const char **why)
{
	const char *path = getenv(variable);
	char no[64];

	snprintf(no, sizeof(no), "NO_%s", variable);
	*why = NULL;
	if (path && *path)
		return path;
	*why = getenv(no);
	if (!*why || !**why)
		*why = "not here";
	return NULL;
}

static const char *program(const char *variable)
{
	const char *path = getenv(variable);

	if (!path || !*path)
		probe_die("%s must name the program", variable);
	return path;
}

const char *command_page_types(void)
{
	return program("PAGE_TYPES");
}

const char *command_fincore(void)
{
	return program("FINCORE");
}

const char *command_pagedet(void)
{
	return program("PAGEDET");
}
