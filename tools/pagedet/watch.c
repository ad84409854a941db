/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Repeats a command in rounds. The output of a round is buffered and written
 * with one call. On a terminal it overwrites the last round, without flicker;
 * elsewhere it follows the last round. The functions that write a round do not
 * know about rounds, so the buffer is a variable of file scope, as in
 * interrupt.c.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

#define DEFAULT_NS 2000000000ull

static struct round {
	FILE *f;		/* NULL: nothing is buffered */
	char *text;
	size_t len;
	FILE *notes;		/* the same for messages on a terminal */
	char *said;
	size_t said_len;
} held;

bool cli_watch_holds(int fd)
{
	return held.f && fd == STDOUT_FILENO;
}

bool cli_watch_takes(int fd, const char *text, size_t len)
{
	if (!cli_watch_holds(fd))
		return false;
	fwrite(text, 1, len, held.f);
	return true;
}

bool cli_watch_takes_note(const char *line, size_t len)
{
	if (!held.notes)
		return false;
	fwrite(line, 1, len, held.notes);
	return true;
}

static int begin(bool terminal)
{
	held.f = open_memstream(&held.text, &held.len);
	if (held.f && terminal)
		held.notes = open_memstream(&held.said, &held.said_len);
	return held.f && (held.notes || !terminal) ? CLI_ANSWERED :
		cli_fail_errno("cannot keep the output");
}

static int end(void)
{
	int status = CLI_ANSWERED;

	if (held.f && fclose(held.f))
		status = cli_fail_errno("cannot keep the output");
	if (held.notes && fclose(held.notes))
		status = cli_fail_errno("cannot keep the output");
	held.f = held.notes = NULL;
	return status;
}

static void forget(void)
{
	free(held.text);
	free(held.said);
	memset(&held, 0, sizeof(held));
}

/* Lines of the screen that @text takes. */
static int count_lines(const char *text, uint32_t width)
{
	const char *nl;
	int n = 0;

	for (; *text; text = nl + (*nl != '\0')) {
		nl = strchrnul(text, '\n');
		n += 1 + (int)(nl > text && width ?
			       (nl - text - 1) / width : 0);
	}
	return n;
}

/*
 * Writes at most @lines lines of @text, each over the old line on the screen.
 */
static void redraw(FILE *f, const char *text, int lines)
{
	const char *nl;

	for (; *text && lines > 0; lines--) {
		nl = strchrnul(text, '\n');
		fprintf(f, "%.*s\033[K\n", (int)(nl - text), text);
		text = nl + (*nl != '\0');
	}
}

/* Messages are short and shown completely. */
static int write_frame(const struct cli_job *job, uint64_t every, bool first)
{
	int lines = (int)cli_height(STDOUT_FILENO) - 1, status;
	const char *said = held.said ? held.said : "";
	const time_t now = time(NULL);
	char *text = NULL, when[64] = "";
	struct tm tm;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return cli_fail_errno("cannot keep the output");
	if (localtime_r(&now, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	fputs(first ? "\033[H\033[2J" : "\033[H", f);
	fprintf(f, "pagedet %s, every %g s, %s\033[K\n", job->command->name,
		(double)every / 1e9, when);
	lines -= 1 + count_lines(said, cli_width(STDOUT_FILENO));
	redraw(f, held.text, lines);
	redraw(f, said, INT32_MAX);
	fputs("\033[J", f);
	status = fclose(f) ? cli_fail_errno("cannot keep the output") :
			     cli_output_write(STDOUT_FILENO, text, len);
	free(text);
	return status;
}

static int write_block(const struct cli_job *job, bool first)
{
	int status = CLI_ANSWERED;

	/* With -o nothing is buffered. */
	if (!first && held.len && job->format == PAGEDET_FORMAT_TEXT)
		status = cli_output_write(STDOUT_FILENO, "\n", 1);
	return status ? status :
		cli_output_write(STDOUT_FILENO, held.text, held.len);
}

/* Returns false if it was interrupted. */
static bool sleep_for(uint64_t ns)
{
	const struct timespec ts = { (time_t)(ns / 1000000000),
				     (long)(ns % 1000000000) };
	sigset_t ours, before;

	/* A signal between check and sleep must end the sleep. */
	sigfillset(&ours);
	sigprocmask(SIG_SETMASK, &ours, &before);
	if (!cli_interrupted())
		ppoll(NULL, 0, &ts, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return !cli_interrupted();
}

/* For check, it is the time that one look takes. */
static bool has_rounds(const struct cli_job *job)
{
	return job->watching && (job->command->target ||
				 job->command->bounds || job->live_counts);
}

int cli_watch_check(struct cli_job *job)
{
	int i;

	if (job->command->run == cli_run_owners && !job->n_words)
		job->live_counts = true;
	if (job->watching && job->command->groups && !job->live_counts)
		return cli_usage("--watch: a trace or a text does not change");
	if (!has_rounds(job))
		return CLI_ANSWERED;
	if (job->open.n_files || job->open.root)
		return cli_usage("--watch: a file or a captured tree does not "
				 "change");
	for (i = 0; i < job->n_words; i++)
		if (!strcmp(job->words[i], "-"))
			return cli_usage("--watch: standard input can be read "
					 "only once");
	if (job->format != PAGEDET_FORMAT_TEXT &&
	    job->format != PAGEDET_FORMAT_JSON &&
	    job->format != PAGEDET_FORMAT_CSV)
		return cli_usage("--watch repeats text, json or csv");
	if (job->command->target && !job->by && !cli_summarizes(job))
		job->summary = true;
	return CLI_ANSWERED;
}

int cli_watch(struct cli_job *job, struct pagedet *pd)
{
	const uint64_t every = job->watch_ns ? job->watch_ns : DEFAULT_NS;
	const bool terminal = isatty(STDOUT_FILENO) && !job->output &&
			      job->format == PAGEDET_FORMAT_TEXT;
	bool first = true, more = true;
	int status = CLI_ANSWERED, late;

	if (!has_rounds(job)) {
		status = job->command->run(job, pd);
		if (status == CLI_UNAVAILABLE && job->open.n_files == 1)
			cli_hint_for_text(job, job->open.files[0]);
		return status;
	}
	while (more && status <= CLI_UNSURE) {
		cli_interrupt_asked(true);
		cli_deadline_begin(job);
		status = begin(terminal);
		if (!status)
			status = job->command->run(job, pd);
		late = end();
		status = late ? late : status;
		if (!cli_interrupted() && status <= CLI_UNSURE) {
			late = terminal ? write_frame(job, every, first) :
					  write_block(job, first);
			status = late ? late : status;
		} else if (status > CLI_UNSURE && held.said_len) {
			/* The screen is no longer redrawn. */
			dprintf(STDERR_FILENO, "%.*s", (int)held.said_len,
				held.said);
		}
		forget();
		first = false;
		more = status <= CLI_UNSURE && sleep_for(every);
	}
	return cli_interrupted() ? CLI_ANSWERED : status;
}
