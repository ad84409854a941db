/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Suggests a command for a word that names a thing instead of a command: a
 * file, a number, a process, a cgroup or the unit of a service manager, a
 * symbol of the kernel.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* The names of more tasks are not compared. */
#define TASKS 8192

/* 16 TiB: larger numbers are rather addresses. */
#define MANY_PAGES (1ull << 32)

bool cli_is_log_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const size_t len = strlen(name);

	return (len > 4 && !strcmp(name + len - 4, ".log")) ||
	       !strcmp(name, "syslog") || !strcmp(name, "messages") ||
	       strstr(name, "dmesg") || strstr(name, "kmsg");
}

/* --- files --- */

/* Whether it is a file of perf record or of trace-cmd record. */
static bool is_trace(const char *path)
{
	static const char perf[] = "PERFILE2", ftrace[] = "\027\010Dtracing";
	char head[10];
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(head, 1, sizeof(head), f) : 0;

	if (f)
		fclose(f);
	return n == sizeof(head) &&
	       (!memcmp(head, perf, 8) || !memcmp(head, ftrace, 10));
}

/* The sources that can read the file, as bits. A command is not suggested in
 * its own place: from-log has read a log already. */
static uint32_t sources_of(const struct cli_job *job, const char *path)
{
	const bool is_log = job->command && job->command->run == cli_run_log;
	struct pagedet_options o = PAGEDET_OPTIONS_INIT;
	struct pagedet_info info = { .size = sizeof(info) };
	struct pagedet *pd = pagedet_new();
	uint32_t sources = 0;

	o.files = &path;
	o.n_files = 1;
	o.sources = is_log ? ~PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_LOG) : 0;
	if (pd && !pagedet_open(pd, &o) && !pagedet_info(pd, &info))
		sources = info.sources;
	pagedet_free(pd);
	return sources;
}

/* The command that reads all of a text, which is called as @again. */
static bool command_for_text(const char *again, uint32_t sources,
			     const char *name, char text[CLI_HINT])
{
	if (sources & PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_PAGE_OWNER))
		snprintf(text, CLI_HINT, "pagedet owners %s", name);
	else if (sources & PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_LOG))
		snprintf(text, CLI_HINT, "%s from-log %s", again, name);
	else
		return false;
	return true;
}

void cli_hint_for_text(const struct cli_job *job, const char *path)
{
	char quoted[CLI_QUOTED], text[CLI_HINT];
	uint32_t sources;
	struct stat st;

	if (!path || job->quiet || stat(path, &st) || !S_ISREG(st.st_mode))
		return;
	sources = sources_of(job, path);
	/* Not in its own place. */
	if (job->command->run == cli_run_owners)
		sources &= ~PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_PAGE_OWNER);
	if (command_for_text("pagedet", sources,
			     cli_argument(path, "FILE", quoted), text))
		cli_say("hint: what the text says of pages: %s", text);
}

bool cli_command_for_record(const struct cli_job *job, const char *path,
			    char text[CLI_HINT])
{
	char quoted[CLI_QUOTED];
	const char *name = cli_argument(path, "FILE", quoted);
	uint32_t sources;
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return false;
	if (is_trace(path)) {
		snprintf(text, CLI_HINT, "pagedet kmem report %s", name);
		return true;
	}
	sources = sources_of(job, path);
	if (sources & (PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_VMCORE) |
		       PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_KCORE) |
		       PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_SNAPSHOT)))
		snprintf(text, CLI_HINT, "%s --from %s scan --summary",
			 job->types, name);
	else
		return command_for_text(job->again, sources, name, text);
	return true;
}

bool cli_command_for_file(const struct cli_job *job, const char *path,
			  char text[CLI_HINT])
{
	char dir[PATH_MAX], quoted[CLI_QUOTED];
	const char *word = cli_argument(path, "PATH", quoted);
	struct stat st;

	if (stat(path, &st))
		return false;
	if (S_ISDIR(st.st_mode)) {
		snprintf(dir, sizeof(dir), "%s/cgroup.procs", path);
		snprintf(text, CLI_HINT, "%s %s %s", job->again,
			 access(dir, F_OK) ? "tree" : "cgroup", word);
	} else if (S_ISBLK(st.st_mode)) {
		snprintf(text, CLI_HINT, "%s block %s 0", job->again, word);
	} else if (cli_is_log_name(path)) {
		snprintf(text, CLI_HINT, "%s file %s, or: %s from-log %s",
			 job->again, word, job->again, word);
	} else {
		snprintf(text, CLI_HINT, "%s file %s", job->again, word);
	}
	return true;
}

/* --- numbers --- */

bool cli_task_name(const struct cli_job *job, uint64_t pid, char ret[32])
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/%" PRIu64 "/comm",
		 job->open.root ? job->open.root : "", pid);
	f = job->open.n_files ? NULL : fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(ret, 32, f))
		*ret = '\0';
	fclose(f);
	ret[strcspn(ret, "\n")] = '\0';
	return *ret != '\0';
}

/* A number, or FIRST+COUNT: it needs no quotes. */
bool cli_command_for_number(const struct cli_job *job, const char *word,
			    char text[CLI_HINT])
{
	const bool hex = !strncmp(word, "0x", 2) || !strncmp(word, "0X", 2);
	const char *again = job->again;
	struct pagedet_item item;
	char name[32], quoted[CLI_QUOTED];

	if ((!strncmp(word, "ffff", 4) || !strncmp(word, "0xff", 4)) &&
	    !cli_range(word, CLI_HEX, &item) &&
	    cli_is_kernel_address(item.first))
		snprintf(text, CLI_HINT, "%s kaddr 0x%" PRIx64, again,
			 item.first);
	else if (cli_range(word, CLI_PFN, &item))
		return false;
	else if (hex && item.first >= MANY_PAGES)
		snprintf(text, CLI_HINT, "%s virt PID %s, or: %s phys %s",
			 again, word, again, word);
	else if (hex)
		snprintf(text, CLI_HINT, "%s page %s, or: %s phys %s", again,
			 word, again, word);
	else if (*word != 'p' && item.count == 1 &&
		 cli_task_name(job, item.first, name))
		snprintf(text, CLI_HINT, "%s task %s (it is called %s), or: "
			 "%s page %s", again, word,
			 pagedet_quoted(name, "something odd", quoted,
				    sizeof(quoted)), again, word);
	else
		snprintf(text, CLI_HINT, "%s page %s", again, word);
	return true;
}

/* --- processes --- */

/* Finds the nearest name of a process. Returns false if none is near. */
static bool nearest(const char *word, const struct pagedet_task *tasks,
		    size_t n, bool exact, char *ret, size_t size)
{
	const char **names = calloc(n + 1, sizeof(*names));
	size_t has = 0, i;
	int near = -1;

	for (i = 0; names && i < n; i++) {
		if (tasks[i].pid == (uint32_t)getpid() ||
		    (exact && strcmp(tasks[i].comm, word)))
			continue;
		names[has++] = tasks[i].comm;
	}
	if (has)
		near = exact ? 0 : pagedet_nearest(word, names, has);
	if (near >= 0)
		snprintf(ret, size, "%s", names[near]);
	free(names);
	return near >= 0;
}

/* Finds the process with that name, or with the nearest one. */
static bool process_near(const struct cli_job *job, const char *word,
			 bool exact, char *ret, size_t size)
{
	struct pagedet_task *tasks = calloc(TASKS, sizeof(*tasks));
	struct pagedet *pd = pagedet_new();
	bool found = false;
	uint64_t lost;
	int n = -1;

	if (tasks && pd && !pagedet_open(pd, &job->open))
		n = pagedet_tasks(pd, PAGEDET_TASKS_PROCESSES, tasks, TASKS,
				  &lost);
	if (n > TASKS)
		n = TASKS;
	if (n > 0)
		found = nearest(word, tasks, (size_t)n, exact, ret, size);
	pagedet_free(pd);
	free(tasks);
	return found;
}

bool cli_command_for_name(const struct cli_job *job, const char *word,
			  bool exact, char text[CLI_HINT])
{
	char name[PATH_MAX], quoted[CLI_QUOTED];
	const char *command, *shown;

	if (process_near(job, word, exact, name, sizeof(name))) {
		command = "task";
		shown = cli_argument(name, "NAME", quoted);
	} else if (cli_cgroup_near(job, word, exact, name, sizeof(name))) {
		command = "cgroup";
		shown = cli_argument(name, "PATH", quoted);
	} else {
		return false;
	}
	snprintf(text, CLI_HINT, "%s%s%s %s %s %s;",
		 exact ? "" : "did you mean ", exact ? "" : shown,
		 exact ? "try:" : "? try:", job->again, command, shown);
	return true;
}

/* --- symbols --- */

bool cli_command_for_symbol(const struct cli_job *job, const char *word,
			    char text[CLI_HINT])
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789_.";
	struct pagedet *pd = pagedet_new();
	char quoted[CLI_QUOTED];
	int error = -ENOENT;
	uint64_t address;

	if (pd && !word[strspn(word, letters)] &&
	    !pagedet_open(pd, &job->open))
		error = pagedet_symbol(pd, word, &address);
	pagedet_free(pd);
	/* Some kernels name only their functions. */
	if (error && error != -ENODATA)
		return false;
	snprintf(text, CLI_HINT, "%stry: %s kaddr %s;", error ?
		 "if it is a symbol of the kernel, " : "", job->again,
		 cli_argument(word, "SYMBOL", quoted));
	return true;
}
