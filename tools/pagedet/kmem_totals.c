/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The command kmem record --totals: groups of allocations that the kernel adds
 * up while a program runs or for some time.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kmem.h"

/* A list of keys. */
#define MOST_KEYS 512

/* With --stacks, groups have one. */
static int take_keys(struct cli_kmem *a, char by[MOST_KEYS])
{
	const struct cli_job *job = a->job;
	int n = snprintf(by, MOST_KEYS, "%s%s%s",
			 job->by ? job->by : job->stacks ? "" : "site",
			 job->by && job->stacks ? "," : "",
			 job->stacks ? "stack" : "");

	if (n >= MOST_KEYS)
		return cli_usage("--by: too many keys");
	return cli_kmem_keys(a, by);
}

static bool is_key(const struct cli_kmem *a, const char *name)
{
	const int key = pagedet_alloc_key_by_name(name);
	uint64_t i;

	for (i = 0; key >= 0 && i < a->q.n_by; i++)
		if (a->by[i] == (uint32_t)key)
			return true;
	return false;
}

enum { OF_ALLOCS = 10, OF_FREES = 24, OF_VERIFIED = CLI_ALLOC_SUMS };

/* Those of allocations, of frees and of a verification. */
const char *const cli_alloc_sums[CLI_ALLOC_SUMS] = {
	"times", "page_times", "requested", "allocated", "page_allocated",
	"all_allocated", "waste", "unsized", "failed", "page_failed",
	"freed", "page_freed", "live", "page_live", "live_bytes",
	"page_live_bytes", "all_live_bytes", "replaced", "page_replaced",
	"cross_cpu", "page_cross_cpu", "mismatched", "untracked",
	"page_untracked",
	"verified_live", "page_verified_live", "verified_live_bytes",
	"page_verified_live_bytes", "all_verified_live_bytes",
	"verified_free", "page_verified_free", "unverified", "page_unverified"
};

static bool is_sum(const char *name, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (!strcmp(name, cli_alloc_sums[i]))
			return true;
	return false;
}

static int check_sort(const struct cli_kmem *a)
{
	const int sums = a->job->verify ? OF_VERIFIED :
			 a->job->frees ? OF_FREES : OF_ALLOCS;
	const char *at = a->job->sort;
	char name[32];
	size_t len;

	for (; at; at = at[len] ? at + len + 1 : NULL) {
		at += *at == '-';
		len = strcspn(at, ",");
		snprintf(name, sizeof(name), "%.*s", (int)len, at);
		if (len >= sizeof(name) ||
		    (!is_key(a, name) && !is_sum(name, sums)))
			return cli_usage("--sort: '%.*s' is not a sum of "
					 "totals, nor a key of these groups%s",
					 (int)len, at,
					 is_sum(name, OF_FREES) ?
					 "; with --frees it is" :
					 is_sum(name, OF_VERIFIED) ?
					 "; with --verify it is" : "");
	}
	return CLI_ANSWERED;
}

static int parse(struct cli_job *job)
{
	struct cli_kmem a = { .job = job };
	char by[MOST_KEYS];
	int status = cli_kmem_recorded(job);

	/* Afterwards it would be too late. */
	if (!status && job->format == PAGEDET_FORMAT_ARROW)
		return cli_usage("kmem record --totals: --format must be text, "
				 "json or csv");
	if (!status && job->max_size)
		return cli_usage("kmem record --totals writes no file: "
				 "--max-size has no meaning");
	if (!status && (job->where || job->strict || job->all))
		return cli_usage("kmem record takes no --%s",
				 job->where ? "where" :
				 job->strict ? "strict" : "all");
	if (!status)
		status = take_keys(&a, by);
	if (!status)
		status = check_sort(&a);
	return status;
}

static int begin(struct cli_recording *r)
{
	struct pagedet_record_options o = PAGEDET_RECORD_OPTIONS_INIT;
	const struct cli_job *job = r->job;

	o.flags = PAGEDET_RECORD_TOTALS |
		  (job->frees ? PAGEDET_RECORD_FREES : 0) |
		  (job->verify ? PAGEDET_RECORD_OBJECTS : 0);
	o.live = job->live_objects;
	o.by = r->groups->by;
	o.n_by = r->groups->q.n_by;
	return cli_kmem_begin(r, &o);
}

/* What was added up is written, even if that is not verified. */
static int verify(struct cli_recording *r)
{
	const int error = cli_kmem_verify(r);

	if (error == -ECANCELED || error == -ETIMEDOUT)
		cli_say("%s while the kernel was asked: what is live is not "
			"verified", error == -ECANCELED ? "interrupted" :
			"the deadline passed");
	else if (error)
		return cli_fail(r->pd, error);
	return CLI_ANSWERED;
}

static int take(struct cli_recording *r)
{
	struct cli_kmem *a = r->groups;
	int error = pagedet_recorder_allocs(r->recorder, &a->allocs);
	int status = error ? cli_fail(r->pd, error) : CLI_ANSWERED;

	a->total.size = sizeof(a->total);
	if (!status && r->job->verify)
		status = verify(r);
	if (!status && r->job->sort) {
		error = pagedet_allocs_order(a->allocs, r->job->sort);
		status = error ? cli_fail(r->pd, error) : CLI_ANSWERED;
	}
	if (status)
		return status;
	r->total.size = sizeof(r->total);
	pagedet_recorder_total(r->recorder, &r->total);
	pagedet_allocs_total(a->allocs, &a->total);
	return CLI_ANSWERED;
}

/* The output is opened first: afterwards it would be too late to fail. */
static int answer(struct cli_recording *r)
{
	int status = cli_output_open(&r->out, r->job->output);

	if (status)
		return status;
	status = cli_kmem_record(r, begin, take);
	if (!status)
		status = cli_kmem_rows(r->groups, r->out.fd);
	return cli_output_close(&r->out, !status, status);
}

static void tell(const struct cli_recording *r)
{
	cli_child_tell(&r->child);
	if (r->total.buffer_needed)
		cli_say("the table of sums was full; --buffer %lluK makes it "
			"larger",
			(unsigned long long)r->total.buffer_needed >> 10);
	if (r->groups->total.untracked)
		cli_say("the table of live objects had room for %llu; "
			"--frees=%llu makes it larger",
			(unsigned long long)r->total.live,
			(unsigned long long)r->total.live +
			(unsigned long long)r->groups->total.untracked);
}

static int run(struct cli_job *job, struct pagedet *pd)
{
	struct cli_kmem a = { .job = job, .pd = pd,
			      .q = PAGEDET_ALLOCS_QUERY_INIT };
	struct cli_recording r = { .job = job, .pd = pd, .groups = &a };
	char by[MOST_KEYS];
	int status = take_keys(&a, by);

	if (!status)
		status = answer(&r);
	if (!status && !job->quiet)
		tell(&r);
	if (!status)
		status = cli_kmem_judge(&a);
	if (!status && job->verify && !a.total.verified)
		status = CLI_UNSURE;
	pagedet_allocs_free(a.allocs);
	return status;
}

const struct cli_command cli_kmem_totals = {
	"kmem", "record --totals [PROGRAM ...]", "", .parse = parse,
	.run = run, .min_words = 1, .max_words = -1, .groups = true,
	.wide = true, .nothing = "nothing was allocated",
};
