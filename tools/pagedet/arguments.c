/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses the arguments of a command: page frame numbers, addresses, tasks,
 * paths.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* Adds the arguments from @first on, which are all ranges. */
static int add_ranges(struct cli_job *job, int first, enum cli_radix radix,
		      uint32_t pid)
{
	struct pagedet_item item = { 0, 0, pid, 0 };
	const char *wrong;
	int i, status;

	for (i = first; i < job->n_words; i++) {
		if (job->several && cli_is_path(job, job->words[i]))
			continue;
		wrong = cli_range(job->words[i], radix, &item);
		if (wrong)
			return cli_no_range(job, job->words[i], radix, wrong);
		if (radix == CLI_HEX)
			cli_tell_radix(job, job->words[i]);
		else if (cli_names_pages(job))
			cli_tell_decimal(job, job->words[i]);
		/*
		 * If the user named a source, it gets exactly what was typed.
		 */
		if (cli_names_pages(job) && !job->open.sources &&
		    cli_is_kernel_address(item.first))
			return cli_no_page_number(job, job->words[i],
						  item.first);
		cli_tell_no_frame(job, item.first);
		status = cli_add_item(job, &item);
		if (status)
			return status;
	}
	return CLI_ANSWERED;
}

int cli_parse_pfns(struct cli_job *job)
{
	return add_ranges(job, 0, CLI_PFN, 0);
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
				 "input and cannot be combined with other "
				 "arguments",
				 job->command->name);
	return CLI_ANSWERED;
}

int cli_parse_phys(struct cli_job *job)
{
	return add_ranges(job, 0, CLI_HEX, 0);
}

/* Areas whose brackets may be left out: a shell expands them. */
static const char *const areas[][2] = {
	{ "heap", "[heap]" }, { "stack", "[stack]" }, { "vdso", "[vdso]" },
	{ "vvar", "[vvar]" },
};

/* The name of the area with its brackets; NULL: it is not one of these. */
static const char *area_of(const char *word)
{
	size_t i;

	for (i = 0; i < CLI_COUNT(areas); i++)
		if (!strcmp(word, areas[i][0]))
			return areas[i][1];
	return NULL;
}

/* Addresses begin with a digit or, in hex, with a letter. */
static bool is_area(const char *word)
{
	return *word == '[' || *word == '/' || area_of(word) ||
	       (strpbrk(word, ".:") && !strstr(word, ".."));
}

/* Adds an address, or the name of an area of the process. */
static int add_address(struct cli_job *job, uint32_t pid, const char *task,
		       const char *word)
{
	struct pagedet_item item = { 0, 0, pid, 0 };
	struct cli_name name = { task, NULL, NULL };
	const char *wrong = cli_range(word, CLI_HEX, &item);

	if (wrong && is_area(word))
		name.area = area_of(word) ? area_of(word) : word;
	else if (wrong && *word >= '0' && *word <= '9')
		return cli_no_range(job, word, CLI_HEX, wrong);
	else if (wrong)
		return cli_refuse("name an area as '[heap]';", "%s: '%s' %s",
				  job->command->name, word, wrong);
	else
		cli_tell_kernel_address(job, word, item.first);
	cli_tell_radix(job, word);
	return cli_add_named(job, &item, &name);
}

/* Where the address or area begins in PID:ADDR; NULL: it is not one. */
static char *address_in(char *word)
{
	const size_t len = strspn(word, "0123456789");
	char *at = word + len + 1;
	struct pagedet_item item;

	if (!len || word[len] != ':')
		return NULL;
	return *at == '[' || area_of(at) || !cli_range(at, CLI_HEX, &item) ?
	       at : NULL;
}

static int add_of_process(struct cli_job *job, char *word, char *address)
{
	const char *name;
	uint32_t pid;
	int status;

	address[-1] = '\0';
	status = cli_parse_pid(job, word, &pid, &name);
	return status ? status : add_address(job, pid, name, address);
}

int cli_parse_virt(struct cli_job *job)
{
	char instead[64];
	const char *name;
	uint32_t pid;
	int i, status;

	if (job->n_words == 1 && !strncmp(job->words[0], "0x", 2)) {
		snprintf(instead, sizeof(instead), "virt PID %.20s",
			 job->words[0]);
		return cli_instead(job, instead, "virt: an address belongs to "
				   "a process, which comes first");
	}
	if (job->n_words == 1 && address_in(job->words[0]))
		return add_of_process(job, job->words[0],
				      address_in(job->words[0]));
	if (job->n_words == 1) {
		job->command = cli_command_find("task");
		return cli_parse_tasks(job);
	}
	status = cli_parse_pid(job, job->words[0], &pid, &name);
	for (i = 1; i < job->n_words && !status; i++)
		status = add_address(job, pid, name, job->words[i]);
	return status;
}

/* "task PID heap": areas are arguments of virt. */
static int no_area(const struct cli_job *job, const char *area)
{
	char instead[CLI_HINT], quoted[CLI_QUOTED];

	snprintf(instead, sizeof(instead), "virt %s '%s'",
		 cli_argument(job->words[0], "PID", quoted), area);
	return cli_instead(job, instead, "%s: '%s' is an area of a task",
			   job->command->name, area);
}

int cli_parse_tasks(struct cli_job *job)
{
	struct pagedet_item item = { 0, PAGEDET_TO_END, 0, 0 };
	struct cli_name name = { NULL, NULL, NULL };
	int i, status;

	for (i = 0; i < job->n_words; i++) {
		if (i && area_of(job->words[i]))
			return no_area(job, area_of(job->words[i]));
		status = cli_parse_pid(job, job->words[i], &item.pid,
				       &name.task);
		if (!status)
			status = cli_add_named(job, &item, &name);
		if (status)
			return status;
	}
	return CLI_ANSWERED;
}

/* Pages, or a file. */
int cli_parse_mappers(struct cli_job *job)
{
	const char *path = job->file;

	if (!path && job->n_words == 1 && cli_is_file(job, job->words[0]))
		path = job->words[0];
	else if (path && job->n_words)
		return cli_usage("mappers: --file '%s' cannot be combined with "
				 "'%s'",
				 path, job->words[0]);
	if (!path && !job->n_words)
		return cli_usage("mappers lacks arguments: %s",
				 job->command->arguments);
	job->path = path;
	if (!path && job->watching)
		return cli_instead(job, "mappers FILE --watch",
				   "mappers: --watch repeats the processes "
				   "that map a file");
	return path ? CLI_ANSWERED : cli_parse_pfns(job);
}

int cli_parse_path(struct cli_job *job)
{
	job->path = job->words[0];
	if (!*job->path)
		return cli_usage("%s: the path is empty", job->command->name);
	return CLI_ANSWERED;
}

int cli_parse_paths(struct cli_job *job)
{
	job->list = !strcmp(job->words[0], "-");
	if (job->list && job->n_words > 1)
		return cli_usage("%s: '-' reads all files and ranges from "
				 "standard input and cannot be combined with "
				 "other arguments", job->command->name);
	if (job->nul && !job->list)
		return cli_usage("%s: --null needs the list on standard input, "
				 "'-'", job->command->name);
	return job->list ? CLI_ANSWERED : cli_parse_path(job);
}

int cli_parse_files(struct cli_job *job)
{
	int status = cli_parse_paths(job);
	struct stat st;
	int i;

	if (status || job->list)
		return status;
	if (!job->open.n_files && !job->open.root && job->n_words == 1 &&
	    !stat(job->path, &st) && S_ISDIR(st.st_mode))
		return cli_no_directory(job, job->path);
	for (i = 1; i < job->n_words; i++) {
		if (!strcmp(job->words[i], "-"))
			return cli_usage("file: '-' reads all files and ranges "
					 "from standard input and cannot be "
					 "combined with other arguments");
		job->several |= cli_is_path(job, job->words[i]);
	}
	status = add_ranges(job, 1, CLI_DECIMAL, 0);
	job->list = job->several;
	if (job->several) {
		/*
		 * These arguments were only examined, because each one belongs
		 * to its file.
		 */
		job->path = NULL;
		job->n_items = 0;
	}
	return status;
}

int cli_parse_file(struct cli_job *job)
{
	int status = cli_parse_path(job);

	return status ? status : add_ranges(job, 1, CLI_DECIMAL, 0);
}

/* A word that is not a hex number is a symbol. */
int cli_parse_kaddrs(struct cli_job *job)
{
	struct pagedet_item item = { 0, 1, 0, job->as };
	const char *wrong;
	int i, status;

	for (i = 0; i < job->n_words; i++) {
		struct cli_name name = { NULL, NULL, NULL };
		const char *word = job->words[i];

		wrong = cli_number(word, CLI_HEX, &item.first);
		if (wrong && ((*word >= '0' && *word <= '9') || !*word ||
			      !strncmp(word, "ffff", 4)))
			return cli_usage("%s: '%s' %s", job->command->name,
					 word, wrong);
		if (wrong)
			name.symbol = word;
		else
			cli_tell_user_address(job, word, item.first);
		cli_tell_radix(job, word);
		status = cli_add_named(job, &item, &name);
		if (status)
			return status;
	}
	return CLI_ANSWERED;
}

int cli_parse_log(struct cli_job *job)
{
	bool given = job->n_words && strcmp(job->words[0], "-");
	char instead[CLI_HINT];

	if (given && strchr(job->words[0], ' ') &&
	    access(job->words[0], F_OK)) {
		cli_commands_of(job, "a text is read from standard input: echo "
				"TEXT | pagedet from-log;", instead);
		return cli_refuse(instead, "%s: there is no file '%s'",
				  job->command->name, job->words[0]);
	}
	job->from_file = given;
	if (!job->n_words && !job->open.n_files && isatty(STDIN_FILENO) &&
	    !job->quiet)
		cli_say("waiting for a kernel log on standard input; Ctrl-D "
			"ends it; 'from-log FILE' reads a file");
	job->path = given ? job->words[0] : "-";
	return CLI_ANSWERED;
}

int cli_parse_nothing(struct cli_job *job)
{
	(void)job;
	return CLI_ANSWERED;
}
