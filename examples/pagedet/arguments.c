/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The words behind a command: page frame numbers, addresses, tasks, paths. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static int add(struct cli_job *job, const struct pagedet_item *item)
{
	if (job->n_items == job->max_items) {
		size_t max = job->max_items ? 2 * job->max_items : 16;
		struct pagedet_item *more;

		more = realloc(job->items, max * sizeof(*more));
		if (!more)
			return cli_fail_errno("%s", job->command->name);
		job->items = more;
		job->max_items = max;
	}
	job->items[job->n_items++] = *item;
	return CLI_ANSWERED;
}

/* Words from @first on, all of them ranges. */
static int add_ranges(struct cli_job *job, int first, enum cli_radix radix,
		      uint32_t pid)
{
	struct pagedet_item item = { 0, 0, pid, 0 };
	const char *wrong;
	int i, status;

	for (i = first; i < job->n_words; i++) {
		wrong = cli_range(job->words[i], radix, &item);
		if (wrong)
			return cli_usage("%s: '%s' %s", job->command->name,
					 job->words[i], wrong);
		status = add(job, &item);
		if (status)
			return status;
	}
	return CLI_ANSWERED;
}

int cli_parse_pfns(struct cli_job *job)
{
	return add_ranges(job, 0, CLI_DECIMAL, 0);
}

int cli_parse_pfns_or_stdin(struct cli_job *job)
{
	int i;

	for (i = 0; i < job->n_words; i++)
		if (!strcmp(job->words[i], "-"))
			job->from_stdin = true;
	if (!job->from_stdin)
		return cli_parse_pfns(job);
	if (job->n_words > 1)
		return cli_usage("%s: '-' reads all numbers from standard "
				 "input; nothing else may stand beside it",
				 job->command->name);
	return CLI_ANSWERED;
}

int cli_parse_phys(struct cli_job *job)
{
	return add_ranges(job, 0, CLI_HEX, 0);
}

static int parse_pid(const struct cli_job *job, const char *word,
		     uint32_t *ret)
{
	const char *wrong;
	uint64_t n;

	wrong = cli_number(word, CLI_DECIMAL, &n);
	if (!wrong && (!n || n > INT_MAX))
		wrong = "is no process id";
	if (wrong)
		return cli_usage("%s: '%s' %s", job->command->name, word,
				 wrong);
	*ret = (uint32_t)n;
	return CLI_ANSWERED;
}

int cli_parse_virt(struct cli_job *job)
{
	uint32_t pid = 0;
	int status = parse_pid(job, job->words[0], &pid);

	return status ? status : add_ranges(job, 1, CLI_HEX, pid);
}

int cli_parse_tasks(struct cli_job *job)
{
	struct pagedet_item item = { 0, PAGEDET_TO_END, 0, 0 };
	int i, status;

	for (i = 0; i < job->n_words; i++) {
		status = parse_pid(job, job->words[i], &item.pid);
		if (!status)
			status = add(job, &item);
		if (status)
			return status;
	}
	return CLI_ANSWERED;
}

int cli_parse_path(struct cli_job *job)
{
	job->path = job->words[0];
	if (!*job->path)
		return cli_usage("%s: the path is empty", job->command->name);
	return CLI_ANSWERED;
}

int cli_parse_file(struct cli_job *job)
{
	int status = cli_parse_path(job);

	return status ? status : add_ranges(job, 1, CLI_DECIMAL, 0);
}

int cli_parse_kaddrs(struct cli_job *job)
{
	struct pagedet_item item = { 0, 1, 0, job->as };
	const char *wrong;
	int i, status;

	for (i = 0; i < job->n_words; i++) {
		wrong = cli_number(job->words[i], CLI_HEX, &item.first);
		if (wrong)
			return cli_usage("%s: '%s' %s", job->command->name,
					 job->words[i], wrong);
		status = add(job, &item);
		if (status)
			return status;
	}
	return CLI_ANSWERED;
}

int cli_parse_log(struct cli_job *job)
{
	bool given = job->n_words && strcmp(job->words[0], "-");

	job->path = given ? job->words[0] : "-";
	return CLI_ANSWERED;
}

int cli_parse_nothing(struct cli_job *job)
{
	(void)job;
	return CLI_ANSWERED;
}
