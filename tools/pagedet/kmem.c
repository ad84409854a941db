/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The command kmem: a trace of allocations, in groups, and what it lacks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kmem.h"

int cli_kmem_take(struct cli_job *job)
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

/* A verified list has what is in use. */
static int only_used(struct cli_job *job)
{
	static const char used[] = "object_state=used";

	if (job->text_only)
		return cli_usage("--verify asks the kernel, --text-only does "
				 "not");
	if (job->where && asprintf(&job->used_where, "(%s) and %s", job->where,
				   used) < 0)
		return cli_fail_errno("--verify");
	job->where = job->where ? job->used_where : used;
	return cli_kmem_take(job);
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
	return job->verify ? only_used(job) : cli_kmem_take(job);
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
			    job->stacks && strcmp(word, "timeline") ? "stacks" :
			    job->boot ? "boot" :
			    job->buffer ? "buffer" :
			    job->max_size ? "max-size" :
			    job->totals ? "totals" :
			    job->frees ? "frees" : NULL;

	if (job->user_stacks)
		return cli_usage("kmem records only stacks of the kernel: "
				 "--stacks=user has no meaning");
	if (!strcmp(word, "record")) {
		job->command = job->totals && !job->boot ? &cli_kmem_totals :
							   &cli_kmem_recording;
		return CLI_ANSWERED;
	}
	if (!strcmp(word, "live"))
		job->command = &live;
	if (!strcmp(word, "events"))
		job->command = &cli_kmem_events;
	if (!strcmp(word, "blame"))
		job->command = &cli_kmem_blame;
	if (!strcmp(word, "check"))
		job->command = &cli_kmem_check;
	if (!strcmp(word, "timeline"))
		job->command = &cli_kmem_timeline;
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
		return cli_no_word("record report diff live events blame "
				   "timeline check", job->words[0],
				   strlen(job->words[0]),
				   "kmem: there is no '%s'; this release has "
				   "'kmem record', 'kmem report', 'kmem diff', "
				   "'kmem live', 'kmem events', 'kmem blame', "
				   "'kmem timeline' and 'kmem check'",
				   job->words[0]);
	} else {
		const int status = cli_kmem_take(job);

		if (status)
			return status;
	}
	if (cli_bound(job) && job->flame)
		return cli_usage("kmem: a flame graph has all stacks: --top "
				 "and --limit have no meaning");
	if (job->kallsyms_before && !job->before)
		return cli_usage("--kallsyms-before needs --before");
	if (job->before && job->path && !strcmp(job->path, "-") &&
	    !strcmp(job->before, "-"))
		return cli_usage("kmem: only one trace can be read from "
				 "standard input");
	return CLI_ANSWERED;
}

int cli_kmem_names(struct cli_job *job)
{
	if (job->live)
		return cli_usage("kmem: --from takes a dump; for the running "
				 "kernel --kallsyms /proc/kallsyms has names");
	if (job->open.n_files && job->kallsyms)
		return cli_usage("kmem: names are from --from or from "
				 "--kallsyms");
	/* A dump may need one itself; otherwise it is not of this machine. */
	if (!job->open.n_files) {
		job->traced_vmlinux = job->open.vmlinux;
		job->open.vmlinux = NULL;
	}
	return CLI_ANSWERED;
}

int cli_parse_kmem(struct cli_job *job)
{
	int status = parse_traces(job);

	if (!status)
		status = cli_kmem_names(job);
	if (status)
		return status;
	if (job->text_only || (job->now && !job->verify))
		return cli_usage("kmem %s asks no kernel: --%s has no meaning",
				 job->words[0], job->now ? "now" : "text-only");
	if (job->verify && !strcmp(job->words[0], "diff"))
		return cli_usage("kmem diff asks no kernel: 'kmem report NEW "
				 "--before OLD --verify' does");
	if (job->strict)
		return cli_usage("kmem %s takes no --strict", job->words[0]);
	return CLI_ANSWERED;
}

int cli_kmem_keys(struct cli_kmem *a, const char *by)
{
	static const struct cli_by of = {
		"--by: allocations cannot be grouped by",
		pagedet_alloc_key_by_name, pagedet_alloc_key_name
	};

	if (!by)
		return CLI_ANSWERED;
	a->q.by = a->by;
	return cli_by_keys(&of, by, a->by, CLI_COUNT(a->by), &a->q.n_by);
}

int cli_kmem_pages(struct cli_job *job)
{
	const char *wrong;

	job->items = calloc(1, sizeof(*job->items));
	if (!job->items)
		return cli_fail_errno("kmem");
	wrong = cli_range(job->words[--job->n_words], CLI_PFN, job->items);
	if (wrong)
		return cli_usage("kmem %s: '%s' %s", job->words[0],
				 job->words[job->n_words], wrong);
	job->n_items = 1;
	return CLI_ANSWERED;
}

void cli_kmem_trace(struct cli_kmem *a, const char *path, const char *kallsyms)
{
	/* The trace of --before may be of another boot. */
	const bool is_before = path && path == a->job->before;

	a->q.path = path;
	a->q.instance = path ? NULL : a->job->instance;
	a->q.kallsyms = kallsyms;
	/* Rows are asked of a dump, and the trace has their names. */
	a->q.open_names = !is_before && a->job->open.n_files &&
			  !a->job->command->rows;
	a->q.vmlinux = is_before ? NULL : a->job->traced_vmlinux;
	a->q.page_size = a->job->page_size;
	a->q.threads = cli_threads(a->job);
	a->q.window_ns = a->job->window_ns;
	a->q.deadline_ns = cli_deadline_left(a->job);
	a->q.progress = cli_asked_progress;
	a->q.progress_user = &a->asked;
	a->q.progress_ns = CLI_KMEM_ASK_NS;
}

int cli_kmem_read(struct cli_kmem *a, const char *path, const char *kallsyms,
		  struct pagedet_allocs **ret,
		  struct pagedet_allocs_total *total)
{
	int error;

	cli_kmem_trace(a, path, kallsyms);
	cli_progress_start(&a->line, a->job, -1, &a->asked.shown);
	cli_interrupt_asked(true);
	error = pagedet_allocs(a->pd, &a->q, ret);
	cli_interrupt_asked(a->job->watching);
	cli_progress_end(&a->line);
	if (error)
		return cli_fail(a->pd, error);
	total->size = sizeof(*total);
	pagedet_allocs_total(*ret, total);
	return CLI_ANSWERED;
}

static int compare(struct cli_kmem *a)
{
	struct pagedet_allocs *before = NULL;
	int status = cli_kmem_read(a, a->job->before, a->job->kallsyms_before,
				   &before, &a->before), error;

	if (!status && !a->before.stopped) {
		error = pagedet_allocs_compare(a->allocs, before);
		status = error ? cli_fail(a->pd, error) : CLI_ANSWERED;
		pagedet_allocs_total(a->allocs, &a->total);
	}
	pagedet_allocs_free(before);
	return status;
}

int cli_kmem_ask_kernel(struct cli_kmem *a, uint64_t deadline_ns)
{
	struct pagedet_verify_options o = PAGEDET_VERIFY_OPTIONS_INIT;
	int error;

	o.deadline_ns = deadline_ns;
	o.progress = cli_asked_progress;
	o.progress_user = &a->asked;
	o.progress_ns = CLI_KMEM_ASK_NS;
	o.any_boot = a->job->now;
	cli_progress_start(&a->line, a->job, -1, &a->asked.shown);
	cli_interrupt_asked(true);
	error = pagedet_allocs_verify(a->pd, a->allocs, &o);
	cli_interrupt_asked(a->job->watching);
	cli_progress_end(&a->line);
	pagedet_allocs_total(a->allocs, &a->total);
	return error;
}

static int verify(struct cli_kmem *a)
{
	const int error = cli_kmem_ask_kernel(a, cli_deadline_left(a->job));

	return error ? cli_fail(a->pd, error) : CLI_ANSWERED;
}

static int filter(struct cli_kmem *a)
{
	const int error = pagedet_allocs_where(a->allocs, a->job->where);

	pagedet_allocs_total(a->allocs, &a->total);
	return error ? cli_fail(a->pd, error) : CLI_ANSWERED;
}

static int ask(struct cli_kmem *a)
{
	int status = cli_kmem_read(a, a->job->path, a->job->kallsyms,
				   &a->allocs, &a->total), error;

	if (!status && a->job->before && !a->total.stopped)
		status = compare(a);
	if (!status && a->job->verify && !a->total.stopped)
		status = verify(a);
	if (!status && a->job->where && !a->before.stopped)
		status = filter(a);
	if (status || !a->job->sort || a->before.stopped)
		return status;
	error = pagedet_allocs_order(a->allocs, a->job->sort);
	return error ? cli_fail(a->pd, error) : CLI_ANSWERED;
}

uint64_t cli_kmem_bound(const struct cli_job *job)
{
	const uint64_t n = cli_bound(job);

	return n ? n : UINT64_MAX;
}

int cli_kmem_rows(struct cli_kmem *a, int fd)
{
	struct pagedet_emitter *e;
	int status = cli_emitter_new(a->job, a->pd, fd, fd, &e), error;

	if (status)
		return status;
	error = pagedet_emit_allocs(e, a->allocs, cli_kmem_bound(a->job));
	return cli_emitter_end(a->pd, e, error, fd);
}

static int draw(struct cli_kmem *a, int fd)
{
	FILE *f = cli_output_stream(fd);
	int status;

	if (!f)
		return cli_fail_errno("cannot write the output");
	status = cli_kmem_draw(a->allocs, a->job->sort ? a->job->sort :
			       a->job->verify ? "all_verified_live_bytes" :
						"all_allocated",
			       cli_kmem_bound(a->job), f,
			       a->job->flame ? cli_flame : cli_folded);
	if (fclose(f) && !status)
		return cli_fail_errno("cannot write the output");
	return status;
}

static int emit(struct cli_kmem *a)
{
	const struct cli_job *job = a->job;
	struct cli_output out;
	int status = job->flame ? cli_picture_open(&out, job->flame) :
				  cli_output_open(&out, job->output);

	if (!status)
		status = job->flame || job->folded ? draw(a, out.fd) :
						     cli_kmem_rows(a, out.fd);
	return cli_output_close(&out, !status && !cli_interrupted(), status);
}

static void tell(uint64_t n, const char *what, const char *how)
{
	if (n)
		cli_say("%llu %s%s %s", (unsigned long long)n, what,
			cli_plural(n), how);
}

/* What the kernel has paired, and what it lacks. */
static void tell_paired(const struct cli_kmem *a,
			const struct pagedet_allocs_total *t)
{
	if (t->lost || t->uncounted)
		cli_say("a free that is in no sum leaves its object live; an "
			"allocation in none can leave a free without one");
	tell(t->freed_unknown, "object", "freed whose allocation is not in "
	     "the sums");
	tell(t->pages_unknown, "block", "of pages freed likewise");
	tell(t->replaced, "object", "whose free has no event: their address "
	     "was allocated again");
	tell(t->untracked, "allocation", "without room in the table of live "
	     "objects: what became of them is not known");
	if (t->untracked)
		cli_say("freed, live, live_bytes, replaced, cross_cpu and "
			"mismatched are at least that; how many objects were "
			"allocated before is not known");
	if (t->live && !a->job->verify)
		cli_say("live is what no event frees; frees in bulk and by RCU "
			"have none, so it may be less: --verify asks the "
			"kernel");
}

/* What the kernel did not sum up. */
static void tell_totals(const struct cli_kmem *a,
			const struct pagedet_allocs_total *t)
{
	tell(t->lost, t->no_frees ? "allocation" : "event", "in no sum: the "
	     "table of sums was full, or an interrupt came while another was "
	     "added");
	if (t->uncounted)
		cli_say("whether %s are in no sum is not known: this kernel "
			"does not count them",
			t->no_frees ? "allocations" : "events");
	if (t->untold >> PAGEDET_ALLOC_STACK & 1)
		cli_say("stack: there was no room for some");
	if (t->untold >> PAGEDET_ALLOC_CACHE & 1)
		cli_say("cache: this kernel does not tell it, or its name is "
			"too long");
	if (!t->no_frees)
		tell_paired(a, t);
	else
		cli_say("what is freed and live is not known: totals have "
			"allocations only; --frees has both");
}

static void tell_live(const struct pagedet_allocs_total *t)
{
	tell(t->inexact, "place", "of which the kernel could not count all");
	if (t->changed)
		cli_say("modules were loaded or unloaded meanwhile: places may "
			"be left out, or counted twice; ask again");
	tell(t->damaged, "line", "that cannot be read, not counted");
	cli_say("live is what is allocated and not freed; how much was "
		"allocated before is not known");
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
	tell(t->lifetime_unknown > t->early ? t->lifetime_unknown - t->early :
	     0, "object", "freed whose lifetime is not known: events were lost "
	     "meanwhile");
}

static void tell_unknown(const struct cli_kmem *a,
			 const struct pagedet_allocs_total *t)
{
	if (t->other_instances)
		cli_say("the file has other trace instances, too: their events "
			"are not read; 'trace-cmd report -B NAME' shows them");
	tell(t->undecided, "group", "left out, because what --where tests is "
	     "not known");
	tell(t->unsized, "allocation", "of pages, whose bytes are not known: "
	     "--page-size says how large a page is there");
	if (t->hashed)
		cli_say("addresses are hashed: two objects may be taken for "
			"one; the option nohash-ptr of ftrace shows them");
	if (t->no_ns)
		cli_say("the clock of the trace does not count ns");
	if (t->no_cpu)
		cli_say("the trace does not tell processors");
	if (t->untold >> PAGEDET_ALLOC_CACHE & 1 && !t->no_events)
		cli_say("cache: events of this kernel do not have it; those of "
			"Linux 6.18 do");
	if (t->untold >> PAGEDET_ALLOC_COMM & 1)
		cli_say("comm: the trace does not name all threads");
	if (t->untold >> PAGEDET_ALLOC_NODE & 1)
		cli_say("node: events of pages do not have it");
	if (t->untold >> PAGEDET_ALLOC_STACK & 1 && !t->no_events)
		cli_say("stack: not every event has one; 'kmem record "
			"--stacks' and perf record -g record them");
	if (t->kaslr == PAGEDET_HAVE)
		cli_say("the kernel was moved by %#llx from the addresses in "
			"the vmlinux", (unsigned long long)t->kaslr_offset);
	tell(t->unnamed, "call site", t->kaslr == PAGEDET_HAVE ?
	     "without a name: a vmlinux does not have those of modules" :
	     t->no_events ? "without a name: /proc/kallsyms does not tell it" :
	     "without a name: --kallsyms takes a copy "
	     "of /proc/kallsyms of the boot that was traced");
	if (t->verified)
		cli_say("%llu of %llu live objects and blocks of pages are in "
			"use, by the object or a later one of its size; %llu are free, of %llu it is "
			"not known", (unsigned long long)t->verified_live,
			(unsigned long long)t->live,
			(unsigned long long)t->verified_free,
			(unsigned long long)t->unverified);
	else if (t->live && !t->no_events && !a->job->verify &&
		 a->job->command != &cli_kmem_blame)
		cli_say("live is what no event frees; frees in bulk and by RCU "
			"have none, so it may be less: --verify asks the "
			"kernel");
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

static void tell_one(const struct cli_kmem *a,
		     const struct pagedet_allocs_total *t)
{
	if (t->only_live) {
		tell_live(t);
		return;
	}
	if (t->no_events)
		tell_totals(a, t);
	else
		tell_missing(t);
	tell_unknown(a, t);
}

/* Pages were recorded once only. */
static bool is_lopsided(const struct cli_kmem *a)
{
	return a->total.compared && !a->total.only_live &&
	       !a->total.page_events != !a->before.page_events;
}

/* Traces of different lengths have different sums, even if nothing grows. */
static void tell_comparison(const struct cli_kmem *a)
{
	if (is_lopsided(a))
		cli_say("the trace %s has no events of pages, the other one "
			"has: pages seem to %s, and that was not measured; "
			"'kmem record --pages' records them",
			a->total.page_events ? "before" : "now",
			a->total.page_events ? "grow" : "shrink");
	if (!a->total.only_live) {
		tell_rate("before", &a->before);
		tell_rate("now", &a->total);
	}
	tell(a->total.unmatched, "group", "of the trace before not matched: "
	     "the address may be another place now; --kallsyms and "
	     "--kallsyms-before name it");
	cli_say("the trace before, %s:", a->job->before);
	tell_one(a, &a->before);
	cli_say("the trace now, %s:", a->job->path ? a->job->path :
		a->job->instance);
}

static bool is_lossy(const struct pagedet_allocs_total *t)
{
	return t->lost || t->gaps || t->uncounted || t->missing ||
	       t->cut_bytes || t->damaged || t->strange || t->disorder ||
	       t->inexact || t->changed || t->untracked || t->undecided ||
	       /* What is asked for may be in these. */
	       (t->other_instances && !t->events);
}

/* A comparison of a part with a whole would be misleading. */
static int tell_stop(const struct cli_kmem *a)
{
	const uint32_t stopped = a->total.stopped ? a->total.stopped :
						    a->before.stopped;

	if (stopped)
		cli_say("%s: only a part was read%s", stopped == ETIMEDOUT ?
			"the deadline passed first" : "interrupted",
			a->job->before ? ", and pagedet compared nothing" : "");
	return CLI_UNSURE;
}

int cli_kmem_losses(const struct cli_kmem *a)
{
	const struct pagedet_allocs_total *t = &a->total;

	if (!a->job->quiet) {
		if (t->compared)
			tell_comparison(a);
		tell_one(a, t);
	}
	if (!t->complete)
		return tell_stop(a);
	return is_lossy(t) || is_lossy(&a->before) || t->unverified ||
	       is_lopsided(a) ?
		       CLI_UNSURE : CLI_ANSWERED;
}

int cli_kmem_judge(const struct cli_kmem *a)
{
	const int status = cli_kmem_losses(a);

	cli_tell_more(a->job, a->total.groups, "group", "groups");
	if (status || a->total.groups)
		return status;
	if (!a->job->quiet)
		cli_say("%s", a->total.filtered ? "no group matches --where" :
						  a->job->command->nothing);
	return CLI_NO;
}

int cli_run_kmem(struct cli_job *job, struct pagedet *pd)
{
	struct cli_kmem a = { .job = job, .pd = pd,
			    .q = PAGEDET_ALLOCS_QUERY_INIT };
	const bool drawn = job->flame || job->folded;
	int status = cli_kmem_keys(&a, job->by ? job->by :
				   drawn ? "stack" : NULL);
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
		status = halted ? tell_stop(&a) : cli_kmem_judge(&a);
	pagedet_allocs_free(a.allocs);
	return status;
}

/* The keys that fields of rows come from. */
static void set_row_keys(struct cli_kmem *a)
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
	struct cli_kmem a = { .job = job, .pd = pd,
			    .q = PAGEDET_ALLOCS_QUERY_INIT };
	int status, losses;

	set_row_keys(&a);
	status = cli_kmem_read(&a, job->path, job->kallsyms, &a.allocs,
			       &a.total);
	if (!status) {
		job->allocs = a.allocs;
		status = cli_run_query(job, pd);
		job->allocs = NULL;
	}
	if (a.allocs && status <= CLI_UNSURE) {
		losses = cli_kmem_losses(&a);
		status = losses ? losses : status;
	}
	pagedet_allocs_free(a.allocs);
	return status;
}
