/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Makes a library query of a job, and writes its rows. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* Page frame numbers of standard input per query. */
#define STEP 65536

/* A running query. */
struct asking {
	struct cli_job *job;
	struct pagedet *pd;
	struct pagedet_query q;
	struct pagedet_iter *it;
	struct pagedet_heat *heat; /* NULL: it is not wanted */
	struct pagedet_kmap_pages *kmap; /* NULL: no --kmap */
	bool lossy;		/* some of its lines are not counted */
	/*
	 * The items, if they come from standard input. They are allocated
	 * because they are large.
	 */
	struct cli_pfn_stream *stream;
	struct cli_path_stream *paths;
	size_t step;
	int out_fd;
	bool ground;		/* the background of a picture is queried */
	bool halfway;		/* it failed, but not at its beginning */
	uint32_t by[PAGEDET_FIELDS_MAX];
	struct cli_verdict verdict;
	struct cli_progress progress;
};

uint32_t cli_threads(const struct cli_job *job)
{
	cpu_set_t set;
	long n;

	if (job->threads)
		return job->threads;
	if (!job->command->wide)
		return 1;
	/*
	 * Counts the processors that this process may use. Fails if there are
	 * more than 1024.
	 */
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
	o.fd = cli_watch_holds(to) ? -1 : to;
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
	if (job->alternatives)
		o.options |= PAGEDET_EMIT_ALTERNATIVES;
	if (job->command->compares) {
		if (job->summary)
			o.options |= PAGEDET_EMIT_TOTALS;
		o.limit = cli_bound(job) < UINT32_MAX ?
			  (uint32_t)cli_bound(job) : UINT32_MAX;
		cli_diff_title(job, title, sizeof(title));
		o.title = title;
	}
	if (job->command->picture)
		cli_map_emitter(job, pd, &o, title, sizeof(title));
	error = pagedet_emitter_new(pd, &o, ret);
	return error ? cli_fail(pd, error) : CLI_ANSWERED;
}

int cli_emit_failed(const struct pagedet *pd, int error, int fd)
{
	if (error == -EIO && cli_nobody_reads(fd))
		cli_interrupt_pipe();
	return cli_fail(pd, error);
}

/* Writes what was kept in memory. */
static int write_kept(struct pagedet_emitter *e, int fd)
{
	size_t len;
	const char *text = pagedet_emitter_text(e, &len);

	return cli_output_write(fd, text, len);
}

int cli_emitter_finish(struct pagedet *pd, struct pagedet_emitter *e, int fd)
{
	int error = pagedet_emitter_finish(e);

	if (!error)
		return write_kept(e, fd);
	if (cli_nobody_reads(fd))
		cli_interrupt_pipe();
	if (*pagedet_error(pd))
		return cli_fail(pd, error);
	cli_say("cannot write the output");
	return CLI_IO;
}

int cli_emitter_end(struct pagedet *pd, struct pagedet_emitter *e, int error,
		    int fd)
{
	const int status = error ? cli_emit_failed(pd, error, fd) :
				   cli_emitter_finish(pd, e, fd);

	pagedet_emitter_free(e);
	return status;
}

static int set_grouping(struct asking *a)
{
	const char *at = a->job->by ? a->job->by :
			 a->job->list ? "path" : "kind";

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
			return cli_no_field(a->job, "--by", at, len);
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

	if (list && pagedet_fields_parse(a->pd, list, &a->q)) {
		cli_topic("fields");
		return cli_refuse(pagedet_advice(a->pd), "--fields: %s",
				  pagedet_error(a->pd));
	}
	cli_named_fields(list, a->verdict.named);
	if (list)
		return CLI_ANSWERED;
	if (!usual)
		usual = a->job->list ? "cheap,path" : "cheap";
	error = pagedet_fields_parse(a->pd, usual, &a->q);
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
	if (job->runs)
		a->q.options |= PAGEDET_Q_RUNS;
	if (job->undecided)
		a->q.options |= PAGEDET_Q_UNDECIDED;
	a->q.options |= cli_stacks_options(job);
	if (job->list) {
		a->paths = malloc(sizeof(*a->paths));
		if (!a->paths)
			return cli_fail_errno("list of files");
		cli_path_stream_open(a->paths, job);
		a->q.next_place = cli_path_stream_next;
		a->q.next_place_user = a->paths;
	}
	if (job->now)
		a->q.options |= PAGEDET_Q_ANY_BOOT;
	if (a->q.target == PAGEDET_TARGET_LOG) {
		a->q.page_size = job->page_size;
		if (job->pointers)
			a->q.options |= PAGEDET_Q_POINTERS;
	}
	if (job->text_only)
		a->q.sources = PAGEDET_SOURCE_BIT(job->allocs ?
						  PAGEDET_SOURCE_TRACE :
						  PAGEDET_SOURCE_LOG);
	a->q.allocs = job->allocs;
	if (job->command->picture) {
		cli_map_query(job, &a->q);
		cli_named_fields(job->by, a->verdict.named);
		return CLI_ANSWERED;
	}
	grouped = job->by || job->summary;
	status = grouped ? set_grouping(a) : set_fields(a);
	if (!status)
		status = cli_sort_query(job, &a->q);
	a->verdict.limit = a->q.order || grouped ? 0 : a->q.limit;
	if (status || !job->from_stdin)
		return status;

	/* A table, and the number of the item, need the whole list at once. */
	a->step = STEP;
	if (grouped || job->runs || a->q.limit ||
	    job->format == PAGEDET_FORMAT_TEXT ||
	    job->format == PAGEDET_FORMAT_SNAPSHOT ||
	    (a->verdict.named[0] & (1ull << PAGEDET_FIELD_ASK)))
		a->step = SIZE_MAX;
	return CLI_ANSWERED;
}

/*
 * Returns 1 if the next items are in the query, 0 if there are none, or
 * -status.
 */
static int more_items(struct asking *a)
{
	int status;

	if (!a->job->from_stdin)
		return 0;
	status = cli_pfn_stream_next(a->stream, a->step);
	a->q.items = a->stream->items;
	a->q.n_items = a->stream->n;
	return status ? -status : a->stream->n != 0;
}

static int query(struct asking *a)
{
	int error;

	cli_interrupt_cancels(NULL);
	pagedet_iter_free(a->it);
	a->it = NULL;
	a->q.deadline_ns = cli_deadline_left(a->job);
	error = pagedet_query(a->pd, &a->q, &a->it);
	if (error)
		return cli_fail(a->pd, error);
	cli_interrupt_cancels(a->it);
	return CLI_ANSWERED;
}

static int first_query(struct asking *a)
{
	int status = query(a);

	/* By now the filter was checked. */
	a->ground = !status && a->job->command->picture && a->job->where;
	if (a->ground) {
		cli_map_ground(&a->q);
		return query(a);
	}
	if (status || !a->job->from_stdin || a->q.n_items < a->step)
		return status;
	/* More steps follow, and "ask" would start again at 0 in each. */
	pagedet_iter_fields(a->it, a->q.fields);
	a->q.fields[0] &= ~(1ull << PAGEDET_FIELD_ASK);
	a->q.options &= ~(uint32_t)PAGEDET_Q_CHEAP;
	return query(a);
}

/*
 * The rows so far are right. But a snapshot would not have an end, so nobody
 * could open it.
 */
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
			return CLI_UNSURE;	/* the verdict reports it */
		if (error)
			return halfway(a, cli_emit_failed(a->pd, error,
							  a->out_fd));
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

/*
 * Whether any source can answer the command's subject. If not, reports the
 * reason.
 */
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
	/*
	 * One of these fields is enough, because page_owner's text does not
	 * have the stacks of frees.
	 */
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

/* --- pages without mappers --- */

static bool are_no_frames(const struct cli_job *job)
{
	size_t i;

	for (i = 0; i < job->n_items; i++)
		if (!cli_is_no_frame(job->items[i].first))
			return false;
	return job->n_items != 0;
}

/* The page frames that were looked for. Of those behind the end of memory,
 * which are alike, the first one. NULL: no memory. */
static struct pagedet_item *list_frames(const struct asking *a, uint64_t *n)
{
	struct pagedet_mappers m = { .size = sizeof(m) };
	struct pagedet_item *items = NULL, *more;
	uint64_t room = 0;

	for (*n = 0; !pagedet_mappers(a->it, *n, &m); ++*n) {
		if (*n == room) {
			room = room ? 2 * room : 16;
			more = realloc(items, room * sizeof(*items));
			if (!more) {
				free(items);
				return NULL;
			}
			items = more;
		}
		items[*n] = (struct pagedet_item){ m.pfn, 1, 0, 0 };
	}
	return items;
}

/* Whether the source knows that none of the page frames is memory. */
static bool has_no_memory(const struct asking *a)
{
	struct pagedet_coverage done = { .size = sizeof(done) };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_iter *it = NULL;
	struct pagedet_item *items;
	struct pagedet_page row;
	int n, error;

	if (a->job->from_stdin)
		return false;
	items = list_frames(a, &q.n_items);
	q.target = PAGEDET_TARGET_PFN;
	q.items = items;
	q.where = "kind!=hole";
	q.options = PAGEDET_Q_UNDECIDED;
	q.deadline_ns = cli_deadline_left(a->job);
	error = items ? pagedet_query(a->pd, &q, &it) : -ENOENT;
	free(items);
	if (error)
		return false;
	cli_interrupt_cancels(it);
	n = pagedet_next(it, &row, 1);
	pagedet_coverage(it, &done);
	cli_interrupt_cancels(a->it);
	pagedet_iter_free(it);
	return !n && done.complete;
}

/* What a complete answer says beside its rows. */
static int tell(struct asking *a, int status)
{
	int told;

	if (!status && a->job->command->target == PAGEDET_TARGET_MAPPERS &&
	    !a->verdict.sum.rows) {
		/* Nothing can map them, even if some task cannot be read. */
		if (are_no_frames(a->job)) {
			if (!a->job->quiet)
				cli_say("there is no such page frame");
			return CLI_NO;
		}
		a->job->no_memory = !a->job->quiet && has_no_memory(a);
	}
	told = cli_verdict_tell(&a->verdict, a->job, a->it);
	if (a->lossy)
		told = CLI_UNSURE;
	return status ? status : told;
}

/* Draws the stacks of the processes that were found. */
static int draw(struct asking *a, int fd)
{
	const int status = cli_threads_draw(a->job, a->pd, a->it, fd);

	cli_progress_end(&a->progress);
	if (status > CLI_UNSURE)
		return status;
	cli_verdict_add(&a->verdict, a->it, a->q.target);
	return tell(a, status);
}

static int emit(struct asking *a, int fd)
{
	const bool held = a->progress.same_terminal;
	struct pagedet_emitter *e;
	int status, late;

	a->out_fd = fd;
	status = cli_emitter_new(a->job, a->pd, fd, held ? -1 : fd, &e);
	if (status)
		return status;
	status = emit_steps(a, e);
	/*
	 * Whatever ended the work, the rows so far are right, but sums are not.
	 */
	if (status > CLI_UNSURE && !a->job->by && !a->job->summary)
		pagedet_emitter_finish(e); /* the error was already reported */
	late = status > CLI_UNSURE ? write_kept(e, fd) :
				     cli_emitter_finish(a->pd, e, fd);
	pagedet_emitter_free(e);
	if (late || status > CLI_UNSURE || !a->it)
		return late ? late : status;
	if (a->paths) {
		a->verdict.places = a->paths->places;
		a->verdict.failed = a->paths->failed;
	}
	return tell(a, status);
}

static int answer(struct asking *a)
{
	struct cli_output out;
	bool asked;
	int status;

	status = a->job->flame ? cli_picture_open(&out, a->job->flame) :
		 a->job->format == PAGEDET_FORMAT_SVG ?
			 cli_picture_open(&out, a->job->output) :
			 cli_output_open(&out, a->job->output);
	if (!status) {
		cli_progress_start(&a->progress, a->job, out.fd, &a->q);
		status = cli_heat(a->job, a->pd, &a->q, &a->heat);
	}
	if (!status)
		status = cli_kmap_pages(a->job, a->pd, &a->q, &a->kmap,
					&a->lossy);
	if (!status)
		status = first_query(a);
	if (!status)
		status = check_source(a);
	/*
	 * If a query failed to start, there is not even a part of an answer:
	 * keep the older file.
	 */
	asked = !status;
	if (asked)
		status = a->job->flame || a->job->folded ? draw(a, out.fd) :
							   emit(a, out.fd);
	cli_interrupt_cancels(NULL);
	pagedet_iter_free(a->it);
	pagedet_heat_free(a->heat);
	pagedet_kmap_pages_free(a->kmap);
	if (a->halfway && a->job->format == PAGEDET_FORMAT_SNAPSHOT)
		asked = false;
	return cli_output_close(&out, asked && status <= CLI_UNSURE &&
				!cli_interrupted(), status);
}

/* Answers page frame numbers of standard input. */
static int answer_stream(struct asking *a)
{
	int status, more;

	a->stream = malloc(sizeof(*a->stream));
	if (!a->stream)
		return cli_fail_errno("standard input");
	cli_pfn_stream_open(a->stream);
	more = more_items(a);
	if (more > 0)
		status = answer(a);
	else if (more < 0)
		status = -more;
	else {
		cli_say("standard input names no page");
		status = CLI_NO;
	}
	cli_pfn_stream_close(a->stream);
	free(a->stream);
	return status;
}

static int run_query(struct cli_job *job, struct pagedet *pd)
{
	struct asking a = { .job = job, .pd = pd, .q = PAGEDET_QUERY_INIT };
	int status = cli_threads_check(job);

	if (status)
		return status;
	if (job->flame || job->folded)
		job->by = "pid";
	if (cli_summarizes(job))
		return cli_run_summary(job, pd);
	if (cli_counts(job)) {
		job->summary = true;
		if (!job->quiet && !job->watching)
			cli_say("a terminal gets the sums; --all lists the "
				"pages, --where EXPR some of them");
	}
	status = set_query(&a);
	if (status)
		goto out;
	if (job->from_stdin) {
		status = answer_stream(&a);
		goto out;
	}
	status = answer(&a);
	if (status == CLI_NO)
		cli_tell_no_row(job, pd);
	if (!a.verdict.sum.rows && !a.verdict.sum.stopped &&
	    (status == CLI_NO || status == CLI_UNSURE))
		cli_suggest_value(job, pd);
	if (job->command->target == PAGEDET_TARGET_PFN && status <= CLI_UNSURE)
		cli_tell_process(job, pd);
	if (a.paths && a.paths->status)
		status = a.paths->status;
out:
	free(a.paths);
	return status;
}

int cli_run_query(struct cli_job *job, struct pagedet *pd)
{
	const int status = run_query(job, pd);
	char instead[CLI_HINT];

	if (status == CLI_NO_INPUT &&
	    job->command->target == PAGEDET_TARGET_CGROUP)
		cli_suggest_cgroup(job);
	if (status == CLI_NO_INPUT && !job->quiet && !job->list &&
	    job->command->target == PAGEDET_TARGET_FILE &&
	    cli_command_for_path(job, job->path, instead))
		cli_say("hint: %.*s", (int)strlen(instead) - 1, instead);
	return status;
}
