/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The options: one table says what there is, reads them and explains them.
 * They may stand anywhere; what is left over is the command and its words.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* What a command does with rows. */
enum { LISTS = 1, GROUPS = 2, COMPARES = 4 };

struct option {
	const char *name;
	char letter;		/* 0 none */
	char only;		/* for commands that do one of these; 0 all */
	const char *commands;	/* NULL all, else the ones that it is for */
	const char *value;	/* what to call its value; NULL has none */
	int (*set)(struct cli_job *job, const char *value);
	size_t text_at;		/* or: where the value goes as it is */
	size_t bool_at;		/* or: what becomes true */
	const char *help;
};

static int set_from(struct cli_job *job, const char *value)
{
	const char **more;

	if (!strcmp(value, "live")) {
		job->live = true;
		return CLI_ANSWERED;
	}
	more = realloc(job->from, (job->open.n_files + 1) * sizeof(*more));
	if (!more)
		return cli_fail_errno("--from");
	more[job->open.n_files++] = value;
	job->from = more;
	job->open.files = more;
	return CLI_ANSWERED;
}

static int set_backend(struct cli_job *job, const char *value)
{
	const char *at = value;

	job->open.sources = 0;
	do {
		size_t len = strcspn(at, ",");
		char name[32];
		int source;

		snprintf(name, sizeof(name), "%.*s", (int)len, at);
		source = len < sizeof(name) ? pagedet_source_by_name(name) : -1;
		if (source <= PAGEDET_SOURCE_NOBODY ||
		    source == PAGEDET_SOURCE_DERIVED)
			return cli_usage("--backend: there is no source '%.*s'",
					 (int)len, at);
		job->open.sources |= PAGEDET_SOURCE_BIT(source);
		at += len;
	} while (*at++ == ',');
	return CLI_ANSWERED;
}

static int set_format(struct cli_job *job, const char *value)
{
	static const struct { const char *name; uint32_t id; } formats[] = {
		{ "text", PAGEDET_FORMAT_TEXT },
		{ "json", PAGEDET_FORMAT_JSON },
		{ "csv", PAGEDET_FORMAT_CSV },
		{ "arrow", PAGEDET_FORMAT_ARROW },
	};
	size_t i;

	for (i = 0; i < CLI_COUNT(formats); i++) {
		if (strcmp(value, formats[i].name))
			continue;
		job->format = formats[i].id;
		return CLI_ANSWERED;
	}
	return cli_usage("--format: '%s' is not text, json, csv or arrow",
			 value);
}

static int set_json(struct cli_job *job, const char *value)
{
	(void)value;
	job->format = PAGEDET_FORMAT_JSON;
	return CLI_ANSWERED;
}

static int set_threads(struct cli_job *job, const char *value)
{
	const char *wrong;
	uint64_t n;

	wrong = cli_number(value, CLI_DECIMAL, &n);
	if (wrong)
		return cli_usage("--threads: '%s' %s", value, wrong);
	if (!n || n > 1024)
		return cli_usage("--threads: '%s' is not within 1 and 1024",
				 value);
	job->threads = (uint32_t)n;
	return CLI_ANSWERED;
}

static int set_deadline(struct cli_job *job, const char *value)
{
	const char *wrong = cli_seconds(value, &job->deadline_ns);

	if (wrong)
		return cli_usage("--deadline: '%s' %s", value, wrong);
	return CLI_ANSWERED;
}

static int set_progress(struct cli_job *job, const char *value)
{
	(void)value;
	job->progress = CLI_ON;
	return CLI_ANSWERED;
}

static int set_no_progress(struct cli_job *job, const char *value)
{
	(void)value;
	job->progress = CLI_OFF;
	return CLI_ANSWERED;
}

static int set_verbose(struct cli_job *job, const char *value)
{
	(void)value;
	job->verbose++;
	return CLI_ANSWERED;
}

static int set_as(struct cli_job *job, const char *value)
{
	static const struct { const char *name; uint32_t as; } kinds[] = {
		{ "memory", PAGEDET_KADDR_MEMORY },
		{ "page", PAGEDET_KADDR_PAGE },
		{ "folio", PAGEDET_KADDR_FOLIO },
	};
	size_t i;

	for (i = 0; i < CLI_COUNT(kinds); i++) {
		if (strcmp(value, kinds[i].name))
			continue;
		job->as = kinds[i].as;
		return CLI_ANSWERED;
	}
	return cli_usage("--as: '%s' is not memory, page or folio", value);
}

static int set_layout(struct cli_job *job, const char *value)
{
	job->linear = !strcmp(value, "linear");
	if (job->linear || !strcmp(value, "hilbert"))
		return CLI_ANSWERED;
	return cli_usage("--layout: '%s' is not hilbert or linear", value);
}

static int set_top(struct cli_job *job, const char *value)
{
	const char *wrong = cli_number(value, CLI_DECIMAL, &job->top);

	if (wrong)
		return cli_usage("--top: '%s' %s", value, wrong);
	if (!job->top)
		return cli_usage("--top: '%s' is no group at all", value);
	return CLI_ANSWERED;
}

static int set_window(struct cli_job *job, const char *value)
{
	const char *wrong = cli_seconds(value, &job->window_ns);

	if (wrong)
		return cli_usage("--window: '%s' %s", value, wrong);
	return CLI_ANSWERED;
}

static int set_watch(struct cli_job *job, const char *value)
{
	const char *wrong = cli_seconds(value, &job->watch_ns);

	if (wrong)
		return cli_usage("--watch: '%s' %s", value, wrong);
	return CLI_ANSWERED;
}

#define TEXT(member) .text_at = offsetof(struct cli_job, member)
#define BOOL(member) .bool_at = offsetof(struct cli_job, member)

static const struct option options[] = {
	{ "from", .value = "SOURCE", .set = set_from, .help =
	  "live (default), or a dump, snapshot, kernel log or page_owner "
	  "text; several times for a split dump" },
	{ "backend", .value = "LIST", .set = set_backend, .help =
	  "allow just these: procfs page_detective page_owner bpf kcore "
	  "vmcore snapshot log" },
	{ "fields", .value = "LIST", TEXT(fields),
	  .only = LISTS | COMPARES, .help =
	  "field names or groups: cheap (default), all, everything, owner "
	  "...; see 'pagedet help fields'" },
	{ "format", .value = "F", .set = set_format, .help =
	  "text (default), json (one object a line), csv, arrow" },
	{ "json", .set = set_json, .help = "short for --format json" },
	{ "output", 'o', .value = "FILE", TEXT(output), .help =
	  "write there, under a temporary name until complete; - is standard "
	  "output" },
	{ "where", .value = "EXPR", TEXT(where),
	  .only = LISTS | GROUPS | COMPARES, .help =
	  "list only pages of which this is true; see 'pagedet help where'" },
	{ "by", .value = "LIST", TEXT(by), .only = LISTS | GROUPS, .help =
	  "count pages for each combination of these fields, instead of "
	  "listing" },
	{ "summary", BOOL(summary), .only = LISTS | COMPARES, .help =
	  "count instead of listing; by kind, if no --by says else" },
	{ "runs", BOOL(runs), .only = LISTS, .help =
	  "fold neighbours with equal answers into one row" },
	{ "undecided", BOOL(undecided), .only = LISTS, .help =
	  "list pages of which --where is not known to be true or false, "
	  "too" },
	{ "threads", .value = "N", .set = set_threads, .help =
	  "threads to use (default: one for a look-up, all processors for "
	  "more)" },
	{ "deadline", .value = "SECONDS", .set = set_deadline, .help =
	  "stop after that time, with what was found so far" },
	{ "progress", .set = set_progress, .help =
	  "show progress on standard error (default there: on a terminal, "
	  "after a second)" },
	{ "no-progress", .set = set_no_progress, .help = "never show it" },
	{ "root", .value = "DIR", TEXT(open.root), .help =
	  "read /proc, /sys and debugfs below DIR" },
	{ "vmlinux", .value = "FILE", TEXT(open.vmlinux), .help =
	  "the kernel's ELF file: symbols and types for a dump without" },
	{ "btf", .value = "FILE", TEXT(open.btf), .help =
	  "type information of the kernel" },
	{ "vmcoreinfo", .value = "FILE", TEXT(open.vmcoreinfo), .help =
	  "VMCOREINFO text for a dump without" },
	{ "hash-key", .value = "FILE", TEXT(open.hash_key), .help =
	  "use or create this key, so that hashes can be compared across "
	  "runs" },
	{ "pointers", BOOL(pointers), .help = "show kernel addresses" },
	{ "as", .value = "WHAT", .set = set_as, .commands = "kaddr", .help =
	  "what an address is: memory, page (a struct page) or folio" },
	{ "stacks", BOOL(stacks), .commands = "mappers task virt",
	  .help = "show where the threads of these tasks are in the kernel" },
	{ "sort", .value = "KEY", TEXT(sort), .commands = "owners", .help =
	  "pages (default), times, oldest, newest or keys; with - before it "
	  "the other way round" },
	{ "top", .value = "N", .set = set_top, .commands = "owners", .help =
	  "only the first N groups" },
	{ "window", .value = "SECONDS", .set = set_window,
	  .commands = "owners", .help =
	  "how long a window of --by window is (default 1)" },
	{ "before", .value = "FILE", TEXT(before), .commands = "owners",
	  .help = "say what has grown since this text was written" },
	{ "flame", .value = "FILE", TEXT(flame), .commands = "owners", .help =
	  "write the stacks as a flame graph (SVG)" },
	{ "folded", BOOL(folded), .commands = "owners", .help =
	  "write the stacks as lines that flame graph tools read" },
	{ "why", .value = "LIST", TEXT(why), .commands = "explain", .help =
	  "what to explain: free, migrate, pinned, reclaim, charge, poison, "
	  "leak" },
	{ "sent", .value = "HASH", TEXT(sent), .commands = "explain", .help =
	  "the hash of the page as it was sent" },
	{ "peer", .value = "FILE", TEXT(peer), .commands = "explain", .help =
	  "what --save wrote at the other host, of the same pages" },
	{ "save", .value = "FILE", TEXT(save), .commands = "explain", .help =
	  "write the evidence there, and explain nothing" },
	{ "layout", .value = "NAME", .set = set_layout, .commands = "map",
	  .help = "hilbert (default): neighbours in memory are neighbours in "
	  "the picture; or linear: row by row" },
	{ "tap", BOOL(tap), .commands = "check", .help =
	  "answer in the Test Anything Protocol" },
	{ "since", .value = "FILE", TEXT(since), .commands = "check", .help =
	  "compare with what 'check mark FILE' saved" },
	{ "watch", .value = "SECONDS", .set = set_watch, .commands = "check",
	  .help = "how long 'check stable' looks (default 1)" },
	{ "text-only", BOOL(text_only), .commands = "from-log", .help =
	  "say what the log says, ask nobody else" },
	{ "quiet", 'q', BOOL(quiet), .help =
	  "errors only, no remarks on standard error" },
	{ "verbose", 'v', .set = set_verbose, .help =
	  "say where each answer came from; twice: what is being tried" },
	{ "help", 'h', BOOL(help), .help = "explain the command" },
	{ "version", 0, BOOL(version), .help =
	  "version, and the optional parts built in" },
};

static uint64_t bit(const struct option *o)
{
	return (uint64_t)1 << (o - options);
}

static const struct option *find(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < CLI_COUNT(options); i++)
		if (strlen(options[i].name) == len &&
		    !memcmp(options[i].name, name, len))
			return &options[i];
	return NULL;
}

static const struct option *find_letter(char letter)
{
	size_t i;

	for (i = 0; i < CLI_COUNT(options); i++)
		if (options[i].letter && options[i].letter == letter)
			return &options[i];
	return NULL;
}

static int take(struct cli_job *job, const struct option *o, const char *value)
{
	job->given |= bit(o);
	if (o->set)
		return o->set(job, value);
	if (o->value)
		*(const char **)((char *)job + o->text_at) = value;
	else
		*(bool *)((char *)job + o->bool_at) = true;
	return CLI_ANSWERED;
}

static int lacks_value(const struct option *o)
{
	return cli_usage("--%s lacks its %s", o->name, o->value);
}

/* --name, --name=VALUE, --name VALUE. *i is moved behind what was used. */
static int parse_long(struct cli_job *job, int argc, char **argv, int *i)
{
	const char *name = argv[*i] + 2;
	size_t len = strcspn(name, "=");
	const struct option *o = find(name, len);

	if (!o)
		return cli_usage("there is no option --%.*s", (int)len, name);
	if (name[len] == '=') {
		if (!o->value)
			return cli_usage("--%s takes no value", o->name);
		return take(job, o, name + len + 1);
	}
	if (!o->value)
		return take(job, o, NULL);
	if (*i + 1 >= argc)
		return lacks_value(o);
	return take(job, o, argv[++*i]);
}

/* -q, -qv, -oFILE, -o FILE. */
static int parse_letters(struct cli_job *job, int argc, char **argv, int *i)
{
	const char *s;
	int status;

	for (s = argv[*i] + 1; *s; s++) {
		const struct option *o = find_letter(*s);

		if (!o)
			return cli_usage("there is no option -%c", *s);
		if (o->value && s[1])
			return take(job, o, s + 1);
		if (o->value && *i + 1 >= argc)
			return lacks_value(o);
		if (o->value)
			return take(job, o, argv[++*i]);
		status = take(job, o, NULL);
		if (status)
			return status;
	}
	return CLI_ANSWERED;
}

int cli_options_parse(struct cli_job *job, int argc, char **argv)
{
	bool only_words = false;
	int i, status;

	job->words = argv;
	for (i = 1; i < argc; i++) {
		status = CLI_ANSWERED;
		if (only_words || argv[i][0] != '-' || !argv[i][1])
			job->words[job->n_words++] = argv[i];
		else if (argv[i][1] != '-')
			status = parse_letters(job, argc, argv, &i);
		else if (argv[i][2])
			status = parse_long(job, argc, argv, &i);
		else
			only_words = true;
		if (status)
			return status;
	}
	if (job->live && job->open.n_files)
		return cli_usage("--from: live and a file exclude each other");
	return CLI_ANSWERED;
}

/* Whether @name is among the words of @list. */
static bool is_listed(const char *list, const char *name)
{
	const size_t len = strlen(name);
	size_t some;

	for (; *list; list += some + (list[some] == ' ')) {
		some = strcspn(list, " ");
		if (some == len && !memcmp(list, name, len))
			return true;
	}
	return false;
}

int cli_options_check(const struct cli_job *job)
{
	const struct cli_command *c = job->command;
	const int role = (c->target ? LISTS : 0) | (c->groups ? GROUPS : 0) |
			 (c->compares ? COMPARES : 0);
	const struct option *o;

	for (o = options; o < options + CLI_COUNT(options); o++) {
		if (!(job->given & bit(o)))
			continue;
		if (o->commands && !is_listed(o->commands, c->name))
			return cli_usage("--%s is an option of '%s'", o->name,
					 o->commands);
		if (o->only && !(o->only & role))
			return cli_usage("'%s' has no use for --%s", c->name,
					 o->name);
	}
	if ((job->runs || job->fields) && (job->by || job->summary) &&
	    !c->compares)
		return cli_usage("--%s lists pages, --%s counts them: not both",
				 job->runs ? "runs" : "fields",
				 job->by ? "by" : "summary");
	return CLI_ANSWERED;
}

/* Words of @text from column @indent on, not wider than 79. */
static void print_wrapped(const char *text, int indent)
{
	int column = indent;

	while (*text) {
		int len = (int)strcspn(text, " ");

		if (column > indent && column + 1 + len > 79) {
			printf("\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			putchar(' ');
			column++;
		}
		printf("%.*s", len, text);
		column += len;
		text += len;
		text += *text == ' ';
	}
	putchar('\n');
}

void cli_options_help(void)
{
	size_t i;

	for (i = 0; i < CLI_COUNT(options); i++) {
		const struct option *o = &options[i];
		char name[64];

		if (o->letter)
			snprintf(name, sizeof(name), "-%c, --%s %s", o->letter,
				 o->name, o->value ? o->value : "");
		else
			snprintf(name, sizeof(name), "--%s %s", o->name,
				 o->value ? o->value : "");
		printf("  %-20s", name);
		if (strlen(name) > 20)
			printf("\n%22s", "");
		putchar(' ');
		print_wrapped(o->help, 23);
	}
}
