/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Prints the command's help. Names of fields come from the library. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

#define STRING_(x) #x
#define STRING(x) STRING_(x)

static const char where_help[] =
"--where EXPR lists only the pages for which EXPR is true:\n"
"\n"
"  kind=anon  kind!=free       a name, as in the output\n"
"  mapcount>1  order>=9        numbers, decimal or hex with 0x; a count that\n"
"  refcount<0                  the kernel reports as damaged is below zero:\n"
"  pfn<0x1000                  = != < <= > >=\n"
"  flags:dirty  !flags:lru     a bit is set, a bit is clear\n"
"  vma_name='[heap]'           a text; in quotes if it has blanks\n"
"  memcg_path~^/system         a text matches a regular expression; or !~\n"
"  inode=none                  there is nothing\n"
"  dirty  anon  mapped         a kind or a flag alone: kind=anon, flags:dirty\n"
"  A and B   A or B   not A   ( A )\n"
"\n"
"EXPR is neither true nor false if it tests a value that is not known. Such\n"
"pages are counted. --undecided lists them, too. For a dump, or if no page\n"
"matched, the exit status is then 2; with --strict it always is.\n"
"\n"
"Some fields have another name: cgroup (memcg_path), process and name (comm),\n"
"task (pid), file (path), type (kind), slab (slab_cache), vma (vma_name),\n"
"address (vaddr), prot (vma_prot), offset (index), device (dev), numa (node).\n";

static const char example_help[] =
"Examples\n"
"  pagedet doctor                         what works on this machine\n"
"  sudo pagedet top kind                  what uses its memory\n"
"  sudo pagedet explain page 0x3f5a81     why this page is not freed\n"
"  sudo pagedet file /var/log/syslog      what is cached of this file\n"
"  pagedet --from vmcore scan --summary   what a crashed kernel used\n";

static const char status_help[] =
"Exit status\n"
"   0  answered\n"
"   1  a definite no: no row, no match, a difference, no such process\n"
"   2  pagedet cannot tell, or has only a part of the answer\n"
"  64  wrong usage            66  no such file, directory, cgroup\n"
"  65  malformed input        69  a needed source is not available\n"
"  77  no permission          74  reading or writing failed\n";

int cli_flush_stdout(void)
{
	if (fflush(stdout) || ferror(stdout))
		return cli_fail_errno("cannot write to standard output");
	return CLI_ANSWERED;
}

static void options_help(bool all)
{
	printf("Options%s before or after the command; LISTs are "
	       "comma-separated\n", all ? "," : " used most,");
	cli_options_help(all);
}

static void general(void)
{
	const struct cli_command *c;

	printf("What is this page of memory?\n\n"
	       "usage: pagedet [options] COMMAND [arguments]\n"
	       "       pagedet help COMMAND | FIELD | NOTE | fields | kinds |\n"
	       "                    flags | notes | where | options\n\n"
	       "Commands\n");
	for (c = cli_commands; c->name; c++) {
		printf("  %-8s %-25s", c->name, c->arguments);
		if (strlen(c->arguments) > 25)
			printf("\n%36s", "");
		printf(" %s\n", c->summary);
	}
	printf("\n");
	options_help(false);
	printf("\n'pagedet help options' lists all options, and "
	       "'pagedet help COMMAND' explains\na command.\n\n%s\n%s",
	       example_help, status_help);
}

static void one(const struct cli_command *c)
{
	printf("usage: pagedet [options] %s%s%s\n\n%c%s.\n%s", c->name,
	       *c->arguments ? " " : "", c->arguments,
	       c->summary[0] & ~0x20, c->summary + 1, c->help);
	printf("\n'pagedet help options' lists the options.\n");
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

/* Prints names of values or bits, as many per line as fit. */
static void names_of(uint32_t field)
{
	const char *name;
	int column = 0;
	uint64_t value;

	for (value = 0; value < 64; value++) {
		name = pagedet_value_name(field, value);
		if (!name)
			continue;
		if (column && column + 1 + strlen(name) > 79) {
			putchar('\n');
			column = 0;
		}
		column += printf("%s%s", column ? " " : "  ", name);
	}
	putchar('\n');
}

static void field(uint32_t f)
{
	const struct pagedet_field_info *info = pagedet_field(f);

	printf("The field %s: %s\n--fields %s asks for it, and --fields %s "
	       "for all of its group.\n", info->name, info->text, info->name,
	       info->group);
	if (info->type == PAGEDET_TYPE_ENUM ||
	    info->type == PAGEDET_TYPE_MASK) {
		printf("\nIts values\n");
		names_of(f);
	}
	printf("\npagedet-fields(7) explains it.\n");
}

static void flags(void)
{
	printf("Flags of a page, for --where flags:NAME or NAME alone; --by "
	       "flags counts\npages with the same flags. "
	       "pagedet-fields(7) explains them.\n\n");
	names_of(PAGEDET_FIELD_FLAGS);
}

static void kinds(void)
{
	static const char *const text[] = {
		[PAGEDET_KIND_UNKNOWN] = "memory; its use is not known",
		[PAGEDET_KIND_FREE] = "in the kernel's free lists",
		[PAGEDET_KIND_ANON] = "memory of tasks without a file",
		[PAGEDET_KIND_FILE] = "cached contents of a file",
		[PAGEDET_KIND_SHMEM] = "shared memory, tmpfs, memfd",
		[PAGEDET_KIND_HUGETLB] = "in the pool of huge pages",
		[PAGEDET_KIND_SLAB] = "small objects of the kernel",
		[PAGEDET_KIND_PGTABLE] = "page tables",
		[PAGEDET_KIND_ZERO] = "the page of zeroes that tasks share",
		[PAGEDET_KIND_RESERVED] = "firmware, the kernel's image, "
					  "boot memory",
		[PAGEDET_KIND_OFFLINE] = "taken out of use, as by a balloon",
		[PAGEDET_KIND_ZSMALLOC] = "compressed memory of zram or zswap",
		[PAGEDET_KIND_DEVICE] = "memory of a device",
		[PAGEDET_KIND_KERNEL] = "other memory of the kernel",
		[PAGEDET_KIND_HOLE] = "a page frame number without memory",
		[PAGEDET_KIND_UNINIT] = "free memory that the kernel has not "
					"set up yet",
		[PAGEDET_KIND_UNTOUCHED] = "an address in a mapping, without "
					   "a page",
		[PAGEDET_KIND_UNMAPPED] = "an address outside any mapping",
	};
	size_t i;

	printf("Kinds of pages, for --where kind=NAME or NAME alone; --by kind "
	       "counts them\n\n");
	for (i = 0; i < CLI_COUNT(text); i++)
		printf("  %-10s %s\n",
		       pagedet_value_name(PAGEDET_FIELD_KIND, i), text[i]);
}

static const struct note {
	const char *name, *text;
} notes[] = {
#define CLI_NOTE(name, text) { name, text },
#include "notes.def"
#undef CLI_NOTE
};

static void note(const struct note *n)
{
	printf("  %-10s ", n->name);
	cli_print_wrapped(n->text, 13);
}

static void all_notes(void)
{
	size_t i;

	printf("Notes are warnings about a row as a whole. --fields notes "
	       "asks for them, and\n--where notes:NAME lists the rows that "
	       "have one.\n\n");
	for (i = 0; i < CLI_COUNT(notes); i++)
		note(&notes[i]);
}

/* Explains a note. False: there is none of that name. */
static bool note_help(const char *name)
{
	size_t i;

	for (i = 0; i < CLI_COUNT(notes); i++) {
		if (strcmp(notes[i].name, name))
			continue;
		printf("A note, which is a warning about a row as a whole:\n");
		note(&notes[i]);
		printf("\n'pagedet help notes' explains all of them.\n");
		return true;
	}
	return false;
}

/* Suggests a command, a field, a note or another topic. */
static int no_topic(const char *topic)
{
	static const char *const others[] = {
		"fields", "where", "flags", "kinds", "options", "notes",
	};
	const char *names[2 * PAGEDET_FIELDS_MAX + CLI_COUNT(notes)];
	const struct cli_command *c;
	size_t n, i;
	uint32_t f;
	int near;

	if (cli_is_synonym(topic))
		return cli_no_command(NULL, topic);
	for (n = 0; n < CLI_COUNT(others); n++)
		names[n] = others[n];
	for (i = 0; i < CLI_COUNT(notes); i++)
		names[n++] = notes[i].name;
	for (f = 0; f < PAGEDET_FIELDS_MAX; f++)
		if (pagedet_field(f))
			names[n++] = pagedet_field(f)->name;
	for (c = cli_commands; c->name && n < CLI_COUNT(names); c++)
		names[n++] = c->name;
	near = pagedet_nearest(topic, names, n);
	if (near < 0)
		return cli_no_command(NULL, topic);
	return cli_usage("help: there is nothing about '%s'; did you mean "
			 "'%s'?", topic, names[near]);
}

int cli_help(const char *topic)
{
	const struct cli_command *c;

	if (!topic || !strcmp(topic, "help")) {
		general();
		return cli_flush_stdout();
	}
	if (!strcmp(topic, "fields")) {
		fields();
		return cli_flush_stdout();
	}
	if (!strcmp(topic, "where")) {
		fputs(where_help, stdout);
		printf("\nKinds ('pagedet help kinds' explains them)\n");
		names_of(PAGEDET_FIELD_KIND);
		printf("\nFlags\n");
		names_of(PAGEDET_FIELD_FLAGS);
		return cli_flush_stdout();
	}
	if (!strcmp(topic, "flags")) {
		flags();
		return cli_flush_stdout();
	}
	if (!strcmp(topic, "kinds")) {
		kinds();
		return cli_flush_stdout();
	}
	if (!strcmp(topic, "options")) {
		options_help(true);
		return cli_flush_stdout();
	}
	if (!strcmp(topic, "notes")) {
		all_notes();
		return cli_flush_stdout();
	}
	c = cli_command_find(topic);
	if (c)
		one(c);
	else if (pagedet_field_by_name(topic) >= 0)
		field((uint32_t)pagedet_field_by_name(topic));
	else if (cli_is_value(PAGEDET_FIELD_KIND, topic))
		kinds();
	else if (cli_is_value(PAGEDET_FIELD_FLAGS, topic))
		flags();
	else if (cli_is_sum(topic))
		one(cli_command_find("top"));
	else if (!note_help(topic))
		return no_topic(topic);
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
