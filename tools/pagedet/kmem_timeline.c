/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The command kmem timeline: what happened to pages, by a trace. */
#include <string.h>

#include "kmem.h"

#define KEYS "cpu,tid,comm,site,cache,gfp,migratetype"

static const char *wrong_option(const struct cli_job *job)
{
	return job->by ? "by" :
	       job->sort ? "sort" :
	       job->top ? "top" :
	       job->before ? "before" :
	       job->kallsyms_before ? "kallsyms-before" :
	       job->flame ? "flame" :
	       job->folded ? "folded" :
	       job->window_ns ? "window" :
	       job->where ? "where" :
	       job->strict ? "strict" :
	       job->verify ? "verify" : NULL;
}

static int parse(struct cli_job *job)
{
	const int words = job->instance ? 2 : 3;
	const char *wrong = wrong_option(job);
	int status;

	if (wrong)
		return cli_usage("kmem timeline: --%s has no meaning", wrong);
	if (job->text_only && job->now)
		return cli_usage("kmem timeline: --now asks the kernel where "
				 "objects are, --text-only does not");
	if (job->n_words != words)
		return cli_usage("kmem timeline takes %s a page or FIRST+COUNT",
				 job->instance ? "only" : "a trace, and");
	status = cli_kmem_pages(job);
	if (status)
		return status;
	job->path = job->instance ? NULL : job->words[1];
	return cli_kmem_names(job);
}

static int read_it(struct cli_kmem *a, struct pagedet_timeline **ret)
{
	struct pagedet_timeline_query q = PAGEDET_TIMELINE_QUERY_INIT;
	const struct cli_job *job = a->job;
	int error;

	cli_kmem_trace(a, job->path, job->kallsyms);
	q.trace = &a->q;
	q.first_pfn = job->items->first;
	q.pages = job->items->count;
	q.max_events = job->limit;
	q.first = job->limit != 0;
	q.any_boot = job->now;
	q.pages_only = job->text_only;
	cli_progress_start(&a->line, job, -1, &a->asked.shown);
	cli_interrupt_asked(true);
	error = pagedet_allocs_timeline(a->pd, &q, ret);
	cli_interrupt_asked(false);
	cli_progress_end(&a->line);
	return error ? cli_fail(a->pd, error) : CLI_ANSWERED;
}

static int emit(const struct cli_kmem *a, struct pagedet_timeline *timeline)
{
	const struct cli_job *job = a->job;
	struct pagedet_emitter *e;
	struct cli_output out;
	int error, status = cli_output_open(&out, job->output);

	if (status)
		return cli_output_close(&out, false, status);
	status = cli_emitter_new(job, a->pd, out.fd, out.fd, &e);
	if (!status) {
		error = pagedet_emit_timeline(e, timeline, UINT64_MAX);
		status = cli_emitter_end(a->pd, e, error, out.fd);
	}
	return cli_output_close(&out, !status && !cli_interrupted(), status);
}

static void tell(const struct cli_job *job, const char *why,
		 const struct pagedet_timeline_total *t)
{
	if (t->left_out && !job->limit)
		cli_say("the last %llu events are shown, and %llu before them "
			"are not: --limit shows the first ones",
			(unsigned long long)t->rows,
			(unsigned long long)t->left_out);
	if (t->losses)
		cli_say("events were lost where the timeline says so: what "
			"happened to the pages there is not known");
	if (t->no_pages)
		cli_say("the trace has no events of pages: 'kmem record "
			"--pages' records them");
	if (t->objects == PAGEDET_UNSUPPORTED)
		cli_say("objects are not shown, %llu event%s: %s",
			(unsigned long long)t->unplaced,
			cli_plural(t->unplaced), why);
}

static int judge(const struct cli_kmem *a,
		 const struct pagedet_timeline *timeline)
{
	struct pagedet_timeline_total t = { .size = sizeof(t) };
	const int losses = cli_kmem_losses(a);

	pagedet_timeline_total(timeline, &t);
	if (!a->job->quiet)
		tell(a->job, pagedet_timeline_why(timeline), &t);
	if (losses || t.objects == PAGEDET_UNSUPPORTED)
		return CLI_UNSURE;
	if (t.events)
		return CLI_ANSWERED;
	if (t.no_pages)
		return CLI_UNSURE;
	if (!a->job->quiet)
		cli_say("%s", a->job->command->nothing);
	return CLI_NO;
}

static int run(struct cli_job *job, struct pagedet *pd)
{
	struct cli_kmem a = { .job = job, .pd = pd,
			      .q = PAGEDET_ALLOCS_QUERY_INIT };
	struct pagedet_timeline *timeline = NULL;
	int status = cli_kmem_keys(&a, job->stacks ? KEYS ",stack" : KEYS);

	if (!status)
		status = read_it(&a, &timeline);
	if (!status) {
		a.total.size = sizeof(a.total);
		pagedet_timeline_trace(timeline, &a.total);
		status = emit(&a, timeline);
	}
	if (!status)
		status = judge(&a, timeline);
	pagedet_timeline_free(timeline);
	return status;
}

const struct cli_command cli_kmem_timeline = {
	"kmem", "timeline TRACE PFN | FIRST+COUNT", "", .parse = parse,
	.run = run, .min_words = 1, .max_words = 3, .wide = true,
	.nothing = "no event of the trace concerns the page", .groups = true,
};
