/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The command tasks: lists the tasks of a running kernel or of a dump, like
 * ps(1).
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* The columns before the name. */
#define COMM_AT 44

static void print_json(FILE *f, const struct pagedet_task *t,
		       uint64_t page_size)
{
	const bool has_rss = t->flags & PAGEDET_TASK_HAS_RSS && page_size;
	const bool has_parent = t->flags & PAGEDET_TASK_HAS_PARENT;
	const char *comma = "";

	fprintf(f, "{\"pid\":%u,\"tgid\":%u", t->pid, t->tgid);
	if (has_parent)
		fprintf(f, ",\"ppid\":%u", t->ppid);
	fputc(',', f);
	cli_json_member(f, "comm", t->comm, strnlen(t->comm, sizeof(t->comm)));
	if (t->state)
		fprintf(f, ",\"state\":\"%c\"", (int)t->state);
	if (has_rss)
		fprintf(f, ",\"rss\":%llu",
			(unsigned long long)(t->rss * page_size));
	if (t->flags & PAGEDET_TASK_HAS_START)
		fprintf(f, ",\"start_ns\":%llu",
			(unsigned long long)t->start_ns);
	fprintf(f, ",\"kthread\":%s",
		t->flags & PAGEDET_TASK_KTHREAD ? "true" : "false");
	if (!has_rss || !t->state || !has_parent) {
		fprintf(f, ",\"missing\":{");
		if (!has_parent) {
			fprintf(f, "\"ppid\":\"no_types\"");
			comma = ",";
		}
		if (!t->state) {
			fprintf(f, "%s\"state\":\"no_types\"", comma);
			comma = ",";
		}
		if (!has_rss)
			fprintf(f, "%s\"rss\":\"no_types\"", comma);
		fprintf(f, "}");
	}
	fprintf(f, "}\n");
}

static void print_text(FILE *f, const struct pagedet_task *t,
		       uint64_t page_size, uint32_t width)
{
	char comm[sizeof(t->comm) + 1];

	fprintf(f, "%7u %7u ", t->pid, t->tgid);
	if (t->flags & PAGEDET_TASK_HAS_PARENT)
		fprintf(f, "%7u", t->ppid);
	else
		fprintf(f, "%7s", "?");
	fprintf(f, "  %c   ", t->state ? (int)t->state : '?');
	/* Kernel threads have no memory of their own. */
	if (t->flags & PAGEDET_TASK_KTHREAD)
		fprintf(f, "%11s  ", "-");
	else if (t->flags & PAGEDET_TASK_HAS_RSS && page_size)
		fprintf(f, "%11llu  ",
			(unsigned long long)(t->rss * page_size / 1024));
	else
		fprintf(f, "%11s  ", "?");
	snprintf(comm, sizeof(comm), "%.*s", (int)sizeof(t->comm), t->comm);
	cli_clipped_text(f, comm, !width ? 0 :
			 width > COMM_AT + 4 ? width - COMM_AT : 4);
	fputc('\n', f);
}

/* --- order --- */

enum { BY_PID, BY_TGID, BY_PPID, BY_STATE, BY_RSS, BY_COMM, BY_START };

const struct cli_key_name cli_task_keys[] = {
	{ "pid", BY_PID }, { "tgid", BY_TGID }, { "ppid", BY_PPID },
	{ "state", BY_STATE }, { "rss", BY_RSS }, { "comm", BY_COMM },
	{ "start_ns", BY_START }, { NULL, 0 },
};

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static bool is_known(const struct pagedet_task *t, int key)
{
	switch (key) {
	case BY_PPID:
		return t->flags & PAGEDET_TASK_HAS_PARENT;
	case BY_STATE:
		return t->state != 0;
	case BY_RSS:
		return t->flags & PAGEDET_TASK_HAS_RSS &&
		       !(t->flags & PAGEDET_TASK_KTHREAD);
	case BY_START:
		return t->flags & PAGEDET_TASK_HAS_START;
	default:
		return true;
	}
}

static int compare_known(const struct pagedet_task *a,
			 const struct pagedet_task *b, int key)
{
	switch (key) {
	case BY_TGID:
		return compare_numbers(a->tgid, b->tgid);
	case BY_PPID:
		return compare_numbers(a->ppid, b->ppid);
	case BY_STATE:
		return compare_numbers(a->state, b->state);
	case BY_RSS:	/* amounts from the largest */
		return compare_numbers(b->rss, a->rss);
	case BY_COMM:
		return strncmp(a->comm, b->comm, sizeof(a->comm));
	case BY_START:
		return compare_numbers(a->start_ns, b->start_ns);
	default:
		return compare_numbers(a->pid, b->pid);
	}
}

static int compare(const void *one, const void *two, int key, bool reverse)
{
	const struct pagedet_task *a = one, *b = two;
	const bool x = is_known(a, key), y = is_known(b, key);
	int order;

	if (!x || !y)
		return y - x;
	order = compare_known(a, b, key);
	return reverse ? -order : order;
}

static int compare_tasks(const void *a, const void *b, void *sort)
{
	const int order = cli_keys_compare(sort, a, b, compare);

	return order ? order : compare_known(a, b, BY_PID);
}

int cli_parse_task_list(struct cli_job *job)
{
	struct cli_keys sort;
	char instead[CLI_HINT], word[CLI_QUOTED];

	if (job->n_words) {
		snprintf(instead, sizeof(instead), "task %s",
			 cli_argument(job->words[0], "PID", word));
		return cli_instead(job, instead, "tasks lists all of them, and "
				   "not '%s'", job->words[0]);
	}
	if (job->where || job->strict) {
		cli_commands_of(job, "try: pagedet tasks --sort comm, or: "
				"pagedet task NAME;", instead);
		return cli_refuse(instead, "tasks lists all of them: --where "
				  "and --strict are for pages");
	}
	return cli_keys_parse(job->sort, "tasks", cli_task_keys, &sort);
}

/* --- output --- */

static void print(FILE *f, const struct cli_job *job,
		  const struct pagedet_task *tasks, size_t n,
		  uint64_t page_size)
{
	const uint32_t width = cli_answer_width(job);
	size_t i;

	if (job->format == PAGEDET_FORMAT_TEXT)
		fprintf(f, "%7s %7s %7s %5s %11s  %s\n", "pid", "tgid", "ppid",
			"state", "rss (KiB)", "comm");
	for (i = 0; i < n; i++) {
		if (job->format == PAGEDET_FORMAT_JSON)
			print_json(f, &tasks[i], page_size);
		else
			print_text(f, &tasks[i], page_size, width);
	}
}

int cli_run_tasks(struct cli_job *job, struct pagedet *pd)
{
	struct pagedet_info info = { .size = sizeof(info) };
	const uint64_t bound = cli_bound(job);
	int status = cli_check_format(job);
	struct cli_keys sort;
	struct pagedet_task *tasks;
	struct cli_report report;
	uint64_t lost = 0;
	bool stopped;
	size_t n;

	if (status)
		return status;
	cli_interrupt_asked(true);
	status = cli_tasks(pd, 0, &tasks, &n, &lost);
	stopped = lost && cli_must_stop(job);
	cli_interrupt_asked(job->watching);
	if (status)
		return status;
	pagedet_info(pd, &info);
	cli_keys_parse(job->sort, "tasks", cli_task_keys, &sort);
	if (sort.n && n)
		qsort_r(tasks, n, sizeof(*tasks), compare_tasks, &sort);
	status = cli_report_open(&report);
	if (!status) {
		print(report.f, job, tasks, bound && bound < n ? bound : n,
		      info.page_size);
		status = cli_report_close(&report, job, n ? CLI_ANSWERED :
							    CLI_NO);
	}
	free(tasks);
	if (!n && !job->quiet)
		cli_say("there is no task to see");
	if (!status)
		cli_tell_more(job, n, "task", "tasks");
	if (!lost || status > CLI_UNSURE)
		return status;
	if (stopped && !job->quiet)
		cli_say("%s: looked at %zu", cli_stop_words(), n);
	else if (!job->quiet)
		cli_say("%llu task%s or part%s of the list could not be read: "
			"there may be more", (unsigned long long)lost,
			cli_plural(lost), cli_plural(lost));
	return CLI_UNSURE;
}
