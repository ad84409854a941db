/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The stacks of the threads that have the pages of a query mapped, for
 * pictures: each thread counts once, however many of the pages it has. The
 * outermost frame is the name of its process.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* No thread has more: in the kernel, in its program, and why it ends there. */
#define FRAMES (512 + 129)

struct threads {
	struct cli_stacks s;
	struct pagedet *pd;
	const struct pagedet_iter *it;
	const struct cli_job *job;
	uint32_t *pids;
	size_t n_pids, pid;	/* pid: that of the next process */
	uint32_t *tids;
	int n_tids, tid;	/* the same for its threads */
	struct pagedet_task *tasks; /* for names */
	size_t n_tasks;
	char name[64];		/* of the process */
	bool kernel;		/* it is a kernel thread */
	char *frame[FRAMES + 1]; /* and the name */
	uint32_t n;
	bool ended, runs, lost;	/* what is said of the thread */
	uint64_t drawn, gone, ran, unknown; /* threads, or processes */
	bool stopped;		/* by a deadline or a signal */
	char why[512];		/* of the first that is not known */
	char advice[512];	/* what would help */
};

/* --- processes --- */

static int add_pid(struct threads *t, uint32_t pid)
{
	uint32_t *more = realloc(t->pids, (t->n_pids + 1) * sizeof(*more));

	if (!more)
		return cli_fail_errno("processes");
	t->pids = more;
	more[t->n_pids++] = pid;
	return CLI_ANSWERED;
}

/* A task that was asked for is shown, even if it has no page. */
static int add_asked(struct threads *t)
{
	int status = CLI_ANSWERED;
	uint64_t i;

	if (t->job->command->target == PAGEDET_TARGET_MAPPERS)
		return status;
	for (i = 0; i < t->job->n_items && !status; i++)
		status = add_pid(t, t->job->items[i].pid);
	return status;
}

/* Adds the processes of the query's groups. */
static int add_found(struct threads *t, struct pagedet_iter *it)
{
	struct pagedet_columns c = { .size = sizeof(c) };
	int n, status = CLI_ANSWERED;
	uint32_t pid, state;
	uint64_t row;

	while (!status && (n = pagedet_next_columns(it, &c)) > 0)
		for (row = 0; row < (uint64_t)n && !status; row++) {
			pid = (uint32_t)cli_value_of(&c, row,
						     PAGEDET_FIELD_PID, &state);
			if (state == PAGEDET_HAVE)
				status = add_pid(t, pid);
		}
	if (status || !n)
		return status;
	if (n == -ETIMEDOUT || n == -ECANCELED)
		return CLI_UNSURE;	/* the verdict reports it */
	return cli_fail(t->pd, n);
}

static int compare(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void sort_pids(struct threads *t)
{
	size_t n = 0, i;

	if (t->n_pids)
		qsort(t->pids, t->n_pids, sizeof(*t->pids), compare);
	for (i = 0; i < t->n_pids; i++)
		if (!n || t->pids[i] != t->pids[n - 1])
			t->pids[n++] = t->pids[i];
	t->n_pids = n;
}

/* --- stacks --- */

static void clear(struct threads *t)
{
	while (t->n)
		free(t->frame[--t->n]);
}

/* For letters that have a meaning in the text of a frame. */
static void replace(char *text, const char *letters)
{
	for (; *(text += strcspn(text, letters)); text++)
		*text = '_';
}

/* Adds a frame to the outer end. */
static bool add(struct threads *t, const char *name, const char *module)
{
	char *text = NULL, *inside;
	int r;

	if (t->n == FRAMES + 1)
		return true;
	/* The '+' ends the name. [vdso] has its brackets already. */
	r = !module ? asprintf(&text, "%s", name) :
	    *module == '[' ? asprintf(&text, "%s+ %s", name, module) :
			     asprintf(&text, "%s+ [%s]", name, module);
	if (r < 0)
		return false;
	inside = strstr(text, "+ [");
	if (module && inside) {
		replace(inside + strlen("+ ["), "[] ");
		text[r - 1] = ']';
	}
	t->frame[t->n++] = text;
	return true;
}

static void lose(struct threads *t)
{
	if (t->unknown++)
		return;
	snprintf(t->why, sizeof(t->why), "%s", pagedet_error(t->pd));
	snprintf(t->advice, sizeof(t->advice), "%s", pagedet_advice(t->pd));
}

/* @runs: what -EAGAIN means. */
static bool not_known(struct threads *t, int error, bool runs)
{
	if (error == -ESRCH) {
		t->ended = true;
		return true;
	}
	if (error == -EAGAIN && runs) {
		if (t->runs)
			return true;
		t->runs = true;
		return add(t, "running", NULL);
	}
	if (!t->lost)
		lose(t);
	t->lost = true;
	return add(t, "unknown", NULL);
}

static bool add_kernel(struct threads *t, uint32_t tid)
{
	const char *frames[FRAMES];
	int n = pagedet_task_stack(t->it, tid, frames, FRAMES), i;

	if (n < 0)
		return not_known(t, n, true);
	for (i = 0; i < n && i < FRAMES; i++)
		if (!add(t, frames[i], NULL))
			return false;
	return true;
}

/* The names of a compiler at run time may have any letter. */
static bool add_jit(struct threads *t, const char *name)
{
	char *plain = strdup(name);
	bool is_added;

	if (!plain)
		return false;
	replace(plain, "+[]");
	is_added = add(t, plain, "[jit]");
	free(plain);
	return is_added;
}

static bool add_user_frame(struct threads *t, const struct pagedet_frame *f)
{
	const char *slash = f->module ? strrchr(f->module, '/') : NULL;
	char address[32];

	if (!f->address)
		return add(t, "unknown", NULL);
	snprintf(address, sizeof(address), "0x%llx", (unsigned long long)
		 (f->file_address ? f->file_address : f->address));
	if (f->type == PAGEDET_FRAME_JIT)
		return add_jit(t, f->function ? f->function : address);
	return add(t, f->function ? f->function : address,
		   slash ? slash + 1 : f->module);
}

static bool add_user(struct threads *t, uint32_t tid)
{
	struct pagedet_frame frames[FRAMES];
	int n = pagedet_user_stack(t->it, tid, frames, FRAMES), i;

	/* One that runs was to be stopped: why it was not, is told. */
	if (n < 0)
		return not_known(t, n, !t->job->stop);
	/* Only one that has ended has no stack in its program. */
	if (!n && !t->kernel)
		t->ended = true;
	for (i = 0; i < n && i < FRAMES; i++)
		if (!add_user_frame(t, &frames[i]))
			return false;
	return true;
}

/* NULL: it began later. */
static const struct pagedet_task *find_task(const struct threads *t,
					    uint32_t tid)
{
	size_t i;

	for (i = 0; i < t->n_tasks; i++)
		if (t->tasks[i].pid == tid)
			return &t->tasks[i];
	return NULL;
}

static void set_name(struct threads *t, uint32_t pid)
{
	const struct pagedet_task *task = find_task(t, pid);

	snprintf(t->name, sizeof(t->name), "%s", task ? task->comm : "?");
	t->kernel = task && task->flags & PAGEDET_TASK_KTHREAD;
	replace(t->name, "+[]");
}

/* Gets the threads of the next process. False: no memory. */
static bool get_threads(struct threads *t, uint32_t pid)
{
	int n = pagedet_threads(t->it, pid, NULL, 0);
	uint32_t *more;

	set_name(t, pid);
	t->tid = t->n_tids = 0;
	if (n > 0) {
		more = realloc(t->tids, (size_t)n * sizeof(*more));
		if (!more)
			return false;
		t->tids = more;
		/* There may be more threads by now. */
		t->n_tids = pagedet_threads(t->it, pid, more, (uint32_t)n);
		n = t->n_tids < n ? t->n_tids : n;
	}
	t->n_tids = n > 0 ? n : 0;
	if (n == -ESRCH)
		t->gone++;
	else if (n < 0)
		lose(t);
	return true;
}

/* Sets the next thread. Returns 1, 0 at the end, or -1 without memory. */
static int next_thread(struct threads *t, uint32_t *tid)
{
	while (t->tid >= t->n_tids) {
		if (t->pid == t->n_pids)
			return 0;
		if (!get_threads(t, t->pids[t->pid++]))
			return -1;
	}
	*tid = t->tids[t->tid++];
	return 1;
}

static bool add_thread(struct threads *t, uint32_t tid)
{
	const struct pagedet_task *task = find_task(t, tid);

	clear(t);
	t->runs = t->lost = false;
	/* The main thread stays until the others have ended. */
	t->ended = task && task->state == 'Z';
	if (t->ended)
		return true;
	return (!t->job->kernel_stacks || add_kernel(t, tid)) &&
	       (!t->job->user_stacks || add_user(t, tid)) &&
	       add(t, t->name, NULL);
}

static int next(struct cli_stacks *s)
{
	struct threads *t = (struct threads *)s;
	uint32_t tid;
	int r;

	do {
		t->stopped = cli_must_stop(t->job);
		r = t->stopped ? 0 : next_thread(t, &tid);
		if (r <= 0)
			return r;
		if (!add_thread(t, tid))
			return -1;
		t->gone += t->ended;
	} while (t->ended);
	t->drawn++;
	t->ran += t->runs;
	s->frame = (const char **)t->frame;
	s->n = t->n;
	s->value = 1;
	return 1;
}

/* --- output --- */

static void tell_number(uint64_t n, const char *what)
{
	if (n)
		cli_say("%llu thread%s %s", (unsigned long long)n,
			cli_plural(n), what);
}

static void tell(const struct threads *t)
{
	if (t->job->quiet)
		return;
	tell_number(t->ran, "ran meanwhile");
	tell_number(t->gone, "had ended");
	if (t->unknown)
		cli_say("%llu stack%s not known: %s",
			(unsigned long long)t->unknown,
			t->unknown == 1 ? " is" : "s are", t->why);
	if (t->unknown && *t->advice)
		cli_say("hint: %s", t->advice);
	if (t->stopped)
		cli_say("%s: %llu thread%s looked at", cli_stop_words(),
			(unsigned long long)t->drawn,
			t->drawn == 1 ? " was" : "s were");
}

uint32_t cli_stacks_options(const struct cli_job *job)
{
	return (job->kernel_stacks ? PAGEDET_Q_TASK_STACKS : 0) |
	       (job->user_stacks ? PAGEDET_Q_USER_STACKS : 0) |
	       (job->stop ? PAGEDET_Q_STOP_THREADS : 0) |
	       (job->perf_map ? PAGEDET_Q_PERF_MAP : 0);
}

int cli_threads_check(const struct cli_job *job)
{
	const char *name = job->flame ? "flame" : "folded", *other;

	if ((job->stop || job->perf_map) && !job->user_stacks)
		return cli_usage("--%s needs --stacks=user or both",
				 job->stop ? "stop" : "perf-map");
	if (!job->flame && !job->folded)
		return CLI_ANSWERED;
	if (job->watching)
		return cli_usage("--%s cannot be combined with --watch", name);
	if (!job->stacks)
		return cli_usage("--%s needs --stacks", name);
	other = job->by ? "--by" : job->summary ? "--summary" :
		job->fields ? "--fields" : job->sort ? "--sort" :
		job->runs ? "--runs" :
		job->format_given ? "another format" :
		cli_bound(job) ? "a limit of rows" : NULL;
	if (other)
		return cli_usage("--%s is a format of its own, of all threads: "
				 "it cannot be combined with %s", name, other);
	return cli_flame_check(job, true);
}

int cli_threads_draw(const struct cli_job *job, struct pagedet *pd,
		     struct pagedet_iter *it, int fd)
{
	struct threads t = {
		.s = { .next = next, .unit = "thread", .units = "threads",
		       .title = "Threads by their stack" },
		.pd = pd, .it = it, .job = job,
	};
	uint64_t lost;
	int status, found;
	FILE *f = cli_output_stream(fd);

	if (!f)
		return cli_fail_errno("cannot write the output");
	found = add_found(&t, it);
	status = found > CLI_UNSURE ? found : add_asked(&t);
	if (!status)
		status = cli_tasks(pd, 0, &t.tasks, &t.n_tasks, &lost);
	if (!status) {
		sort_pids(&t);
		status = job->flame ? cli_flame(&t.s, f) : cli_folded(&t.s, f);
	}
	if (fclose(f) && !status)
		status = cli_fail_errno("cannot write the output");
	if (!status) {
		tell(&t);
		status = t.unknown || t.stopped ? CLI_UNSURE : found;
	}
	clear(&t);
	free(t.pids);
	free(t.tids);
	free(t.tasks);
	return status;
}
