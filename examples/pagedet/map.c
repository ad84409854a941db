/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A picture of memory is a scan whose rows the library draws, or a comparison
 * of two: diff.c. Where a filter is given memory is scanned twice: first all of
 * it, which becomes the pale ground, then what matches.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static void want(struct pagedet_query *q, uint32_t field)
{
	q->fields[field / 64] |= 1ull << (field % 64);
}

int cli_parse_map(struct cli_job *job)
{
	const char *name = job->by ? job->by : "kind";
	const int field = pagedet_field_by_name(name);

	job->format = PAGEDET_FORMAT_SVG;
	if (job->n_words == 1)
		return cli_usage("map: one of two is missing: A B");
	if (job->n_words) {
		if (job->by)
			return cli_usage("map A B: the colours are what "
					 "changed, not --by");
		if (job->summary || job->runs || job->undecided)
			return cli_usage("map A B has no use for --%s",
					 job->summary ? "summary" :
					 job->runs ? "runs" : "undecided");
		job->command = cli_command_find("diff");
		return cli_parse_diff(job);
	}
	if (job->summary || job->runs || job->fields)
		return cli_usage("map has no use for --%s", job->summary ?
				 "summary" : job->runs ? "runs" : "fields");
	if (strchr(name, ','))
		return cli_usage("map: colours can show one field, not '%s'",
				 name);
	if (field < 0)
		return cli_usage("--by: there is no field '%s'", name);
	if (field == PAGEDET_FIELD_ASK || field == PAGEDET_FIELD_PAGES ||
	    field == PAGEDET_FIELD_PFN || field == PAGEDET_FIELD_TIME_NS)
		return cli_usage("map: '%s' has no colours: it is another one "
				 "for each page", name);
	job->map_by = (uint32_t)field;
	return CLI_ANSWERED;
}

void cli_map_query(const struct cli_job *job, struct pagedet_query *q)
{
	memset(q->fields, 0, sizeof(q->fields));
	want(q, PAGEDET_FIELD_PFN);
	want(q, job->map_by);
	/* Poisoned pages are marked, whatever is asked. */
	want(q, PAGEDET_FIELD_FLAGS);
	want(q, PAGEDET_FIELD_FLAGS_KNOWN);
	/* Some sources fold them as they read. */
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

void cli_map_emitter(const struct cli_job *job,
		     struct pagedet_emit_options *o, char *title, size_t size)
{
	char host[256] = "this machine";

	if (job->open.n_files)
		snprintf(host, sizeof(host), "%s",
			 base_name(job->open.files[0]));
	else if (job->open.root)
		snprintf(host, sizeof(host), "%s", base_name(job->open.root));
	else if (gethostname(host, sizeof(host) - 1))
		snprintf(host, sizeof(host), "this machine");
	snprintf(title, size, "Memory of %s by %s%s%s", host,
		 pagedet_field(job->map_by)->name,
		 job->where ? ", where " : "", job->where ? job->where : "");
	o->by = job->map_by;
	o->title = title;
}
