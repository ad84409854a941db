/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The command kmem check: whether a trace is in order. */
#include "kmem.h"

static int parse(struct cli_job *job)
{
	const char *wrong = job->before ? "before" :
			    job->kallsyms_before ? "kallsyms-before" :
			    job->flame ? "flame" :
			    job->folded ? "folded" :
			    job->window_ns ? "window" :
			    job->where ? "where" :
			    job->strict ? "strict" :
			    job->verify ? "verify" :
			    job->text_only ? "text-only" :
			    job->now ? "now" :
			    job->by ? "by" :
			    job->sort ? "sort" : NULL;
	int status;

	if (wrong)
		return cli_usage("kmem check: --%s has no meaning", wrong);
	if (cli_bound(job))
		return cli_usage("kmem check lists all findings: --top and "
				 "--limit have no meaning");
	status = cli_kmem_take(job);
	return status ? status : cli_kmem_names(job);
}

static int emit(const struct cli_kmem *a)
{
	const struct cli_job *job = a->job;
	struct pagedet_emitter *e;
	struct cli_output out;
	int error, status = cli_output_open(&out, job->output);

	if (status)
		return cli_output_close(&out, false, status);
	status = cli_emitter_new(job, a->pd, out.fd, out.fd, &e);
	if (!status) {
		error = pagedet_emit_alloc_findings(e, a->allocs);
		status = cli_emitter_end(a->pd, e, error, out.fd);
	}
	return cli_output_close(&out, !status && !cli_interrupted(), status);
}

/* What is wrong counts more than what is not known. */
static int judge(const struct cli_kmem *a)
{
	struct pagedet_alloc_finding f = { .size = sizeof(f) };
	const bool elsewhere = a->total.other_instances && !a->total.events;
	bool wrong = false, unknown = !a->total.complete || elsewhere;
	bool any = elsewhere;

	while (pagedet_allocs_next_finding(a->allocs, &f) == 1) {
		any = true;
		wrong |= f.verdict == PAGEDET_JUDGED_WRONG;
		unknown |= f.verdict == PAGEDET_JUDGED_UNKNOWN;
	}
	if (!a->job->quiet && (!a->total.complete || elsewhere))
		cli_kmem_losses(a);
	else if (!a->job->quiet && !any)
		cli_say("%s", a->job->command->nothing);
	return wrong ? CLI_NO : unknown ? CLI_UNSURE : CLI_ANSWERED;
}

static int run(struct cli_job *job, struct pagedet *pd)
{
	struct cli_kmem a = { .job = job, .pd = pd,
			      .q = PAGEDET_ALLOCS_QUERY_INIT };
	int status = cli_kmem_read(&a, job->path, job->kallsyms, &a.allocs,
				   &a.total);

	if (!status)
		status = emit(&a);
	if (!status)
		status = judge(&a);
	pagedet_allocs_free(a.allocs);
	return status;
}

const struct cli_command cli_kmem_check = {
	"kmem", "check TRACE", "", .parse = parse, .run = run, .min_words = 1,
	.max_words = 2, .wide = true,
	.nothing = "nothing is wrong with the trace, and nothing of it is "
		   "missing",
	.groups = true,
};
