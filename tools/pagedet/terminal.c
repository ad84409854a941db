/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Properties of the terminal: colour, width and the progress line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"

#define SECOND_NS 1000000000ull

static uint32_t terminal_width(int fd)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size))
		return 0;	/* not a terminal */
	return size.ws_col ? size.ws_col : 80;
}

uint32_t cli_height(int fd)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size))
		return 0;	/* not a terminal */
	return size.ws_row ? size.ws_row : 24;
}

bool cli_colour(int fd)
{
	const char *no = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if ((no && *no) || !term || !strcmp(term, "dumb"))
		return false;
	return terminal_width(fd) != 0;
}

uint32_t cli_width(int fd)
{
	const char *columns = getenv("COLUMNS");
	uint64_t n;

	if (columns && !cli_number(columns, CLI_DECIMAL, &n) && n &&
	    n <= 10000)
		return (uint32_t)n;
	return terminal_width(fd);
}

static void progress_text(const struct cli_progress *p,
			 const struct pagedet_progress *now, char *text,
			 size_t size)
{
	double seconds = (double)now->elapsed_ns / SECOND_NS;
	char of[64] = "", rows[32] = "";

	if (now->total)
		snprintf(of, sizeof(of), " of %llu, %.0f%%",
			 (unsigned long long)now->total,
			 100.0 * (double)now->done / (double)now->total);
	if (now->rows)	/* there are none while pages are counted */
		snprintf(rows, sizeof(rows), ", %llu row%s",
			 (unsigned long long)now->rows, cli_plural(now->rows));
	snprintf(text, size, "pagedet: %s: looked at %llu%s%s, %.1f s", p->name,
		 (unsigned long long)now->done, of, rows, seconds);
}

void cli_progress_line(struct cli_progress *p, const char *text)
{
	int len = (int)strlen(text);

	if (!p->width) {
		dprintf(STDERR_FILENO, "%s\n", text);
		return;
	}
	/* A line that wraps cannot be overwritten. */
	if (len >= (int)p->width)
		len = (int)p->width - 1;
	dprintf(STDERR_FILENO, "\r%.*s\033[K", len, text);
	p->shown = true;
}

static int progress(void *user, const struct pagedet_progress *now)
{
	struct cli_progress *p = user;
	char text[256];

	if (now->elapsed_ns < p->after_ns)
		return 0;
	progress_text(p, now, text, sizeof(text));
	cli_progress_line(p, text);
	return 0;
}

void cli_progress_start(struct cli_progress *p, const struct cli_job *job,
			int out_fd, struct pagedet_query *q)
{
	bool listing = !job->by && !job->summary && !job->command->bounds &&
		       !cli_summarizes(job);

	memset(p, 0, sizeof(*p));
	if (job->progress == CLI_OFF)
		return;
	p->name = job->command->name;
	p->width = terminal_width(STDERR_FILENO);
	if (job->progress == CLI_AUTO) {
		/*
		 * Rows that are written to the same terminal show the progress
		 * themselves.
		 */
		if (!p->width || job->quiet || job->watching ||
		    (listing && isatty(out_fd)))
			return;
		p->after_ns = SECOND_NS;
	}
	if (listing && isatty(out_fd))
		p->width = 0;	/* rows would mix with the line */
	p->same_terminal = p->width && isatty(out_fd);
	q->progress = progress;
	q->progress_user = p;
	if (!p->width)
		q->progress_ns = SECOND_NS;
}

void cli_progress_end(struct cli_progress *p)
{
	if (p->shown)
		dprintf(STDERR_FILENO, "\r\033[K");
	p->shown = false;
}

int cli_asked_progress(void *user, const struct pagedet_progress *now)
{
	struct cli_asked *a = user;

	if (a->shown.progress &&
	    now->elapsed_ns - a->shown_ns >= a->shown.progress_ns) {
		a->shown_ns = now->elapsed_ns;
		a->shown.progress(a->shown.progress_user, now);
	}
	return a->stop ? a->stop(a->stop_arg) : cli_interrupted();
}
