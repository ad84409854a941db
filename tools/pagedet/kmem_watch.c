/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Watches a recording: shows how much there is, and ends it while the
 * filesystem still has room for the trace. What was recorded is in files
 * without names, which nobody else can see or remove.
 */
#include <errno.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "kmem.h"

/* Of a filesystem, so much stays free: this part, or so many bytes if they are
 * fewer. */
#define FREE_PART 20
#define FREE_MOST ((uint64_t)1 << 30)
/* The trace takes at most this part of what was recorded. */
#define PACKED_PART 4
/* It grows as much as now, until it has ended, in so many looks. */
#define LOOKS 4

static bool space_of(int fd, uint64_t *size, uint64_t *left)
{
	struct statvfs s;

	/* A filesystem without a limit has no blocks. */
	if (fstatvfs(fd, &s) || !s.f_blocks)
		return false;
	*size = (uint64_t)s.f_blocks * s.f_frsize;
	*left = (uint64_t)(geteuid() ? s.f_bavail : s.f_bfree) * s.f_frsize;
	return true;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Without an end of its own, it looks as if it hung. */
void cli_kmem_say_end(const struct cli_recording *r)
{
	const struct cli_job *job = r->job;

	if (job->quiet || r->child.name || job->for_ns || job->max_size ||
	    job->end_ns)
		return;
	if (r->groups)
		cli_say("adding up until Ctrl-C");
	else
		cli_say("recording into '%s' until Ctrl-C", r->file);
}

/* A disk that is nearly full already lends half of what it has. */
void cli_kmem_watch_begin(struct cli_recording *r)
{
	struct cli_progress *line = &r->line;
	uint64_t size, left;

	if (space_of(r->out.fd, &size, &left))
		r->reserve = least(least(size / FREE_PART, FREE_MOST),
				   left / 2);
	cli_progress_start(line, r->job, -1, &r->shown);
	/* The program writes to the same terminal. */
	r->silent = !r->shown.progress ||
		    (r->child.name && r->job->progress == CLI_AUTO);
}

static bool is_disk_full(const struct cli_recording *r, uint64_t grown)
{
	const uint64_t packed = r->total.bytes / PACKED_PART;
	uint64_t size, left;

	return grown && space_of(r->out.fd, &size, &left) &&
	       left < (packed > r->reserve ? packed : r->reserve) +
			      LOOKS * grown;
}

/* Ends it at once, even if the program still runs. */
static void end(struct cli_recording *r, const char *how, const char *why)
{
	r->ended = how;
	cli_progress_end(&r->line);
	if (!r->job->quiet)
		cli_say("the recording ends early: %s", why);
	pagedet_recorder_stop(r->recorder);
}

static uint64_t line_ns(const struct cli_recording *r)
{
	return r->line.width ? CLI_KMEM_ASK_NS : CLI_SECOND_NS;
}

static void show(struct cli_recording *r)
{
	const struct pagedet_record_total *t = &r->total;
	const uint64_t now = cli_now_ns(), ns = t->end_ns - t->begin_ns;
	char size[32], text[256];

	if (r->silent || ns < r->line.after_ns ||
	    now - r->shown_ns < line_ns(r))
		return;
	r->shown_ns = now;
	cli_size(size, sizeof(size), t->bytes);
	snprintf(text, sizeof(text), "pagedet: recorded: %llu event%s, %s, "
		 "%llu lost, %.1f s", (unsigned long long)t->events,
		 cli_plural(t->events), size, (unsigned long long)t->lost,
		 (double)ns / 1e9);
	cli_progress_line(&r->line, text);
}

uint32_t cli_kmem_watch(void *arg)
{
	struct cli_recording *r = arg;
	const uint64_t before = r->total.bytes;

	if (r->ended)
		return r->total.error ? r->total.error : 1;
	cli_kmem_ask(r);
	if (r->total.error)
		return r->total.error;
	show(r);
	if (r->job->max_size && r->total.bytes >= r->job->max_size)
		end(r, "max_size", "it has as much as --max-size allows");
	else if (is_disk_full(r, r->total.bytes - before))
		end(r, "disk", "its filesystem is nearly full");
	return r->ended ? 1 : 0;
}

void cli_kmem_watch_end(struct cli_recording *r)
{
	cli_progress_end(&r->line);
	if (!r->ended)
		r->ended = cli_interrupted() ? "signal" :
			   cli_must_stop(r->job) ? "deadline" :
			   r->child.name ? "program" : "time";
}

/* --- what follows --- */

static void follow(struct cli_recording *r)
{
	r->ended_ns = cli_now_ns();
	r->signals = cli_interrupts();
}

/* The signal that has ended the recording does not end this, even if it is sent
 * twice; one that comes later does. */
static int ends_again(void *arg)
{
	struct cli_recording *r = arg;

	if (cli_now_ns() - r->ended_ns < CLI_SECOND_NS)
		r->signals = cli_interrupts();
	return cli_interrupts() > r->signals;
}

/* A deadline that did not end the recording ends this. */
int cli_kmem_verify(struct cli_recording *r)
{
	struct cli_kmem *a = r->groups;
	const bool is_late = r->job->end_ns && cli_now_ns() >= r->job->end_ns;
	int error;

	follow(r);
	a->asked.stop = ends_again;
	a->asked.stop_arg = r;
	pagedet_set_stop(r->pd, ends_again, r);
	error = cli_kmem_ask_kernel(a, is_late ? 0 :
				    cli_deadline_left(r->job));
	cli_stops(r->job, r->pd);
	a->asked.stop = NULL;
	return error;
}

/* --- compressing --- */

static void show_packed(struct cli_recording *r, uint64_t now)
{
	const uint64_t ns = now - r->ended_ns;
	char from[32], to[32], text[256];
	struct stat st;

	if (!r->shown.progress || ns < r->line.after_ns ||
	    now - r->shown_ns < line_ns(r) || fstat(r->out.fd, &st))
		return;
	r->shown_ns = now;
	cli_size(from, sizeof(from), r->total.bytes);
	cli_size(to, sizeof(to), (uint64_t)st.st_size);
	snprintf(text, sizeof(text), "pagedet: compressing %s: %s written, "
		 "%.1f s", from, to, (double)ns / 1e9);
	cli_progress_line(&r->line, text);
}

static int ends_packing(void *arg)
{
	show_packed(arg, cli_now_ns());
	return ends_again(arg);
}

int cli_kmem_pack(struct cli_recording *r)
{
	int error;

	follow(r);
	r->shown_ns = 0;
	pagedet_set_stop(r->pd, ends_packing, r);
	error = pagedet_recorder_write(r->recorder, r->out.fd);
	cli_stops(r->job, r->pd);
	cli_progress_end(&r->line);
	if (error == -ECANCELED) {
		cli_say("interrupted while compressing");
		return CLI_UNSURE;
	}
	return error ? cli_fail(r->pd, error) : CLI_ANSWERED;
}
