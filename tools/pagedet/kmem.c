/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The command kmem: a trace of allocations, in groups, and what it lacks. */
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

int cli_parse_kmem(struct cli_job *job)
{
	if (strcmp(job->words[0], "report"))
		return cli_usage("kmem: there is no '%s'; this release has "
				 "'kmem report'", job->words[0]);
	if (job->n_words < 2)
		return cli_usage("kmem report lacks a trace");
	if (job->live)
		return cli_usage("kmem: --from takes a dump; for the running "
				 "kernel --kallsyms /proc/kallsyms has names");
	if (job->open.n_files && job->kallsyms)
		return cli_usage("kmem: names are from --from or from "
				 "--kallsyms");
	if (job->where || job->strict)
		return cli_usage("kmem report takes no --%s", job->where ?
				 "where" : "strict");
	job->path = job->words[1];
	/* A dump may need one itself; otherwise it is not of this machine. */
	if (!job->open.n_files) {
		job->traced_vmlinux = job->open.vmlinux;
		job->open.vmlinux = NULL;
	}
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
	a->q.open_names = a->job->open.n_files > 0;
	a->q.vmlinux = a->job->traced_vmlinux;
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
	if (!error && a->job->sort)
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
	if (t->kaslr == PAGEDET_HAVE)
		cli_say("the kernel was moved by %#llx from the addresses in "
			"the vmlinux", (unsigned long long)t->kaslr_offset);
	tell(t->unnamed, "call site", t->kaslr == PAGEDET_HAVE ?
	     "without a name: a vmlinux does not have those of modules" :
	     "without a name: --kallsyms takes a copy "
	     "of /proc/kallsyms of the boot that was traced");
	if (t->live)
		cli_say("live is what no event frees; frees in bulk and by RCU "
			"have none, so it may be less");
}

static int judge(const struct asking *a)
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
	if (!t->complete || lossy)
		return CLI_UNSURE;
	if (t->groups)
		return CLI_ANSWERED;
	if (!a->job->quiet)
		cli_say("%s", a->job->command->nothing);
	return CLI_NO;
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
