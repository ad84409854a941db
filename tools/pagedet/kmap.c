/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The command kmap: what Memorizer counted, and what its text lacks. */
#include <errno.h>
#include <string.h>

#include "kmap.h"

struct asking {
	struct cli_job *job;
	struct pagedet *pd;
	struct pagedet_kmap_query q;
	struct pagedet_kmap *kmap;
	struct pagedet_kmap_total total, before; /* size 0: no such text */
	struct cli_progress line;
	struct cli_asked asked;
};

/* --- arguments --- */

/* 'diff OLD NEW' reads two. */
static int take_words(struct cli_job *job)
{
	const char *word = job->words[0];
	const bool is_diff = !strcmp(word, "diff");

	if (!is_diff && strcmp(word, "report"))
		return cli_no_word("report diff calls record watch on off "
				   "clear stats", word, strlen(word),
				   "kmap: there is no '%s'; this release has "
				   "'kmap report', 'diff', 'calls', 'record', "
				   "'watch', 'on', 'off', 'clear' and 'stats'",
				   word);
	if (job->n_words < 2 + is_diff)
		return cli_usage("kmap %s lacks a file%s", word, is_diff ?
				 ": it takes an earlier one and a later one" :
				 "");
	if (job->n_words > 2 + is_diff)
		return cli_usage("kmap %s takes %s; 'kmap diff OLD NEW' "
				 "compares two", word,
				 is_diff ? "two files" : "one file");
	job->before = is_diff ? job->words[1] : NULL;
	job->path = job->words[1 + is_diff];
	if (is_diff && !strcmp(job->path, "-") && !strcmp(job->before, "-"))
		return cli_usage("kmap: only one file can be read from "
				 "standard input");
	return CLI_ANSWERED;
}

/* The commands that are not of this file. */
static const struct cli_command *other_of(const char *word)
{
	static const char *const switches[] = { "on", "off", "clear",
						"stats" };
	size_t i;

	for (i = 0; i < CLI_COUNT(switches); i++)
		if (!strcmp(word, switches[i]))
			return &cli_kmap_switch;
	return !strcmp(word, "calls") ? &cli_kmap_calls :
	       !strcmp(word, "record") ? &cli_kmap_record :
	       !strcmp(word, "watch") ? &cli_kmap_watching : NULL;
}

int cli_wrap_kmap(struct cli_job *job)
{
	const struct cli_command *other =
		job->n_words ? other_of(job->words[0]) : NULL;
	const bool records = other == &cli_kmap_record;
	const bool watches = other == &cli_kmap_watching;
	const struct {
		bool given, here;
		const char *option, *of;
	} of_one[] = {
		{ job->for_ns, records || watches, "for", "record' or 'kmap "
		  "watch" },
		{ job->drain_ns, records, "drain", "record" },
		{ job->follow, records, "follow", "record" },
		{ job->watch_fd, watches, "fd", "watch" },
		{ job->watch_cache, watches, "cache", "watch" },
		{ job->watch_at, watches, "at", "watch" },
		{ job->sample, watches, "sample", "watch" },
		{ job->slice_ns, watches, "slice", "watch" },
		{ job->seed_given, watches, "seed", "watch" },
		{ job->rate, watches, "rate", "watch" },
		{ job->only_writes, watches, "writes", "watch" },
		{ job->window_ns, watches, "window", "watch" },
		{ job->folded, other == &cli_kmap_calls, "folded", "calls" },
		{ job->as_dot, other == &cli_kmap_calls, "format dot",
		  "calls" },
	};
	size_t i;

	for (i = 0; i < CLI_COUNT(of_one); i++)
		if (of_one[i].given && !of_one[i].here)
			return cli_usage("kmap: --%s is for 'kmap %s'",
					 of_one[i].option, of_one[i].of);
	if (other)
		job->command = other;
	return CLI_ANSWERED;
}

/* Options that other commands give a meaning. */
int cli_kmap_refuse(const struct cli_job *job)
{
	if (job->live || job->open.n_files)
		return cli_usage("kmap reads a file: --from has no meaning; "
				 "names are from --kallsyms or --vmlinux");
	if (job->strict)
		return cli_usage("kmap takes no --strict: the status is 2 "
				 "anyway if something is not known");
	return CLI_ANSWERED;
}

/* Names on one side match nothing on the other one. */
static int check_names(const struct cli_job *job)
{
	const bool now = job->kallsyms || job->traced_vmlinux;

	if (!job->before && job->kallsyms_before)
		return cli_usage("--kallsyms-before is for 'kmap diff'");
	if (job->before && now && !job->kallsyms_before)
		return cli_usage("kmap diff: only NEW has names: "
				 "--kallsyms-before names OLD");
	if (job->before && !now && job->kallsyms_before)
		return cli_usage("kmap diff: only OLD has names: --kallsyms or "
				 "--vmlinux names NEW");
	return CLI_ANSWERED;
}

/* The only filters. */
static int take_filter(struct cli_job *job)
{
	if (!job->where)
		return CLI_ANSWERED;
	if (!strcmp(job->where, "own_module"))
		job->kmap_only = PAGEDET_KMAP_OWN;
	else if (!strcmp(job->where, "not own_module"))
		job->kmap_only = PAGEDET_KMAP_FOREIGN;
	else
		return cli_usage("kmap: --where is 'own_module' (only the "
				 "module that allocated an object has accessed "
				 "it) or 'not own_module'");
	if (!job->kallsyms)
		return cli_usage("--where %s needs --kallsyms, which tells "
				 "modules", job->where);
	if (job->before && !job->kallsyms_before)
		return cli_usage("--where %s needs --kallsyms-before, too",
				 job->where);
	return CLI_ANSWERED;
}

static const char *keys_of(const struct cli_job *job)
{
	return job->by ? job->by : job->matrix ? "access_module,type" :
	       job->before ? "site" : NULL;
}

/* It is a format of its own, of two keys. */
static int check_matrix(const struct cli_job *job)
{
	const char *keys = keys_of(job), *comma = strchr(keys, ',');
	const char *wrong = job->before ? "kmap diff has no matrix" :
			    job->format_given ? "--matrix is a format of its "
						"own" :
			    job->output ? "--matrix names its file: -o has no "
					  "meaning" :
			    cli_bound(job) ? "a matrix has all groups: --top "
					     "and --limit have no meaning" :
			    !comma || strchr(comma + 1, ',') ?
				     "--matrix needs two keys: --by "
				     "ROWS,COLUMNS" : NULL;

	return wrong ? cli_usage("%s", wrong) : cli_png_check(job->matrix);
}

static int take_keys(struct cli_job *job, const char *by)
{
	static const struct cli_by of = {
		"--by: a KMAP cannot be grouped by",
		pagedet_kmap_key_by_name, pagedet_kmap_key_name
	};

	job->n_kmap_keys = 0;
	return cli_by_keys(&of, by, job->kmap_keys, PAGEDET_KMAP_KEYS,
			   &job->n_kmap_keys);
}

int cli_kmap_check(struct cli_job *job)
{
	const char *by = keys_of(job);
	int status = take_filter(job);

	if (!status)
		status = check_names(job);
	if (!status && by)
		status = take_keys(job, by);
	if (status)
		return status;
	if (by && job->accesses)
		return cli_usage("--accesses lists those of each object, which "
				 "groups do not have: --by access_site counts "
				 "them");
	if (!by && (job->sort || job->top))
		return cli_usage("kmap %s lists objects in the order of the "
				 "file: --%s needs --by", job->words[0],
				 job->sort ? "sort" : "top");
	return job->matrix ? check_matrix(job) : CLI_ANSWERED;
}

int cli_parse_kmap(struct cli_job *job)
{
	int status = take_words(job);

	if (!status)
		status = cli_kmap_refuse(job);
	/* It is not of this machine. */
	job->traced_vmlinux = job->open.vmlinux;
	job->open.vmlinux = NULL;
	return status ? status : cli_kmap_check(job);
}

/* --- reading --- */

static void begin(struct asking *a)
{
	cli_progress_start(&a->line, a->job, -1, &a->asked.shown);
	cli_interrupt_asked(true);
}

static void end(struct asking *a)
{
	cli_interrupt_asked(false);
	cli_progress_end(&a->line);
}

static int open_kmap(struct asking *a, const char *path,
		     struct pagedet_kmap **ret,
		     struct pagedet_kmap_total *total)
{
	const bool is_before = path == a->job->before;
	int error;

	a->q.path = path;
	a->q.kallsyms = is_before ? a->job->kallsyms_before : a->job->kallsyms;
	a->q.vmlinux = is_before ? NULL : a->job->traced_vmlinux;
	a->q.hz = a->job->hz;
	a->q.only = a->job->kmap_only;
	a->q.deadline_ns = cli_deadline_left(a->job);
	a->q.progress = cli_asked_progress;
	a->q.progress_user = &a->asked;
	a->q.progress_ns = CLI_KMAP_ASK_NS;
	begin(a);
	error = pagedet_kmap(a->pd, &a->q, ret);
	end(a);
	if (error)
		return cli_fail(a->pd, error);
	total->size = sizeof(*total);
	pagedet_kmap_total(*ret, total);
	return CLI_ANSWERED;
}

static int compare(struct asking *a)
{
	struct pagedet_kmap *before = NULL;
	int status = open_kmap(a, a->job->before, &before, &a->before), error;

	if (!status && !a->before.stopped) {
		error = pagedet_kmap_compare(a->kmap, before);
		status = error ? cli_fail(a->pd, error) : CLI_ANSWERED;
	}
	pagedet_kmap_free(before);
	return status;
}

static bool is_halted(const struct asking *a)
{
	return a->job->before && (a->total.stopped || a->before.stopped);
}

static int ask(struct asking *a)
{
	int status = open_kmap(a, a->job->path, &a->kmap, &a->total), error;

	if (!status && a->job->before && !a->total.stopped)
		status = compare(a);
	if (status || !a->job->sort || is_halted(a))
		return status;
	error = pagedet_kmap_order(a->kmap, a->job->sort);
	return error ? cli_fail(a->pd, error) : CLI_ANSWERED;
}

static int emit_rows(struct asking *a, int fd)
{
	const uint64_t bound = cli_bound(a->job);
	struct pagedet_emitter *e;
	int status = cli_emitter_new(a->job, a->pd, fd, fd, &e), error;

	if (status)
		return status;
	begin(a);
	error = pagedet_emit_kmap(e, a->kmap, a->job->accesses,
				  bound ? bound : UINT64_MAX);
	end(a);
	return cli_emitter_end(a->pd, e, error, fd);
}

static int emit(struct asking *a)
{
	struct cli_output out;
	int status;

	if (a->job->matrix)
		return cli_kmap_matrix(a->job, a->kmap, a->total.groups,
				       keys_of(a->job));
	status = cli_output_open(&out, a->job->output);
	if (!status)
		status = emit_rows(a, out.fd);
	status = cli_output_close(&out, !status && !cli_interrupted(), status);
	pagedet_kmap_total(a->kmap, &a->total);
	return status;
}

/* --- remarks --- */

void cli_kmap_tell(uint64_t n, const char *what, const char *how)
{
	if (n)
		cli_say("%llu %s%s %s", (unsigned long long)n, what,
			cli_plural(n), how);
}

void cli_kmap_tell_lines(uint64_t n, const char *what, uint64_t first)
{
	if (n)
		cli_say("%llu line%s %s, not counted; the first one is line "
			"%llu", (unsigned long long)n, cli_plural(n), what,
			(unsigned long long)first);
}

void cli_kmap_tell_cut(bool cut, bool saturated)
{
	if (cut)
		cli_say("the last line is incomplete, not counted: the file "
			"was cut");
	if (saturated)
		cli_say("a sum is larger than a number can be");
}

void cli_kmap_tell_unnamed(const struct cli_job *job, uint64_t unnamed)
{
	if (unnamed)
		cli_say(job->kallsyms || job->traced_vmlinux ?
			"some places have no function in the symbols" :
			"places have no names: --kallsyms takes a copy of "
			"/proc/kallsyms of the same boot");
}

void cli_kmap_tell_stop(uint32_t stopped)
{
	if (stopped)
		cli_say("%s: only a part was read", stopped == ETIMEDOUT ?
			"the deadline passed first" : "interrupted");
}

void cli_kmap_tell_lost(const struct pagedet_kmap_total *t)
{
	cli_kmap_tell_lines(t->strange, "that cannot be of this dialect",
			    t->strange_line);
	cli_kmap_tell_lines(t->orphans, "of accesses that belong to no object",
			    t->orphan_line);
	cli_kmap_tell_cut(t->cut, t->saturated);
}

/* What the sums do not have in them. */
static void tell_missing(const struct pagedet_kmap_total *t)
{
	cli_kmap_tell_lost(t);
	cli_kmap_tell(t->dropped, "line", "of accesses in the sums only: an "
		      "object has too many");
	cli_kmap_tell(t->undecided, "object", "not shown: the module of some "
		      "place is not known");
}

/* What was watched says itself what it knows of an end. */
static void tell_codes(const struct pagedet_kmap_total *t, bool watched)
{
	cli_kmap_tell(t->nested, "object", "in whose memory another allocator "
		      "has made objects: bytes are counted for these only");
	cli_kmap_tell(t->catch_all, "object", "for accesses to memory of which "
		      "no allocation is known");
	cli_kmap_tell(t->preallocated, "object", "that a cache had ready, and "
		      "nobody had asked for");
	cli_kmap_tell(t->missed, "object", "whose free was missed: the address "
		      "was allocated again");
	if (!watched)
		cli_kmap_tell(t->unknown, "object", "whose end is not known");
}

static void tell_unknown(const struct asking *a,
			 const struct pagedet_kmap_total *t)
{
	/* Without the end of an object there is no lifetime. */
	if (t->dialect == PAGEDET_KMAP_INDEXED && !a->job->hz && t->freed)
		cli_say("alloc_index and free_index may be serial numbers: "
			"lifetimes are not known; --hz says that they are "
			"jiffies");
	if (t->hashed)
		cli_say("the kernel has hashed addresses, and codes in "
			"their place: places have no names, and it is not "
			"known what is nested or was missed; its option "
			"no_hash_pointers shows them");
	if (t->kaslr == PAGEDET_HAVE)
		cli_say("the kernel was moved by %#llx from the addresses in "
			"the vmlinux", (unsigned long long)t->kaslr_offset);
	cli_kmap_tell_unnamed(a->job, t->unnamed);
	if (t->untold >> PAGEDET_KMAP_CACHE & 1)
		cli_say("cache: this dialect does not have it");
	if (t->untold >> PAGEDET_KMAP_TYPE & 1)
		cli_say("type: this dialect does not have it");
	if (t->untold >> PAGEDET_KMAP_ACCESS_PID & 1)
		cli_say("access_pid: this dialect does not have it");
}

static bool is_lossy(const struct pagedet_kmap_total *t)
{
	return t->strange || t->orphans || t->cut || t->saturated ||
	       t->dropped || t->hashed || t->undecided;
}

/* A comparison of a part with a whole would be misleading. */
static int tell_stop(const struct asking *a)
{
	const uint32_t stopped = a->total.stopped ? a->total.stopped :
						    a->before.stopped;

	cli_kmap_tell_stop(stopped);
	if (stopped && a->job->before)
		cli_say("pagedet compared nothing");
	return CLI_UNSURE;
}

/* Only these keys have an address if there is no name. */
static bool has_addresses(const struct asking *a)
{
	uint64_t i;

	for (i = 0; i < a->q.n_by; i++)
		if (a->q.by[i] == PAGEDET_KMAP_SITE ||
		    a->q.by[i] == PAGEDET_KMAP_ACCESS_SITE)
			return a->total.unnamed || a->before.unnamed;
	return false;
}

static void tell_all(const struct asking *a)
{
	if (a->total.compared) {
		if (has_addresses(a))
			cli_say("places without a name are matched by address: "
				"that is right only if both boots had the "
				"kernel at the same place");
		cli_say("the file before, %s:", a->job->before);
		tell_missing(&a->before);
		tell_codes(&a->before, a->job->watched);
		tell_unknown(a, &a->before);
		cli_say("the file now, %s:", a->job->path);
	}
	tell_missing(&a->total);
	tell_codes(&a->total, a->job->watched);
	tell_unknown(a, &a->total);
}

static int judge(const struct asking *a)
{
	if (!a->job->quiet)
		tell_all(a);
	if (!a->total.complete)
		return tell_stop(a);
	cli_tell_more(a->job, a->total.groups, a->job->by ? "group" : "object",
		      a->job->by ? "groups" : "objects");
	if (is_lossy(&a->total) || is_lossy(&a->before))
		return CLI_UNSURE;
	if (a->total.objects || a->before.objects)
		return CLI_ANSWERED;
	if (!a->job->quiet)
		cli_say("%s", a->total.filtered ? "no object matched" :
			a->job->command->nothing);
	return CLI_NO;
}

int cli_run_kmap(struct cli_job *job, struct pagedet *pd)
{
	struct asking a = { .job = job, .pd = pd,
			    .q = PAGEDET_KMAP_QUERY_INIT };
	int status;

	a.q.by = job->n_kmap_keys ? job->kmap_keys : NULL;
	a.q.n_by = job->n_kmap_keys;
	status = ask(&a);
	if (!status && !is_halted(&a))
		status = emit(&a);
	if (!status)
		status = is_halted(&a) ? tell_stop(&a) : judge(&a);
	pagedet_kmap_free(a.kmap);
	return status;
}
