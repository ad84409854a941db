/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * From what was looked at to the exit status, with the words for it: a part of
 * the answer never passes for the whole.
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
 * Whether every mapping that the kernel counts was found: then a task that may
 * not be read hides none. @missing: how many were not, where they are counted.
 */
static bool all_mappings_found(const struct pagedet_iter *it,
			       uint64_t *missing)
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
		v->partial = true;	/* no proof that it is all */
		return;
	}
	if (target == PAGEDET_TARGET_MAPPERS &&
	    all_mappings_found(it, &missing))
		c.tasks_denied = 0;
	/* Otherwise it is said already where they may be. */
	if (c.complete && !c.tasks_gone && !c.tasks_denied)
		v->maps_missing += missing;
	v->sum.wanted += c.wanted;
	v->sum.visited += c.visited;
	v->sum.rows += c.rows;
	v->sum.undecided += c.undecided;
	v->sum.spilled += c.spilled;
	v->sum.tasks_gone += c.tasks_gone;
	v->sum.tasks_denied += c.tasks_denied;
	v->sum.files_gone += c.files_gone;
	v->sum.files_denied += c.files_denied;
	v->sum.answered[0] |= c.answered[0];
	v->sum.answered[1] |= c.answered[1];
	v->sum.resume = c.resume;
	v->sum.stopped = c.stopped;
	if (!c.complete || c.stopped || c.tasks_denied || c.files_denied ||
	    v->maps_missing)
		v->partial = true;
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void tell_count(uint64_t n, const char *what, const char *how)
{
	if (n)
		cli_say("%llu %s%s %s", (unsigned long long)n, what, plural(n),
			how);
}

static void tell_stop(const struct cli_verdict *v, const struct cli_job *job)
{
	const char *why = "stopped early";

	if (v->sum.stopped == ETIMEDOUT)
		why = "the deadline came first";
	else if (v->sum.stopped == ECANCELED || cli_interrupted())
		why = "interrupted";
	else if (v->sum.stopped)
		why = strerror((int)v->sum.stopped);
	/* How much of standard input is left to read nobody knows. */
	if (v->sum.wanted && !job->from_stdin)
		cli_say("%s: looked at %llu of %llu", why,
			(unsigned long long)v->sum.visited,
			(unsigned long long)v->sum.wanted);
	else
		cli_say("%s: looked at %llu", why,
			(unsigned long long)v->sum.visited);
	if (v->sum.resume)
		cli_say("the first that was not looked at: %llu (0x%llx)",
			(unsigned long long)v->sum.resume,
			(unsigned long long)v->sum.resume);
}

void cli_verdict_losses(const struct cli_verdict *v, const struct cli_job *job)
{
	const struct pagedet_coverage *c = &v->sum;

	if (c->stopped || cli_interrupted())
		tell_stop(v, job);
	tell_count(c->tasks_denied, "task", "may not be read");
	tell_count(c->tasks_gone, "task", "ended meanwhile");
	tell_count(v->maps_missing, "mapping", "counted and not found: of "
		   "tasks that are not seen from here, as those of another pid "
		   "namespace, or it came or went meanwhile");
	tell_count(c->files_denied, "file", "may not be read");
	tell_count(c->files_gone, "file", "vanished or shrank meanwhile");
	tell_count(c->undecided, "page", "undecided: what --where asks is "
		   "not known (--undecided lists them)");
	tell_count(c->spilled, "page", "counted as 'other': too many groups");
	if (v->partial && !c->stopped && !cli_interrupted() &&
	    !c->tasks_denied && !c->files_denied && !v->maps_missing)
		cli_say("not everything could be looked at");
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

int cli_verdict_tell(const struct cli_verdict *v, const struct cli_job *job,
		     const struct pagedet_iter *it)
{
	int status = CLI_ANSWERED;
	uint32_t f;

	if (!job->quiet)
		cli_verdict_losses(v, job);
	if (v->partial || v->sum.undecided || cli_interrupted())
		status = CLI_UNSURE;
	if (!v->sum.rows && !status) {
		if (!job->quiet)
			cli_say("%s", job->where ? "no page matched" :
				job->command->nothing);
		return CLI_NO;
	}
	if (job->command->target == PAGEDET_TARGET_LOG && v->sum.rows &&
	    !job->quiet)
		cli_say("numbers of pages and addresses in the log were read "
			"as hex, with 0x or without, others as decimal, as "
			"the kernel writes them there");
	/* Without rows a field had no chance. */
	for (f = 0; v->sum.rows && f < PAGEDET_FIELDS_MAX; f++) {
		if (!(v->named[f / 64] & ~v->sum.answered[f / 64] &
		      1ull << (f % 64)))
			continue;
		status = CLI_UNSURE;
		if (!job->quiet)
			tell_unanswered(f, it);
	}
	return status;
}
