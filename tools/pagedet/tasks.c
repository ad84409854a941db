/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The command tasks: lists the tasks of a running kernel or of a dump, like
 * ps(1).
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

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
		       uint64_t page_size)
{
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
	cli_plain_text(f, t->comm, strnlen(t->comm, sizeof(t->comm)));
	fputc('\n', f);
}

static void print(FILE *f, const struct cli_job *job,
		  const struct pagedet_task *tasks, size_t n,
		  uint64_t page_size)
{
	size_t i;

	if (job->format == PAGEDET_FORMAT_TEXT)
		fprintf(f, "%7s %7s %7s %5s %11s  %s\n", "pid", "tgid", "ppid",
			"state", "rss (KiB)", "comm");
	for (i = 0; i < n; i++) {
		if (job->format == PAGEDET_FORMAT_JSON)
			print_json(f, &tasks[i], page_size);
		else
			print_text(f, &tasks[i], page_size);
	}
}

int cli_run_tasks(struct cli_job *job, struct pagedet *pd)
{
	struct pagedet_info info = { .size = sizeof(info) };
	int status = cli_check_format(job);
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
	cli_interrupt_asked(false);
	if (status)
		return status;
	pagedet_info(pd, &info);
	status = cli_report_open(&report);
	if (!status) {
		print(report.f, job, tasks, n, info.page_size);
		status = cli_report_close(&report, job, n ? CLI_ANSWERED :
							    CLI_NO);
	}
	free(tasks);
	if (!n && !job->quiet)
		cli_say("there is no task to see");
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
