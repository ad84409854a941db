/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* page_owner's records: what is asked, and what to say about the answer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* How often a signal is looked for. */
#define ASK_NS 100000000u

struct asking {
	struct cli_job *job;
	struct pagedet *pd;
	struct pagedet_owners_query q;
	uint32_t by[PAGEDET_OWNER_KEYS];
	struct pagedet_owners *owners;
	struct pagedet_owners_total total;
	uint64_t start_ns;
	/* the line of progress, if there is to be one */
	struct cli_progress line;
	struct pagedet_query shown;
	uint64_t shown_ns;
};

static int set_keys(struct asking *a)
{
	const char *at = a->job->by ? a->job->by : "stack";

	a->q.by = a->by;
	do {
		size_t len = strcspn(at, ",");
		char name[32] = "";
		int key = -1;

		if (len < sizeof(name)) {
			memcpy(name, at, len);
			key = pagedet_owner_key_by_name(name);
		}
		if (key < 0)
			return cli_usage("--by: owners have no '%.*s'",
					 (int)len, at);
		if (a->q.n_by == CLI_COUNT(a->by))
			return cli_usage("--by: too many keys");
		a->by[a->q.n_by++] = (uint32_t)key;
		at += len;
	} while (*at++ == ',');
	return CLI_ANSWERED;
}

static int set_order(struct asking *a)
{
	static const struct { const char *name; uint32_t sort; } orders[] = {
		{ "pages", PAGEDET_OWNERS_SORT_PAGES },
		{ "times", PAGEDET_OWNERS_SORT_TIMES },
		{ "oldest", PAGEDET_OWNERS_SORT_OLDEST },
		{ "newest", PAGEDET_OWNERS_SORT_NEWEST },
		{ "keys", PAGEDET_OWNERS_SORT_KEYS },
	};
	const char *name = a->job->sort ? a->job->sort : "pages";
	size_t i;

	if (*name == '-')
		a->q.options |= PAGEDET_OWNERS_REVERSE;
	name += *name == '-';
	for (i = 0; i < CLI_COUNT(orders); i++) {
		if (strcmp(name, orders[i].name))
			continue;
		a->q.sort = orders[i].sort;
		return CLI_ANSWERED;
	}
	return cli_usage("--sort: '%s' is not pages, times, oldest, newest or "
			 "keys", name);
}

/* A flame is made of stacks. */
static int set_picture(struct asking *a)
{
	if (!a->job->flame && !a->job->folded)
		return CLI_ANSWERED;
	if (a->q.n_by != 1 || a->by[0] != PAGEDET_OWNER_STACK)
		return cli_usage("--%s needs --by stack",
				 a->job->flame ? "flame" : "folded");
	if (a->job->flame && a->job->folded)
		return cli_usage("--flame and --folded: not both");
	if (a->job->before)
		return cli_usage("--%s and --before: not both",
				 a->job->flame ? "flame" : "folded");
	return CLI_ANSWERED;
}

/* A file is opened as such, whatever it is: text or a dump. What can only be
 * read once is left to the question, and so are the kernel's own files, which
 * have no size. */
int cli_parse_owners(struct cli_job *job)
{
	const char *name = job->n_words ? job->words[0] : NULL;
	struct stat st;

	if (!name)
		return CLI_ANSWERED;
	if (job->open.n_files || job->live)
		return cli_usage("owners: FILE and --from: not both");
	if (!strcmp(name, "-") ||
	    (stat(name, &st) == 0 && !S_ISDIR(st.st_mode) &&
	     (!S_ISREG(st.st_mode) || !st.st_size))) {
		job->path = name;
		return CLI_ANSWERED;
	}
	job->from = calloc(1, sizeof(*job->from));
	if (!job->from)
		return cli_fail_errno("owners");
	job->from[0] = name;
	job->open.files = job->from;
	job->open.n_files = 1;
	return CLI_ANSWERED;
}

/* Called more often than the line is written. */
static int on_progress(void *user, const struct pagedet_progress *now)
{
	struct asking *a = user;

	if (a->shown.progress &&
	    now->elapsed_ns - a->shown_ns >= a->shown.progress_ns) {
		a->shown_ns = now->elapsed_ns;
		a->shown.progress(a->shown.progress_user, now);
	}
	return cli_interrupted();
}

/* One text, within what is left of the time; at least 1, which has passed. */
static int group(struct asking *a, const char *path,
		 struct pagedet_owners **ret)
{
	const uint64_t gone = cli_now_ns() - a->start_ns;
	const uint64_t all = a->job->deadline_ns;
	int error;

	a->q.path = path;
	a->q.deadline_ns = !all ? 0 : gone < all ? all - gone : 1;
	a->shown_ns = 0;
	cli_interrupt_asked(true);
	error = pagedet_owners(a->pd, &a->q, ret);
	cli_interrupt_asked(false);
	cli_progress_end(&a->line);
	return error;
}

static void add_up(struct asking *a, const struct pagedet_owners *owners)
{
	struct pagedet_owners_total t = { .size = sizeof(t) };

	pagedet_owners_total(owners, &t);
	if (!a->total.size) {
		a->total = t;
		return;
	}
	/* what the other text has lost is missing in a comparison, too */
	a->total.damaged += t.damaged;
	a->total.unprinted += t.unprinted;
	a->total.undecided += t.undecided;
	a->total.complete &= t.complete;
	a->total.stopped = t.stopped;
}

static int ask(struct asking *a)
{
	struct pagedet_owners *before = NULL;
	int error;

	a->start_ns = cli_now_ns();
	error = group(a, a->job->path, &a->owners);
	if (error)
		return error;
	add_up(a, a->owners);
	if (!a->job->before || a->total.stopped)
		return 0;
	error = group(a, a->job->before, &before);
	if (error)
		return error;
	add_up(a, before);
	if (!a->total.stopped)
		error = pagedet_owners_compare(a->owners, before);
	pagedet_owners_free(before);
	return error;
}

static void tell(uint64_t n, const char *what, const char *how)
{
	if (n)
		cli_say("%llu %s%s %s", (unsigned long long)n, what,
			n == 1 ? "" : "s", how);
}

/* A part of one text beside all of the other would show what is not so. */
static int tell_stop(const struct asking *a)
{
	if (!a->job->quiet)
		cli_say("%s: looked at a part of it%s",
			a->total.stopped == ETIMEDOUT ?
			"the deadline came first" : "interrupted",
			a->job->before ? ", and compared nothing" : "");
	return CLI_UNSURE;
}

static int judge(struct asking *a)
{
	const struct pagedet_owners_total *t = &a->total;

	if (t->stopped)
		tell_stop(a);
	if (!a->job->quiet) {
		tell(t->damaged, "piece", "of the text: no whole record, not "
		     "counted");
		tell(t->unprinted, "record", "the kernel could not write");
		tell(t->undecided, "record", "undecided: what --where asks is "
		     "not known");
	}
	if (!t->complete || t->undecided)
		return CLI_UNSURE;
	if (t->groups)
		return CLI_ANSWERED;
	if (!a->job->quiet)
		cli_say("%s", a->job->command->nothing);
	return CLI_NO;
}

static int emit_rows(struct asking *a, int fd)
{
	struct pagedet_emitter *e;
	int status, error;

	status = cli_emitter_new(a->job, a->pd, fd, fd, &e);
	if (status)
		return status;
	error = pagedet_emit_owners(e, a->owners, a->job->top ? a->job->top :
								UINT64_MAX);
	status = error ? cli_fail(a->pd, error) : cli_emitter_finish(a->pd, e);
	pagedet_emitter_free(e);
	return status;
}

/* The stream has a descriptor of its own, for the output is closed later. */
static int draw(struct asking *a, int fd,
		int (*picture)(struct pagedet_owners *owners, FILE *f))
{
	int copy = dup(fd), status;
	FILE *f = copy < 0 ? NULL : fdopen(copy, "w");

	if (!f) {
		if (copy >= 0)
			close(copy);
		return cli_fail_errno("cannot write the output");
	}
	status = picture(a->owners, f);
	if (fclose(f) && !status)
		return cli_fail_errno("cannot write the output");
	return status;
}

static int emit(struct asking *a, const char *path,
		int (*picture)(struct pagedet_owners *owners, FILE *f))
{
	struct cli_output out;
	int status = cli_output_open(&out, path);

	if (!status)
		status = picture ? draw(a, out.fd, picture) :
				   emit_rows(a, out.fd);
	return cli_output_close(&out, !status && !cli_interrupted(), status);
}

int cli_run_owners(struct cli_job *job, struct pagedet *pd)
{
	struct asking a = { .job = job, .pd = pd,
			    .q = PAGEDET_OWNERS_QUERY_INIT };
	int status, error;

	status = set_keys(&a);
	if (!status)
		status = set_order(&a);
	if (!status)
		status = set_picture(&a);
	if (status)
		return status;
	a.q.where = job->where;
	a.q.window_ns = job->window_ns;
	a.q.threads = cli_threads(job);
	a.q.progress = on_progress;
	a.q.progress_user = &a;
	a.q.progress_ns = ASK_NS;
	/* Nothing is written before the work is over. */
	cli_progress_start(&a.line, job, -1, &a.shown);
	error = ask(&a);
	if (error) {
		pagedet_owners_free(a.owners);
		return cli_fail(pd, error);
	}
	if (a.total.stopped && job->before) {
		pagedet_owners_free(a.owners);
		return tell_stop(&a);
	}
	status = emit(&a, job->flame ? job->flame : job->output,
		      job->flame ? cli_flame : job->folded ? cli_folded : NULL);
	if (!status)
		status = judge(&a);
	pagedet_owners_free(a.owners);
	return status;
}
