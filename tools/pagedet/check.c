/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The command check: its arguments, and the verdict as an exit status or TAP.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* Longest mark. */
#define MAX_MARK ((size_t)1 << 20)

/* --- arguments --- */

/* "mark" and "unmark" */
static int parse_mark(struct cli_job *job)
{
	if (job->n_words != 2)
		return cli_usage("check %s takes a FILE", job->words[0]);
	if (job->since || job->tap || job->watch_ns)
		return cli_usage("check %s takes no options of its own",
				 job->words[0]);
	job->path = job->words[1];
	return CLI_ANSWERED;
}

static int parse_errors(struct cli_job *job)
{
	if (job->n_words > 2)
		return cli_usage("check errors: '%s' is one argument too many",
				 job->words[2]);
	if (job->n_words == 2)
		job->path = job->words[1];
	if (!job->since)
		return cli_usage("check errors needs --since FILE, which "
				 "'check mark FILE' writes");
	return CLI_ANSWERED;
}

/* Suggests the assertion that is violated if @what is true, or is the same. */
static bool is_opposite(const char *what, char *instead, size_t size)
{
	static const char *const words[][2] = {
		{ "dirty", "clean" }, { "writeback", "clean" },
		{ "synced", "disk" }, { "written", "disk" },
		{ "lost", "disk" }, { "cached", "absent" },
		{ "journal", "committed" },
	};
	size_t i;

	for (i = 0; i < CLI_COUNT(words); i++)
		if (!strcmp(words[i][0], what)) {
			snprintf(instead, size, "check %s PATH", words[i][1]);
			return true;
		}
	return false;
}

int cli_parse_check(struct cli_job *job)
{
	const char *what = job->words[0], *wrong;
	char instead[64], try[CLI_QUOTED + 16], quoted[CLI_QUOTED];
	int kind;

	if (!strcmp(what, "mark") || !strcmp(what, "unmark"))
		return parse_mark(job);
	kind = pagedet_check_by_name(what);
	if (kind < 0 && is_opposite(what, instead, sizeof(instead)))
		return cli_instead(job, instead, "check: '%s' is not an "
				   "assertion", what);
	if (kind < 0 && (strchr(what, '/') || !access(what, F_OK))) {
		snprintf(try, sizeof(try), "check clean %s",
			 cli_argument(what, "PATH", quoted));
		return cli_instead(job, try, "check: '%s' is a path, and which "
				   "assertion is meant comes first", what);
	}
	if (kind < 0)
		return cli_no_word("clean disk stable absent committed mark "
				   "unmark errors", what, strlen(what),
				   "check: '%s' is not clean, disk, stable, "
				   "absent, committed, mark, unmark or errors",
				   what);
	job->check = (uint32_t)kind;
	if (job->watch_ns && job->check != PAGEDET_CHECK_STABLE)
		return cli_usage("--watch is for 'check stable'");
	if (job->check == PAGEDET_CHECK_ERRORS)
		return parse_errors(job);
	if (job->since)
		return cli_usage("--since is for 'check errors'");
	if (job->n_words < 2 || !*job->words[1])
		return cli_usage("check %s needs a PATH", what);
	job->path = job->words[1];
	if (job->n_words < 3)
		return CLI_ANSWERED;
	job->items = calloc(1, sizeof(*job->items));
	if (!job->items)
		return cli_fail_errno("check");
	job->n_items = 1;
	wrong = cli_range(job->words[2], CLI_DECIMAL, job->items);
	if (wrong)
		return cli_usage("check: '%s' %s", job->words[2], wrong);
	return CLI_ANSWERED;
}

/* --- marks --- */

/*
 * Reads at most the size of the longest mark. The library decides whether it is
 * a mark.
 */
static int read_mark(const char *path, char *mark, uint64_t *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	size_t len = 0;
	ssize_t n = 1;

	if (fd < 0)
		return cli_fail_errno("cannot read '%s'", path);
	while (n && len < MAX_MARK) {
		n = read(fd, mark + len, MAX_MARK - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			close(fd);
			return cli_fail_errno("cannot read '%s'", path);
		}
		len += (size_t)n;
	}
	close(fd);
	*ret = len;
	return CLI_ANSWERED;
}

/*
 * Reads the mark that the new one replaces. Returns its length, or 0 if there
 * is none.
 */
static uint64_t read_older(struct cli_job *job, char *mark)
{
	uint64_t len;

	if (access(job->path, R_OK) == 0 && !read_mark(job->path, mark, &len))
		return len;
	return 0;
}

static int write_mark(struct cli_job *job, struct pagedet *pd)
{
	struct cli_output out;
	char *mark, *older;
	uint64_t len;
	int n, status;

	mark = malloc((size_t)2 * MAX_MARK);
	if (!mark)
		return cli_fail_errno("check mark");
	older = mark + MAX_MARK;
	len = read_older(job, older);
	n = pagedet_mark_watch(pd, mark, MAX_MARK);
	if (n < 0 || (size_t)n > MAX_MARK) {
		free(mark);
		return cli_fail(pd, n < 0 ? n : -EOVERFLOW);
	}
	status = cli_output_open(&out, job->path);
	if (!status)
		status = cli_output_write(out.fd, mark, (size_t)n);
	status = cli_output_close(&out, !status, status);
	/* Otherwise nobody would know the name of one of the traces. */
	if (status)
		pagedet_mark_end(pd, mark, (size_t)n);
	else if (len)
		pagedet_mark_end(pd, older, (size_t)len);
	free(mark);
	return status;
}

static int end_mark(struct cli_job *job, struct pagedet *pd)
{
	char *mark = malloc(MAX_MARK);
	uint64_t len;
	int status, error;

	if (!mark)
		return cli_fail_errno("check unmark");
	status = read_mark(job->path, mark, &len);
	if (!status) {
		error = pagedet_mark_end(pd, mark, (size_t)len);
		status = error ? cli_fail(pd, error) : CLI_ANSWERED;
	}
	free(mark);
	return status;
}

/* --- the verdict --- */

/* Prints names and texts without control characters or newlines. */
static void print_plain(FILE *f, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < ' ' || c == 0x7f || c == '#' || c == '\\')
			fprintf(f, "\\x%02x", c);
		else
			fputc(c, f);
	}
}

static void tap(const struct cli_job *job, struct pagedet_checked *checked,
		const struct pagedet_verdict *whole, FILE *f)
{
	struct pagedet_verdict v = { .size = sizeof(v) };
	const char *why = pagedet_checked_text(checked, whole->why);

	fprintf(f, "1..1\n%sok 1 - %s ",
		whole->verdict == PAGEDET_VIOLATED ? "not " : "",
		pagedet_check_name(job->check));
	print_plain(f, job->path ? job->path : job->since);
	/* If the verdict is unknown, the test has neither passed nor failed. */
	if (whole->verdict == PAGEDET_CANNOT_TELL) {
		fprintf(f, " # SKIP unknown: ");
		print_plain(f, why ? why : "");
	}
	fputc('\n', f);
	if (whole->verdict == PAGEDET_VIOLATED)
		fprintf(f, "# %s\n", pagedet_verdict_name(whole->verdict));
	while (pagedet_checked_next(checked, &v) == 1) {
		fprintf(f, "# %s", pagedet_verdict_name(v.verdict));
		if (v.pages)
			fprintf(f, " %" PRIu64 "+%" PRIu64, v.first, v.pages);
		fprintf(f, ": ");
		why = pagedet_checked_text(checked, v.why);
		print_plain(f, why ? why : "");
		fputc('\n', f);
	}
	if (whole->verdict == PAGEDET_HOLDS && why) {
		fprintf(f, "# ");
		print_plain(f, why);
		fputc('\n', f);
	}
}

static int emit_tap(struct cli_job *job, struct pagedet_checked *checked,
		    const struct pagedet_verdict *whole, int fd)
{
	char *text = NULL;
	size_t len = 0;
	int status;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return cli_fail_errno("check");
	tap(job, checked, whole, f);
	if (fclose(f)) {
		free(text);
		return cli_fail_errno("check");
	}
	status = cli_output_write(fd, text, len);
	free(text);
	return status;
}

static int emit(struct cli_job *job, struct pagedet *pd,
		struct pagedet_checked *checked, int fd)
{
	struct pagedet_emitter *e;
	int status, error;

	status = cli_emitter_new(job, pd, fd, fd, &e);
	if (status)
		return status;
	error = pagedet_emit_checked(e, checked);
	return cli_emitter_end(pd, e, error, fd);
}

/* A disk is read through its device. */
static void tell_access(const struct cli_job *job,
			const struct pagedet_verdict *whole)
{
	if (job->quiet || job->check != PAGEDET_CHECK_DISK ||
	    whole->cause != PAGEDET_CAUSE_ACCESS)
		return;
	cli_say("hint: %s", geteuid() ?
		"run it as root, or as a user who may read the device" :
		"this machine does not let root read the device either: run it "
		"where the disk is");
}

static int show(struct cli_job *job, struct pagedet *pd,
		struct pagedet_checked *checked)
{
	struct pagedet_verdict whole = { .size = sizeof(whole) };
	struct cli_output out;
	int status;

	pagedet_checked_whole(checked, &whole);
	status = cli_output_open(&out, job->output);
	if (!status)
		status = job->tap ? emit_tap(job, checked, &whole, out.fd) :
				    emit(job, pd, checked, out.fd);
	status = cli_output_close(&out, !status, status);
	if (status)
		return status;
	switch (whole.verdict) {
	case PAGEDET_HOLDS:
		return CLI_ANSWERED;
	case PAGEDET_VIOLATED:
		return CLI_NO;
	default:
		tell_access(job, &whole);
		return CLI_UNSURE;
	}
}

static int ask(struct cli_job *job, struct pagedet *pd,
	       struct pagedet_check *check)
{
	struct pagedet_checked *checked;
	int status, error;

	check->kind = job->check;
	check->path = job->path;
	check->deadline_ns = cli_deadline_left(job);
	check->watch_ns = job->watch_ns;
	if (job->n_items) {
		check->first = job->items->first;
		check->pages = job->items->count;
	}
	error = pagedet_check(pd, check, &checked);
	if (error)
		return cli_fail(pd, error);
	status = show(job, pd, checked);
	pagedet_checked_free(checked);
	return status;
}

int cli_run_check(struct cli_job *job, struct pagedet *pd)
{
	struct pagedet_check check = PAGEDET_CHECK_INIT;
	char *mark = NULL;
	int status = CLI_ANSWERED;

	if (!job->check)
		return !strcmp(job->words[0], "mark") ? write_mark(job, pd) :
							end_mark(job, pd);
	if (job->since) {
		mark = malloc(MAX_MARK);
		if (!mark)
			return cli_fail_errno("check errors");
		status = read_mark(job->since, mark, &check.mark_size);
		check.mark = mark;
	}
	if (!status)
		status = ask(job, pd, &check);
	free(mark);
	return status;
}
