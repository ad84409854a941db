/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds a file by its name alone, which a user typed in the place of its path:
 * a program, or a file that some process maps, such as a library.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* The files of more processes are not compared. */
#define TASKS 512

/* Finds a program in the directories of PATH. */
static bool find_program(const char *name, char *ret, size_t size)
{
	const char *at = getenv("PATH");
	size_t len;
	int n;

	for (; at && *at; at += len + (at[len] == ':')) {
		len = strcspn(at, ":");
		n = snprintf(ret, size, "%.*s/%s", (int)len, at, name);
		if (*at == '/' && n > 0 && (size_t)n < size &&
		    !access(ret, X_OK))
			return true;
	}
	return false;
}

struct search {
	const char *name;
	char *ret;
	size_t size;
	bool found;
};

static int try_area(void *user, const struct pagedet_area *area)
{
	struct search *s = user;
	const size_t len = strlen(s->name);

	if (area->len <= len || area->len >= s->size ||
	    area->name[0] != '/' || area->name[area->len - len - 1] != '/' ||
	    memcmp(area->name + area->len - len, s->name, len))
		return 0;
	snprintf(s->ret, s->size, "%.*s", (int)area->len, area->name);
	s->found = true;
	return 1;
}

static bool find_mapped(const struct cli_job *job, const char *name, char *ret,
			size_t size)
{
	struct pagedet_task *tasks = calloc(TASKS, sizeof(*tasks));
	struct search s = { name, ret, size, false };
	struct pagedet *pd = pagedet_new();
	int n = -1, i;

	if (tasks && pd && !pagedet_open(pd, &job->open))
		n = pagedet_tasks(pd, PAGEDET_TASKS_PROCESSES, tasks, TASKS,
				  NULL);
	for (i = 0; i < n && i < TASKS && !s.found; i++)
		(void)pagedet_areas(pd, tasks[i].pid, try_area, &s);
	pagedet_free(pd);
	free(tasks);
	return s.found;
}

bool cli_command_for_path(const struct cli_job *job, const char *name,
			  char text[CLI_HINT])
{
	char path[PATH_MAX], quoted[CLI_QUOTED];
	const bool here = !job->open.n_files && !job->open.root;

	if (strchr(name, '/') || !*name ||
	    (!(here && find_program(name, path, sizeof(path))) &&
	     !find_mapped(job, name, path, sizeof(path))))
		return false;
	snprintf(text, CLI_HINT, "try: %s %s %s;", job->again,
		 job->command->name, cli_argument(path, "PATH", quoted));
	return true;
}
