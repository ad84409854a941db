/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Turns the coverage of an answer into the exit status and messages. A part of
 * the answer must never pass for the whole.
 */
#include <errno.h>
#include <string.h>

#include "cli.h"

static bool is_group(const char *name)
{
	const struct pagedet_field_info *info;
	uint32_t f;

	for (f = 0; f < PAGEDET_FIELDS_MAX; f++) {
		info = pagedet_field(f);
		if (info && !strcmp(info->group, name))
			return true;
	}
	return false;
}

void cli_named_fields(const char *list, uint64_t *named)
{
	const char *at = list;

	if (!list)
		return;
	do {
		size_t len = strcspn(at, ",");
		char name[32] = "";
		int f;

		if (len < sizeof(name)) {
			memcpy(name, at, len);
			f = pagedet_field_by_name(name);
			if (f >= 0 && !is_group(name))
				named[f / 64] |= 1ull << (f % 64);
		}
		at += len;
	} while (*at++ == ',');
}

/*
 * Whether every mapping that the kernel counts was found. If so, denied tasks
 * do not hide any. @missing: how many were not found, if they were counted.
 * @unseen: whether drivers may have made others.
 */
static bool all_mappings_found(const struct pagedet_iter *it,
			       uint64_t *missing, bool *unseen)
{
	struct pagedet_mappers m;
	bool all = true;
	uint64_t n;

	memset(&m, 0, sizeof(m));
	m.size = sizeof(m);
	*missing = 0;
	for (n = 0; !pagedet_mappers(it, n, &m); n++) {
		const bool counted = m.expected_state == PAGEDET_HAVE &&
				m.found_state == PAGEDET_HAVE &&
				m.mapcount_kind == PAGEDET_MAPCOUNT_EXACT;

		all &= counted && m.found == m.expected;
		*unseen |= m.found_state == PAGEDET_UNSUPPORTED;
		if (counted && m.found < m.expected)
			*missing += m.expected - m.found;
	}
	return all && n != 0;
}

void cli_verdict_add(struct cli_verdict *v, const struct pagedet_iter *it,
		     uint32_t target)
{
	struct pagedet_coverage c;
	uint64_t missing = 0;

	memset(&c, 0, sizeof(c));
	c.size = sizeof(c);
	if (pagedet_coverage(it, &c)) {
		v->partial = true;	/* nothing proves that it is all */
		return;
	}
	if (target == PAGEDET_TARGET_MAPPERS &&
	    all_mappings_found(it, &missing, &v->maps_unseen))
		c.tasks_denied = c.tasks_damaged = 0;
	/* Otherwise a message already says where they may be. */
	if (c.complete && !c.tasks_gone && !c.tasks_denied && !c.tasks_damaged)
		v->maps_missing += missing;
	v->sum.wanted += c.wanted;
	v->sum.visited += c.visited;
	v->sum.rows += c.rows;
	v->sum.undecided += c.undecided;
	v->sum.matched += c.matched;
	v->sum.spilled += c.spilled;
	v->sum.tasks_gone += c.tasks_gone;
	v->sum.tasks_denied += c.tasks_denied;
	v->sum.tasks_damaged += c.tasks_damaged;
	v->sum.tasks_again += c.tasks_again;
	v->sum.tasks_merged += c.tasks_merged;
	v->sum.files_gone += c.files_gone;
	v->sum.files_denied += c.files_denied;
	v->sum.answered[0] |= c.answered[0];
	v->sum.answered[1] |= c.answered[1];
	v->sum.resume = c.resume;
	v->sum.stopped = c.stopped;
	/* Pages past the limit were not asked for. */
	if (v->limit && v->sum.rows >= v->limit && !c.stopped) {
		v->cut = !c.complete;
		c.complete = 1;
	}
	if (!c.complete || c.stopped || c.tasks_denied || c.tasks_damaged ||
	    c.files_denied || v->maps_missing)
		v->partial = true;
}

static void tell_count(uint64_t n, const char *what, const char *how)
{
	if (n)
		cli_say("%llu %s%s %s", (unsigned long long)n, what,
			cli_plural(n), how);
}

/* @n: tasks that share an address space with one before. */
static void tell_again(uint64_t n, const char *how)
{
	if (n)
		cli_say("%llu task%s the address space of another one (named "
			"twice, or vfork, CLONE_VM): pages %s",
			(unsigned long long)n, n == 1 ? " has" : "s have", how);
}

/* What a row is about. */
static const char *noun(const struct cli_job *job)
{
	return job->command->target == PAGEDET_TARGET_OBJECTS ? "object" :
	       job->command->target == PAGEDET_TARGET_EVENTS ? "event" : "page";
}

/* --verify is a filter of its own, to which it adds that of --where. */
static void tell_undecided(uint64_t n, const struct cli_job *job)
{
	const char *how = !job->verify ?
		"undecided: a value that --where tests is not known "
		"(--undecided lists them)" : job->used_where ?
		"undecided: whether it is in use, or a value that --where "
		"tests, is not known (--undecided lists them)" :
		"undecided: whether it is in use is not known (--undecided "
		"lists them)";

	tell_count(n, noun(job), how);
}

static void tell_stop(const struct cli_verdict *v, const struct cli_job *job)
{
	const char *why = "stopped early";

	if (v->sum.stopped == ETIMEDOUT)
		why = "the deadline passed first";
	else if (v->sum.stopped == ECANCELED || cli_interrupted())
		why = "interrupted";
	else if (v->sum.stopped)
		why = strerror((int)v->sum.stopped);
	/* The length of standard input is not known. */
	if (v->sum.wanted && !job->from_stdin)
		cli_say("%s: looked at %llu of %llu", why,
			(unsigned long long)v->sum.visited,
			(unsigned long long)v->sum.wanted);
	else
		cli_say("%s: looked at %llu", why,
			(unsigned long long)v->sum.visited);
	if (v->sum.resume)
		cli_say("the first place that was not visited: %llu (0x%llx)",
			(unsigned long long)v->sum.resume,
			(unsigned long long)v->sum.resume);
}

void cli_verdict_losses(const struct cli_verdict *v, const struct cli_job *job)
{
	const struct pagedet_coverage *c = &v->sum;

	if (c->stopped || cli_interrupted())
		tell_stop(v, job);
	tell_count(c->tasks_denied, "task", "may not be read");
	if (c->tasks_denied)
		cli_tell_trace(job);
	tell_count(c->tasks_damaged, "task", job->open.n_files ||
		   job->open.root ? "could be read only in part: the rest is "
		   "damaged or missing" : "could be read only in part: the "
		   "rest changed while it was read");
	tell_count(c->tasks_gone, "task", "ended meanwhile");
	tell_again(c->tasks_again, "are in the answer again");
	tell_again(c->tasks_merged, "count once");
	tell_count(v->maps_missing, "mapping", "counted but not found: of "
		   "tasks that cannot be seen from here, such as those of "
		   "another pid namespace, or made or ended meanwhile");
	if (v->maps_unseen && job->no_memory)
		cli_say("there is no memory at this page frame; a driver may "
			"have mapped a device that is there: a source that "
			"reads page tables (bpf, kcore) or a dump shows it");
	else if (job->no_memory && v->partial)
		cli_say("there is no memory at this page frame");
	else if (v->maps_unseen)
		cli_say("a driver may have mapped such a page: /proc does not "
			"show what drivers map by frame number; a source that "
			"reads page tables (bpf, kcore) or a dump does");
	tell_count(c->files_denied, "file", "may not be read: that needs its "
		   "owner, permission to write it, or CAP_FOWNER");
	tell_count(c->files_gone, "file", "vanished or shrank meanwhile");
	tell_undecided(c->undecided, job);
	tell_count(c->spilled, "page", "counted as 'other': too many groups; "
		   "--where leaves out what is not of interest");
	if (v->failed)
		cli_say("%llu of %llu name%s could not be opened",
			(unsigned long long)v->failed,
			(unsigned long long)v->places, cli_plural(v->places));
	if (v->partial && !v->failed && !c->stopped && !cli_interrupted() &&
	    !c->tasks_denied && !c->tasks_damaged && !c->files_denied &&
	    !v->maps_missing && !v->maps_unseen)
		cli_say("not everything could be read");
}

static void tell_unanswered(uint32_t f, const struct pagedet_iter *it)
{
	const char *name = pagedet_field(f)->name;
	uint32_t why = pagedet_why(it, f);
	const char *advice = pagedet_why_advice(it, f);

	if (why == PAGEDET_HAVE || why == PAGEDET_NOT_ASKED)
		cli_say("%s: not answered in any row", name);
	else
		cli_say("%s: %s", name, pagedet_state_text(why));
	if (*advice)
		cli_say("hint: %s", advice);
}

/* For the case that /proc leaves kinds open, and memory may not be read. */
static void tell_kinds(const struct cli_verdict *v,
		       const struct pagedet_iter *it)
{
	const uint32_t f = PAGEDET_FIELD_KIND;
	const char *advice = pagedet_why_advice(it, f);

	if (v->sum.answered[f / 64] >> f % 64 & 1 && *advice)
		cli_say("pages of kind 'unknown': /proc does not say more; %s",
			advice);
}

/* Fields about the row itself do not answer the question. */
static bool is_about_row(uint32_t f)
{
	return f == PAGEDET_FIELD_PFN || f == PAGEDET_FIELD_ASK ||
	       f == PAGEDET_FIELD_NOTES || f == PAGEDET_FIELD_TIME_NS;
}

/*
 * If a look-up gave only the numbers that were asked for: a field that no row
 * has, one that needs a privilege before others. Otherwise -1.
 */
static int unanswered_field(const struct cli_verdict *v,
			    const struct cli_job *job,
			    const struct pagedet_iter *it)
{
	const uint32_t target = job->command->target;
	uint64_t fields[2];
	int found = -1;
	uint32_t f;

	if ((target != PAGEDET_TARGET_PFN && target != PAGEDET_TARGET_PHYS) ||
	    !v->sum.rows)
		return -1;
	pagedet_iter_fields(it, fields);
	for (f = 0; f < PAGEDET_FIELDS_MAX; f++) {
		if (!(fields[f / 64] >> f % 64 & 1) || is_about_row(f))
			continue;
		if (v->sum.answered[f / 64] >> f % 64 & 1)
			return -1;
		if (found < 0 ||
		    (pagedet_why(it, f) == PAGEDET_NO_ACCESS &&
		     pagedet_why(it, (uint32_t)found) != PAGEDET_NO_ACCESS))
			found = (int)f;
	}
	return found;
}

/* The status if nothing was answered for the reason @why. */
static int status_without(uint32_t why)
{
	switch (why) {
	case PAGEDET_NO_ACCESS:
		return CLI_DENIED;
	case PAGEDET_NO_KERNEL:
	case PAGEDET_NOT_BUILT:
	case PAGEDET_NO_TYPES:
		return CLI_UNAVAILABLE;
	default:
		return CLI_UNSURE;
	}
}

/* Fields that are named by themselves have messages of their own. */
static bool is_any_named(const struct cli_verdict *v)
{
	return v->named[0] | v->named[1];
}

static void hint_for_text(const struct cli_job *job)
{
	if (job->open.n_files == 1)
		cli_hint_for_text(job, job->open.files[0]);
}

/* Reports that nothing was answered. Returns the status. */
static int tell_nothing(const struct cli_job *job,
			const struct pagedet_iter *it, uint32_t f)
{
	const uint32_t why = pagedet_why(it, f);
	const int status = status_without(why);
	const char *advice = pagedet_why_advice(it, f);

	if (job->quiet)
		return status;
	/* The source could, but each row has lost it: the row says why. */
	cli_say("nothing could be answered: %s", why == PAGEDET_HAVE ?
		"what is read here does not say it" : pagedet_state_text(why));
	if (*advice)
		cli_say("hint: %s", advice);
	/* cli_watch() does so for the others. */
	if (status != CLI_UNAVAILABLE)
		hint_for_text(job);
	return status;
}

/*
 * Whether the pages that the filter left undecided make the answer unsure. In
 * the running kernel some always move meanwhile. But if no page matched, that
 * is not a definite no.
 */
static bool undecided_counts(const struct cli_verdict *v,
			     const struct cli_job *job)
{
	const struct pagedet_coverage *c = &v->sum;

	return c->undecided &&
	       (job->strict || !c->rows || (job->where && !c->matched) ||
		job->open.n_files ||
		job->command->target == PAGEDET_TARGET_LOG);
}

/*
 * How many rows there would be without a limit; UINT64_MAX: not known. Each
 * place of some questions gives a row.
 */
static uint64_t rows_of_all(const struct cli_verdict *v,
			    const struct cli_job *job)
{
	const struct pagedet_coverage *c = &v->sum;
	const bool grouped = job->by || job->summary;

	if (c->rows < cli_bound(job))
		return c->rows;
	if (grouped || job->runs || job->undecided || c->stopped)
		return UINT64_MAX;
	/* Only rows that are sorted were all looked at. */
	if (job->where)
		return job->sort ? c->matched : UINT64_MAX;
	switch (job->command->target) {
	case PAGEDET_TARGET_PFN:
	case PAGEDET_TARGET_PHYS:
	case PAGEDET_TARGET_SCAN:
		return c->wanted;
	default:
		return v->cut || job->sort ? UINT64_MAX : c->rows;
	}
}

int cli_verdict_tell(const struct cli_verdict *v, const struct cli_job *job,
		     const struct pagedet_iter *it)
{
	const int without = unanswered_field(v, job, it);
	int status = CLI_ANSWERED;
	uint32_t f;

	if (!job->quiet)
		cli_verdict_losses(v, job);
	if (v->partial || v->failed || undecided_counts(v, job) ||
	    job->lost_tasks || cli_interrupted())
		status = CLI_UNSURE;
	if (!v->sum.rows && !status) {
		if (job->quiet)
			return CLI_NO;
		if (job->list && !v->places)
			cli_say("standard input names no file");
		else if (job->verify && !job->used_where)
			cli_say("nothing of it is in use");
		else if (job->no_memory)
			cli_say("there is no memory at this page frame, and "
				"nobody maps it");
		else if (job->where)
			cli_say("no %s matched", noun(job));
		else
			cli_say("%s", job->command->nothing);
		return CLI_NO;
	}
	if (job->command->target == PAGEDET_TARGET_LOG && v->sum.rows &&
	    !job->quiet && !job->terse)
		cli_say("page frame numbers and addresses in the log were read "
			"as hex, with or without 0x, and other numbers as "
			"decimal, as the kernel writes them");
	if (without >= 0 &&
	    (!is_any_named(v) ||
	     pagedet_why(it, (uint32_t)without) == PAGEDET_NO_ACCESS))
		return tell_nothing(job, it, (uint32_t)without);
	if (v->sum.rows && !job->quiet && !job->terse)
		tell_kinds(v, it);
	/* A ranking and a picture count rows that they do not show. */
	if (v->sum.rows && !job->command->picture && !job->command->bounds)
		cli_tell_more(job, rows_of_all(v, job),
			      job->by || job->summary ? "group" : "row",
			      job->by || job->summary ? "groups" : "rows");
	/* Without rows a field had no chance. */
	for (f = 0; v->sum.rows && f < PAGEDET_FIELDS_MAX; f++) {
		if (!(v->named[f / 64] & ~v->sum.answered[f / 64] &
		      1ull << (f % 64)))
			continue;
		/*
		 * If there is a limit, it is not the reason: later rows might
		 * have the field.
		 */
		if (v->cut && pagedet_why(it, f) == PAGEDET_HAVE)
			continue;
		status = CLI_UNSURE;
		if (!job->quiet)
			tell_unanswered(f, it);
	}
	if (without >= 0)
		hint_for_text(job);
	return status;
}
