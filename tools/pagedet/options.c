/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The options: one table defines, parses and explains them. They may stand
 * anywhere; the remaining words are the command and its arguments.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* How a command uses rows. */
enum { LISTS = 1, GROUPS = 2, COMPARES = 4, BOUNDS = 8 };

struct option {
	const char *name;
	char letter;		/* 0: none */
	char only;		/* for commands that do one of these; 0: for all
				 * commands */
	const char *commands;	/* NULL: all; otherwise those it is for */
	const char *value;	/* name of its value; NULL: it has none */
	const char *values;	/* all values, or NULL: too many */
	bool optional;		/* the value may be missing, which is NULL */
	bool often;		/* 'pagedet help' has it, too */
	int (*set)(struct cli_job *job, const char *value);
	size_t text_at;		/* or: where to store the value as it is */
	size_t bool_at;		/* or: what to set to true */
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

static int no_source(const char *word, size_t len)
{
	const char *names[32];
	uint32_t source;
	size_t n = 0;

	for (source = 1; source < CLI_COUNT(names); source++)
		if (pagedet_source_name(source) &&
		    source != PAGEDET_SOURCE_DERIVED &&
		    source != PAGEDET_SOURCE_TRACE)
			names[n++] = pagedet_source_name(source);
	return cli_no_name("--backend: there is no source", word, len, names,
			   n);
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
		    source == PAGEDET_SOURCE_DERIVED ||
		    source == PAGEDET_SOURCE_TRACE)
			return no_source(at, len);
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
	const char *names[CLI_COUNT(formats)];
	size_t i;

	job->as_sort = !strcmp(value, "page_owner_sort");
	job->as_dot = !strcmp(value, "dot");
	if (job->as_sort || job->as_dot)
		return CLI_ANSWERED;
	for (i = 0; i < CLI_COUNT(formats); i++) {
		if (strcmp(value, formats[i].name))
			continue;
		job->format = formats[i].id;
		job->format_given = true;
		return CLI_ANSWERED;
	}
	for (i = 0; i < CLI_COUNT(formats); i++)
		names[i] = formats[i].name;
	return cli_no_name("--format: there is no format", value,
			   strlen(value), names, i);
}

static int set_json(struct cli_job *job, const char *value)
{
	(void)value;
	return set_format(job, "json");
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

static int set_heat_for(struct cli_job *job, const char *value)
{
	const char *wrong = cli_seconds(value, &job->heat_ns);

	if (wrong)
		return cli_usage("--heat-for: '%s' %s", value, wrong);
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
	return cli_no_word("memory page folio", value, strlen(value),
			   "--as: '%s' is not memory, page or folio", value);
}

static int set_layout(struct cli_job *job, const char *value)
{
	job->linear = !strcmp(value, "linear");
	if (job->linear || !strcmp(value, "hilbert"))
		return CLI_ANSWERED;
	return cli_no_word("hilbert linear", value, strlen(value),
			   "--layout: '%s' is not hilbert or linear", value);
}

static int set_bound(const char *name, const char *value, uint64_t *ret)
{
	const char *wrong = cli_number(value, CLI_DECIMAL, ret);

	if (wrong)
		return cli_usage("--%s: '%s' %s", name, value, wrong);
	if (!*ret)
		return cli_usage("--%s: '%s' leaves nothing to list", name,
				 value);
	return CLI_ANSWERED;
}

static int set_top(struct cli_job *job, const char *value)
{
	return set_bound("top", value, &job->top);
}

static int set_limit(struct cli_job *job, const char *value)
{
	return set_bound("limit", value, &job->limit);
}

static int set_page_size(struct cli_job *job, const char *value)
{
	const char *wrong = cli_bytes(value, &job->page_size);

	if (wrong)
		return cli_usage("--page-size: '%s' %s", value, wrong);
	if (job->page_size < 4096 || job->page_size > 1u << 20 ||
	    job->page_size & (job->page_size - 1))
		return cli_usage("--page-size: '%s' is not a size of pages, "
				 "such as 4096 or 64k", value);
	job->open.page_size = job->page_size;
	return CLI_ANSWERED;
}

static int set_hz(struct cli_job *job, const char *value)
{
	const char *wrong = cli_number(value, CLI_DECIMAL, &job->hz);

	if (wrong)
		return cli_usage("--hz: '%s' %s", value, wrong);
	if (!job->hz || job->hz > 1000000)
		return cli_usage("--hz: '%s' is not a number of jiffies in a "
				 "second, such as 250 or 1000", value);
	return CLI_ANSWERED;
}

static int set_rate(struct cli_job *job, const char *value)
{
	const char *wrong = cli_number(value, CLI_DECIMAL, &job->rate);

	if (wrong)
		return cli_usage("--rate: '%s' %s", value, wrong);
	if (!job->rate || job->rate > 1000000)
		return cli_usage("--rate: '%s' is not a number of hits from 1 "
				 "to 1000000", value);
	return CLI_ANSWERED;
}

static int set_buffer(struct cli_job *job, const char *value)
{
	const char *wrong = cli_bytes(value, &job->buffer);

	if (wrong)
		return cli_usage("--buffer: '%s' %s", value, wrong);
	if (!job->buffer || job->buffer > (uint64_t)1 << 40)
		return cli_usage("--buffer: '%s' is not a size of a buffer, "
				 "such as 16M", value);
	return CLI_ANSWERED;
}

static int set_max_size(struct cli_job *job, const char *value)
{
	const char *wrong = cli_bytes(value, &job->max_size);

	if (wrong)
		return cli_usage("--max-size: '%s' %s", value, wrong);
	if (!job->max_size)
		return cli_usage("--max-size: '%s' leaves nothing to record",
				 value);
	return CLI_ANSWERED;
}

static int set_slice(struct cli_job *job, const char *value)
{
	const char *wrong = cli_seconds(value, &job->slice_ns);

	if (wrong)
		return cli_usage("--slice: '%s' %s", value, wrong);
	if (job->slice_ns < 100000000)
		return cli_usage("--slice: '%s' is less than 0.1 seconds",
				 value);
	return CLI_ANSWERED;
}

static int set_seed(struct cli_job *job, const char *value)
{
	const char *wrong = cli_number(value, CLI_DECIMAL, &job->seed);

	if (wrong)
		return cli_usage("--seed: '%s' %s", value, wrong);
	job->seed_given = true;
	return CLI_ANSWERED;
}

static int set_drain(struct cli_job *job, const char *value)
{
	const char *wrong = cli_seconds(value, &job->drain_ns);

	if (wrong)
		return cli_usage("--drain: '%s' %s", value, wrong);
	return CLI_ANSWERED;
}

static int set_frees(struct cli_job *job, const char *value)
{
	const char *wrong = value ? cli_number(value, CLI_DECIMAL,
					       &job->live_objects) : NULL;

	job->frees = true;
	if (wrong)
		return cli_usage("--frees: '%s' %s", value, wrong);
	if (value && (!job->live_objects || job->live_objects > 1u << 24))
		return cli_usage("--frees: '%s' is not a number of live "
				 "objects, from 1 to 16777216", value);
	return CLI_ANSWERED;
}

static int set_for(struct cli_job *job, const char *value)
{
	const char *wrong = cli_seconds(value, &job->for_ns);

	if (wrong)
		return cli_usage("--for: '%s' %s", value, wrong);
	return CLI_ANSWERED;
}

static int set_min_pages(struct cli_job *job, const char *value)
{
	const char *wrong = cli_number(value, CLI_DECIMAL, &job->min_pages);

	if (wrong)
		return cli_usage("--min-pages: '%s' %s", value, wrong);
	return CLI_ANSWERED;
}

static int set_window(struct cli_job *job, const char *value)
{
	const char *wrong = cli_seconds(value, &job->window_ns);

	if (wrong)
		return cli_usage("--window: '%s' %s", value, wrong);
	return CLI_ANSWERED;
}

static int set_where(struct cli_job *job, const char *value)
{
	char both[CLI_QUOTED], quoted[CLI_QUOTED];

	if (job->where) {
		snprintf(both, sizeof(both), "%s and %s", job->where, value);
		return cli_usage("--where: there are two; join them by 'and': "
				 "%s", pagedet_quoted(both, "'EXPR and EXPR'",
						  quoted, sizeof(quoted)));
	}
	job->where = value;
	return CLI_ANSWERED;
}

static int set_stacks(struct cli_job *job, const char *value)
{
	const bool both = value && !strcmp(value, "both");

	job->stacks = true;
	job->user_stacks = both || (value && !strcmp(value, "user"));
	job->kernel_stacks = both || !job->user_stacks;
	if (!value || job->user_stacks || !strcmp(value, "kernel"))
		return CLI_ANSWERED;
	return cli_no_word("kernel user both", value, strlen(value),
			   "--stacks: '%s' is not kernel, user or both", value);
}

static int set_watch(struct cli_job *job, const char *value)
{
	const char *wrong = value ? cli_seconds(value, &job->watch_ns) : NULL;

	job->watching = true;
	if (wrong)
		return cli_usage("--watch: '%s' %s", value, wrong);
	return CLI_ANSWERED;
}

#define TEXT(member) .text_at = offsetof(struct cli_job, member)
#define BOOL(member) .bool_at = offsetof(struct cli_job, member)

static const struct option options[] = {
	{ "from", .often = true, .value = "SOURCE", .set = set_from, .help =
	  "live (default), or a dump, snapshot, kernel log or page_owner "
	  "text; several times for a split dump" },
	{ "backend", .often = true, .value = "LIST", .set = set_backend, .help =
	  "allow only these: procfs page_detective page_owner bpf kcore vmcore "
	  "snapshot log" },
	{ "fields", .often = true, .value = "LIST", TEXT(fields),
	  .only = LISTS | COMPARES, .help =
	  "field names or groups: cheap (default), all, everything, owner "
	  "...; see 'pagedet help fields'" },
	{ "format", .value = "F",
	  .values = "text json csv page_owner_sort dot",
	  .set = set_format, .help =
	  "text (default), json (one object on each line), csv; for "
	  "owners also page_owner_sort, as that program writes; for 'kmap calls' "
	  "also dot" },
	{ "json", .often = true, .set = set_json,
	  .help = "short for --format json" },
	{ "output", 'o', .often = true, .value = "FILE", TEXT(output), .help =
	  "write there, under a temporary name until complete; - is standard "
	  "output" },
	{ "where", .often = true, .value = "EXPR", .set = set_where,
	  .only = LISTS | GROUPS | BOUNDS | COMPARES, .help =
	  "list only pages for which this is true; see 'pagedet help where'" },
	{ "by", .often = true, .value = "LIST", TEXT(by),
	  .only = LISTS | GROUPS, .help =
	  "count pages for each combination of these fields, instead of "
	  "listing" },
	{ "summary", .often = true, BOOL(summary),
	  .only = LISTS | COMPARES, .help =
	  "count instead of listing; by kind, unless --by names other fields" },
	{ "runs", BOOL(runs), .only = LISTS, .help =
	  "fold neighbours with equal answers into one row" },
	{ "undecided", BOOL(undecided), .only = LISTS, .help =
	  "also list pages for which it is not known whether --where is true" },
	{ "strict", BOOL(strict), .only = LISTS | GROUPS | BOUNDS | COMPARES,
	  .help =
	  "exit with status 2 if it is not known for some page whether --where "
	  "is true; without it only if nothing matched, or for a dump" },
	{ "threads", .value = "N", .set = set_threads, .help =
	  "threads to use (default: one for a look-up, all processors for "
	  "more)" },
	{ "deadline", .often = true, .value = "SECONDS", .set = set_deadline,
	  .help =
	  "stop after that time, with what was found so far" },
	{ "heat-for", .value = "SECONDS", .set = set_heat_for, .help =
	  "how long to wait for DAMON if the field heat is wanted (default: "
	  "two of its intervals and a second, at most a minute)" },
	{ "kmap", .value = "FILE", TEXT(kmap), .only = LISTS, .help =
	  "a KMAP of this boot, for the fields reads and writes of the pages "
	  "that its objects are in" },
	{ "progress", .set = set_progress, .help =
	  "show progress on standard error (default: on a terminal, after a "
	  "second)" },
	{ "no-progress", .set = set_no_progress,
	  .help = "never show progress" },
	{ "root", .value = "DIR", TEXT(open.root), .help =
	  "read /proc, /sys and debugfs below DIR" },
	{ "vmlinux", .value = "FILE", TEXT(open.vmlinux), .help =
	  "the kernel's ELF file: symbols and types for a dump that has none" },
	{ "btf", .value = "FILE", TEXT(open.btf), .help =
	  "type information of the kernel" },
	{ "vmcoreinfo", .value = "FILE", TEXT(open.vmcoreinfo), .help =
	  "VMCOREINFO text for a dump that has none" },
	{ "hash-key", .value = "FILE", TEXT(open.hash_key), .help =
	  "use or create this key, so that hashes of several runs can be "
	  "compared" },
	{ "null", '0', BOOL(nul), .commands = "file tree", .help =
	  "each name of the list on standard input ends with a NUL byte" },
	{ "pointers", BOOL(pointers), .help = "show kernel addresses" },
	{ "file", .value = "FILE", TEXT(file), .commands = "mappers explain",
	  .help = "the argument is a file, whatever its name looks like" },
	{ "as", .value = "WHAT", .values = "memory page folio",
	  .set = set_as, .commands = "kaddr", .help =
	  "what an address means: memory, page (its struct page) or folio" },
	{ "stacks", .value = "WHERE", .values = "kernel user both",
	  .optional = true, .set = set_stacks,
	  .commands = "mappers task virt kmem",
	  .help = "show where the threads of these tasks are: in the kernel "
	  "(default), in their program (user), or both; for 'kmem record': "
	  "record the stack of each event; for 'kmem timeline': show it" },
	{ "perf-map", BOOL(perf_map), .commands = "mappers task virt", .help =
	  "name code of compilers at run time in user stacks by the file "
	  "/tmp/perf-PID.map that they write for perf" },
	{ "stop", BOOL(stop), .commands = "mappers task virt", .help =
	  "stop a thread while its user stack is read, if the kernel's memory "
	  "does not show it: the thread runs, or that memory is not readable" },
	{ "sort", .value = "FIELD", TEXT(sort),
	  .only = LISTS | GROUPS | BOUNDS, .help =
	  "sort by FIELD: counts from the largest, names and places upward; "
	  "-FIELD reverses the order. Rows need --top. top, tasks, mappers FILE, "
	  "owners, kmem and kmap take several as KEY,KEY. For owners: pages, "
	  "times, bytes, oldest, newest, ns, keys or a key of --by" },
	{ "top", .value = "N", .set = set_top,
	  .only = LISTS | GROUPS | BOUNDS | COMPARES, .help =
	  "only the first N rows, groups or changes in that order" },
	{ "limit", .often = true, .value = "N", .set = set_limit,
	  .only = LISTS | GROUPS | BOUNDS | COMPARES, .help =
	  "at most N rows, groups or changes; no more rows are read after "
	  "them" },
	{ "all", BOOL(all), .only = LISTS | GROUPS | BOUNDS, .help =
	  "list everything, where a terminal would get a summary or a part" },
	{ "min-pages", .value = "N", .set = set_min_pages,
	  .commands = "owners", .help = "only groups with at least N pages" },
	{ "mixed", BOOL(mixed), .commands = "owners", .help =
	  "count the page blocks that hold pages of another mobility, by node, "
	  "zone and type of block, or by --by stack" },
	{ "window", .value = "SECONDS", .set = set_window,
	  .commands = "owners kmem kmap", .help =
	  "the length of a window for --by window (default: 1), or of a turn of "
	  "'kmap watch' (0.02, at most 0.2)" },
	{ "kallsyms", .value = "FILE", TEXT(kallsyms), .commands = "kmem kmap",
	  .help = "a copy of /proc/kallsyms of the boot that was traced" },
	{ "kallsyms-before", .value = "FILE", TEXT(kallsyms_before),
	  .commands = "kmem kmap",
	  .help = "the same of the trace of --before, or of the earlier file" },
	{ "page-size", .value = "BYTES", .set = set_page_size,
	  .commands = "kmem from-log explain page", .help =
	  "of the kernel that was traced, to count bytes of pages, such as "
	  "4k; of the machine that wrote the log" },
	{ "for", .value = "SECONDS", .set = set_for, .commands = "kmem kmap",
	  .help = "how long 'record' records, or 'kmap watch' watches "
	  "(default: until Ctrl-C)" },
	{ "drain", .value = "SECONDS", .set = set_drain, .commands = "kmap",
	  .help = "how often 'kmap record' takes what the kernel has (default: "
	  "1, or only when memory is short if that stops Memorizer)" },
	{ "follow", .value = "WHO", TEXT(follow), .commands = "kmap", .help =
	  "'kmap record' records only this process and its children: a PID, or "
	  "program, the one that is run" },
	{ "fd", .value = "PID:FD", TEXT(watch_fd), .commands = "kmap",
	  .help = "'kmap watch' watches the struct file behind a descriptor" },
	{ "cache", .value = "NAME", TEXT(watch_cache), .commands = "kmap",
	  .help = "'kmap watch' watches objects of a slab cache, drawn at "
	  "random" },
	{ "at", .value = "OFFSET[+LEN]", TEXT(watch_at), .commands = "kmap",
	  .help = "'kmap watch --cache' watches only these bytes of an object, "
	  "or the word there" },
	{ "sample", BOOL(sample), .commands = "kmap",
	  .help = "'kmap watch --cache' draws other objects after each slice "
	  "of time" },
	{ "slice", .value = "SECONDS", .set = set_slice, .commands = "kmap",
	  .help = "how long '--sample' watches an object (default: 1)" },
	{ "seed", .value = "N", .set = set_seed, .commands = "kmap",
	  .help = "of the draws of 'kmap watch --cache', to repeat them" },
	{ "writes", BOOL(only_writes), .commands = "kmap",
	  .help = "'kmap watch' watches only writes, twice as many words at a "
	  "time" },
	{ "rate", .value = "N", .set = set_rate, .commands = "kmap",
	  .help = "hits a second that 'kmap watch' allows a breakpoint of a "
	  "processor (default: 1000)" },
	{ "pages", BOOL(pages), .commands = "kmem", .help =
	  "record allocations of pages, too" },
	{ "buffer", .value = "BYTES", .set = set_buffer, .commands = "kmem",
	  .help = "of each processor while recording, such as 16M (default: "
	  "8M, or less if that were more than 1/32 of memory)" },
	{ "max-size", .value = "BYTES", .set = set_max_size,
	  .commands = "kmem", .help =
	  "'kmem record' ends when it has so much, such as 2G, before it is "
	  "compressed (default: when the disk is nearly full)" },
	{ "boot", BOOL(boot), .commands = "kmem", .help =
	  "print what the kernel's command line needs to record from boot on" },
	{ "totals", BOOL(totals), .commands = "kmem", .help =
	  "'kmem record' adds up allocations in the kernel, by BPF, instead of "
	  "recording events, and lists groups as 'kmem report' does" },
	{ "frees", .value = "OBJECTS", .optional = true, .set = set_frees,
	  .commands = "kmem", .help =
	  "with --totals: the kernel pairs frees with allocations, too, so "
	  "that freed and live are known; OBJECTS that are live at a time "
	  "have room (default: 524288, or less if that were more than 1/32 of "
	  "memory)" },
	{ "instance", .value = "NAME", TEXT(instance), .commands = "kmem",
	  .help = "instead of TRACE: a trace instance of the running kernel, "
	  "which is not changed" },
	{ "verify", BOOL(verify), .commands = "kmem", .help =
	  "ask the kernel, or the dump of --from, which live objects are in "
	  "use: 'kmem report' and 'kmem record --totals --frees' count them, "
	  "'kmem live' lists these only" },
	{ "before", .value = "FILE", TEXT(before), .commands = "owners kmem",
	  .help = "show what has grown since this text, or trace, was "
	  "written" },
	{ "flame", .value = "FILE", TEXT(flame),
	  .commands = "mappers task virt owners kmem", .help =
	  "write the stacks as a flame graph (SVG)" },
	{ "folded", BOOL(folded),
	  .commands = "mappers task virt owners kmem kmap", .help =
	  "write the stacks as lines that flame graph tools read; for 'kmap "
	  "calls': each call" },
	{ "accesses", BOOL(accesses), .commands = "kmap", .help =
	  "list which code accessed each object, and how often" },
	{ "hz", .value = "N", .set = set_hz, .commands = "kmap", .help =
	  "jiffies in a second of that kernel, to show times" },
	{ "matrix", .value = "FILE", TEXT(matrix), .commands = "kmap", .help =
	  "write the two keys of --by as a table (CSV) or a picture (SVG), by "
	  "the name of the file; the cells are reads and writes, or the number "
	  "of --sort" },
	{ "why", .value = "LIST",
	  .values = "free migrate pinned reclaim charge poison leak",
	  TEXT(why), .commands = "explain", .help =
	  "what to explain: free, migrate, pinned, reclaim, charge, poison, "
	  "leak" },
	{ "alternatives", BOOL(alternatives), .commands = "explain", .help =
	  "list the causes that each finding could be confused with, and what "
	  "excludes them" },
	{ "sent", .value = "HASH", TEXT(sent), .commands = "explain", .help =
	  "the hash of the page as it was sent" },
	{ "peer", .value = "FILE", TEXT(peer), .commands = "explain", .help =
	  "what --save wrote on the other host, about the same pages" },
	{ "save", .value = "FILE", TEXT(save), .commands = "explain", .help =
	  "write the evidence there, and explain nothing" },
	{ "with", .value = "SOURCE", TEXT(with), .commands = "compare", .help =
	  "where the second process is: live, a dump, a snapshot (default: the "
	  "source of --from)" },
	{ "layout", .value = "NAME", .values = "hilbert linear",
	  .set = set_layout, .commands = "map",
	  .help = "hilbert (default): neighbours in memory are neighbours in "
	  "the picture; or linear: row by row" },
	{ "tap", BOOL(tap), .commands = "check", .help =
	  "answer in the Test Anything Protocol" },
	{ "since", .value = "FILE", TEXT(since), .commands = "check", .help =
	  "compare with what 'check mark FILE' saved" },
	{ "watch", .value = "SECONDS", .optional = true, .set = set_watch,
	  .commands = "top scan tasks task virt file tree mount block cgroup "
	  "mappers owners kmem check",
	  .help = "answer again every 2 seconds, or as often as given, until "
	  "Ctrl-C; for 'check stable' how long to watch (default: 1)" },
	{ "text-only", BOOL(text_only), .commands = "from-log kmem", .help =
	  "show what the log or trace says, and ask no other source" },
	{ "details", BOOL(details), .commands = "from-log", .help =
	  "show all fields, not one line for each event" },
	{ "now", BOOL(now), .commands = "from-log kmem", .help =
	  "show what the pages are now, even if the log or trace may be of "
	  "another boot" },
	{ "quiet", 'q', BOOL(quiet), .help =
	  "print only errors on standard error, and not remarks" },
	{ "verbose", 'v', .set = set_verbose, .help =
	  "say which source each answer came from; twice: also what is being "
	  "tried" },
	{ "help", 'h', BOOL(help), .help = "explain the command" },
	{ "version", 'V', BOOL(version), .help =
	  "version, and the optional parts built in" },
};

_Static_assert(CLI_COUNT(options) <= CLI_OPTIONS, "options");

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

static const struct option *option_of(const char *word)
{
	if (word[0] != '-' || !word[1])
		return NULL;
	if (word[1] == '-')
		return find(word + 2, strcspn(word + 2, "="));
	return word[2] ? NULL : find_letter(word[1]);
}

bool cli_options_takes_next(const char *word)
{
	const struct option *o = option_of(word);

	return o && o->value && !o->optional && !strchr(word, '=');
}

/* The help page that explains an option. */
static const char *topic_of(const struct option *o)
{
	if (!strcmp(o->name, "where"))
		return "where";
	return !strcmp(o->name, "fields") || !strcmp(o->name, "by") ?
		"fields" : "options";
}

static int take(struct cli_job *job, const struct option *o, const char *value)
{
	job->given[o - options] = true;
	cli_topic(topic_of(o));
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
	char words[256];
	char *at;

	cli_topic(topic_of(o));
	if (!o->values)
		return cli_usage("--%s lacks its %s", o->name, o->value);
	snprintf(words, sizeof(words), "%s", o->values);
	for (at = words; (at = strchr(at, ' ')); at++)
		*at = '|';
	return cli_usage("--%s lacks its %s: %s", o->name, o->value, words);
}

static int no_option(const struct cli_job *job, const char *name, size_t len)
{
	const char *names[CLI_COUNT(options)];
	size_t i;

	for (i = 0; i < CLI_COUNT(options); i++)
		names[i] = options[i].name;
	return cli_no_option(job, name, len, names, i);
}

/* The value of such an option stands behind a "=". */
static int no_blank(const struct option *o, const char *value)
{
	char instead[80];

	cli_topic(topic_of(o));
	snprintf(instead, sizeof(instead), "try: --%s=%s;", o->name, value);
	return cli_refuse(instead, "--%s: '%s' after a blank is not its value",
			  o->name, value);
}

/*
 * If an option does not take a value, the word after it is not its value. @word
 * may be NULL.
 */
static bool is_seconds(const char *word)
{
	uint64_t ns;

	return word && !cli_seconds(word, &ns);
}

static bool begins_with_digit(const char *word)
{
	return word && *word >= '0' && *word <= '9';
}

/*
 * Parses --name, --name=VALUE, --name VALUE. Advances *i past the used words.
 */
static int parse_long(struct cli_job *job, int argc, char **argv, int *i)
{
	const char *name = argv[*i] + 2;
	size_t len = strcspn(name, "=");
	const struct option *o = find(name, len);

	if (!o)
		return no_option(job, name, len);
	if (name[len] == '=') {
		if (!o->value)
			return cli_usage("--%s takes no value", o->name);
		return take(job, o, name + len + 1);
	}
	if (!strcmp(o->name, "stacks") && argv[*i + 1] &&
	    cli_is_in_list(o->values, argv[*i + 1]))
		return no_blank(o, argv[*i + 1]);
	/* "10s" was meant as the value, so --watch reports the mistake. The
	 * word after --stacks may be a pid. */
	if (!o->value || (o->optional && (o->values ||
					  (!is_seconds(argv[*i + 1]) &&
					   !begins_with_digit(argv[*i + 1])))))
		return take(job, o, NULL);
	if (*i + 1 >= argc)
		return lacks_value(o);
	return take(job, o, argv[++*i]);
}

/* Parses -q, -qv, -oFILE, -o FILE. */
static int parse_letters(struct cli_job *job, int argc, char **argv, int *i)
{
	const char *s;
	int status;

	for (s = argv[*i] + 1; *s; s++) {
		const struct option *o = find_letter(*s);

		if (!o && find(argv[*i] + 1, strcspn(argv[*i] + 1, "=")))
			return cli_usage("there is no option %s; did you mean "
					 "-%s?", argv[*i], argv[*i]);
		if (!o)
			return cli_no_letter(job, *s);
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

/*
 * A suggestion needs all of them, also those that stand behind the mistake.
 */
static void keep_sources(struct cli_job *job, int argc, char **argv)
{
	int i;

	snprintf(job->again, sizeof(job->again), "pagedet");
	snprintf(job->types, sizeof(job->types), "pagedet");
	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		const struct option *o = option_of(argv[i]);
		const char *value = strchr(argv[i], '=');

		if (!o || !o->value || o->optional)
			continue;
		value = value ? value + 1 : i + 1 < argc ? argv[++i] : NULL;
		if (value)
			cli_keep_source(job, o->name, value, o->value);
	}
}

int cli_options_parse(struct cli_job *job, int argc, char **argv)
{
	bool only_words = false;
	int i, status;

	keep_sources(job, argc, argv);
	job->words = argv;
	for (i = 1; i < argc; i++) {
		cli_topic("options");
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
	cli_topic(NULL);
	return CLI_ANSWERED;
}

static int role_of(const struct cli_command *c)
{
	return (c->target ? LISTS : 0) | (c->groups ? GROUPS : 0) |
	       (c->compares ? COMPARES : 0) |
	       (c->bounds ? BOUNDS : 0);
}

/* "'kmem' and 'from-log'" */
static int not_of(const struct option *o)
{
	const char *name = o->commands, *join = "";
	char text[256];
	size_t len, used = 0;

	for (; *name && used < sizeof(text); name += len + (name[len] == ' ')) {
		len = strcspn(name, " ");
		if (used)
			join = name[len] ? ", " : " and ";
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%s'%.*s'", join, (int)len, name);
	}
	return cli_usage("--%s is an option of %s", o->name, text);
}

int cli_options_check(const struct cli_job *job)
{
	const struct cli_command *c = job->command;
	const int role = role_of(c);
	const struct option *o;

	if (job->as_sort && c->run != cli_run_owners)
		return cli_usage("--format page_owner_sort is for 'owners'");
	if (job->as_dot && strcmp(c->name, "kmap"))
		return cli_usage("--format dot is for 'kmap calls'");
	for (o = options; o < options + CLI_COUNT(options); o++) {
		if (!job->given[o - options])
			continue;
		if (o->commands && !cli_is_in_list(o->commands, c->name))
			return not_of(o);
		if (o->only && !(o->only & role))
			return cli_usage("'%s' takes no --%s", c->name,
					 o->name);
	}
	if ((job->runs || job->fields) && (job->by || job->summary) &&
	    !c->compares)
		return cli_usage("--%s lists pages, --%s counts them: not both",
				 job->runs ? "runs" : "fields",
				 job->by ? "by" : "summary");
	return CLI_ANSWERED;
}

void cli_print_wrapped(const char *text, int indent)
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

void cli_options_help(bool all)
{
	size_t i;

	for (i = 0; i < CLI_COUNT(options); i++) {
		const struct option *o = &options[i];
		char name[64];

		if (!all && !o->often)
			continue;
		if (o->letter)
			snprintf(name, sizeof(name), "-%c, --%s %s", o->letter,
				 o->name, o->value ? o->value : "");
		else
			snprintf(name, sizeof(name), o->optional ?
				 "--%s [%s]" : "--%s %s", o->name,
				 o->value ? o->value : "");
		printf("  %-20s", name);
		if (strlen(name) > 20)
			printf("\n%22s", "");
		putchar(' ');
		cli_print_wrapped(o->help, 23);
	}
}

/* --- for shells --- */

bool cli_options_complete(const struct cli_before *before, const char *name,
			  const char *word)
{
	const struct option *o = option_of(word);
	const char *equals = strchr(word, '=');

	if (o && o->value && equals && word[1] == '-') {
		cli_complete_value(before, o->name, o->value, o->values, word,
				   (size_t)(equals - word) + 1);
		return true;
	}
	if (!cli_options_takes_next(name))
		return false;
	o = option_of(name);
	cli_complete_value(before, o->name, o->value, o->values, word, 0);
	return true;
}

void cli_options_offer(const char *word, const char *command)
{
	const struct cli_command *c = command ? cli_command_find(command) :
						NULL;
	const struct option *o;
	char name[64];

	for (o = options; o < options + CLI_COUNT(options); o++) {
		if (c && o->commands && !cli_is_in_list(o->commands, c->name))
			continue;
		if (c && o->only && !(o->only & role_of(c)))
			continue;
		snprintf(name, sizeof(name), "--%s", o->name);
		if (!strncmp(name, word, strlen(word)))
			printf("%s\t%s\n", name, o->help);
	}
}
