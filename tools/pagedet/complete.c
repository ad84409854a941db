/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Completes command lines for shells. "pagedet complete WORD ...", whose last
 * word is incomplete, prints one candidate per line, followed by a tab and a
 * description. The lines ":files" and ":dirs" let the shell complete paths. The
 * scripts for bash, zsh and fish call it, so that they never offer what the
 * command lacks.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* The word being typed; its first @fixed bytes stay: "--by=", "pfn,". */
struct typed {
	const char *word;
	size_t fixed;
};

static void offer(const struct typed *t, const char *name, const char *what)
{
	const char *begin = t->word + t->fixed;

	if (strncmp(name, begin, strlen(begin)) || strpbrk(name, "\t\n"))
		return;
	printf("%.*s%s%s%s\n", (int)t->fixed, t->word, name,
	       what && *what ? "\t" : "", what ? what : "");
}

/* Offers the words of a list separated by blanks. */
static void offer_list(const struct typed *t, const char *list)
{
	char name[64];
	size_t len;

	for (; *list; list += len + (list[len] == ' ')) {
		len = strcspn(list, " ");
		snprintf(name, sizeof(name), "%.*s", (int)len, list);
		offer(t, name, NULL);
	}
}

static void after_last(struct typed *t, const char *set)
{
	const char *s;

	for (s = t->word + t->fixed; *s; s++)
		if (strchr(set, *s))
			t->fixed = (size_t)(s - t->word) + 1;
}

/* --- values --- */

static void offer_fields(const struct typed *t, const char *behind)
{
	const struct pagedet_field_info *info;
	char name[64];
	uint32_t f;

	for (f = 0; f < PAGEDET_FIELDS_MAX; f++) {
		info = pagedet_field(f);
		if (!info)
			continue;
		snprintf(name, sizeof(name), "%s%s", info->name, behind);
		offer(t, name, info->text);
	}
}

static void offer_groups(const struct typed *t)
{
	const char *last = "";
	uint32_t f, k;

	offer_list(t, "cheap all everything");
	for (f = 0; f < PAGEDET_FIELDS_MAX; f++) {
		if (!pagedet_field(f))
			continue;
		last = pagedet_field(f)->group;
		for (k = 0; k < f; k++)
			if (pagedet_field(k) &&
			    !strcmp(pagedet_field(k)->group, last))
				break;
		if (k == f)
			offer(t, last, "group of fields");
	}
}

static void offer_values(const struct typed *t, uint32_t field,
			 const char *what)
{
	uint64_t v;

	for (v = 0; v < 64; v++)
		if (pagedet_value_name(field, v))
			offer(t, pagedet_value_name(field, v), what);
}

static void offer_sources(const struct typed *t)
{
	uint32_t source;

	for (source = 1; source < 32; source++)
		if (pagedet_source_name(source) &&
		    source != PAGEDET_SOURCE_DERIVED &&
		    source != PAGEDET_SOURCE_TRACE)
			offer(t, pagedet_source_name(source), NULL);
}

/* --- processes, areas, cgroups --- */

static struct pagedet *open_live(void)
{
	struct pagedet *pd = pagedet_new();

	if (pd && pagedet_open(pd, NULL)) {
		pagedet_free(pd);
		pd = NULL;
	}
	return pd;
}

static void offer_tasks(const struct typed *t)
{
	struct pagedet *pd = open_live();
	struct pagedet_task *tasks = NULL;
	uint64_t lost;
	size_t n = 0, i;
	char pid[16];

	offer(t, "self", "pagedet itself");
	if (pd && !cli_tasks(pd, PAGEDET_TASKS_PROCESSES, &tasks, &n, &lost)) {
		for (i = 0; i < n; i++) {
			if (tasks[i].flags & PAGEDET_TASK_KTHREAD)
				continue;
			snprintf(pid, sizeof(pid), "%u", tasks[i].pid);
			offer(t, pid, tasks[i].comm);
			offer(t, tasks[i].comm, pid);
		}
		free(tasks);
	}
	pagedet_free(pd);
}

static int offer_area(void *user, const struct pagedet_area *area)
{
	const char *slash = memrchr(area->name, '/', area->len);
	const size_t head = slash ? (size_t)(slash - area->name) + 1 : 0;
	char name[256];

	snprintf(name, sizeof(name), "%.*s", (int)(area->len - head),
		 area->name + head);
	if (*name)
		offer(user, name, NULL);
	return 0;
}

static void offer_areas(struct typed *t, const char *pid)
{
	struct pagedet *pd = open_live();
	uint64_t n;

	if (pd && !cli_number(pid, CLI_DECIMAL, &n) && n <= INT32_MAX)
		(void)pagedet_areas(pd, (uint32_t)n, offer_area, t);
	else
		offer_list(t, "[heap] [stack]");
	pagedet_free(pd);
}

/*
 * Below the mount point, level by level, like directories. @behind: what
 * follows a name.
 */
static void offer_cgroups(struct typed *t, const char *behind)
{
	const struct cli_job live = { .open = PAGEDET_OPTIONS_INIT };
	const size_t begin = t->fixed;
	char mount[2048], path[4096], name[512];
	struct dirent *entry;
	DIR *dir;

	if (!cli_cgroup_mount(&live, mount, sizeof(mount)))
		return;
	after_last(t, "/");
	snprintf(path, sizeof(path), "%s/%.*s", mount, (int)(t->fixed - begin),
		 t->word + begin);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s%s%s",
			 t->fixed > begin ? "" : "/", entry->d_name, behind);
		offer(t, name, "cgroup");
	}
	if (dir)
		closedir(dir);
}

/* --- filters --- */

/* Completes a filter: a kind after "kind=", otherwise a field, kind or flag. */
static void offer_where(struct typed *t)
{
	const char *begin, *op;
	char name[32];
	int field;

	after_last(t, " (!");
	begin = t->word + t->fixed;
	op = begin + strcspn(begin, "=:<>~");
	if (!*op) {
		offer_fields(t, "");
		offer_values(t, PAGEDET_FIELD_KIND, "kind");
		offer_values(t, PAGEDET_FIELD_FLAGS, "flag");
		return;
	}
	snprintf(name, sizeof(name), "%.*s", (int)(op - begin), begin);
	field = pagedet_field_by_name(name);
	t->fixed = (size_t)(op - t->word) + strspn(op, "=:<>~");
	if (field == PAGEDET_FIELD_MEMCG_PATH)
		offer_cgroups(t, "");
	else if (field >= 0)
		offer_values(t, (uint32_t)field, NULL);
}

/* --- groups and orders --- */

static void offer_names(const struct typed *t, const char *(*name)(uint32_t))
{
	uint32_t key;

	for (key = 0; name(key); key++)
		offer(t, name(key), NULL);
}

/* What the command groups by, if that is not fields of pages. */
static bool offer_group(const struct typed *t, const char *command)
{
	if (!strcmp(command, "kmem"))
		offer_names(t, pagedet_alloc_key_name);
	else if (!strcmp(command, "kmap"))
		offer_names(t, pagedet_kmap_key_name);
	else if (!strcmp(command, "owners"))
		offer_names(t, pagedet_owner_key_name);
	else
		return false;
	return true;
}

static void offer_list_of(const struct typed *t, const char *const *names,
			  size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		offer(t, names[i], NULL);
}

static void offer_keys(const struct typed *t, const struct cli_key_name *key)
{
	for (; key->name; key++)
		offer(t, key->name, NULL);
}

static void offer_sums(const struct typed *t, bool processes)
{
	size_t i;

	for (i = 0; cli_sums[i].name; i++)
		offer(t, cli_sums[i].name, NULL);
	offer_list(t, processes ? "pid comm" : "bytes key");
}

/* What the command sorts by. */
static void offer_orders(const struct typed *t, const struct cli_before *b)
{
	const char *command = b->command ? b->command : "";
	struct pagedet_item item;

	if (!strcmp(command, "tasks")) {
		offer_keys(t, cli_task_keys);
	} else if (!strcmp(command, "mappers") && *b->first &&
		   cli_range(b->first, CLI_PFN, &item)) {
		offer_keys(t, cli_mapper_keys);
	} else if (!strcmp(command, "top")) {
		offer_sums(t, !*b->first || !strcmp(b->first, "process"));
	} else if (offer_group(t, command)) {
		if (!strcmp(command, "owners"))
			offer_list_of(t, cli_owner_sums, CLI_OWNER_SUMS);
		else if (!strcmp(command, "kmem"))
			offer_list_of(t, cli_alloc_sums, CLI_ALLOC_SUMS);
		else
			offer_list(t, "bytes reads writes");
	} else {
		offer_fields(t, "");
		offer(t, "bytes", "the same as pages");
	}
}

/* --- by position --- */

static void offer_commands(const struct typed *t)
{
	const struct cli_command *c;

	for (c = cli_commands; c->name; c++)
		offer(t, c->name, c->summary);
	offer(t, "help", "explain a command");
}

void cli_complete_value(const struct cli_before *before, const char *option,
			const char *value, const char *values,
			const char *word, size_t fixed)
{
	struct typed t = { word, fixed };

	if (values) {
		after_last(&t, ",");
		offer_list(&t, values);
	} else if (!strcmp(option, "where")) {
		offer_where(&t);
	} else if (!strcmp(option, "fields")) {
		after_last(&t, ",");
		offer_fields(&t, "");
		offer_groups(&t);
	} else if (!strcmp(option, "by")) {
		after_last(&t, ",");
		if (!before->command || !offer_group(&t, before->command))
			offer_fields(&t, "");
	} else if (!strcmp(option, "sort")) {
		after_last(&t, ",-");
		offer_orders(&t, before);
	} else if (!strcmp(option, "backend")) {
		after_last(&t, ",");
		offer_sources(&t);
	} else if (!strcmp(option, "from") || !strcmp(option, "with")) {
		offer(&t, "live", "the running kernel");
		puts(":files");
	} else if (!strncmp(value, "FILE", 4)) {
		puts(":files");
	} else if (!strcmp(value, "DIR")) {
		puts(":dirs");
	}
}

/* Words that are the first argument of a command. */
static const char *const firsts[][2] = {
	{ "explain", "page virt mismatch crash" },
	{ "kmap", "report diff calls watch record on off clear stats" },
	{ "kmem", "record report live events blame check diff timeline" },
	{ "top", "process cgroup file slab kind alloc" },
};

static void offer_words(const struct typed *t, const struct cli_before *b)
{
	const bool kmap = !strcmp(b->command, "kmap");
	size_t i;

	for (i = 0; i < CLI_COUNT(firsts) && !b->n; i++)
		if (!strcmp(b->command, firsts[i][0]))
			offer_list(t, firsts[i][1]);
	if (kmap && (!strcmp(b->last, "on") || !strcmp(b->last, "off")))
		offer_list(t, "objects accesses live calls frames");
	if (kmap && !strcmp(b->last, "clear"))
		offer_list(t, "dead printed calls");
}

/* Offers the next argument of the command. */
static void offer_argument(struct typed *t, const struct cli_before *b)
{
	const char *command = b->command;
	const struct cli_command *c = cli_command_find(command);

	if (!strcmp(command, "help")) {
		offer_commands(t);
		offer_list(t, "fields kinds flags notes where options");
		return;
	}
	if (!c)
		return;
	if (!strcmp(command, "check") && !b->n) {
		offer_list(t, "clean absent disk committed stable mark errors "
			   "unmark");
		return;
	}
	offer_words(t, b);
	if (!strcmp(command, "virt") && b->n)
		offer_areas(t, b->last);
	else if (c->target == PAGEDET_TARGET_VIRT ||
		 c->target == PAGEDET_TARGET_TASK ||
		 (!strcmp(command, "compare") && b->n % 2 == 0))
		offer_tasks(t);
	else if (c->target == PAGEDET_TARGET_CGROUP)
		offer_cgroups(t, "/");
	else if (!strcmp(command, "tree"))
		puts(":dirs");
	else if (!strcmp(command, "snapshot") && b->n)
		offer_commands(t);
	else if (strstr(c->arguments, "PATH") || strstr(c->arguments, "FILE") ||
		 strstr(c->arguments, "DEV") || strstr(c->arguments, "A B") ||
		 (!strcmp(command, "kmem") && b->n))
		puts(":files");
	if (!strcmp(command, "diff"))
		offer(t, "live", "the running kernel");
}

/* Takes the words without options and their values. */
static void take_before(struct cli_before *b, int n, char **words)
{
	int i;

	*b = (struct cli_before){ NULL, "", "", 0 };
	for (i = 0; i < n; i++) {
		if (words[i][0] == '-') {
			i += cli_options_takes_next(words[i]);
		} else if (!b->command) {
			b->command = words[i];
		} else {
			b->last = words[i];
			if (!b->n++)
				b->first = words[i];
		}
	}
}

int cli_complete(int n, char **words)
{
	struct typed t = { n ? words[n - 1] : "", 0 };
	struct cli_before b;

	take_before(&b, n - 1, words);
	if (n > 1 && cli_options_complete(&b, words[n - 2], t.word))
		return cli_flush_stdout();
	if (t.word[0] == '-')
		cli_options_offer(t.word, b.command);
	else if (!b.command)
		offer_commands(&t);
	else
		offer_argument(&t, &b);
	return cli_flush_stdout();
}
