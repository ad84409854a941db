/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The command owners: its query of page_owner's records, and messages about the
 * answer.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* How often to check for a signal. */
#define ASK_NS 100000000u

struct asking {
	struct cli_job *job;
	struct pagedet *pd;
	struct pagedet_owners_query q;
	uint32_t by[PAGEDET_OWNER_KEYS];
	struct pagedet_owners *owners;
	struct pagedet_owners_total total;
	/* The progress line, if there is one. */
	struct cli_progress line;
	struct cli_asked asked;
	char stacks[PATH_MAX];	/* the kernel's file to read instead; or "" */
};

static int set_keys(struct asking *a)
{
	static const struct cli_by of = {
		"--by: owners cannot be grouped by",
		pagedet_owner_key_by_name, pagedet_owner_key_name
	};
	const char *by = a->job->by ? a->job->by :
		a->job->as_sort ? "stack,memcg_name,slab,migrate_reason" :
		a->job->mixed ? "node,zone,migratetype" : "stack";

	a->q.by = a->by;
	return cli_by_keys(&of, by, a->by, CLI_COUNT(a->by), &a->q.n_by);
}

/* The last one is for --mixed only. */
const char *const cli_owner_sums[CLI_OWNER_SUMS] = {
	"pages", "times", "bytes", "oldest", "newest", "ns", "keys", "blocks",
};

/*
 * Whether groups can be sorted by the key. Errors must be found before reading,
 * which may take minutes.
 */
static bool is_order(const struct asking *a, const char *word, size_t len)
{
	const uint64_t sums = CLI_OWNER_SUMS - (a->job->mixed ? 0 : 1);
	const char *name;
	uint64_t i;

	for (i = 0; i < sums; i++) {
		name = cli_owner_sums[i];
		if (strlen(name) == len && !memcmp(name, word, len))
			return true;
	}
	for (i = 0; i < a->q.n_by; i++) {
		name = pagedet_owner_key_name(a->by[i]);
		if (strlen(name) == len && !memcmp(name, word, len))
			return true;
	}
	return false;
}

static int check_order(const struct asking *a)
{
	const char *at = a->job->sort;
	size_t len;

	for (; at; at = at[len] ? at + len + 1 : NULL) {
		at += *at == '-';
		len = strcspn(at, ",");
		if (!is_order(a, at, len))
			return cli_usage("--sort: '%.*s' is not pages, times, "
					 "bytes, oldest, newest, ns, keys, "
					 "blocks (with --mixed) or a key of "
					 "--by", (int)len, at);
	}
	return CLI_ANSWERED;
}

/*
 * A file, text or dump, is opened here. A pipe is left to the query. So are the
 * kernel's own files, which do not have a size.
 */
int cli_parse_owners(struct cli_job *job)
{
	const char *name = job->n_words ? job->words[0] : NULL;
	struct stat st;

	/* A pipe has no other name. */
	if (!name && job->open.n_files == 1 &&
	    !strcmp(job->open.files[0], "-")) {
		job->open.n_files = 0;
		job->path = "-";
		return CLI_ANSWERED;
	}
	if (!name)
		return CLI_ANSWERED;
	if (job->open.n_files || job->live)
		return cli_usage("owners: FILE cannot be combined with --from");
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

/* Reads one text, within the time that is left. */
static int group(struct asking *a, const char *path,
		 struct pagedet_owners **ret)
{
	int error;

	a->q.path = path;
	a->q.deadline_ns = cli_deadline_left(a->job);
	a->asked.shown_ns = 0;
	cli_interrupt_asked(true);
	error = pagedet_owners(a->pd, &a->q, ret);
	cli_interrupt_asked(a->job->watching);
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
	/* What was lost from the other text also affects the comparison. */
	a->total.damaged += t.damaged;
	a->total.unprinted += t.unprinted;
	a->total.undecided += t.undecided;
	a->total.complete &= t.complete;
	a->total.stopped = t.stopped;
}

static int order(struct asking *a)
{
	const char *keys = a->job->sort;

	if (!keys && a->job->as_sort)
		keys = "times";
	if (!keys && !a->job->min_pages)
		return 0;
	return pagedet_owners_order(a->owners, keys, a->job->min_pages);
}

static int ask(struct asking *a)
{
	struct pagedet_owners *before = NULL;
	int error;

	error = group(a, *a->stacks ? a->stacks : a->job->path, &a->owners);
	if (error)
		return error;
	add_up(a, a->owners);
	if (!a->job->before || a->total.stopped)
		return order(a);
	error = group(a, a->job->before, &before);
	if (error)
		return error;
	add_up(a, before);
	if (!a->total.stopped)
		error = pagedet_owners_compare(a->owners, before);
	pagedet_owners_free(before);
	return error ? error : order(a);
}

static void tell(uint64_t n, const char *what, const char *how)
{
	if (n)
		cli_say("%llu %s%s %s", (unsigned long long)n, what,
			cli_plural(n), how);
}

/* A comparison of a part with a whole would be misleading. */
static int tell_stop(const struct asking *a)
{
	if (!a->job->quiet)
		cli_say("%s: only a part was read%s",
			a->total.stopped == ETIMEDOUT ?
			"the deadline passed first" : "interrupted",
			a->job->before ? ", and pagedet compared nothing" : "");
	return CLI_UNSURE;
}

/*
 * Whether the records that the filter left undecided make the answer unsure. In
 * the running kernel some always change meanwhile.
 */
static bool undecided_counts(const struct asking *a)
{
	const struct cli_job *job = a->job;

	return a->total.undecided &&
	       (job->strict || !a->total.groups || job->open.n_files ||
		job->path || job->before);
}

static int judge(struct asking *a)
{
	const struct pagedet_owners_total *t = &a->total;

	if (t->stopped)
		tell_stop(a);
	if (!a->job->quiet) {
		tell(t->damaged, "piece", "of the text: not a complete record, "
					  "so not counted");
		tell(t->unprinted, "record", "the kernel could not write");
		tell(t->undecided, "record", a->job->mixed ?
		     "undecided: what --mixed or --where tests is not known" :
		     "undecided: a value that --where tests is not known");
		if (a->job->mixed && t->groups)
			cli_say("page blocks that are mixed: %llu",
				(unsigned long long)t->blocks);
	}
	cli_tell_more(a->job, t->groups, "group", "groups");
	if (!t->complete || undecided_counts(a))
		return CLI_UNSURE;
	if (t->groups)
		return CLI_ANSWERED;
	if (!a->job->quiet)
		cli_say("%s", a->job->command->nothing);
	cli_hint_for_text(a->job, a->job->open.n_files ?
			  a->job->open.files[0] : a->job->path);
	return CLI_NO;
}

static uint64_t bound(const struct asking *a)
{
	const uint64_t n = cli_bound(a->job);

	return n ? n : UINT64_MAX;
}

static int emit_rows(struct asking *a, int fd)
{
	struct pagedet_emitter *e;
	int status, error;

	status = cli_emitter_new(a->job, a->pd, fd, fd, &e);
	if (status)
		return status;
	error = pagedet_emit_owners(e, a->owners, bound(a));
	return cli_emitter_end(a->pd, e, error, fd);
}

static int draw(struct asking *a, int fd,
		int (*picture)(struct cli_stacks *s, FILE *f))
{
	FILE *f = cli_output_stream(fd);
	int status;

	if (!f)
		return cli_fail_errno("cannot write the output");
	status = picture ? cli_owners_draw(a->owners, f, picture) :
		 cli_page_owner_sort(a->owners, a->by, a->q.n_by,
				     bound(a), f);
	if (fclose(f) && !status)
		return cli_fail_errno("cannot write the output");
	return status;
}

static int emit(struct asking *a, const char *path,
		int (*picture)(struct cli_stacks *s, FILE *f))
{
	struct cli_output out;
	int status = picture == cli_flame ? cli_picture_open(&out, path) :
					    cli_output_open(&out, path);

	if (!status)
		status = picture || a->job->as_sort ?
				   draw(a, out.fd, picture) :
				   emit_rows(a, out.fd);
	return cli_output_close(&out, !status && !cli_interrupted(), status);
}

/*
 * Reads the running kernel's counts of pages by stack instead, if it has them
 * (6.9 and later), because page_owner has a record for each allocation and
 * takes minutes. The message says what is missing. If page_owner is readable,
 * programs get its records, because their format includes times.
 */
static void use_stacks(struct asking *a)
{
	const struct cli_job *job = a->job;
	const char *root = job->open.root ? job->open.root : "";
	char text[32] = "", path[PATH_MAX];
	unsigned long long hidden;
	ssize_t n;
	int fd;

	if (job->path || job->open.n_files || job->open.sources || job->where ||
	    job->sort || job->as_sort || job->mixed || job->before ||
	    a->q.n_by != 1 || a->by[0] != PAGEDET_OWNER_STACK)
		return;
	snprintf(path, sizeof(path), "%s/sys/kernel/debug/page_owner", root);
	if (job->format != PAGEDET_FORMAT_TEXT && !access(path, R_OK))
		return;
	snprintf(a->stacks, sizeof(a->stacks), "%s/sys/kernel/debug/"
		 "page_owner_stacks/show_stacks", root);
	if (access(a->stacks, R_OK)) {
		a->stacks[0] = '\0';
		return;
	}
	snprintf(path, sizeof(path), "%s/sys/kernel/debug/page_owner_stacks/"
		 "count_threshold", root);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (job->quiet)
		return;
	cli_say("read from page_owner_stacks, which counts pages, not times; "
		"--by stack,order reads page_owner, which has both");
	if (n < 0 || sscanf(text, "%llu", &hidden) != 1)
		cli_say("its count_threshold cannot be read: stacks may be "
			"hidden");
	else if (hidden > 1)
		cli_say("stacks with fewer than %llu pages are hidden: echo 0 "
			"> %s shows them", hidden, path);
}

static void set_query(struct asking *a)
{
	const struct cli_job *job = a->job;

	a->q.where = job->where;
	a->q.window_ns = job->window_ns;
	if (job->mixed) {
		a->q.options = PAGEDET_OWNERS_MIXED;
		a->q.sort = PAGEDET_OWNERS_SORT_BLOCKS;
	}
	a->q.threads = cli_threads(job);
	a->q.progress = cli_asked_progress;
	a->q.progress_user = &a->asked;
	a->q.progress_ns = ASK_NS;
}

/* Who pipes a text into a command expects it to be read. */
static void tell_input(const struct cli_job *job)
{
	struct stat st;

	if (!job->path && !job->open.n_files && !job->open.root &&
	    !job->quiet && fstat(STDIN_FILENO, &st) == 0 &&
	    (S_ISFIFO(st.st_mode) || (S_ISREG(st.st_mode) && st.st_size)))
		cli_say("hint: for a text on standard input: %s owners -",
			job->again);
}

int cli_run_owners(struct cli_job *job, struct pagedet *pd)
{
	struct asking a = { .job = job, .pd = pd,
			    .q = PAGEDET_OWNERS_QUERY_INIT };
	int status, error;

	status = job->mixed && job->as_sort ?
		 cli_usage("--mixed: page_owner_sort has no page blocks") :
		 set_keys(&a);
	if (!status)
		status = check_order(&a);
	if (!status)
		status = cli_flame_check(job, a.q.n_by == 1 &&
					 a.by[0] == PAGEDET_OWNER_STACK);
	if (status)
		return status;
	use_stacks(&a);
	set_query(&a);
	/* Nothing is written before the work ends. */
	cli_progress_start(&a.line, job, -1, &a.asked.shown);
	error = ask(&a);
	if (error) {
		pagedet_owners_free(a.owners);
		status = cli_fail(pd, error);
		tell_input(job);
		return status;
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
