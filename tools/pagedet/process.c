/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds processes and their areas by name: "task nginx", "virt self '[heap]'".
 * A name is kept until its kernel, which may be a dump, is open.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static int append(struct cli_job *job, const struct pagedet_item *item,
		  const struct cli_name *name)
{
	if (job->n_items == job->max_items) {
		size_t max = job->max_items ? 2 * job->max_items : 16;
		struct pagedet_item *items;
		struct cli_name *names;

		items = realloc(job->items, max * sizeof(*items));
		if (!items)
			return cli_fail_errno("%s", job->command->name);
		job->items = items;
		names = realloc(job->names, max * sizeof(*names));
		if (!names)
			return cli_fail_errno("%s", job->command->name);
		job->names = names;
		job->max_items = max;
	}
	job->names[job->n_items] = *name;
	job->items[job->n_items++] = *item;
	job->named |= name->task || name->area || name->symbol;
	return CLI_ANSWERED;
}

int cli_add_item(struct cli_job *job, const struct pagedet_item *item)
{
	return append(job, item, &(struct cli_name){ NULL, NULL, NULL });
}

int cli_add_named(struct cli_job *job, const struct pagedet_item *item,
		  const struct cli_name *name)
{
	return append(job, item, name);
}

int cli_parse_pid(const struct cli_job *job, const char *word, uint32_t *ret,
		  const char **name)
{
	const char *wrong;
	uint64_t n;

	*name = NULL;
	*ret = 0;
	wrong = cli_number(word, CLI_DECIMAL, &n);
	if (wrong && *word && (*word < '0' || *word > '9')) {
		*name = word;
		return CLI_ANSWERED;
	}
	if (!wrong && (!n || n > INT_MAX))
		wrong = "is not a process id";
	if (wrong)
		return cli_usage("%s: '%s' %s", job->command->name, word,
				 wrong);
	*ret = (uint32_t)n;
	return CLI_ANSWERED;
}

/* --- tasks --- */

int cli_tasks(struct pagedet *pd, uint32_t options, struct pagedet_task **ret,
	      size_t *n, uint64_t *lost)
{
	struct pagedet_task *tasks = NULL, *more;
	size_t room = 1024, had = 0;
	int count;

	for (;;) {
		more = realloc(tasks, room * sizeof(*tasks));
		if (!more) {
			free(tasks);
			return cli_fail_errno("tasks");
		}
		tasks = more;
		count = pagedet_tasks(pd, options, tasks, room, lost);
		/* If they did not fit, there is no time for the others. */
		if (count == -ECANCELED && had) {
			count = (int)had;
			++*lost;
		}
		if (count < 0) {
			free(tasks);
			return cli_fail(pd, count);
		}
		if ((size_t)count <= room)
			break;
		had = room;
		room = (size_t)count + 64;
	}
	*ret = tasks;
	*n = (size_t)count;
	return CLI_ANSWERED;
}

static bool is_asked(const struct cli_job *job, uint32_t pid)
{
	const bool pages = job->command->target == PAGEDET_TARGET_MAPPERS;
	size_t i;

	for (i = 0; i < job->n_items; i++)
		if (pages ? job->items[i].first == pid :
			    job->items[i].pid == pid)
			return true;
	return false;
}

/* Whether another thread of its process has not ended. */
static bool has_threads(const struct pagedet_task *tasks, size_t n,
			const struct pagedet_task *task)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (tasks[i].tgid == task->tgid && tasks[i].state != 'Z' &&
		    tasks[i].state != 'X')
			return true;
	return false;
}

/* Tells why a task has no memory, if that is so. @more: of a kernel thread. */
static bool tell_no_memory(const struct pagedet_task *tasks, size_t n,
			   const struct pagedet_task *task, const char *more)
{
	if (task->flags & PAGEDET_TASK_KTHREAD)
		cli_say("task %u (%s) is a kernel thread: it has no memory of "
			"its own%s", task->pid, task->comm, more);
	else if (task->state != 'Z')
		return false;
	else if (has_threads(tasks, n, task))
		cli_say("cannot read task %u: its main thread has ended; its "
			"other threads still have its memory: ask for one of "
			"these", task->pid);
	else
		cli_say("cannot read task %u: it is a zombie: it has ended, "
			"its parent has not waited for it, and its memory is "
			"given back", task->pid);
	return true;
}

void cli_tell_no_row(const struct cli_job *job, struct pagedet *pd)
{
	const bool pages = job->command->target == PAGEDET_TARGET_MAPPERS;
	/* The error text has the reason then. */
	const bool failed = *pagedet_error(pd);
	struct pagedet_task *tasks;
	uint64_t lost;
	bool any = false;
	size_t n, i;

	if (job->quiet ||
	    (!pages && job->command->target != PAGEDET_TARGET_TASK) ||
	    cli_tasks(pd, 0, &tasks, &n, &lost))
		return;
	for (i = 0; i < n; i++) {
		any |= is_asked(job, tasks[i].pid);
		if (pages && is_asked(job, tasks[i].pid))
			cli_say("hint: %u is also a process (%s); its memory: "
				"%s task %u", tasks[i].pid, tasks[i].comm,
				job->again, tasks[i].pid);
		else if (is_asked(job, tasks[i].pid) &&
			 (!failed || tasks[i].flags & PAGEDET_TASK_KTHREAD))
			tell_no_memory(tasks, n, &tasks[i], job->stacks ?
				       ", only a stack: the status is 1" : "");
	}
	if (!pages && !any && !lost)
		cli_say("hint: to list them: %s tasks; a number can also be a "
			"page: %s page %s", job->again, job->again,
			job->n_words == 1 && job->n_items == 1 ?
			job->words[0] : "PFN");
	free(tasks);
}

/* The names of processes, without this one, which ends. Returns how many. */
static size_t names_of(const struct cli_job *job,
		       const struct pagedet_task *tasks, size_t n,
		       const char **names)
{
	const bool live = !job->open.n_files && !job->open.root;
	size_t i, kept = 0;

	for (i = 0; names && i < n; i++)
		if (!live || tasks[i].pid != (uint32_t)getpid())
			names[kept++] = tasks[i].comm;
	return kept;
}

static int no_process(const struct cli_job *job, struct pagedet *pd,
		      const char *name, const struct pagedet_task *tasks,
		      size_t n, uint64_t lost)
{
	char cgroup[4096], quoted[CLI_QUOTED];
	const char **names, *path = NULL;
	int near;

	if (lost) {
		cli_say("cannot find process '%s': %llu task%s or part%s of "
			"the list could not be read", name,
			(unsigned long long)lost, cli_plural(lost),
			cli_plural(lost));
		return CLI_UNSURE;
	}
	names = calloc(n + 1, sizeof(*names));
	n = names_of(job, tasks, n, names);
	near = n ? pagedet_nearest(name, names, n) : -1;
	if (near >= 0)
		cli_say("there is no process '%s'; did you mean '%s'?", name,
			names[near]);
	else
		cli_say("there is no process '%s'", name);
	if (cli_tell_area(job, pd, name)) {
		free(names);
		return CLI_NO;
	}
	if (near < 0 && cli_cgroup_near(job, name, false, cgroup,
					sizeof(cgroup)))
		path = cli_argument(cgroup, "PATH", quoted);
	if (path)
		cli_say("hint: there is a cgroup: %s cgroup %s; to list "
			"processes: %s tasks", job->again, path, job->again);
	else
		cli_say("hint: to list them: %s tasks", job->again);
	free(names);
	return CLI_NO;
}

/* Prints the command line of a running process, to help the user choose. */
static void say_process(const struct cli_job *job,
			const struct pagedet_task *task)
{
	char path[4096], line[256] = "";
	size_t len = 0, i;
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/%u/cmdline",
		 job->open.root ? job->open.root : "", task->pid);
	f = job->open.n_files ? NULL : fopen(path, "re");
	if (f) {
		len = fread(line, 1, sizeof(line) - 1, f);
		fclose(f);
	}
	for (i = 0; i < len; i++)
		if (!line[i])
			line[i] = ' ';
	line[len] = '\0';
	cli_say("  %7u  %s", task->pid, len ? line : task->comm);
}

/* Compares with a name that the kernel cut to 15 bytes. */
static bool is_called(const struct pagedet_task *task, const char *name)
{
	enum { COMM = 15 };

	return !strcmp(task->comm, name) ||
	       (strlen(name) > COMM && strlen(task->comm) == COMM &&
		!strncmp(task->comm, name, COMM));
}

struct processes {
	struct pagedet_task *tasks;
	size_t n;
	uint64_t lost;		/* so many more there may be */
};

static int list_processes(struct processes *p, struct pagedet *pd)
{
	return p->tasks ? CLI_ANSWERED :
		cli_tasks(pd, PAGEDET_TASKS_PROCESSES, &p->tasks, &p->n,
			  &p->lost);
}

/* Reports that unread tasks may have the same name; NULL: all were meant. */
static void tell_lost(struct cli_job *job, const char *name,
		      const struct processes *p)
{
	job->lost_tasks = true;
	if (!job->quiet)
		cli_say("%llu task%s or part%s of the list could not be read%s"
			"%s%s", (unsigned long long)p->lost,
			cli_plural(p->lost), cli_plural(p->lost),
			name ? ": others may be called '" : "",
			name ? name : "", name ? "'" : "");
}

static int refuse_several(const struct cli_job *job, const char *name,
			  const struct processes *p)
{
	size_t i;

	cli_say("%s: several processes are called '%s'; name one by its pid:",
		job->command->name, name);
	for (i = 0; i < p->n; i++)
		if (is_called(&p->tasks[i], name))
			say_process(job, &p->tasks[i]);
	return CLI_USAGE;
}

/* A kernel thread has no memory of its own. */
static bool is_meant(const struct pagedet_task *task, const char *name,
		     bool every)
{
	return every ? !(task->flags & PAGEDET_TASK_KTHREAD) :
		       is_called(task, name);
}

/* Skips this process, which may have the wanted name itself. */
static int find_processes(struct cli_job *job, struct pagedet *pd,
			  struct processes *p, const char *name,
			  uint32_t **pids, size_t *n)
{
	const bool all = job->command->target == PAGEDET_TARGET_TASK;
	const bool every = all && !strcmp(name, "all");
	const bool live = !job->open.n_files && !job->open.root;
	size_t i;
	int status;

	*n = 0;
	if (live && !strcmp(name, "self")) {
		*pids = malloc(sizeof(**pids));
		if (!*pids)
			return cli_fail_errno("%s", name);
		(*pids)[(*n)++] = (uint32_t)getpid();
		return CLI_ANSWERED;
	}
	status = list_processes(p, pd);
	if (status)
		return status;
	*pids = calloc(p->n + 1, sizeof(**pids));
	if (!*pids)
		return cli_fail_errno("%s", name);
	for (i = 0; i < p->n; i++)
		if (is_meant(&p->tasks[i], name, every) &&
		    !(live && p->tasks[i].pid == (uint32_t)getpid()))
			(*pids)[(*n)++] = p->tasks[i].pid;
	if (!*n)
		status = no_process(job, pd, name, p->tasks, p->n, p->lost);
	else if (*n > 1 && !all)
		status = refuse_several(job, name, p);
	else if (p->lost)
		tell_lost(job, every ? NULL : name, p);
	if (status)
		free(*pids);
	return status;
}

/* --- areas --- */

struct finding {
	struct cli_job *job;
	const char *name;
	uint32_t pid;
	size_t n;
	int status;
	bool any;		/* it has areas */
	char seen[1024];	/* names of other areas, to suggest one after a
				 * mistyped name */
	size_t seen_len;
};

/* Compares with the whole name, or with the last part of it if it is a path. */
static bool is_area(const struct pagedet_area *area, const char *name)
{
	const size_t len = strlen(name);
	const char *slash = memrchr(area->name, '/', area->len);
	const size_t head = slash ? (size_t)(slash - area->name) + 1 : 0;

	return (area->len == len && !memcmp(area->name, name, len)) ||
	       (slash && area->len - head == len &&
		!memcmp(area->name + head, name, len));
}

static int try_area(void *user, const struct pagedet_area *area)
{
	struct finding *f = user;
	struct pagedet_item item = { area->start, area->end - area->start,
				     f->pid, 0 };

	f->any = true;
	if (is_area(area, f->name)) {
		f->n++;
		f->status = cli_add_item(f->job, &item);
		return f->status;
	}
	if (area->len && area->name[0] == '[' &&
	    f->seen_len + area->len + 2 < sizeof(f->seen))
		f->seen_len += (size_t)snprintf(f->seen + f->seen_len,
						sizeof(f->seen) - f->seen_len,
						" %.*s", (int)area->len,
						area->name);
	return 0;
}

/* Tells why a process without any area has none, if that is known. */
static bool tell_no_areas(struct pagedet *pd, uint32_t pid)
{
	struct pagedet_task *tasks;
	bool told = false;
	uint64_t lost;
	size_t n, i;

	if (cli_tasks(pd, 0, &tasks, &n, &lost))
		return false;
	for (i = 0; i < n && !told; i++)
		told = tasks[i].pid == pid &&
		       tell_no_memory(tasks, n, &tasks[i], "");
	free(tasks);
	return told;
}

static int add_areas(struct cli_job *job, struct pagedet *pd, uint32_t pid,
		     const char *name)
{
	struct finding f = { .job = job, .name = name, .pid = pid };
	int error = pagedet_areas(pd, pid, try_area, &f);

	if (f.status)
		return f.status;
	if (error)
		return cli_fail(pd, error);
	if (f.n)
		return CLI_ANSWERED;
	if (!f.any && tell_no_areas(pd, pid))
		return CLI_NO;
	cli_say("process %u has no area '%s'", pid, name);
	cli_say("hint: name an area as /proc/PID/maps does, or by its file:%s",
		f.seen_len ? f.seen : " [heap] [stack]");
	return CLI_NO;
}

/* --- symbols --- */

/* NAME or NAME+OFFSET, hex. */
static int add_symbol(struct cli_job *job, struct pagedet *pd,
		      struct pagedet_item item, const char *symbol)
{
	const size_t len = strcspn(symbol, "+");
	char name[512];
	uint64_t offset = 0;
	const char *wrong = NULL;
	int error;

	if (symbol[len])
		wrong = cli_number(symbol + len + 1, CLI_HEX, &offset);
	if (!wrong && len >= sizeof(name))
		wrong = "is too long for a symbol";
	if (wrong)
		return cli_usage("%s: '%s' %s", job->command->name, symbol,
				 wrong);
	snprintf(name, sizeof(name), "%.*s", (int)len, symbol);
	error = pagedet_symbol(pd, name, &item.first);
	if (error) {
		cli_fail(pd, error);
		return error == -ENOENT ? CLI_NO : cli_status(error);
	}
	item.first += offset;
	return cli_add_item(job, &item);
}

/* --- all items --- */

static int resolve_one(struct cli_job *job, struct pagedet *pd,
		       struct processes *p, struct pagedet_item item,
		       const struct cli_name *name)
{
	uint32_t *pids = NULL;
	size_t n = 1, i;
	int status = CLI_ANSWERED;

	if (name->symbol)
		return add_symbol(job, pd, item, name->symbol);
	if (name->task)
		status = find_processes(job, pd, p, name->task, &pids, &n);
	if (status)
		return status;
	for (i = 0; i < n && !status; i++) {
		if (pids)
			item.pid = pids[i];
		status = name->area ?
			add_areas(job, pd, item.pid, name->area) :
			cli_add_item(job, &item);
	}
	free(pids);
	return status;
}

int cli_resolve(struct cli_job *job, struct pagedet *pd)
{
	struct pagedet_item *items = job->items;
	struct cli_name *names = job->names;
	struct processes p = { NULL, 0, 0 };
	size_t n = job->n_items, i;
	int status = CLI_ANSWERED;

	if (!job->named)
		return CLI_ANSWERED;
	job->items = NULL;
	job->names = NULL;
	job->n_items = job->max_items = 0;
	for (i = 0; i < n && !status; i++)
		status = resolve_one(job, pd, &p, items[i], &names[i]);
	free(p.tasks);
	free(items);
	free(names);
	return status;
}
