/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* pagedet: what is this page of memory? Reads the words, opens, runs. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/*
 * A process may be started with its standard descriptors closed. Then the next
 * file that is opened would become standard output. What stands in for them
 * here fails when it is used.
 */
static void fill_standard_fds(void)
{
	int fd;

	for (fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/dev/null", fd ? O_RDONLY : O_WRONLY);
}

static void log_line(void *user, int level, const char *text)
{
	(void)user;
	cli_say("%s%s", level <= PAGEDET_LOG_WARNING ? "warning: " : "", text);
}

static int log_level(const struct cli_job *job)
{
	if (job->verbose > 1)
		return PAGEDET_LOG_DEBUG;
	if (job->verbose)
		return PAGEDET_LOG_INFO;
	return job->quiet ? PAGEDET_LOG_ERROR : PAGEDET_LOG_WARNING;
}

struct pagedet *cli_new(const struct cli_job *job)
{
	struct pagedet *pd = pagedet_new();

	if (pd) {
		pagedet_set_log(pd, log_line, NULL, log_level(job));
	} else {
		errno = ENOMEM;
		cli_fail_errno("cannot start");
	}
	return pd;
}

static int open_and_run(struct cli_job *job)
{
	struct pagedet *pd = cli_new(job);
	int error, status;

	if (!pd)
		return CLI_IO;
	cli_helpers_find(job);
	error = pagedet_open(pd, &job->open);
	if (error)
		status = cli_fail(pd, error);
	else
		status = job->command->run(job, pd);
	pagedet_free(pd);
	return status;
}

/* The command and its words, without its name. */
static int find_command(struct cli_job *job)
{
	const char *name = job->words[0];

	job->command = cli_command_find(name);
	if (!job->command)
		return cli_usage("there is no command '%s'", name);
	job->words++;
	job->n_words--;
	return CLI_ANSWERED;
}

static int check_words(const struct cli_job *job)
{
	const struct cli_command *c = job->command;

	if (job->n_words < c->min_words)
		return cli_usage("%s lacks arguments: %s", c->name,
				 c->arguments);
	if (c->max_words >= 0 && job->n_words > c->max_words)
		return cli_usage("%s: '%s' is one argument too many", c->name,
				 job->words[c->max_words]);
	return CLI_ANSWERED;
}

static int run(struct cli_job *job, int argc, char **argv)
{
	int status = cli_options_parse(job, argc, argv);

	if (status)
		return status;
	if (job->version)
		return cli_version();
	if (!job->n_words)
		return job->help ? cli_help(NULL) :
			cli_usage("which COMMAND?");
	if (!strcmp(job->words[0], "help") && job->n_words > 2)
		return cli_usage("help: '%s' is one argument too many",
				 job->words[2]);
	if (!strcmp(job->words[0], "help"))
		return cli_help(job->n_words > 1 ? job->words[1] : NULL);
	status = find_command(job);
	if (status)
		return status;
	if (job->help)
		return cli_help(job->command->name);
	if (job->command->wrap) {
		status = job->command->wrap(job);
		if (status)
			return status;
	}
	if (job->command->needs) {
		cli_say("%s needs %s: not in this version", job->command->name,
			job->command->needs);
		return CLI_UNAVAILABLE;
	}
	status = check_words(job);
	if (!status)
		status = cli_options_check(job);
	if (!status)
		status = job->command->parse(job);
	return status ? status : open_and_run(job);
}

int main(int argc, char **argv)
{
	struct cli_job job = {
		.open = PAGEDET_OPTIONS_INIT,
		.format = PAGEDET_FORMAT_TEXT,
	};
	int status;

	fill_standard_fds();
	cli_interrupt_init();
	status = run(&job, argc, argv);
	free(job.items);
	free(job.from);
	return status;
}
