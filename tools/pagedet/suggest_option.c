/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Suggests what the user meant by an unknown option, or by a flag in place of a
 * field. The option may be one of another program. A value may stand in place
 * of a name.
 */
#include <stdio.h>
#include <string.h>

#include "cli.h"

struct lead {
	const char *word;
	const char *instead;	/* follows "try: " */
};

static const struct lead options[] = {
	{ "arrow", "--format arrow" },
	{ "asc", "--sort -FIELD, which begins with the smallest amount" },
	{ "ascending", "--sort -FIELD, which begins with the smallest amount" },
	{ "cgroup", "pagedet cgroup PATH, or --by cgroup" },
	{ "count", "--top N" },
	{ "csv", "--format csv" },
	{ "desc", "--sort FIELD, or --sort -FIELD for the other order" },
	{ "descending", "--sort FIELD, or --sort -FIELD for the other order" },
	{ "filter", "--where EXPR" },
	{ "follow", "--watch" },
	{ "group", "--by LIST" },
	{ "head", "--top N" },
	{ "human", "--summary" },
	{ "interval", "--watch SECONDS" },
	{ "input", "--from FILE" },
	{ "lines", "--top N" },
	{ "max", "--top N" },
	{ "number", "--top N" },
	{ "path", "pagedet file PATH" },
	{ "pfn", "pagedet page PFN" },
	{ "pid", "pagedet task PID" },
	{ "process", "pagedet task PID" },
	{ "reverse", "--sort -FIELD, which reverses the order" },
	{ "total", "--summary" },
	{ "user", "pagedet top" },
	{ "why-free", "pagedet explain PFN --why free" },
	{ "why-leaked", "pagedet explain PFN --why leak" },
	{ "why-not-freed", "pagedet explain PFN" },
	{ "why-not-free", "pagedet explain PFN" },
	{ "why-pinned", "pagedet explain PFN --why pinned" },
};

/* Words behind --by. */
static const struct lead groups[] = {
	{ "owner", "--by cgroup, or pagedet top; who allocated: pagedet "
		   "owners" },
	{ "owners", "--by cgroup, or pagedet top; who allocated: pagedet "
		    "owners" },
	{ "size", "--by order: a folio has 2^order pages" },
	{ "stack", "pagedet owners --by stack" },
	{ "user", "--by cgroup, or pagedet top" },
	{ "users", "--by cgroup, or pagedet top" },
};

static const struct lead letters[] = {
	{ "a", "--all" }, { "b", "--by LIST" }, { "c", "--format csv" },
	{ "d", "--watch SECONDS" }, { "f", "--format csv, or --from FILE" },
	{ "g", "--by LIST" }, { "i", "--from FILE" }, { "j", "--json" },
	{ "l", "--limit N" }, { "m", "--summary" }, { "n", "--top N" },
	{ "p", "pagedet task PID" }, { "r", "--from FILE" },
	{ "s", "--summary, or --sort FIELD" }, { "t", "--top N" },
	{ "u", "pagedet top" }, { "w", "--where EXPR" },
};

/* Words without a meaning in --where. */
static const struct lead filters[] = {
	{ "bytes", "--where 'order>=9': a page has one size, and a folio an "
		   "order" },
	{ "cached", "--where kind=file" },
	{ "clean", "--where 'not dirty'" },
	{ "heap", "pagedet task PID --where 'vma_name~heap'" },
	{ "pinned", "--where 'pincount>0', or pagedet explain PFN --why "
		    "pinned" },
	{ "poisoned", "--where hwpoison" },
	{ "shared", "--where 'mapcount>1'" },
	{ "size", "--where 'order>=9': a page has one size, and a folio an "
		  "order" },
	{ "stack", "pagedet task PID --where 'vma_name~stack'" },
	{ "swap", "pagedet task PID --where swapped" },
	{ "swapped", "pagedet task PID --where swapped" },
	{ "unused", "--where kind=free" },
	{ "used", "--where 'kind!=free'" },
};

/* The same for objects and events of a trace. */
static const struct lead traced[] = {
	{ "address", "--where 'vaddr=ADDR'" },
	{ "bytes", "--where 'alloc_bytes>=N'" },
	{ "bytes_alloc", "--where 'alloc_bytes>=N'" },
	{ "bytes_req", "--where 'alloc_requested>=N'" },
	{ "cache", "--where 'slab_cache=NAME'" },
	{ "comm", "--where 'alloc_comm=NAME'" },
	{ "cpu", "--where 'alloc_cpu=N'" },
	{ "function", "--where 'alloc_site~NAME'" },
	{ "module", "--where 'alloc_site~NAME'" },
	{ "pid", "--where 'alloc_pid=N'" },
	{ "requested", "--where 'alloc_requested>=N'" },
	{ "site", "--where 'alloc_site~NAME'" },
	{ "size", "--where 'alloc_bytes>=N'" },
	{ "tid", "--where 'alloc_pid=N'" },
};

static const char *find(const struct lead *leads, size_t n, const char *word)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(leads[i].word, word))
			return leads[i].instead;
	return NULL;
}

bool cli_is_value(uint32_t field, const char *word)
{
	const char *name;
	uint64_t value;

	for (value = 0; value < 64; value++) {
		name = pagedet_value_name(field, value);
		if (name && !strcmp(name, word))
			return true;
	}
	return false;
}

/* --- options --- */

int cli_no_option(const struct cli_job *job, const char *name, size_t len,
		  const char *const *names, size_t n)
{
	char copy[64], instead[192], commands[CLI_HINT];
	const int more = job->n_words - 1;
	const char *lead;
	int near;

	if (len >= sizeof(copy))
		return cli_usage("there is no option --%.*s", (int)len, name);
	snprintf(copy, sizeof(copy), "%.*s", (int)len, name);
	lead = find(options, CLI_COUNT(options), copy);
	near = lead || cli_is_sum(copy) ? -1 :
	       pagedet_nearest(copy, names, n);
	if (near >= 0)
		return cli_usage("there is no option --%s; did you mean "
				 "--%s?", copy, names[near]);
	if (lead)
		snprintf(instead, sizeof(instead), "try: %s;", lead);
	else if (cli_is_value(PAGEDET_FIELD_FLAGS, copy) ||
		 cli_is_value(PAGEDET_FIELD_KIND, copy))
		snprintf(instead, sizeof(instead), "try: --where %s;", copy);
	else if (cli_is_sum(copy))
		snprintf(instead, sizeof(instead), "try: pagedet top --sort "
			 "%s;", copy);
	else if (pagedet_field_by_name(copy) >= 0)
		snprintf(instead, sizeof(instead),
			 "try: --by %s, or --where '%s=VALUE';", copy, copy);
	else
		return cli_usage("there is no option --%s", copy);
	cli_fill(job, job->words + 1, more > 0 ? more : 0, instead, commands);
	return cli_refuse(commands, "there is no option --%s", copy);
}

int cli_no_letter(const struct cli_job *job, char letter)
{
	const char word[2] = { letter, '\0' };
	const char *lead = find(letters, CLI_COUNT(letters), word);
	char instead[128], commands[CLI_HINT];

	if (letter >= '0' && letter <= '9')
		return cli_refuse("numbers have no sign, and --top N shows N "
				  "rows;", "there is no option -%c", letter);
	if (!lead)
		return cli_usage("there is no option -%c", letter);
	snprintf(instead, sizeof(instead), "try: %s;", lead);
	cli_commands_of(job, instead, commands);
	return cli_refuse(commands, "there is no option -%c", letter);
}

/* --- values in place of fields --- */

bool cli_group_lead(const struct cli_job *job, const char *word,
		    char instead[CLI_HINT])
{
	const char *lead = find(groups, CLI_COUNT(groups), word);
	char text[256];

	if (!lead)
		return false;
	snprintf(text, sizeof(text), "try: %s;", lead);
	cli_commands_of(job, text, instead);
	return true;
}

bool cli_is_kind_or_flag(const char *word, char *instead, size_t size)
{
	const bool kind = cli_is_value(PAGEDET_FIELD_KIND, word);

	if (!kind && !cli_is_value(PAGEDET_FIELD_FLAGS, word))
		return false;
	snprintf(instead, size, "try: --by %s, or --where %s;",
		 kind ? "kind" : "flags", word);
	return true;
}

static const char *lead_of(const char *word)
{
	return find(filters, CLI_COUNT(filters), word);
}

static const char *lead_of_traced(const char *word)
{
	return find(traced, CLI_COUNT(traced), word);
}

/* A field as if it were true or false: "path", "not path". */
static bool is_field_alone(const char *expr, char *instead, size_t size)
{
	const bool negated = !strncmp(expr, "not ", 4);
	const char *field = expr + (negated ? 4 : 0);

	if (pagedet_field_by_name(field) < 0)
		return false;
	snprintf(instead, size, "--where '%s%snone'", field,
		 negated ? "=" : "!=");
	return true;
}

/* Objects and events are not what the suggestions are about. */
static bool has_pages(const struct cli_job *job)
{
	return job->command->target != PAGEDET_TARGET_OBJECTS &&
	       job->command->target != PAGEDET_TARGET_EVENTS;
}

bool cli_where_lead(const struct cli_job *job, char *instead, size_t size)
{
	const char *lead = cli_filter_lead(job->where, has_pages(job) ?
					   lead_of : lead_of_traced);

	if (!lead)
		return is_field_alone(job->where, instead, size);
	snprintf(instead, size, "%s", lead);
	return true;
}
