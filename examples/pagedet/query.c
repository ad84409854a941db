/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A job becomes a query of the library, and its rows become output. */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

/* Page frame numbers from standard input that are asked for at once. */
#define STEP 65536

/* One query on its way. */
struct asking {
	struct cli_job *job;
	struct pagedet *pd;
	struct pagedet_query q;
	struct pagedet_iter *it;
	struct cli_pfn_stream stream;
	size_t step;
	bool ground;		/* of a picture, is being asked for */
	bool halfway;		/* it failed, and not at its beginning */
	uint64_t start_ns;
	uint32_t by[PAGEDET_FIELDS_MAX];
	struct cli_verdict verdict;
	struct cli_progress progress;
};

uint64_t cli_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

uint32_t cli_threads(const struct cli_job *job)
{
	cpu_set_t set;
	long n;

	if (job->threads)
		return job->threads;
	if (!job->command->wide)
		return 1;
	/* Those that we may run on; fails with more than 1024 processors. */
	if (!sched_getaffinity(0, sizeof(set), &set))
		return (uint32_t)CPU_COUNT(&set);
	n = sysconf(_SC_NPROCESSORS_ONLN);
	return n > 0 ? (uint32_t)n : 1;
}

int cli_emitter_new(const struct cli_job *job, struct pagedet *pd, int fd,
		    int to, struct pagedet_emitter **ret)
{
	struct pagedet_emit_options o = PAGEDET_EMIT_OPTIONS_INIT;
	char title[1024];
	int error;

	o.format = job->format;
	o.fd = to;
	if (job->verbose)
		o.options |= PAGEDET_EMIT_SOURCES;
	if (job->pointers)
		o.options |= PAGEDET_EMIT_POINTERS;
	if (job->command->stacks)
		o.options |= PAGEDET_EMIT_STACKS;
	if (job->format == PAGEDET_FORMAT_TEXT) {
		o.width = cli_width(fd);
		if (cli_colour(fd))
			o.options |= PAGEDET_EMIT_COLOUR;
	}
	if (job->linear)
		o.options |= PAGEDET_EMIT_LINEAR;
	if (job->command->compares) {
		if (job->summary)
			o.options |= PAGEDET_EMIT_TOTALS;
		cli_diff_title(job, title, sizeof(title));
		o.title = title;
	}
	if (job->command->picture)
		cli_map_emitter(job, &o, title, sizeof(title));
	error = pagedet_emitter_new(pd, &o, ret);
	return error ? cli_fail(pd, error) : CLI_ANSWERED;
}

int cli_emitter_finish(struct pagedet *pd, struct pagedet_emitter *e)
{
	int error = pagedet_emitter_finish(e);

	if (!error)
		return CLI_ANSWERED;
	if (*pagedet_error(pd))
		return cli_fail(pd, error);
	cli_say("cannot write the output");
	return CLI_IO;
}

static int set_grouping(struct asking *a)
{
	const char *at = a->job->by ? a->job->by : "kind";

	a->q.group_by = a->by;
	do {
		size_t len = strcspn(at, ",");
		char name[32] = "";
		int field = -1;

		if (len < sizeof(name)) {
			memcpy(name, at, len);
			field = pagedet_field_by_name(name);
		}
		if (field < 0)
			return cli_usage("--by: there is no field '%.*s'",
					 (int)len, at);
		if (a->q.n_group_by == CLI_COUNT(a->by))
			return cli_usage("--by: too many fields");
		a->by[a->q.n_group_by++] = (uint32_t)field;
		at += len;
	} while (*at++ == ',');
	cli_named_fields(a->job->by, a->verdict.named);
	return CLI_ANSWERED;
}

static int set_fields(struct asking *a)
{
	const char *usual = a->job->command->fields;
	const char *list = a->job->fields;
	int error;

	if (list && pagedet_fields_parse(a->pd, list, &a->q))
		return cli_usage("--fields: %s", pagedet_error(a->pd));
	cli_named_fields(list, a->verdict.named);
	if (list)
		return CLI_ANSWERED;
	error = pagedet_fields_parse(a->pd, usual ? usual : "cheap", &a->q);
	return error ? cli_fail(a->pd, error) : CLI_ANSWERED;
}

static int set_query(struct asking *a)
{
	const struct cli_job *job = a->job;
	bool grouped;
	int status;

	a->q.target = job->command->target;
	a->q.items = job->items;
	a->q.n_items = job->n_items;
	a->q.path = job->path;
	a->q.where = job->where;
	a->q.threads = cli_threads(job);
	a->start_ns = cli_now_ns();
	if (job->runs)
		a->q.options |= PAGEDET_Q_RUNS;
	if (job->undecided)
		a->q.options |= PAGEDET_Q_UNDECIDED;
	if (job->stacks)
		a->q.options |= PAGEDET_Q_TASK_STACKS;
	if (job->text_only)
		a->q.sources = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_LOG);
	if (job->command->picture) {
		cli_map_query(job, &a->q);
		cli_named_fields(job->by, a->verdict.named);
		return CLI_ANSWERED;
	}
	grouped = job->by || job->summary;
	status = grouped ? set_grouping(a) : set_fields(a);
	if (status || !job->from_stdin)
		return status;

	/*
	 * What looks at all rows together, as a table does, and the number of
	 * the item need the whole list at once.
	 */
	a->step = STEP;
	if (grouped || job->runs || job->format == PAGEDET_FORMAT_TEXT ||
	    job->format == PAGEDET_FORMAT_SNAPSHOT ||
	    (a->verdict.named[0] & (1ull << PAGEDET_FIELD_ASK)))
		a->step = SIZE_MAX;
	return CLI_ANSWERED;
}

/* 1: the next items are in the query, 0: there are none; else -status. */
static int more_items(struct asking *a)
{
	int status;

	if (!a->job->from_stdin)
		return 0;
	status = cli_pfn_stream_next(&a->stream, a->step);
	a->q.items = a->stream.items;
	a->q.n_items = a->stream.n;
	return status ? -status : a->stream.n != 0;
}

/* The deadline is for all steps together; at least 1, which has passed. */
static uint64_t time_left(const struct asking *a)
{
	uint64_t end = a->start_ns + a->job->deadline_ns;
	uint64_t now = cli_now_ns();

	if (!a->job->deadline_ns)
		return 0;
	return now < end ? end - now : 1;
}

static int query(struct asking *a)
{
	int error;

	cli_interrupt_cancels(NULL);
	pagedet_iter_free(a->it);
	a->it = NULL;
	a->q.deadline_ns = time_left(a);
	error = pagedet_query(a->pd, &a->q, &a->it);
	if (error)
		return cli_fail(a->pd, error);
	cli_interrupt_cancels(a->it);
	return CLI_ANSWERED;
}

static int first_query(struct asking *a)
{
	int status = query(a);

	/* What is wrong with the filter is known by now. */
	a->ground = !status && a->job->command->picture && a->job->where;
	if (a->ground) {
		cli_map_ground(&a->q);
		return query(a);
	}
	if (status || !a->job->from_stdin || a->q.n_items < a->step)
		return status;
	/* More steps follow, and "ask" would count anew in each. */
	pagedet_iter_fields(a->it, a->q.fields);
	a->q.fields[0] &= ~(1ull << PAGEDET_FIELD_ASK);
	a->q.options &= ~(uint32_t)PAGEDET_Q_CHEAP;
	return query(a);
}

/* Rows so far are true; but a snapshot has no end then, and nobody could open
 * it. */
static int halfway(struct asking *a, int status)
{
	a->halfway = true;
	return status;
}

static int emit_steps(struct asking *a, struct pagedet_emitter *e)
{
	int error, more, status;

	for (;;) {
		error = pagedet_emit_all(e, a->it);
		cli_progress_end(&a->progress);
		if (a->ground && !error && !cli_interrupted()) {
			a->ground = false;
			cli_map_query(a->job, &a->q);
			status = query(a);
			if (status)
				return halfway(a, status);
			continue;
		}
		cli_verdict_add(&a->verdict, a->it, a->q.target);
		if (error == -ETIMEDOUT || error == -ECANCELED)
			return CLI_UNSURE;	/* the verdict has the words */
		if (error)
			return halfway(a, cli_fail(a->pd, error));
		more = more_items(a);
		if (more < 0)
			return halfway(a, -more);
		if (!more || cli_interrupted())
			return CLI_ANSWERED;
		status = query(a);
		if (status)
			return halfway(a, status);
	}
}

/* Whether any source knows what the command is about; else says why not. */
static int check_source(const struct asking *a)
{
	static const uint32_t about[] = {
		PAGEDET_FIELD_ALLOC_STACK, PAGEDET_FIELD_FREE_STACK,
	};
	const char *advice;
	uint32_t why;
	size_t i;

	if (!a->job->command->stacks)
		return CLI_ANSWERED;
	/* One of them is an answer: page_owner's text has no free stacks. */
	for (i = 0; i < CLI_COUNT(about); i++) {
		why = pagedet_why(a->it, about[i]);
		if (why == PAGEDET_HAVE || why == PAGEDET_NOT_ASKED)
			return CLI_ANSWERED;
	}
	why = pagedet_why(a->it, about[0]);
	cli_say("cannot tell who allocated a page: %s",
		pagedet_state_text(why));
	advice = pagedet_why_advice(a->it, about[0]);
	if (*advice)
		cli_say("hint: %s", advice);
	return why == PAGEDET_NO_ACCESS ? CLI_DENIED : CLI_UNAVAILABLE;
}

static int emit(struct asking *a, int fd)
{
	bool held = a->progress.same_terminal;
	struct pagedet_emitter *e;
	int status, told, late = CLI_ANSWERED;
	const char *text;
	size_t len;

	status = cli_emitter_new(a->job, a->pd, fd, held ? -1 : fd, &e);
	if (status)
		return status;
	status = emit_steps(a, e);
	/* Whatever ended the work, the rows so far are true. */
	if (status > CLI_UNSURE)
		pagedet_emitter_finish(e); /* said what is wrong already */
	else
		late = cli_emitter_finish(a->pd, e);
	text = pagedet_emitter_text(e, &len);
	if (!late)
		late = cli_output_write(fd, text, len);
	pagedet_emitter_free(e);
	if (late || status > CLI_UNSURE || !a->it)
		return late ? late : status;
	told = cli_verdict_tell(&a->verdict, a->job, a->it);
	return status ? status : told;
}

static int answer(struct asking *a)
{
	struct cli_output out;
	bool asked;
	int status;

	status = cli_output_open(&out, a->job->output);
	if (!status) {
		cli_progress_start(&a->progress, a->job, out.fd, &a->q);
		status = first_query(a);
	}
	if (!status)
		status = check_source(a);
	/* A question that could not be asked has no answer, not even a part of
	 * one: nothing takes the place of an older file. */
	asked = !status;
	if (asked)
		status = emit(a, out.fd);
	cli_interrupt_cancels(NULL);
	pagedet_iter_free(a->it);
	if (a->halfway && a->job->format == PAGEDET_FORMAT_SNAPSHOT)
		asked = false;
	return cli_output_close(&out, asked && status <= CLI_UNSURE &&
				!cli_interrupted(), status);
}

int cli_run_query(struct cli_job *job, struct pagedet *pd)
{
	struct asking a = { .job = job, .pd = pd, .q = PAGEDET_QUERY_INIT };
	int status, more;

	status = set_query(&a);
	if (status)
		return status;
	if (!job->from_stdin)
		return answer(&a);

	cli_pfn_stream_open(&a.stream);
	more = more_items(&a);
	if (more > 0)
		status = answer(&a);
	else if (more < 0)
		status = -more;
	else {
		cli_say("standard input names no page");
		status = CLI_NO;
	}
	cli_pfn_stream_close(&a.stream);
	return status;
}
