/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * pagedet: what is this page of memory? Parses the command line, opens the
 * source and runs the command.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/*
 * A process may start with closed standard descriptors. The next opened file
 * would then become, for example, standard output. This fills them with
 * descriptors that fail when used.
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

struct pagedet *cli_new(struct cli_job *job)
{
	struct pagedet *pd = pagedet_new();

	if (pd) {
		pagedet_set_log(pd, log_line, NULL, log_level(job));
		cli_stops(job, pd);
	} else {
		errno = ENOMEM;
		cli_fail_errno("cannot start");
	}
	return pd;
}

/* Whether only sources are allowed that read a file, and no file is given. */
static bool lacks_file(const struct cli_job *job)
{
	static const uint32_t of_files =
		PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_VMCORE) |
		PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_SNAPSHOT) |
		PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_LOG);

	return job->open.sources && !(job->open.sources & ~of_files) &&
	       !job->open.n_files;
}

/* A search that was stopped has its own advice. */
static int cannot_open(const struct cli_job *job, struct pagedet *pd, int error)
{
	if (lacks_file(job) && error != -ECANCELED) {
		cli_say("%s", pagedet_error(pd));
		cli_say("hint: it reads a file: pagedet --from DUMP %s",
			job->command->name);
		return cli_status(error);
	}
	if (error == -ECANCELED)
		cli_say("%s; hint: %s", pagedet_error(pd), pagedet_advice(pd));
	return cli_fail(pd, error);
}

static int open_and_run(struct cli_job *job)
{
	struct pagedet *pd = cli_new(job);
	int error, status;

	if (!pd)
		return CLI_IO;
	cli_helpers_find(job);
	cli_deadline_begin(job);
	error = pagedet_open(pd, &job->open);
	cli_interrupt_asked(true);
	if (error)
		status = cannot_open(job, pd, error);
	else
		status = cli_resolve(job, pd);
	cli_interrupt_asked(false);
	if (!status && cli_interrupted())
		status = cli_fail(pd, -ECANCELED);
	if (!status)
		status = cli_check_meaning(job, pd);
	if (!status)
		status = cli_watch(job, pd);
	pagedet_free(pd);
	return status;
}

/* Finds the command, and removes its name from the arguments. */
static int find_command(struct cli_job *job)
{
	const char *name = job->words[0];

	job->command = cli_command_find(name);
	if (!job->command)
		return cli_no_command(job, name);
	cli_topic(job->command->name);
	job->words++;
	job->n_words--;
	return CLI_ANSWERED;
}

static int check_words(const struct cli_job *job)
{
	const struct cli_command *c = job->command;

	if (job->n_words < c->min_words && c->target == PAGEDET_TARGET_CGROUP)
		return cli_instead(job, "top cgroup", "%s lacks arguments: %s",
				   c->name, c->arguments);
	if (job->n_words < c->min_words)
		return cli_usage("%s lacks arguments: %s", c->name,
				 c->arguments);
	if (c->max_words >= 0 && job->n_words > c->max_words)
		return cli_no_argument(job, job->words[c->max_words]);
	return CLI_ANSWERED;
}

/* A source alone is not a question; the sums are the shortest one. */
static int no_question(const struct cli_job *job)
{
	if (!job->open.n_files && !job->open.root)
		return cli_usage("which COMMAND?");
	return cli_instead(job, "scan --summary", "which COMMAND?");
}

static int run(struct cli_job *job, int argc, char **argv)
{
	int status;

	/* An incomplete command line must not be parsed. */
	if (argc > 1 && !strcmp(argv[1], "complete"))
		return cli_complete(argc - 2, argv + 2);
	status = cli_options_parse(job, argc, argv);
	if (status)
		return status;
	if (job->version)
		return cli_version();
	if (!job->n_words)
		return job->help ? cli_help(NULL) : no_question(job);
	if (!strcmp(job->words[0], "help") && job->n_words > 2)
		return cli_usage("help: '%s' is one argument too many",
				 job->words[2]);
	if (!strcmp(job->words[0], "version"))
		return cli_version();
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
	status = check_words(job);
	if (!status)
		status = cli_watch_check(job);
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
	free(job.real_path);
	free(job.names);
	free(job.from);
	free(job.used_where);
	return status;
}
