/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The command kmem: a trace of allocations in groups, or what is live of it in
 * rows, and what the trace lacks.
 */
#include <errno.h>
#include <string.h>

#include "cli.h"

#define ASK_NS 100000000u

struct asking {
	struct cli_job *job;
	struct pagedet *pd;
	struct pagedet_allocs_query q;
	uint32_t by[PAGEDET_ALLOC_KEYS];
	struct pagedet_allocs *allocs;
	struct pagedet_allocs_total total;
	struct cli_progress line;
	struct cli_asked asked;
};

static int parse_live(struct cli_job *job)
{
	job->path = job->words[1];
	return CLI_ANSWERED;
}

static int run_live(struct cli_job *job, struct pagedet *pd);

static const struct cli_command live = {
	"kmem", "live TRACE", "", .parse = parse_live, .run = run_live,
	.target = PAGEDET_TARGET_OBJECTS, .min_words = 2, .max_words = 2,
	.nothing = "nothing of it is live", .wide = true, .rows = true,
	.fields = "vaddr,pfn,kind,slab_cache,object_state,alloc_site,"
		  "alloc_requested,alloc_bytes,alloc_cpu,alloc_ns,alloc_pid,"
		  "alloc_comm,notes",
};

int cli_wrap_kmem(struct cli_job *job)
{
	if (job->n_words && !strcmp(job->words[0], "live"))
		job->command = &live;
	return CLI_ANSWERED;
}

int cli_parse_kmem(struct cli_job *job)
{
	if (strcmp(job->words[0], "report"))
		return cli_usage("kmem: there is no '%s'; this release has "
				 "'kmem report' and 'kmem live'",
				 job->words[0]);
	if (job->n_words < 2)
		return cli_usage("kmem report lacks a trace");
	if (job->text_only || job->now)
		return cli_usage("kmem report asks no kernel: --%s has no "
				 "meaning", job->now ? "now" : "text-only");
	if (job->open.n_files || job->live)
		return cli_usage("kmem: a trace cannot be combined with "
				 "--from");
	if (job->where || job->strict)
		return cli_usage("kmem report takes no --%s", job->where ?
				 "where" : "strict");
	job->path = job->words[1];
	return CLI_ANSWERED;
}

static int set_keys(struct asking *a)
{
	const char *at = a->job->by;

	if (!at)
		return CLI_ANSWERED;
	a->q.by = a->by;
	do {
		size_t len = strcspn(at, ",");
		char name[32] = "";
		int key = -1;

		if (len < sizeof(name)) {
			memcpy(name, at, len);
			key = pagedet_alloc_key_by_name(name);
		}
		if (key < 0)
			return cli_usage("--by: allocations cannot be grouped "
					 "by '%.*s'", (int)len, at);
		if (a->q.n_by == CLI_COUNT(a->by))
			return cli_usage("--by: too many keys");
		a->by[a->q.n_by++] = (uint32_t)key;
		at += len;
	} while (*at++ == ',');
	return CLI_ANSWERED;
}

static int read_trace(struct asking *a)
{
	int error;

	a->q.path = a->job->path;
	a->q.kallsyms = a->job->kallsyms;
	a->q.page_size = a->job->page_size;
	a->q.deadline_ns = cli_deadline_left(a->job);
	a->q.progress = cli_asked_progress;
	a->q.progress_user = &a->asked;
	a->q.progress_ns = ASK_NS;
	cli_progress_start(&a->line, a->job, -1, &a->asked.shown);
	cli_interrupt_asked(true);
	error = pagedet_allocs(a->pd, &a->q, &a->allocs);
	cli_interrupt_asked(false);
	cli_progress_end(&a->line);
	if (!error && a->job->sort && !a->job->command->rows)
		error = pagedet_allocs_order(a->allocs, a->job->sort);
	return error ? cli_fail(a->pd, error) : CLI_ANSWERED;
}

static int emit(struct asking *a)
{
	const uint64_t n = cli_bound(a->job);
	struct pagedet_emitter *e;
	struct cli_output out;
	int status = cli_output_open(&out, a->job->output), error;

	if (!status)
		status = cli_emitter_new(a->job, a->pd, out.fd, out.fd, &e);
	if (!status) {
		error = pagedet_emit_allocs(e, a->allocs, n ? n : UINT64_MAX);
		status = error ? cli_emit_failed(a->pd, error, out.fd) :
				 cli_emitter_finish(a->pd, e, out.fd);
		pagedet_emitter_free(e);
	}
	return cli_output_close(&out, !status && !cli_interrupted(), status);
}

static void tell(uint64_t n, const char *what, const char *how)
{
	if (n)
		cli_say("%llu %s%s %s", (unsigned long long)n, what,
			cli_plural(n), how);
}

/* What the sums do not have in them. */
static void tell_missing(const struct pagedet_allocs_total *t)
{
	tell(t->lost, "event", "lost by the kernel: a larger buffer would have "
	     "kept them");
	tell(t->gaps, "gap", "in the trace, of an unknown number of events");
	tell(t->uncounted, "processor", "without a count of losses: what was "
	     "lost behind the last event is not known");
	tell(t->missing, "event", "missing: they were read from the kernel, "
	     "but a part of the copies is not here");
	tell(t->cut_bytes, "byte", "missing at the end: the trace was cut");
	tell(t->damaged, "piece", "of the trace: damaged, not counted");
	tell(t->strange, "event", "whose format is not there: not counted, "
	     "and if they are frees, live is too large");
	tell(t->disorder, "event", "out of order");
	tell(t->freed_unknown, "object", "freed whose allocation is not in "
	     "the trace");
	tell(t->pages_unknown, "block", "of pages freed likewise");
	tell(t->replaced, "object", "whose free has no event: their address "
	     "was allocated again");
}

static void tell_unknown(const struct pagedet_allocs_total *t)
{
	tell(t->unsized, "allocation", "of pages, whose bytes are not known: "
	     "--page-size says how large a page is there");
	if (t->hashed)
		cli_say("addresses are hashed: two objects may be taken for "
			"one; the option nohash-ptr of ftrace shows them");
	if (t->no_ns)
		cli_say("the clock of the trace does not count ns");
	if (t->untold >> PAGEDET_ALLOC_CACHE & 1)
		cli_say("cache: events of this kernel do not have it; those of "
			"Linux 6.18 do");
	if (t->untold >> PAGEDET_ALLOC_COMM & 1)
		cli_say("comm: the trace does not name all threads");
	if (t->untold >> PAGEDET_ALLOC_NODE & 1)
		cli_say("node: events of pages do not have it");
	tell(t->unnamed, "call site", "without a name: --kallsyms takes a copy "
	     "of /proc/kallsyms of the boot that was traced");
	if (t->live)
		cli_say("live is what no event frees; frees in bulk and by RCU "
			"have none, so it may be less");
}

/* Says what the trace lacks. Returns CLI_UNSURE if it lacks events. */
static int tell_losses(const struct asking *a)
{
	const struct pagedet_allocs_total *t = &a->total;
	const bool lossy = t->lost || t->gaps || t->uncounted || t->missing ||
			   t->cut_bytes || t->damaged || t->strange ||
			   t->disorder;

	if (!a->job->quiet) {
		tell_missing(t);
		tell_unknown(t);
	}
	if (t->stopped)
		cli_say("%s: only a part was read", t->stopped == ETIMEDOUT ?
			"the deadline passed first" : "interrupted");
	return t->complete && !lossy ? CLI_ANSWERED : CLI_UNSURE;
}

static int judge(const struct asking *a)
{
	const int status = tell_losses(a);

	if (status || a->total.groups)
		return status;
	if (!a->job->quiet)
		cli_say("%s", a->job->command->nothing);
	return CLI_NO;
}

/* The keys that fields of rows come from. */
static void set_row_keys(struct asking *a)
{
	static const uint32_t keys[] = {
		PAGEDET_ALLOC_SITE, PAGEDET_ALLOC_CACHE, PAGEDET_ALLOC_TID,
		PAGEDET_ALLOC_COMM, PAGEDET_ALLOC_GFP,
	};

	a->q.by = keys;
	a->q.n_by = CLI_COUNT(keys);
}

static int run_live(struct cli_job *job, struct pagedet *pd)
{
	struct asking a = { .job = job, .pd = pd,
			    .q = PAGEDET_ALLOCS_QUERY_INIT,
			    .total = { .size = sizeof(a.total) } };
	int status, losses;

	set_row_keys(&a);
	status = read_trace(&a);
	if (!status) {
		pagedet_allocs_total(a.allocs, &a.total);
		job->allocs = a.allocs;
		status = cli_run_query(job, pd);
		job->allocs = NULL;
	}
	if (status <= CLI_UNSURE) {
		losses = tell_losses(&a);
		status = losses ? losses : status;
	}
	pagedet_allocs_free(a.allocs);
	return status;
}

int cli_run_kmem(struct cli_job *job, struct pagedet *pd)
{
	struct asking a = { .job = job, .pd = pd,
			    .q = PAGEDET_ALLOCS_QUERY_INIT,
			    .total = { .size = sizeof(a.total) } };
	int status = set_keys(&a);

	if (!status)
		status = read_trace(&a);
	if (!status) {
		pagedet_allocs_total(a.allocs, &a.total);
		status = emit(&a);
	}
	if (!status)
		status = judge(&a);
	pagedet_allocs_free(a.allocs);
	return status;
}
