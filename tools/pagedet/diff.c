/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The commands diff A B and map A B: they ask two sources the same question,
 * and compare the answers. If one is a snapshot, its query is repeated on the
 * other. Otherwise the query is a scan.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

struct side {
	const char *name;
	struct pagedet *pd;
	struct pagedet_query q;
	struct pagedet_query saved; /* the query of a snapshot */
	bool is_saved;		/* whether it is a snapshot */
	int not_again;		/* negative errno: the reason why it cannot be
				 * repeated */
	char *where;
	struct pagedet_iter *it;
};

struct comparing {
	struct cli_job *job;
	struct side side[2];
	struct pagedet_diff *diff;
	struct pagedet_diff_totals totals;
	struct cli_verdict verdict;
	uint64_t undecided;	/* of the verdict, in dumps and snapshots */
	struct cli_progress progress;
};

static bool is_live(const char *name)
{
	return !strcmp(name, "live");
}

int cli_parse_diff(struct cli_job *job)
{
	const bool live = is_live(job->words[0]) || is_live(job->words[1]);

	if (job->live || job->open.n_files)
		return cli_usage("%s: A and B name what to read: --from cannot "
				 "be used",
				 job->command->name);
	if (job->open.sources && !live)
		return cli_usage("%s: --backend is for the running kernel, and "
				 "A and B are files", job->command->name);
	job->live_sources = job->open.sources;
	if (!is_live(job->words[0])) {
		job->open.files = (const char *const *)&job->words[0];
		job->open.n_files = 1;
		job->open.sources = 0;
	}
	return CLI_ANSWERED;
}

void cli_diff_title(const struct cli_job *job, char *title, size_t size)
{
	snprintf(title, size, "What changed in memory from %s to %s",
		 job->words[0], job->words[1]);
}

/* --- the query --- */

static int open_second(struct comparing *c)
{
	struct pagedet_options o = c->job->open;
	int error;

	o.files = NULL;
	o.n_files = 0;
	o.sources = c->job->live_sources;
	if (!is_live(c->side[1].name)) {
		o.files = (const char *const *)&c->job->words[1];
		o.n_files = 1;
		o.sources = 0;
	}
	error = pagedet_open(c->side[1].pd, &o);
	return error ? cli_fail(c->side[1].pd, error) : CLI_ANSWERED;
}

static void look_at(struct side *s)
{
	int error;

	s->saved = (struct pagedet_query)PAGEDET_QUERY_INIT;
	error = pagedet_saved_query(s->pd, &s->saved);
	s->is_saved = !error || error == -EOVERFLOW;
	if (error == -EOVERFLOW)
		s->not_again = error;
}

/* Two snapshots are compared as they are. */
static int check_again(const struct comparing *c)
{
	unsigned i;

	for (i = 0; i < 2; i++)
		if (c->side[i].not_again && !c->side[!i].is_saved)
			return cli_fail(c->side[i].pd, c->side[i].not_again);
	return CLI_ANSWERED;
}

static void want(struct pagedet_query *q, uint32_t field)
{
	q->fields[field / 64] |= 1ull << (field % 64);
}

/* Adds fields that match rows, and that tell whether there is a page. */
static void want_places(struct pagedet_query *q, uint32_t target)
{
	want(q, PAGEDET_FIELD_PFN);
	want(q, PAGEDET_FIELD_KIND);
	want(q, PAGEDET_FIELD_NOTES);
	switch (target) {
	case PAGEDET_TARGET_TASK: case PAGEDET_TARGET_VIRT:
		want(q, PAGEDET_FIELD_PID);
		want(q, PAGEDET_FIELD_VADDR);
		want(q, PAGEDET_FIELD_PTE);
		want(q, PAGEDET_FIELD_PTE_KNOWN);
		break;
	case PAGEDET_TARGET_FILE: case PAGEDET_TARGET_BLOCK:
	case PAGEDET_TARGET_TREE: case PAGEDET_TARGET_MOUNT:
		want(q, PAGEDET_FIELD_DEV);
		want(q, PAGEDET_FIELD_INODE);
		want(q, PAGEDET_FIELD_INDEX);
		break;
	default:
		break;
	}
}

/* Adds fields that have a meaning only together. */
static void want_known(struct pagedet_query *q)
{
	const struct pagedet_field_info *info;
	uint64_t asked[2];
	uint32_t f;

	memcpy(asked, q->fields, sizeof(asked));
	for (f = 0; f < PAGEDET_FIELDS_MAX; f++) {
		info = pagedet_field(f);
		if (info && asked[f / 64] >> f % 64 & 1)
			want(q, info->known);
	}
	if (asked[0] >> PAGEDET_FIELD_MAPCOUNT & 1)
		want(q, PAGEDET_FIELD_MAPCOUNT_KIND);
	/* A zero page is found in many places. */
	if (asked[0] >> PAGEDET_FIELD_HASH & 1)
		want(q, PAGEDET_FIELD_CONTENT);
}

/*
 * Adds these to the wanted fields. For a snapshot, adds only those that it has.
 */
static void want_more(struct side *s, const struct side *other,
		      uint32_t target)
{
	struct pagedet_query more = s->q;
	unsigned i;

	want_places(&more, target);
	want_known(&more);
	for (i = 0; i < 2; i++) {
		uint64_t fields = more.fields[i];

		if (s->is_saved)
			fields &= s->saved.fields[i];
		if (other->is_saved)
			fields &= other->saved.fields[i];
		s->q.fields[i] |= fields;
	}
}

/* Joins the filters of the snapshot and of the user. */
static int set_where(struct side *s, const char *saved, const char *asked)
{
	s->q.where = asked ? asked : saved;
	if (!saved || !asked)
		return CLI_ANSWERED;
	if (asprintf(&s->where, "(%s) and (%s)", saved, asked) < 0) {
		s->where = NULL;
		return cli_fail_errno("diff");
	}
	s->q.where = s->where;
	return CLI_ANSWERED;
}

static int set_query(struct comparing *c, unsigned i)
{
	struct side *s = &c->side[i], *other = &c->side[!i];
	const struct cli_job *job = c->job;
	const char *list = job->fields ? job->fields : "cheap";
	uint32_t target = s->is_saved ? s->saved.target : PAGEDET_TARGET_SCAN;
	const char *saved = NULL;

	s->q = (struct pagedet_query)PAGEDET_QUERY_INIT;
	s->q.target = PAGEDET_TARGET_SCAN;
	s->q.threads = cli_threads(job);
	if (!s->is_saved && other->is_saved) {
		target = s->q.target = other->saved.target;
		s->q.items = other->saved.items;
		s->q.n_items = other->saved.n_items;
		s->q.path = other->saved.path;
		saved = other->saved.where;
	}
	if (!job->fields && !s->is_saved && other->is_saved)
		memcpy(s->q.fields, other->saved.fields, sizeof(s->q.fields));
	else if (pagedet_fields_parse(s->pd, list, &s->q))
		return cli_usage("--fields: %s", pagedet_error(s->pd));
	want_more(s, other, target);
	return set_where(s, saved, job->where);
}

static int ask(struct comparing *c)
{
	int error, status;
	unsigned i;

	for (i = 0; i < 2; i++) {
		struct side *s = &c->side[i];

		/* The first one may have taken all of it. */
		s->q.deadline_ns = cli_deadline_left(c->job);
		error = pagedet_query(s->pd, &s->q, &s->it);
		if (error)
			return cli_fail(s->pd, error);
	}
	cli_interrupt_cancels_both(c->side[0].it, c->side[1].it);
	error = pagedet_diff(c->side[0].it, c->side[1].it, NULL, &c->diff);
	status = error ? cli_fail(c->side[0].pd, error) : CLI_ANSWERED;
	return status;
}

/* --- messages --- */

static void tell_notes(const struct comparing *c)
{
	static const struct { uint32_t note; const char *text; } notes[] = {
		{ PAGEDET_DIFF_OTHER_BOOT, "the two are of different boots: "
		  "page frame numbers, inodes and pids are not compared" },
		{ PAGEDET_DIFF_UNKNOWN_BOOT, "one of the two does not say of "
		  "which boot it is: assumed to be the same boot" },
		{ PAGEDET_DIFF_OTHER_KEY, "hashes were made with different "
		  "keys and cannot be compared (--hash-key)" },
		{ PAGEDET_DIFF_OTHER_PLACES, "the two answer different "
		  "questions: a page that is missing on one side may exist "
		  "there" },
		{ PAGEDET_DIFF_PARTIAL, "one side is incomplete: a page that "
		  "is missing there may exist" },
	};
	size_t i;

	for (i = 0; i < CLI_COUNT(notes); i++)
		if (c->totals.notes & notes[i].note)
			cli_say("%s", notes[i].text);
}

static void tell_count(uint64_t n, const char *text)
{
	if (n)
		cli_say("%llu page%s %s", (unsigned long long)n,
			cli_plural(n), text);
}

static void tell_rest(const struct comparing *c)
{
	const struct pagedet_diff_totals *t = &c->totals;

	tell_notes(c);
	cli_verdict_losses(&c->verdict, c->job);
	tell_count(t->unmatched, "on one side only: what became of them is not "
		   "known");
	tell_count(t->unplaced, "without a place of their own were left out");
	tell_count(t->ambiguous, "gone or new match several pages elsewhere: "
		   "not reported as moved");
	tell_count(t->spilled, "gone or new were too many to search for "
		   "elsewhere");
}

/* Reports fields that the user named and that were not compared anywhere. */
static bool tell_undecided(const struct comparing *c)
{
	const struct pagedet_diff_totals *t = &c->totals;
	bool any = false;
	uint32_t f;

	for (f = 0; f < PAGEDET_FIELDS_MAX; f++) {
		if (!(c->verdict.named[f / 64] & t->fields[f / 64] &
		      ~t->decided[f / 64] & 1ull << f % 64) || !t->why[f])
			continue;
		any = true;
		if (!c->job->quiet)
			cli_say("%s cannot be compared: %s",
				pagedet_field(f)->name,
				pagedet_state_text(t->why[f]));
	}
	return any;
}

/* In the running kernel some pages always change meanwhile. */
static bool undecided_counts(const struct comparing *c)
{
	return c->undecided || (c->verdict.sum.undecided &&
				(c->job->strict || !c->totals.compared));
}

static int judge(struct comparing *c)
{
	const struct pagedet_diff_totals *t = &c->totals;
	uint64_t changed = 0;
	bool unsure;
	unsigned i;

	for (i = 0; i < PAGEDET_CHANGE_MAX; i++)
		changed += t->first[i];
	if (!c->job->quiet)
		tell_rest(c);
	unsure = tell_undecided(c) || !t->complete || t->unmatched ||
		 c->verdict.partial || undecided_counts(c) ||
		 (t->compared && !t->decided[0] && !t->decided[1]) ||
		 cli_interrupted();
	if (unsure)
		return CLI_UNSURE;
	return changed ? CLI_NO : CLI_ANSWERED;
}

static int emit(struct comparing *c, int fd)
{
	struct pagedet *pd = c->side[0].pd;
	const bool held = c->progress.same_terminal;
	struct pagedet_emitter *e;
	int status, error, late;
	unsigned i;

	status = cli_emitter_new(c->job, pd, fd, held ? -1 : fd, &e);
	if (status)
		return status;
	error = pagedet_emit_diff(e, c->diff);
	cli_progress_end(&c->progress);
	for (i = 0; i < 2; i++) {
		const uint64_t before = c->verdict.sum.undecided;

		cli_verdict_add(&c->verdict, c->side[i].it,
				c->side[i].q.target);
		if (!is_live(c->side[i].name))
			c->undecided += c->verdict.sum.undecided - before;
	}
	if (error && error != -ETIMEDOUT && error != -ECANCELED)
		status = cli_emit_failed(pd, error, fd);
	late = cli_emitter_finish(pd, e, fd);
	pagedet_emitter_free(e);
	c->totals.size = sizeof(c->totals);
	if (!status && !late && pagedet_diff_totals(c->diff, &c->totals))
		status = cli_fail(pd, -EINVAL);
	if (status || late)
		return status ? status : late;
	return judge(c);
}

static int answer(struct comparing *c)
{
	struct cli_output out;
	int status = c->job->format == PAGEDET_FORMAT_SVG ?
			     cli_picture_open(&out, c->job->output) :
			     cli_output_open(&out, c->job->output);
	bool asked;

	if (!status) {
		cli_progress_start(&c->progress, c->job, out.fd,
				   &c->side[0].q);
		status = ask(c);
	}
	/* Otherwise keep the older file. */
	asked = !status;
	if (asked)
		status = emit(c, out.fd);
	cli_interrupt_cancels(NULL);
	return cli_output_close(&out, asked && status <= CLI_UNSURE &&
				!cli_interrupted(), status);
}

int cli_run_diff(struct cli_job *job, struct pagedet *pd)
{
	struct comparing c;
	int status = CLI_ANSWERED;
	unsigned i;

	memset(&c, 0, sizeof(c));
	c.job = job;
	c.side[0].pd = pd;
	c.side[1].pd = cli_new(job);
	if (!c.side[1].pd)
		return CLI_IO;
	cli_named_fields(job->fields, c.verdict.named);
	for (i = 0; i < 2; i++)
		c.side[i].name = job->words[i];
	status = open_second(&c);
	for (i = 0; i < 2 && !status; i++)
		look_at(&c.side[i]);
	if (!status)
		status = check_again(&c);
	for (i = 0; i < 2 && !status; i++)
		status = set_query(&c, i);
	if (!status)
		status = answer(&c);
	pagedet_diff_free(c.diff);
	for (i = 0; i < 2; i++) {
		pagedet_iter_free(c.side[i].it);
		free(c.side[i].where);
	}
	pagedet_free(c.side[1].pd);
	return status;
}
