/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Suggests what the user meant: commands by their names in other tools,
 * corrections of mistyped names, and the command for a question that has no
 * meaning here.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

#define ALLOCS "kmem record --for 10, then: pagedet kmem report kmem.dat"
#define LEAKS "kmem record --for 10, then: pagedet kmem live kmem.dat " \
	"--verify; of pages: pagedet owners"

struct synonym {
	const char *word;
	const char *command;
};

/*
 * A word typed as a command, and its suggestion, in which words that were typed
 * behind it replace PFN, PID, FILE and so on.
 */
static const struct synonym synonyms[] = {
	{ "addr", "virt PID ADDR" },
	{ "address", "virt PID ADDR" },
	{ "alloc", ALLOCS },
	{ "allocations", ALLOCS },
	{ "allocinfo", "kmem report /proc/allocinfo" },
	{ "allocs", ALLOCS },
	{ "analyse", "scan --summary, or: pagedet explain PFN" },
	{ "analyze", "scan --summary, or: pagedet explain PFN" },
	{ "anon", "scan --where kind=anon" },
	{ "biggest", "top" },
	{ "blame", "kmem blame TRACE PFN" },
	{ "buddyinfo", "scan --where kind=free --by zone,order" },
	{ "buffers", "block DEV" },
	{ "cache", "tree DIR" },
	{ "cached", "file PATH" },
	{ "cat", "page PFN" },
	{ "cg", "cgroup PATH" },
	{ "cgroups", "scan --by cgroup" },
	{ "compaction", "explain PFN --why migrate" },
	{ "compare", "diff A B" },
	{ "config", "doctor" },
	{ "container", "cgroup PATH" },
	{ "containers", "top cgroup" },
	{ "decode", "from-log FILE" },
	{ "device", "block DEV 0" },
	{ "dir", "tree DIR" },
	{ "dirty", "scan --where dirty --by path" },
	{ "docker", "top cgroup" },
	{ "du", "tree DIR" },
	{ "dump", "--from DUMP scan --summary" },
	{ "events", "kmem events TRACE" },
	{ "fincore", "file PATH" },
	{ "find", "scan --where EXPR" },
	{ "folio", "page PFN" },
	{ "frame", "page PFN" },
	{ "free", "scan --summary" },
	{ "fs", "mount PATH" },
	{ "get", "page PFN" },
	{ "graph", "map -o FILE.svg" },
	{ "grep", "scan --where EXPR" },
	{ "heap", "virt PID '[heap]'" },
	{ "heat", "task PID --fields vaddr,heat" },
	{ "hog", "top" },
	{ "hogs", "top" },
	{ "holders", "mappers PFN, or: pagedet explain PFN --why pinned" },
	{ "huge", "scan --where 'flags:thp or kind=hugetlb' --by kind" },
	{ "hugepages", "scan --where kind=hugetlb --by node" },
	{ "hwpoison", "scan --where hwpoison" },
	{ "info", "doctor" },
	{ "kernel", "kaddr ADDR" },
	{ "kmalloc", ALLOCS },
	{ "kmsg", "dmesg" },
	{ "kpageflags", "page PFN" },
	{ "kubernetes", "top cgroup" },
	{ "largest", "top" },
	{ "leak", LEAKS },
	{ "leaks", LEAKS },
	{ "list", "scan" },
	{ "live", "kmem live TRACE" },
	{ "log", "from-log FILE" },
	{ "lookup", "page PFN" },
	{ "ls", "tree DIR" },
	{ "lsof", "mappers FILE" },
	{ "man", "help" },
	{ "maps", "task PID --by vma_name" },
	{ "mem", "scan --summary" },
	{ "meminfo", "scan --summary" },
	{ "memory", "scan --summary" },
	{ "mm", "task PID" },
	{ "numa", "scan --by node,kind" },
	{ "numastat", "scan --by node,kind" },
	{ "oom", "top" },
	{ "owner", "stack PFN" },
	{ "page-cache", "top file" },
	{ "page-types", "scan --by flags" },
	{ "page_owner", "owners" },
	{ "pagecache", "top file" },
	{ "pagemap", "task PID" },
	{ "pages", "page PFN" },
	{ "pagetypeinfo", "scan --by zone,kind" },
	{ "pfn", "page PFN" },
	{ "pgrep", "tasks" },
	{ "physical", "phys ADDR" },
	{ "picture", "map -o FILE.svg" },
	{ "pid", "task PID" },
	{ "pinned", "scan --where 'pincount>0', or: pagedet explain PFN "
		    "--why pinned" },
	{ "pmap", "task PID --by vma_name" },
	{ "podman", "top cgroup" },
	{ "proc", "task PID" },
	{ "process", "task PID" },
	{ "processes", "tasks" },
	{ "ps", "top" },
	{ "pss", "top --sort pss" },
	{ "pte", "virt PID ADDR" },
	{ "query", "scan --where EXPR" },
	{ "record", "kmem record, or: pagedet kmap record" },
	{ "refs", "explain PFN --why pinned" },
	{ "report", "kmem report TRACE" },
	{ "rmap", "mappers PFN" },
	{ "rss", "top --sort rss" },
	{ "save", "snapshot FILE" },
	{ "shared", "scan --where 'mapcount>1' --summary" },
	{ "shm", "scan --where kind=shmem --by path" },
	{ "show", "page PFN" },
	{ "slab", "scan --where kind=slab --by slab_cache" },
	{ "slabinfo", "scan --where kind=slab --by slab_cache" },
	{ "slabtop", "top slab" },
	{ "smaps", "task PID --by vma_name" },
	{ "smem", "top" },
	{ "stacks", "task PID --stacks" },
	{ "stat", "scan --summary" },
	{ "stats", "scan --summary" },
	{ "status", "doctor" },
	{ "summary", "scan --summary" },
	{ "swap", "task PID --where swapped" },
	{ "swapped", "task PID --where swapped" },
	{ "sym", "kaddr SYMBOL" },
	{ "symbol", "kaddr SYMBOL" },
	{ "symbols", "kaddr SYMBOL" },
	{ "thp", "scan --where flags:thp --summary" },
	{ "thread", "task PID" },
	{ "threads", "tasks" },
	{ "timeline", "kmem timeline TRACE PFN" },
	{ "translate", "virt PID ADDR" },
	{ "unknown", "scan --where kind=unknown --summary, or: pagedet "
		     "doctor" },
	{ "usage", "scan --summary" },
	{ "user", "top" },
	{ "users", "mappers PFN" },
	{ "uss", "top --sort uss" },
	{ "verify", "kmem live TRACE --verify" },
	{ "virtual", "virt PID ADDR" },
	{ "vma", "virt PID '[heap]'" },
	{ "vmalloc", "kaddr ADDR" },
	{ "vmcore", "--from VMCORE scan --summary" },
	{ "vmstat", "scan --summary" },
	{ "vtop", "virt PID ADDR" },
	{ "watch", "COMMAND --watch, such as: pagedet top --watch" },
	{ "whatis", "explain PFN" },
	{ "who", "mappers FILE" },
	{ "why", "explain PFN" },
	{ "zones", "scan --by zone" },
};

/* The suggestion if what was typed behind fits in it. */
static const struct synonym abouts[] = {
	{ "analyse", "explain PFN" },
	{ "analyze", "explain PFN" },
	{ "anon", "task PID --where anon" },
	{ "biggest", "task PID" },
	{ "cache", "file PATH" },
	{ "cgroups", "cgroup PATH" },
	{ "dirty", "task PID --where dirty" },
	{ "docker", "cgroup PATH" },
	{ "free", "explain PFN --why free" },
	{ "hog", "task PID" },
	{ "huge", "task PID --where flags:thp" },
	{ "hwpoison", "explain PFN --why poison" },
	{ "info", "task PID" },
	{ "kubernetes", "cgroup PATH" },
	{ "largest", "task PID" },
	{ "leak", "explain PFN --why leak" },
	{ "leaks", "explain PFN --why leak" },
	{ "mem", "task PID" },
	{ "memory", "task PID" },
	{ "numa", "task PID --by node" },
	{ "numastat", "task PID --by node" },
	{ "oom", "task PID" },
	{ "page-cache", "file PATH" },
	{ "page-types", "page PFN" },
	{ "page_owner", "stack PFN" },
	{ "pagecache", "file PATH" },
	{ "pgrep", "task PID" },
	{ "pinned", "explain PFN --why pinned" },
	{ "podman", "cgroup PATH" },
	{ "processes", "task PID" },
	{ "pss", "task PID" },
	{ "pte", "task PID --fields vaddr,pte" },
	{ "rss", "task PID" },
	{ "shared", "task PID --where 'mapcount>1'" },
	{ "smem", "task PID" },
	{ "stat", "task PID" },
	{ "stats", "task PID" },
	{ "status", "task PID" },
	{ "summary", "task PID" },
	{ "thp", "task PID --where flags:thp" },
	{ "threads", "task PID --stacks" },
	{ "unknown", "explain PFN" },
	{ "usage", "task PID" },
	{ "uss", "task PID" },
	{ "zones", "page PFN --fields zone" },
};

#define NAMES 512

/* --- commands --- */

static size_t add_commands(const char **names, size_t n)
{
	const struct cli_command *c;

	for (c = cli_commands; c->name && n < NAMES; c++)
		names[n++] = c->name;
	return n;
}

static const char *find(const struct synonym *list, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(list[i].word, name))
			return list[i].command;
	return NULL;
}

static const char *synonym(const char *name)
{
	return find(synonyms, CLI_COUNT(synonyms), name);
}

bool cli_is_synonym(const char *word)
{
	return synonym(word);
}

/* Refuses the word, and suggests @command. */
static int try_instead(const char *name, const char *command)
{
	char text[CLI_HINT + 8];

	snprintf(text, sizeof(text), "try: %s;", command);
	return cli_refuse(text, "there is no command '%s'", name);
}

/* Sets @ret to the command, with the words that were typed behind @job's.
 * Returns how many of them are in it. */
static int fill(const struct cli_job *job, const char *command,
		char ret[CLI_HINT])
{
	char text[256];

	snprintf(text, sizeof(text), "pagedet %s", command);
	return cli_fill(job, job ? job->words + 1 : NULL,
			job ? job->n_words - 1 : 0, text, ret);
}

/* Suggests what the word means in other programs. */
static int try_synonym(const struct cli_job *job, const char *name,
		       const char *instead)
{
	const char *other = find(abouts, CLI_COUNT(abouts), name);
	char command[CLI_HINT], about[CLI_HINT];
	const int n = fill(job, instead, command);
	const int m = other ? fill(job, other, about) : 0;

	return try_instead(name, m && m >= n ? about : command);
}

/* Suggests a command for what @name names on this machine. */
static int try_thing(const struct cli_job *job, const char *name, bool exact)
{
	char text[CLI_HINT];

	if (!cli_command_for_name(job, name, exact, text))
		return CLI_ANSWERED;
	return cli_refuse(text, "there is no command '%s'", name);
}

int cli_no_command(const struct cli_job *job, const char *name)
{
	const char *names[NAMES], *instead = synonym(name);
	char text[CLI_HINT];
	int i, status;

	/* What a file holds is surer than what a word may mean. */
	if (job && cli_command_for_record(job, name, text))
		return try_instead(name, text);
	if (instead)
		return try_synonym(job, name, instead);
	if (job && (cli_command_for_file(job, name, text) ||
		    cli_command_for_number(job, name, text)))
		return try_instead(name, text);
	status = job ? try_thing(job, name, true) : CLI_ANSWERED;
	if (status)
		return status;
	/* These two are words that main() takes. */
	names[0] = "help";
	names[1] = "version";
	i = pagedet_nearest(name, names, add_commands(names, 2));
	if (i >= 0)
		return cli_usage("there is no command '%s'; did you mean '%s'?",
				 name, names[i]);
	status = job ? try_thing(job, name, false) : CLI_ANSWERED;
	if (status)
		return status;
	if (strchr(name, '/')) {
		cli_commands_of(job, "pagedet file PATH", text);
		return try_instead(name, text);
	}
	return cli_usage("there is no command '%s'", name);
}

/* --- names --- */

void cli_list_names(const char *const *names, size_t n, char *ret, size_t size)
{
	size_t i, at = 0;

	*ret = '\0';
	for (i = 0; i < n && at < size; i++)
		at += (size_t)snprintf(ret + at, size - at, "%s%s",
				       !i ? "" : i + 1 < n ? ", " : " and ",
				       names[i]);
}

int cli_no_name(const char *what, const char *word, size_t len,
		const char *const *names, size_t n)
{
	char copy[64], list[512];
	int near;

	snprintf(copy, sizeof(copy), "%.*s", (int)len, word);
	near = len < sizeof(copy) ? pagedet_nearest(copy, names, n) : -1;
	if (near >= 0)
		return cli_usage("%s '%.*s'; did you mean '%s'?", what,
				 (int)len, word, names[near]);
	cli_list_names(names, n, list, sizeof(list));
	return cli_usage("%s '%.*s'; there is %s", what, (int)len, word, list);
}

int cli_no_word(const char *words, const char *word, size_t len,
		const char *fmt, ...)
{
	char copy[64], list[512], text[CLI_HINT], *rest = list, *name;
	const char *names[64];
	size_t n = 0;
	va_list ap;
	int near;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(list, sizeof(list), "%s", words);
	while (n < CLI_COUNT(names) && (name = strsep(&rest, " ")))
		names[n++] = name;
	snprintf(copy, sizeof(copy), "%.*s", (int)len, word);
	near = len < sizeof(copy) ? pagedet_nearest(copy, names, n) : -1;
	if (near < 0)
		return cli_usage("%s", text);
	return cli_usage("%s; did you mean '%s'?", text, names[near]);
}

int cli_no_key(const char *what, const char *word, size_t len,
	       const char *(*name)(uint32_t key))
{
	const char *names[64];
	uint32_t n = 0;

	while (n < CLI_COUNT(names) && name(n)) {
		names[n] = name(n);
		n++;
	}
	return cli_no_name(what, word, len, names, n);
}

int cli_no_field(const struct cli_job *job, const char *what, const char *word,
		 size_t len)
{
	const char *before = cli_topic("fields");
	const char *names[PAGEDET_FIELDS_MAX];
	char copy[64], instead[CLI_HINT];
	size_t n = 0;
	uint32_t f;
	int near;

	for (f = 0; f < PAGEDET_FIELDS_MAX; f++)
		if (pagedet_field(f))
			names[n++] = pagedet_field(f)->name;
	snprintf(copy, sizeof(copy), "%.*s", (int)len, word);
	near = len < sizeof(copy) ? pagedet_nearest(copy, names, n) : -1;
	if (!strcmp(what, "--by") &&
	    (cli_group_lead(job, copy, instead) ||
	     cli_is_kind_or_flag(copy, instead, sizeof(instead))))
		cli_refuse(instead, "%s: there is no field '%s'", what, copy);
	else if (near >= 0)
		cli_usage("%s: there is no field '%.*s'; did you mean '%s'?",
			  what, (int)len, word, names[near]);
	else
		cli_usage("%s: there is no field '%.*s'", what, (int)len, word);
	cli_topic(before);
	return CLI_USAGE;
}

bool cli_is_in_list(const char *list, const char *word)
{
	const size_t len = strlen(word);
	size_t some;

	for (; *list; list += some + (list[some] == ' ')) {
		some = strcspn(list, " ");
		if (some == len && !memcmp(list, word, len))
			return true;
	}
	return false;
}

/* --- questions without a meaning --- */

static bool has(const uint64_t fields[2], uint32_t f)
{
	return fields[f / 64] >> f % 64 & 1;
}

/*
 * Finds the command whose rows have such fields. --by needs all pages; --where
 * may be about one process.
 */
static const char *who_knows(const struct cli_job *job, const char *option,
			     uint32_t f)
{
	const struct pagedet_field_info *info = pagedet_field(f);
	const bool of_file = job->command->target == PAGEDET_TARGET_FILE;

	if (f == PAGEDET_FIELD_OBJECT)
		return "kaddr ADDR";
	if (!strcmp(info->group, "row"))
		return "from-log FILE";
	if (!strcmp(info->group, "maps"))
		return "mappers PFN";
	if (of_file)
		return "mappers FILE";
	if (!strcmp(info->group, "vma"))
		return "task PID --by vma_name";
	if (strcmp(option, "where") &&
	    (f == PAGEDET_FIELD_PID || f == PAGEDET_FIELD_TGID ||
	     f == PAGEDET_FIELD_COMM))
		return "top";
	return "task PID";
}

void cli_pages_of_tasks(const char *where, char ret[CLI_HINT])
{
	char quoted[CLI_QUOTED];

	snprintf(ret, CLI_HINT, "task all --where %s --by comm",
		 !where ? "EXPR" : pagedet_quoted(where, "EXPR", quoted,
						  sizeof(quoted)));
}

static int refuse(const struct cli_job *job, const char *option, uint32_t f)
{
	const char *instead = who_knows(job, option, f);
	char text[CLI_HINT];

	if (!strcmp(instead, "top") && job->where &&
	    job->command->target == PAGEDET_TARGET_SCAN) {
		cli_pages_of_tasks(job->where, text);
		instead = text;
	}
	return cli_instead(job, instead,
			   "--%s: no page of '%s' has a '%s': it is known only "
			   "for %s", option, job->command->name,
			   pagedet_field(f)->name,
			   !strcmp(pagedet_field(f)->group, "row") ?
			   "what a log says" :
			   f == PAGEDET_FIELD_OBJECT ? "kernel addresses" :
			   "addresses of a process");
}

/* Saved rows and rows of a log may have any field. */
static bool is_kept(struct pagedet *pd)
{
	const uint32_t kept = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_SNAPSHOT) |
			      PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_LOG);
	struct pagedet_info info = { .size = sizeof(info) };

	return pagedet_info(pd, &info) == 0 && info.sources & kept;
}

static int check_by(const struct cli_job *job, const uint64_t can[2])
{
	const char *at = job->by;
	char name[32];
	size_t len;
	int f;

	for (; at && *at; at += len + (at[len] == ',')) {
		len = strcspn(at, ",");
		snprintf(name, sizeof(name), "%.*s", (int)len, at);
		f = len < sizeof(name) ? pagedet_field_by_name(name) : -1;
		/* An unknown field is reported later. */
		if (f >= 0 && !has(can, (uint32_t)f))
			return refuse(job, "by", (uint32_t)f);
	}
	return CLI_ANSWERED;
}

/* Suggests a filter, if a shell can take it. */
static bool try_filter(const char *expr, char *ret, size_t size)
{
	char quoted[CLI_QUOTED];
	const char *word = pagedet_quoted(expr, NULL, quoted, sizeof(quoted));

	if (word)
		snprintf(ret, size, "try: --where %s;", word);
	return word != NULL;
}

static int no_filter(const struct cli_job *job, struct pagedet *pd, int error)
{
	char lead[256], text[320], instead[CLI_HINT], what[512],
	     advice[256];

	cli_topic("where");
	if (error != -EINVAL)
		return cli_fail(pd, error);
	snprintf(what, sizeof(what), "%s", pagedet_error(pd));
	snprintf(advice, sizeof(advice), "%s", pagedet_advice(pd));
	if (cli_rewrite_filter(pd, job->where, lead, sizeof(lead)) &&
	    try_filter(lead, instead, sizeof(instead)))
		return cli_refuse(instead, "%s", what);
	if (cli_where_lead(job, lead, sizeof(lead))) {
		snprintf(text, sizeof(text), "try: %s;", lead);
		cli_commands_of(job, text, instead);
		return cli_refuse(instead, "%s", what);
	}
	return cli_refuse(advice, "%s", what);
}

int cli_check_meaning(const struct cli_job *job, struct pagedet *pd)
{
	uint64_t can[2], asked[2];
	int status, error;
	uint32_t f;

	if (!job->command->target || (!job->by && !job->where))
		return CLI_ANSWERED;
	pagedet_target_fields(job->command->target, can);
	if (is_kept(pd))
		can[0] = can[1] = UINT64_MAX;
	status = check_by(job, can);
	if (status || !job->where)
		return status;
	error = pagedet_filter_fields(pd, job->where, asked);
	if (error)
		return no_filter(job, pd, error);
	if (strchr(job->where, '*') && !job->quiet)
		cli_say("hint: in --where a '*' is a letter; path~TEXT is true "
			"for each path with TEXT in it");
	for (f = 0; f < PAGEDET_FIELDS_MAX; f++)
		if (has(asked, f) && !has(can, f))
			return refuse(job, "where", f);
	return CLI_ANSWERED;
}
