/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The command snapshot FILE [COMMAND ...]: saves the rows of another command.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* Writes the command that is meant. */
static void put_meant(const struct cli_job *job, const char *file,
		      char ret[CLI_HINT])
{
	char word[CLI_QUOTED];
	int n = snprintf(ret, CLI_HINT, "snapshot %s", file), i;

	for (i = 0; i < job->n_words && n < CLI_HINT; i++)
		n += snprintf(ret + n, (size_t)(CLI_HINT - n), " %s",
			      cli_argument(job->words[i], "WORD", word));
}

/* Rejects options that do not suit it. */
static int check_options(const struct cli_job *job)
{
	char instead[CLI_HINT], file[CLI_QUOTED];

	if (job->output) {
		put_meant(job, cli_argument(job->output, "FILE", file),
			  instead);
		return cli_instead(job, instead, "snapshot: FILE is the "
				   "output: -o cannot be used");
	}
	if (job->format != PAGEDET_FORMAT_TEXT)
		return cli_usage("snapshot: the file has its own format; use "
				 "--format when you read it");
	if (job->by || job->summary || job->runs)
		return cli_usage("snapshot saves rows; use --by, --summary and "
				 "--runs when you read them");
	if (job->stacks)
		return cli_usage("snapshot: --stacks cannot be saved");
	return CLI_ANSWERED;
}

/*
 * Whether the first word is a command in place of the file. What follows it is
 * then not a command.
 */
static bool is_command(const struct cli_job *job)
{
	return cli_command_find(job->words[0]) &&
	       (job->n_words == 1 || !cli_command_find(job->words[1]));
}

int cli_wrap_snapshot(struct cli_job *job)
{
	const struct cli_command *c;
	char instead[CLI_HINT];
	const char *name;
	int status = check_options(job);

	if (status)
		return status;
	if (!job->n_words)
		return cli_usage("snapshot lacks arguments: %s",
				 job->command->arguments);
	if (is_command(job)) {
		put_meant(job, "FILE", instead);
		return cli_instead(job, instead, "snapshot: '%s' is a command, "
				   "and the file to write is missing; ./%s is "
				   "a file", job->words[0], job->words[0]);
	}
	job->output = job->words[0];
	if (!strcmp(job->output, "-") && isatty(STDOUT_FILENO))
		return cli_usage("snapshot: standard output is a terminal");
	name = job->n_words > 1 ? job->words[1] : "scan";
	c = cli_command_find(name);
	if (!c)
		return cli_no_command(NULL, name);
	job->words += job->n_words > 1 ? 2 : 1;
	job->n_words -= job->n_words > 1 ? 2 : 1;
	job->command = c;
	job->format = PAGEDET_FORMAT_SNAPSHOT;
	/* Some commands have a query among others. */
	if (c->wrap && c->wrap != cli_wrap_snapshot)
		status = c->wrap(job);
	c = job->command;
	if (!status && !c->rows)
		return cli_usage("snapshot saves the rows of a query, and '%s' "
				 "is not a query", name);
	return status;
}
