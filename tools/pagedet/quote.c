/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Commands that are suggested. They can be pasted, and ask the same source as
 * the one that failed.
 */
#include <stdio.h>
#include <string.h>

#include "cli.h"

const char *cli_argument(const char *word, const char *instead,
			 char ret[CLI_QUOTED])
{
	return *word == '-' ? instead :
	       pagedet_quoted(word, instead, ret, CLI_QUOTED);
}

/* --- the source --- */

static void add_option(char again[CLI_AGAIN], const char *option,
		       const char *value, const char *what)
{
	const size_t len = strlen(again), room = CLI_AGAIN - len;
	char quoted[CLI_QUOTED];
	const char *word = pagedet_quoted(value, what, quoted, sizeof(quoted));

	if (strlen(option) + strlen(word) + sizeof(" -- ") > room)
		word = what;
	if (strlen(option) + strlen(word) + sizeof(" -- ") <= room)
		snprintf(again + len, room, " --%s %s", option, word);
}

void cli_keep_source(struct cli_job *job, const char *option,
		     const char *value, const char *what)
{
	static const char *const kept[] = {
		"from", "root", "backend", "vmlinux", "btf", "vmcoreinfo",
	};
	size_t i;

	for (i = 0; i < CLI_COUNT(kept); i++) {
		if (strcmp(kept[i], option))
			continue;
		add_option(job->again, option, value, what);
		if (i > 1)
			add_option(job->types, option, value, what);
	}
}

/* --- commands --- */

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* Whether a command asks no source, or has one among its arguments. */
static bool has_own_source(const char *command)
{
	static const char *const own[] = {
		"diff ", "help", "kmap ", "kmem record", "kmem report kmem.dat",
		"kmem live kmem.dat", "kmem report /proc/", "top alloc",
		"top --watch",
	};
	size_t i;

	for (i = 0; i < CLI_COUNT(own); i++)
		if (begins(command, own[i]))
			return true;
	return false;
}

/* "--from DUMP scan": DUMP stands for what the user may have named. */
static size_t placeholder(const struct cli_job *job, const char *command)
{
	static const char from[] = "--from ";
	size_t len = sizeof(from) - 1;

	if (!job->open.n_files || !begins(command, from))
		return 0;
	len += strcspn(command + len, " ");
	return len + strspn(command + len, " ");
}

void cli_commands_of(const struct cli_job *job, const char *text,
		     char ret[CLI_HINT])
{
	static const char name[] = "pagedet ";
	const char *at = text, *next;
	size_t n = 0;

	while (job && n < CLI_HINT && (next = strstr(at, name))) {
		const char *command = next + sizeof(name) - 1;
		const char *end = command + strcspn(command, "'");
		const bool own = has_own_source(command);
		/* Quotes in quotes would end them. */
		const bool nested = !own && next > text && next[-1] == '\'' &&
				    *end && strchr(job->again, '\'');

		n += (size_t)snprintf(ret + n, CLI_HINT - n, "%.*s%s%s ",
				      (int)(next - at) - nested, at,
				      nested ? "(" : "",
				      own ? "pagedet" : job->again);
		at = command + (own ? 0 : placeholder(job, command));
		if (!nested || n >= CLI_HINT)
			continue;
		n += (size_t)snprintf(ret + n, CLI_HINT - n, "%.*s)",
				      (int)(end - at), at);
		at = end + 1;
	}
	if (n < CLI_HINT)
		n += (size_t)snprintf(ret + n, CLI_HINT - n, "%s", at);
	/* A part of a word could be another one. */
	if (n >= CLI_HINT)
		snprintf(ret, CLI_HINT, "%s", text);
}
