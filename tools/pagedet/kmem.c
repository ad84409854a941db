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
	struct pagedet_allocs_total total, before; /* size 0: no such trace */
	struct cli_progress line;
	struct cli_asked asked;
};

/* A trace is named by a word or by --instance. */
static int take_trace(struct cli_job *job)
{
	const int words = job->instance ? 1 : 2;

	if (job->n_words < words)
		return cli_usage("kmem %s lacks a trace", job->words[0]);
	if (job->n_words > words)
		return cli_usage("kmem %s takes one trace; 'kmem diff OLD NEW' "
				 "compares two", job->words[0]);
	job->path = job->instance ? NULL : job->words[1];
	return CLI_ANSWERED;
}

static int parse_live(struct cli_job *job)
{
	const char *wrong = job->before ? "before" :
			    job->kallsyms_before ? "kallsyms-before" :
			    job->flame ? "flame" :
			    job->folded ? "folded" :
			    job->window_ns ? "window" : NULL;

	if (wrong)
		return cli_usage("kmem live lists objects: --%s has no "
				 "meaning", wrong);
	return take_trace(job);
}

static int run_live(struct cli_job *job, struct pagedet *pd);

static const struct cli_command live = {
	"kmem", "live TRACE", "", .parse = parse_live, .run = run_live,
	.target = PAGEDET_TARGET_OBJECTS, .min_words = 1, .max_words = 2,
	.nothing = "nothing of it is live", .wide = true, .rows = true,
	.fields = "vaddr,pfn,kind,slab_cache,object_state,alloc_site,"
		  "alloc_requested,alloc_bytes,alloc_cpu,alloc_ns,alloc_pid,"
		  "alloc_comm,notes",
};

int cli_wrap_kmem(struct cli_job *job)
{
	const char *word = job->n_words ? job->words[0] : "";
	const char *wrong = job->for_ns ? "for" :
			    job->pages ? "pages" :
			    job->stacks ? "stacks" :
			    job->boot ? "boot" :
			    job->buffer ? "buffer" : NULL;

	if (!strcmp(word, "record")) {
		job->command = &cli_kmem_record;
		return CLI_ANSWERED;
	}
	if (!strcmp(word, "live"))
		job->command = &live;
	return wrong ? cli_usage("--%s is an option of 'kmem record'", wrong) :
		       CLI_ANSWERED;
}

/* 'diff OLD NEW' is 'report NEW --before OLD'. */
static int parse_traces(struct cli_job *job)
{
	if (!strcmp(job->words[0], "diff")) {
		if (job->n_words < 3)
			return cli_usage("kmem diff lacks a trace: it takes an "
					 "earlier one and a later one");
		if (job->before || job->instance)
			return cli_usage("kmem diff takes no --%s",
					 job->before ? "before" : "instance");
		job->before = job->words[1];
		job->path = job->words[2];
	} else if (strcmp(job->words[0], "report")) {
		return cli_usage("kmem: there is no '%s'; this release has "
				 "'kmem record', 'kmem report', 'kmem diff' and "
				 "'kmem live'",
				 job->words[0]);
	} else {
		const int status = take_trace(job);

		if (status)
			return status;
	}
	if (job->kallsyms_before && !job->before)
		return cli_usage("--kallsyms-before needs --before");
	if (job->before && job->path && !strcmp(job->path, "-") &&
	    !strcmp(job->before, "-"))
		return cli_usage("kmem: only one trace can be read from "
				 "standard input");
	return CLI_ANSWERED;
}

int cli_parse_kmem(struct cli_job *job)
{
	const int status = parse_traces(job);

	if (status)
		return status;
	if (job->live)
		return cli_usage("kmem: --from takes a dump; for the running "
				 "kernel --kallsyms /proc/kallsyms has names");
	if (job->open.n_files && job->kallsyms)
		return cli_usage("kmem: names are from --from or from "
				 "--kallsyms");
	if (job->text_only || job->now)
		return cli_usage("kmem %s asks no kernel: --%s has no meaning",
				 job->words[0], job->now ? "now" : "text-only");
	if (job->where || job->strict)
		return cli_usage("kmem %s takes no --%s", job->words[0],
				 job->where ? "where" : "strict");
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

	if (!at && (a->job->flame || a->job->folded))
		at = "stack";
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

static int read_trace(struct asking *a, const char *path,
		      const char *kallsyms, struct pagedet_allocs **ret,
		      struct pagedet_allocs_total *total)
{
	/* The trace of --before may be of another boot. */
	const bool is_before = path && path == a->job->before;
	int error;

	a->q.path = path;
	a->q.instance = path ? NULL : a->job->instance;
	a->q.kallsyms = kallsyms;
	/* Rows are asked of a dump, and the trace has their names. */
	a->q.open_names = !is_before && a->job->open.n_files &&
			  !a->job->command->rows;
	a->q.vmlinux = is_before ? NULL : a->job->traced_vmlinux;
	a->q.page_size = a->job->page_size;
	a->q.window_ns = a->job->window_ns;
	a->q.deadline_ns = cli_deadline_left(a->job);
	a->q.progress = cli_asked_progress;
	a->q.progress_user = &a->asked;
	a->q.progress_ns = ASK_NS;
	cli_progress_start(&a->line, a->job, -1, &a->asked.shown);
	cli_interrupt_asked(true);
	error = pagedet_allocs(a->pd, &a->q, ret);
	cli_interrupt_asked(false);
	cli_progress_end(&a->line);
	if (error)
		return cli_fail(a->pd, error);
	total->size = sizeof(*total);
	pagedet_allocs_total(*ret, total);
	return CLI_ANSWERED;
}

static int compare(struct asking *a)
{
	struct pagedet_allocs *before = NULL;
	int status = read_trace(a, a->job->before, a->job->kallsyms_before,
				&before, &a->before), error;

	if (!status && !a->before.stopped) {
		error = pagedet_allocs_compare(a->allocs, before);
		status = error ? cli_fail(a->pd, error) : CLI_ANSWERED;
		pagedet_allocs_total(a->allocs, &a->total);
	}
	pagedet_allocs_free(before);
	return status;
}

static int ask(struct asking *a)
{
	int status = read_trace(a, a->job->path, a->job->kallsyms, &a->allocs,
				&a->total), error;

	if (!status && a->job->before && !a->total.stopped)
		status = compare(a);
	if (status || !a->job->sort || a->before.stopped)
		return status;
	error = pagedet_allocs_order(a->allocs, a->job->sort);
	return error ? cli_fail(a->pd, error) : CLI_ANSWERED;
}

static uint64_t bound(const struct asking *a)
{
	const uint64_t n = cli_bound(a->job);

	return n ? n : UINT64_MAX;
}

static int emit_rows(struct asking *a, int fd)
{
	struct pagedet_emitter *e;
	int status = cli_emitter_new(a->job, a->pd, fd, fd, &e), error;

	if (status)
		return status;
	error = pagedet_emit_allocs(e, a->allocs, bound(a));
	status = error ? cli_emit_failed(a->pd, error, fd) :
			 cli_emitter_finish(a->pd, e, fd);
	pagedet_emitter_free(e);
	return status;
}

static int draw(struct asking *a, int fd)
{
	FILE *f = cli_output_stream(fd);
	int status;

	if (!f)
		return cli_fail_errno("cannot write the output");
	status = cli_kmem_draw(a->allocs, a->job->sort, bound(a), f,
			       a->job->flame ? cli_flame : cli_folded);
	if (fclose(f) && !status)
		return cli_fail_errno("cannot write the output");
	return status;
}

static int emit(struct asking *a)
{
	const struct cli_job *job = a->job;
	struct cli_output out;
	int status = job->flame ? cli_picture_open(&out, job->flame) :
				  cli_output_open(&out, job->output);

	if (!status)
		status = job->flame || job->folded ? draw(a, out.fd) :
						     emit_rows(a, out.fd);
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
	if (t->untold >> PAGEDET_ALLOC_STACK & 1)
		cli_say("stack: not every event has one; 'kmem record "
			"--stacks' and perf record -g record them");
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

static void tell_rate(const char *which, const struct pagedet_allocs_total *t)
{
	const double s = (double)(t->end_ns - t->begin_ns) / 1e9;

	if (t->no_ns || t->end_ns <= t->begin_ns)
		cli_say("%s: its length is not known", which);
	else
		cli_say("%s: %.3f s, %.0f allocations and %.0f bytes a second",
			which, s, (double)t->times / s,
			(double)t->allocated / s);
}

/* Traces of different lengths have different sums, even if nothing grows. */
static void tell_comparison(const struct asking *a)
{
	tell_rate("before", &a->before);
	tell_rate("now", &a->total);
	tell(a->total.unmatched, "group", "of the trace before not matched: "
	     "the address may be another place now; --kallsyms and "
	     "--kallsyms-before name it");
	cli_say("the trace before, %s:", a->job->before);
	tell_missing(&a->before);
	tell_unknown(&a->before);
	cli_say("the trace now, %s:", a->job->path ? a->job->path :
		a->job->instance);
}

static bool is_lossy(const struct pagedet_allocs_total *t)
{
	return t->lost || t->gaps || t->uncounted || t->missing ||
	       t->cut_bytes || t->damaged || t->strange || t->disorder;
}

/* A comparison of a part with a whole would be misleading. */
static int tell_stop(const struct asking *a)
{
	const uint32_t stopped = a->total.stopped ? a->total.stopped :
						    a->before.stopped;

	if (stopped)
		cli_say("%s: only a part was read%s", stopped == ETIMEDOUT ?
			"the deadline passed first" : "interrupted",
			a->job->before ? ", and pagedet compared nothing" : "");
	return CLI_UNSURE;
}

/* Says what the traces lack. Returns CLI_UNSURE if they lack events. */
static int tell_losses(const struct asking *a)
{
	const struct pagedet_allocs_total *t = &a->total;

	if (!a->job->quiet) {
		if (t->compared)
			tell_comparison(a);
		tell_missing(t);
		tell_unknown(t);
	}
	if (!t->complete)
		return tell_stop(a);
	return is_lossy(t) || is_lossy(&a->before) ? CLI_UNSURE : CLI_ANSWERED;
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

int cli_run_kmem(struct cli_job *job, struct pagedet *pd)
{
	struct asking a = { .job = job, .pd = pd,
			    .q = PAGEDET_ALLOCS_QUERY_INIT };
	int status = set_keys(&a);
	bool halted;

	if (!status)
		status = cli_flame_check(job, a.q.n_by == 1 &&
					 a.by[0] == PAGEDET_ALLOC_STACK);
	if (!status)
		status = ask(&a);
	halted = job->before && (a.total.stopped || a.before.stopped);
	if (!status && !halted)
		status = emit(&a);
	if (!status)
		status = halted ? tell_stop(&a) : judge(&a);
	pagedet_allocs_free(a.allocs);
	return status;
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
			    .q = PAGEDET_ALLOCS_QUERY_INIT };
	int status, losses;

	set_row_keys(&a);
	status = read_trace(&a, job->path, job->kallsyms, &a.allocs, &a.total);
	if (!status) {
		job->allocs = a.allocs;
		status = cli_run_query(job, pd);
		job->allocs = NULL;
	}
	if (a.allocs && status <= CLI_UNSURE) {
		losses = tell_losses(&a);
		status = losses ? losses : status;
	}
	pagedet_allocs_free(a.allocs);
	return status;
}
