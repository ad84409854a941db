/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Suggestions about processes: that a page frame number may have been meant as
 * one, which area of a process a word may name, and which cgroup a process is
 * in.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* --- page frame numbers --- */

/* A single number in the form of a pid. */
static bool is_pid_word(const struct cli_job *job, uint64_t *ret)
{
	const char *word = job->n_words == 1 ? job->words[0] : "";

	return *word && strspn(word, "0123456789") == strlen(word) &&
	       !cli_number(word, CLI_DECIMAL, ret) && *ret && *ret <= INT_MAX;
}

/* Whether no process can have anything to do with the page. */
static bool is_idle(const struct cli_job *job, struct pagedet *pd, uint64_t pfn)
{
	struct pagedet_item item = { pfn, 1, 0, 0 };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_page row;
	struct pagedet_iter *it;
	int n;

	q.target = PAGEDET_TARGET_PFN;
	q.items = &item;
	q.n_items = 1;
	q.deadline_ns = cli_deadline_left(job);
	q.fields[PAGEDET_FIELD_KIND / 64] |= 1ull << PAGEDET_FIELD_KIND % 64;
	if (pagedet_query(pd, &q, &it))
		return false;
	n = pagedet_next(it, &row, 1);
	pagedet_iter_free(it);
	return n == 1 && PAGEDET_CELL_STATE(row.cell[PAGEDET_FIELD_KIND]) ==
			 PAGEDET_HAVE &&
	       (row.kind == PAGEDET_KIND_FREE ||
		row.kind == PAGEDET_KIND_RESERVED ||
		row.kind == PAGEDET_KIND_HOLE ||
		row.kind == PAGEDET_KIND_UNINIT);
}

/* Gets all tasks, and prints nothing. The caller frees *@ret. */
static size_t list_tasks(struct pagedet *pd, struct pagedet_task **ret)
{
	uint64_t lost;
	const int n = pagedet_tasks(pd, 0, NULL, 0, &lost);
	int got;

	*ret = n > 0 ? calloc((size_t)n, sizeof(**ret)) : NULL;
	if (!*ret)
		return 0;
	got = pagedet_tasks(pd, 0, *ret, (size_t)n, &lost);
	return got < 0 ? 0 : got < n ? (size_t)got : (size_t)n;
}

/* The name of a task in a dump. */
static bool find_name(struct pagedet *pd, uint64_t pid, char ret[32])
{
	struct pagedet_task *tasks;
	const size_t n = list_tasks(pd, &tasks);
	size_t i;

	for (i = 0; i < n && tasks[i].pid != pid; i++)
		;
	if (i < n)
		snprintf(ret, 32, "%s", tasks[i].comm);
	free(tasks);
	return i < n;
}

void cli_tell_process(const struct cli_job *job, struct pagedet *pd)
{
	const bool dump = job->open.n_files;
	char name[32];
	uint64_t pid;

	if (job->quiet || job->format != PAGEDET_FORMAT_TEXT || job->file ||
	    !is_pid_word(job, &pid))
		return;
	/* On a running kernel most numbers are none, and that is known first.
	 */
	if ((!dump && !cli_task_name(job, pid, name)) ||
	    !is_idle(job, pd, pid) || (dump && !find_name(pd, pid, name)))
		return;
	cli_say("hint: %" PRIu64 " is also a process (%s); its memory: %s task "
		"%" PRIu64, pid, name, job->again, pid);
}

/* --- areas --- */

struct search {
	const char *word;
	char name[256];		/* of the area; "" if there is none */
};

static int try_area(void *user, const struct pagedet_area *area)
{
	const char *slash = memrchr(area->name, '/', area->len);
	const size_t head = slash ? (size_t)(slash - area->name) + 1 : 0;
	struct search *s = user;
	char name[sizeof(s->name)];

	snprintf(name, sizeof(name), "%.*s", (int)(area->len - head),
		 area->name + head);
	if (!strcasestr(name, s->word))
		return 0;
	snprintf(s->name, sizeof(s->name), "%s", name);
	return 1;
}

bool cli_tell_area(const struct cli_job *job, struct pagedet *pd,
		   const char *word)
{
	struct search s = { .word = word };
	char quoted[CLI_QUOTED];
	uint64_t pid;

	if (job->n_words < 2 || word == job->words[0] ||
	    cli_number(job->words[0], CLI_DECIMAL, &pid) || pid > INT_MAX)
		return false;
	(void)pagedet_areas(pd, (uint32_t)pid, try_area, &s);
	if (!*s.name)
		return false;
	cli_say("hint: process %" PRIu64 " maps '%s'; try: %s virt %" PRIu64
		" %s", pid, s.name, job->again, pid,
		cli_argument(s.name, "AREA", quoted));
	return true;
}

/* --- cgroups --- */

/* Gets the pid that @word is, or the one that has this name; 0: there is none.
 */
static uint64_t pid_of(const struct cli_job *job, const char *word)
{
	struct pagedet_task *tasks = NULL;
	struct pagedet *pd;
	uint64_t pid = 0;
	size_t n = 0, i;

	if (*word >= '0' && *word <= '9')
		return cli_number(word, CLI_DECIMAL, &pid) ? 0 : pid;
	pd = pagedet_new();
	if (pd && !pagedet_open(pd, &job->open))
		n = list_tasks(pd, &tasks);
	for (i = 0; i < n && !pid; i++)
		if (tasks[i].pid == tasks[i].tgid &&
		    !strcmp(tasks[i].comm, word))
			pid = tasks[i].pid;
	free(tasks);
	pagedet_free(pd);
	return pid;
}

/* The cgroup in a line of /proc/PID/cgroup, if memory is charged to it. */
static const char *memory_cgroup(char *line)
{
	char *controllers = strchr(line, ':');
	char *path = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!path)
		return NULL;
	*path++ = '\0';
	path[strcspn(path, "\n")] = '\0';
	/* One that is not below the own one cannot be named here. */
	if (!strncmp(path, "/..", 3))
		return NULL;
	return !controllers[1] || strstr(controllers, "memory") ? path : NULL;
}

bool cli_cgroup_of(const struct cli_job *job, const char *word, uint64_t *pid,
		   char *ret, size_t size)
{
	char path[PATH_MAX], line[PATH_MAX];
	const char *found;
	bool any = false;
	FILE *f;

	*pid = job->open.n_files ? 0 : pid_of(job, word);
	if (!*pid)
		return false;
	snprintf(path, sizeof(path), "%s/proc/%" PRIu64 "/cgroup",
		 job->open.root ? job->open.root : "", *pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		const bool unified = !strncmp(line, "0::", 3);

		found = memory_cgroup(line);
		/* Where both are, memory belongs to the older hierarchy. */
		if (!found || (unified && any) || strlen(found) >= size)
			continue;
		snprintf(ret, size, "%s", found);
		any = true;
	}
	if (f)
		fclose(f);
	return any;
}
