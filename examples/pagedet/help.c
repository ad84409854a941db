/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What the command says of itself. Field names come from the library. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

#define STRING_(x) #x
#define STRING(x) STRING_(x)

static const char where_help[] =
"--where EXPR lists only the pages of which EXPR is true:\n"
"\n"
"  kind=anon  kind!=free       a name, as in the output\n"
"  mapcount>1  order>=9        numbers, decimal or hex with 0x:\n"
"  pfn<0x1000                  = != < <= > >=\n"
"  flags:dirty  !flags:lru     a bit is set, a bit is clear\n"
"  vma_name='[heap]'           a text; in quotes, if it has blanks in it\n"
"  memcg_path~^/system         a text matches this regular expression; or !~\n"
"  inode=none                  there is nothing\n"
"  A and B   A or B   not A   ( A )\n"
"\n"
"An answer that is not known makes EXPR neither true nor false. Such pages\n"
"are counted and said; --undecided lists them too. The exit status is then\n"
"2.\n";

static const char status_help[] =
"Exit status\n"
"   0  answered\n"
"   1  a definite no: no row, nothing matched, two that differ, no process\n"
"   2  cannot tell, or only a part of the answer\n"
"  64  wrong usage            66  no such file, directory, cgroup\n"
"  65  malformed input        69  a needed source is not available\n"
"  77  no permission          74  reading or writing failed\n";

int cli_flush_stdout(void)
{
	if (fflush(stdout) || ferror(stdout))
		return cli_fail_errno("cannot write to standard output");
	return CLI_ANSWERED;
}

static void general(void)
{
	const struct cli_command *c;

	printf("What is this page of memory?\n\n"
	       "usage: pagedet [options] COMMAND [arguments]\n"
	       "       pagedet help COMMAND | fields | where\n\n"
	       "Commands\n");
	for (c = cli_commands; c->name; c++) {
		printf("  %-8s %-25s", c->name, c->arguments);
		if (strlen(c->arguments) > 25)
			printf("\n%36s", "");
		printf(" %s%s\n", c->summary, c->needs ? " *" : "");
	}
	printf("  * not in this version\n\n"
	       "Options, before or after the command; LISTs are "
	       "comma-separated\n");
	cli_options_help();
	printf("\n%s", status_help);
}

static void one(const struct cli_command *c)
{
	printf("usage: pagedet [options] %s%s%s\n\n%c%s.\n%s", c->name,
	       *c->arguments ? " " : "", c->arguments,
	       c->summary[0] & ~0x20, c->summary + 1, c->help);
	if (c->needs)
		printf("Needs %s: not in this version.\n", c->needs);
	printf("\n'pagedet help' lists the options.\n");
}

static void fields(void)
{
	const struct pagedet_field_info *info;
	uint32_t f;

	printf("%-15s %-8s %s\n", "field", "group", "what it says");
	for (f = 0; f < PAGEDET_FIELDS_MAX; f++) {
		info = pagedet_field(f);
		if (info)
			printf("%-15s %-8s %s\n", info->name, info->group,
			       info->text);
	}
}

int cli_help(const char *topic)
{
	const struct cli_command *c;

	if (!topic) {
		general();
		return cli_flush_stdout();
	}
	if (!strcmp(topic, "fields")) {
		fields();
		return cli_flush_stdout();
	}
	if (!strcmp(topic, "where")) {
		fputs(where_help, stdout);
		return cli_flush_stdout();
	}
	c = cli_command_find(topic);
	if (!c)
		return cli_usage("help: there is no command '%s'", topic);
	one(c);
	return cli_flush_stdout();
}

int cli_version(void)
{
	const struct pagedet_part *part;
	uint32_t n;

	printf("pagedet " STRING(PAGEDET_VERSION_MAJOR) "."
	       STRING(PAGEDET_VERSION_MINOR) "."
	       STRING(PAGEDET_VERSION_PATCH) ", library %s\n",
	       pagedet_version());
	if (pagedet_part(0))
		printf("optional parts:\n");
	for (n = 0; (part = pagedet_part(n)); n++)
		printf("  %-16s %-10s %s\n", part->name,
		       part->built ? "built in" : "not built", part->purpose);
	return cli_flush_stdout();
}
