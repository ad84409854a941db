/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The command kmem blame: who holds blocks of memory, by a trace. */
#include <stdlib.h>
#include <string.h>

#include "kmem.h"

#define BLOCK "block"

static int parse(struct cli_job *job)
{
	const int words = job->instance ? 1 : 2;
	const char *wrong = job->before ? "before" :
			    job->kallsyms_before ? "kallsyms-before" :
			    job->flame ? "flame" :
			    job->folded ? "folded" :
			    job->window_ns ? "window" :
			    job->text_only ? "text-only" :
			    job->where ? "where" :
			    job->strict ? "strict" :
			    job->verify ? "verify" :
			    job->sort ? "sort" : NULL;
	int status = CLI_ANSWERED;

	if (wrong)
		return cli_usage("kmem blame: --%s has no meaning", wrong);
	if (job->n_words > words)
		status = cli_kmem_pages(job);
	if (status)
		return status;
	if (job->n_words != words)
		return cli_usage(job->n_words < words ?
				 "kmem blame lacks a trace" :
				 "kmem blame takes a trace, and a page or "
				 "FIRST+COUNT");
	job->path = job->instance ? NULL : job->words[1];
	return cli_kmem_names(job);
}

/* Takes the word "block" out of the list; the caller frees *ret. */
static bool without_block(const char *by, char **ret, bool *had)
{
	const size_t len = strlen(BLOCK);
	char *to;

	*had = false;
	*ret = by ? malloc(strlen(by) + 1) : NULL;
	if (!*ret)
		return !by;
	for (to = *ret; *by; by += *by == ',') {
		const size_t n = strcspn(by, ",");

		if (n == len && !memcmp(by, BLOCK, len)) {
			*had = true;
		} else {
			if (to != *ret)
				*to++ = ',';
			memcpy(to, by, n);
			to += n;
		}
		by += n;
	}
	*to = '\0';
	if (to == *ret) {
		free(*ret);
		*ret = NULL;
	}
	return true;
}

static int ask(struct cli_kmem *a, struct pagedet_blame **ret)
{
	struct pagedet_blame_query q = PAGEDET_BLAME_QUERY_INIT;
	const struct cli_job *job = a->job;
	int error;

	if (job->n_items) {
		q.first_pfn = job->items->first;
		q.pages = job->items->count;
	}
	q.deadline_ns = cli_deadline_left(job);
	q.progress = cli_asked_progress;
	q.progress_user = &a->asked;
	q.progress_ns = CLI_KMEM_ASK_NS;
	q.any_boot = job->now;
	cli_progress_start(&a->line, job, -1, &a->asked.shown);
	cli_interrupt_asked(true);
	error = pagedet_allocs_blame(a->pd, a->allocs, &q, ret);
	cli_interrupt_asked(false);
	cli_progress_end(&a->line);
	return error ? cli_fail(a->pd, error) : CLI_ANSWERED;
}

static int emit(const struct cli_kmem *a, struct pagedet_blame *blame,
		bool blocks)
{
	const struct cli_job *job = a->job;
	struct pagedet_emitter *e;
	struct cli_output out;
	int error, status = cli_output_open(&out, job->output);

	if (status)
		return cli_output_close(&out, false, status);
	status = cli_emitter_new(job, a->pd, out.fd, out.fd, &e);
	if (!status) {
		error = pagedet_emit_blame(e, blame, blocks,
					   cli_kmem_bound(job));
		status = cli_emitter_end(a->pd, e, error, out.fd);
	}
	return cli_output_close(&out, !status && !cli_interrupted(), status);
}

static bool by_site(const struct cli_kmem *a)
{
	uint64_t i;

	for (i = 0; i < a->q.n_by; i++)
		if (a->by[i] == PAGEDET_ALLOC_STACK)
			return false;
	return true;
}

static int judge(const struct cli_kmem *a, const struct pagedet_blame *blame)
{
	struct pagedet_blame_total t = { .size = sizeof(t) };
	const int losses = cli_kmem_losses(a);

	pagedet_blame_total(blame, &t);
	if (t.unverified && !a->job->quiet)
		cli_say("of %llu live it is not known whether they are in use: "
			"they explain nothing",
			(unsigned long long)t.unverified);
	if (!a->job->quiet && by_site(a))
		cli_say("pages have no call site: --by stack tells more, if "
			"the trace was recorded with --stacks");
	if (losses || t.holders)
		return losses;
	if (!a->job->quiet)
		cli_say("%s; to see what does: %s page FIRST+COUNT --by "
			"kind,slab_cache", a->job->command->nothing,
			a->job->again);
	return CLI_NO;
}

static int run(struct cli_job *job, struct pagedet *pd)
{
	struct cli_kmem a = { .job = job, .pd = pd,
			      .q = PAGEDET_ALLOCS_QUERY_INIT };
	struct pagedet_blame *blame = NULL;
	bool blocks;
	char *by;
	int status;

	if (!without_block(job->by, &by, &blocks))
		return cli_fail_errno("--by");
	status = cli_kmem_keys(&a, by ? by : "family,site");
	free(by);
	if (!status)
		status = cli_kmem_read(&a, job->path, job->kallsyms, &a.allocs,
				       &a.total);
	/* What a part of the trace has live may have been freed. */
	if (!status && !a.total.complete) {
		status = cli_kmem_losses(&a);
	} else if (!status) {
		status = ask(&a, &blame);
		if (!status)
			status = emit(&a, blame, blocks);
		if (!status)
			status = judge(&a, blame);
	}
	pagedet_blame_free(blame);
	pagedet_allocs_free(a.allocs);
	return status;
}

const struct cli_command cli_kmem_blame = {
	"kmem", "blame TRACE [PFN | FIRST+COUNT]", "", .parse = parse,
	.run = run, .min_words = 1, .max_words = 3, .wide = true,
	.nothing = "nothing that is live by the trace holds a block there",
	.groups = true,
};
