/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The command map: a picture of a scan, which the library draws, or of a
 * comparison (see diff.c). With a filter it scans twice: all memory for the
 * pale background, then the matching pages.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

static void want(struct pagedet_query *q, uint32_t field)
{
	q->fields[field / 64] |= 1ull << (field % 64);
}

/* A picture is SVG or PNG, and shows all pages. */
static int check_options(const struct cli_job *job)
{
	const char *useless = job->format_given ? "format" :
			      job->sort ? "sort" : job->top ? "top" :
			      job->limit ? "limit" : NULL;

	if (useless)
		return cli_instead(job, "map -o map.svg",
				   "map takes no --%s: it writes a picture",
				   useless);
	if (!job->output && isatty(STDOUT_FILENO))
		return cli_instead(job, "map -o map.svg",
				   "map: a terminal cannot show the picture");
	return cli_png_check(job->output);
}

/* A process or a page was meant, not a file to compare with. */
static int no_picture_of(const struct cli_job *job, const char *number)
{
	char instead[CLI_HINT];

	snprintf(instead, sizeof(instead), "task %.20s --by vma_name, or: %s "
		 "mappers %.20s", number, job->again, number);
	return cli_instead(job, instead, "map: '%s' is not a snapshot or dump",
			   number);
}

int cli_parse_map(struct cli_job *job)
{
	const char *name = job->by ? job->by : "kind";
	const int field = pagedet_field_by_name(name);
	int status;

	if (job->n_words == 1 && access(job->words[0], F_OK) &&
	    strspn(job->words[0], "0123456789") == strlen(job->words[0]))
		return no_picture_of(job, job->words[0]);
	status = check_options(job);
	if (status)
		return status;
	job->format = PAGEDET_FORMAT_SVG;
	if (job->n_words == 1)
		return cli_usage("map: B is missing: a difference needs A and "
				 "B");
	if (job->n_words) {
		if (job->by)
			return cli_usage("map A B takes no --by: the colours "
					 "show what changed");
		if (job->summary || job->runs || job->undecided)
			return cli_usage("map A B takes no --%s",
					 job->summary ? "summary" :
					 job->runs ? "runs" : "undecided");
		job->command = cli_command_find("diff");
		return cli_parse_diff(job);
	}
	if (job->summary || job->runs || job->fields)
		return cli_usage("map takes no --%s", job->summary ?
				 "summary" : job->runs ? "runs" : "fields");
	if (strchr(name, ','))
		return cli_usage("map: --by takes one field, not '%s'",
				 name);
	if (field < 0)
		return cli_no_field(job, "--by", name, strlen(name));
	if (field == PAGEDET_FIELD_ASK || field == PAGEDET_FIELD_PAGES ||
	    field == PAGEDET_FIELD_PFN || field == PAGEDET_FIELD_TIME_NS)
		return cli_usage("map: colours cannot show '%s': it is "
				 "different for each page", name);
	job->map_by = (uint32_t)field;
	return CLI_ANSWERED;
}

void cli_map_query(const struct cli_job *job, struct pagedet_query *q)
{
	memset(q->fields, 0, sizeof(q->fields));
	want(q, PAGEDET_FIELD_PFN);
	want(q, job->map_by);
	/* Poisoned pages are always marked. */
	want(q, PAGEDET_FIELD_FLAGS);
	want(q, PAGEDET_FIELD_FLAGS_KNOWN);
	/* Some sources fold rows as they read. */
	q->options |= PAGEDET_Q_RUNS;
	if (job->where) {
		want(q, PAGEDET_FIELD_NOTES);
		q->options |= PAGEDET_Q_UNDECIDED;
	}
	q->where = job->where;
}

void cli_map_ground(struct pagedet_query *q)
{
	memset(q->fields, 0, sizeof(q->fields));
	want(q, PAGEDET_FIELD_PFN);
	want(q, PAGEDET_FIELD_KIND);
	q->options &= ~(uint32_t)PAGEDET_Q_UNDECIDED;
	q->where = NULL;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* If the dump has no date of its own, gets the date of the file. */
static void file_date(const struct cli_job *job, struct pagedet *pd, char *text,
		      size_t size)
{
	struct pagedet_info info = { .size = sizeof(info) };
	struct stat st;
	struct tm tm;

	*text = '\0';
	if (!job->open.n_files || pagedet_info(pd, &info) || info.live ||
	    info.last_ns || stat(job->open.files[0], &st) ||
	    !gmtime_r(&st.st_mtime, &tm))
		return;
	strftime(text, size, " (file of %Y-%m-%d %H:%M UTC)", &tm);
}

void cli_map_emitter(const struct cli_job *job, struct pagedet *pd,
		     struct pagedet_emit_options *o, char *title, size_t size)
{
	char host[256] = "this machine", date[64];

	if (job->open.n_files)
		snprintf(host, sizeof(host), "%s",
			 base_name(job->open.files[0]));
	else if (job->open.root)
		snprintf(host, sizeof(host), "%s", base_name(job->open.root));
	else if (gethostname(host, sizeof(host) - 1))
		snprintf(host, sizeof(host), "this machine");
	file_date(job, pd, date, sizeof(date));
	snprintf(title, size, "Memory of %s%s by %s%s%s", host, date,
		 pagedet_field(job->map_by)->name,
		 job->where ? ", where " : "", job->where ? job->where : "");
	o->by = job->map_by;
	o->title = title;
}
