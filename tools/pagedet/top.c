/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The command top: the largest users of memory. This file is about processes,
 * and top_pages.c is about everything else.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

const struct cli_sum cli_sums[] = {
	{ "pss", PAGEDET_SUM_PSS }, { "uss", PAGEDET_SUM_USS },
	{ "rss", PAGEDET_SUM_RSS }, { "shared", PAGEDET_SUM_SHARED },
	{ "dirty", PAGEDET_SUM_DIRTY }, { "swap", PAGEDET_SUM_SWAP },
	{ "hugetlb", PAGEDET_SUM_HUGETLB }, { NULL, 0 },
};

bool cli_is_sum(const char *name)
{
	size_t i;

	for (i = 0; cli_sums[i].name; i++)
		if (!strcmp(cli_sums[i].name, name))
			return true;
	return false;
}

/* The order that the output format promises. */
static const uint32_t json_order[] = {
	PAGEDET_SUM_RSS, PAGEDET_SUM_PSS, PAGEDET_SUM_USS, PAGEDET_SUM_SWAP,
	PAGEDET_SUM_DIRTY, PAGEDET_SUM_SHARED, PAGEDET_SUM_HUGETLB,
};

/* --- arguments --- */

static const struct top_kind {
	const char *name;
	uint32_t key;		/* PAGEDET_FIELD_* */
} kinds[] = {
	{ "process", PAGEDET_FIELD_PID },
	{ "cgroup", PAGEDET_FIELD_MEMCG_PATH },
	{ "file", PAGEDET_FIELD_PATH }, { "slab", PAGEDET_FIELD_SLAB_CACHE },
	{ "kind", PAGEDET_FIELD_KIND },
	/* Only a name here, which cli_wrap_top() has taken. */
	{ "alloc", PAGEDET_FIELD_ALLOC_STACK },
};

static int find_sort(const struct cli_job *job, struct cli_table *t)
{
	struct cli_key_name names[PAGEDET_SUMS + 8] = { { NULL, 0 } };
	size_t n = 0, i;

	names[n++] = (struct cli_key_name){ t->processes ? "pid" : "key",
					    t->processes ? CLI_BY_PID :
							   CLI_BY_NAME };
	names[n++] = (struct cli_key_name){ t->processes ? "comm" : "bytes",
					    t->processes ? CLI_BY_NAME :
							   CLI_BY_BYTES };
	for (i = 0; cli_sums[i].name; i++)
		names[n++] = (struct cli_key_name){ cli_sums[i].name,
						    (int)cli_sums[i].sum };
	if (!t->processes) {
		names[n++] = (struct cli_key_name){ "size", CLI_BY_BYTES };
		names[n++] = (struct cli_key_name){
			pagedet_field(t->key)->name, CLI_BY_NAME };
	}
	t->sort.n = 1;
	t->sort.key[0] = t->processes ? CLI_BY_PSS : CLI_BY_BYTES;
	t->sort.reverse[0] = false;
	return job->sort ? cli_keys_parse(job->sort, "top", names, &t->sort) :
			   CLI_ANSWERED;
}

/*
 * The number may be a process, or a number of lines. If it is in the thousands,
 * it is unlikely to be a number of lines.
 */
static int no_number(const struct cli_job *job, const char *word)
{
	char instead[CLI_HINT];

	if (strlen(word) > 3)
		snprintf(instead, sizeof(instead), "task %.20s", word);
	else
		snprintf(instead, sizeof(instead), "top --top N, or: %s task "
			 "%s", job->again, word);
	return cli_instead(job, instead, "top: memory cannot be ranked by '%s'",
			   word);
}

/* Words for processes, and columns. */
static int no_kind(const struct cli_job *job, const char *word,
		   const char *const *names)
{
	static const char *const processes[] = {
		"mem", "memory", "pid", "pids", "process", "processes", "proc",
		"ps", "task", "tasks", "user", "users",
	};
	char instead[CLI_HINT];
	size_t i;

	if (cli_is_value(PAGEDET_FIELD_KIND, word)) {
		cli_pages_of_tasks(word, instead);
		return cli_instead(job, instead, "top: memory cannot be ranked "
				   "by '%s'", word);
	}
	for (i = 0; i < CLI_COUNT(processes); i++)
		if (!strcmp(word, processes[i]))
			return cli_instead(job, "top", "top: memory cannot be "
					   "ranked by '%s'", word);
	for (i = 0; cli_sums[i].name; i++) {
		if (strcmp(word, cli_sums[i].name))
			continue;
		snprintf(instead, sizeof(instead), "top --sort %s", word);
		return cli_instead(job, instead, "top: memory cannot be ranked "
				   "by '%s'", word);
	}
	return cli_no_name("top: there is no ranking by", word, strlen(word),
			   names, CLI_COUNT(kinds));
}

static int find_kind(const struct cli_job *job, struct cli_table *t)
{
	const char *word = job->n_words ? job->words[0] : "process";
	const char *names[CLI_COUNT(kinds)];
	size_t i;

	for (i = 0; i < CLI_COUNT(kinds); i++) {
		names[i] = kinds[i].name;
		if (strcmp(word, kinds[i].name))
			continue;
		t->key = kinds[i].key;
		t->processes = !i;
		return find_sort(job, t);
	}
	if (strspn(word, "0123456789") == strlen(word))
		return no_number(job, word);
	return no_kind(job, word, names);
}

static int no_where(const struct cli_job *job)
{
	char instead[CLI_HINT];

	cli_pages_of_tasks(job->where, instead);
	return cli_instead(job, instead, "top process takes no --where and no "
			   "--strict: the kernel sums the pages");
}

int cli_parse_top(struct cli_job *job)
{
	struct cli_table t = { 0 };
	int status;

	if (job->format == PAGEDET_FORMAT_ARROW)
		return cli_usage("top writes text, json or csv");
	status = find_kind(job, &t);
	if (!status && t.processes && (job->where || job->strict))
		return no_where(job);
	return status;
}

/* --- order --- */

/* The sum that gives an entry its place. Where PSS is not known, RSS is. */
static int place_of(const struct cli_entry *e, int sum)
{
	return sum == CLI_BY_PSS && e->state[sum] != PAGEDET_HAVE ?
	       PAGEDET_SUM_RSS : sum;
}

/* Unknown sums come last in either order. */
static int compare_sums(const struct cli_entry *a, const struct cli_entry *b,
			int sum, bool reverse)
{
	const int i = place_of(a, sum), j = place_of(b, sum);
	const bool x = a->state[i] == PAGEDET_HAVE;
	const bool y = b->state[j] == PAGEDET_HAVE;
	int order;

	if (!x || !y)
		return y - x;
	order = (b->value[j] > a->value[i]) - (b->value[j] < a->value[i]);
	return reverse ? -order : order;
}

static int compare_names(const struct cli_entry *a, const struct cli_entry *b)
{
	const int order = strcmp(a->name ? a->name : "",
				 b->name ? b->name : "");

	return order ? order : (a->pid > b->pid) - (a->pid < b->pid);
}

static int compare_by(const void *one, const void *two, int sum, bool reverse)
{
	const struct cli_entry *a = one, *b = two;
	int order;

	if (sum >= 0)
		return compare_sums(a, b, sum, reverse);
	if (sum == CLI_BY_PID)
		order = (a->pid > b->pid) - (a->pid < b->pid);
	else if (sum == CLI_BY_NAME)
		order = strcmp(a->name ? a->name : "", b->name ? b->name : "");
	else
		order = (b->bytes > a->bytes) - (b->bytes < a->bytes);
	return reverse ? -order : order;
}

static int compare(const void *one, const void *two, void *data)
{
	const struct cli_table *t = data;
	const int order = cli_keys_compare(&t->sort, one, two, compare_by);

	return order ? order : compare_names(one, two);
}

/* --- processes --- */

static int add_process(struct cli_table *t, const struct pagedet_usage *u)
{
	struct cli_entry *e = cli_table_add(t, u->comm);

	if (!e)
		return CLI_IO;
	e->pid = u->pid;
	e->estimated = u->estimated;
	e->same_as = u->same_as;
	e->same_as_state = u->same_as_state;
	memcpy(e->value, u->value, sizeof(e->value));
	memcpy(e->state, u->state, sizeof(e->state));
	return CLI_ANSWERED;
}

struct waiting {
	struct cli_progress line;
	struct pagedet_query shown;
};

/* Called often, so that a signal is noticed soon. */
static int on_progress(void *user, const struct pagedet_progress *now)
{
	struct waiting *w = user;

	if (w->shown.progress)
		w->shown.progress(w->shown.progress_user, now);
	return cli_interrupted();
}

int cli_usage_of(const struct cli_job *job, struct pagedet *pd,
		 const uint32_t *pids, size_t n, struct cli_table *t,
		 struct pagedet_usage_info *info)
{
	struct pagedet_usage_options o = PAGEDET_USAGE_OPTIONS_INIT;
	struct waiting w = { .shown = PAGEDET_QUERY_INIT };
	struct pagedet_usages *usages;
	struct pagedet_usage u;
	int error, status = CLI_ANSWERED;

	cli_progress_start(&w.line, job, STDOUT_FILENO, &w.shown);
	o.pids = pids;
	o.n_pids = n;
	o.threads = cli_threads(job);
	o.deadline_ns = cli_deadline_left(job);
	o.progress = on_progress;
	o.progress_user = &w;
	error = pagedet_usage(pd, &o, &usages);
	cli_progress_end(&w.line);
	if (error)
		return cli_fail(pd, error);
	snprintf(t->advice, sizeof(t->advice), "%s", pagedet_advice(pd));
	memset(&u, 0, sizeof(u));
	u.size = sizeof(u);
	while (!status && pagedet_usage_next(usages, &u) > 0)
		status = add_process(t, &u);
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	pagedet_usage_info(usages, info);
	pagedet_usage_free(usages);
	return status;
}

/* Names the biggest process that may not be read: another order, or a limit,
 * may hide it. */
static void name_denied(const struct cli_table *t)
{
	const struct cli_entry *found = NULL;
	char size[32];
	size_t i;

	for (i = 0; i < t->n; i++) {
		const struct cli_entry *e = &t->entries[i];

		if (e->state[PAGEDET_SUM_PSS] == PAGEDET_NO_ACCESS &&
		    e->state[PAGEDET_SUM_RSS] == PAGEDET_HAVE &&
		    (!found || e->value[PAGEDET_SUM_RSS] >
			       found->value[PAGEDET_SUM_RSS]))
			found = e;
	}
	if (!found)
		return;
	cli_size(size, sizeof(size), found->value[PAGEDET_SUM_RSS]);
	cli_say("the biggest of them is %" PRIu32 " (%s): rss ~%s", found->pid,
		found->name ? found->name : "?", size);
}

int cli_usage_tell(const struct cli_job *job, const struct cli_table *t,
		   const struct pagedet_usage_info *info)
{
	const char *s = info->denied == 1 ? "" : "es";

	if (info->complete)
		return CLI_ANSWERED;
	if (job->quiet)
		return CLI_UNSURE;
	if (info->denied)
		cli_say("%" PRIu64 " process%s may not be read: only RSS and "
			"swap are known", info->denied, s);
	if (info->denied && t->n > 1)
		name_denied(t);
	if (info->denied && !job->watching)
		cli_say("hint: %s", t->advice);
	if (info->damaged)
		cli_say("%" PRIu64 " of the processes %s: their sums are too "
			"small", info->damaged, job->open.n_files ||
			job->open.root ? "are damaged" :
			"changed while they were read");
	if (info->stopped)
		cli_say("%s: not every process was read",
			info->stopped == ETIMEDOUT ?
			"the deadline passed first" : "interrupted");
	return CLI_UNSURE;
}

/* --- output --- */

static void put_missing(FILE *f, const struct cli_table *t,
			const struct cli_entry *e)
{
	bool some = false;
	size_t i;

	if (!e->name && e->name_state) {
		fprintf(f, ",\"missing\":{\"%s\":\"%s\"",
			pagedet_field(t->key)->name,
			pagedet_state_name(e->name_state));
		some = true;
	}

	for (i = 0; i < CLI_COUNT(json_order); i++) {
		const uint32_t sum = json_order[i];
		const uint32_t state = e->state[sum];

		if (state == PAGEDET_HAVE || state == PAGEDET_NONE)
			continue;
		fprintf(f, "%s\"%s\":\"%s\"", some ? "," : ",\"missing\":{",
			cli_sum_name(sum), pagedet_state_name(state));
		some = true;
	}
	if (e->same_as_state > PAGEDET_NONE) {
		fprintf(f, "%s\"same_as\":\"%s\"", some ? "," :
			",\"missing\":{",
			pagedet_state_name(e->same_as_state));
		some = true;
	}
	if (some)
		fputc('}', f);
}

static void put_estimated(FILE *f, const struct cli_entry *e)
{
	bool some = false;
	size_t i;

	for (i = 0; i < CLI_COUNT(json_order); i++) {
		const uint32_t sum = json_order[i];

		if (!(e->estimated >> sum & 1) ||
		    e->state[sum] != PAGEDET_HAVE)
			continue;
		fprintf(f, "%s\"%s\"", some ? "," : ",\"estimated\":[",
			cli_sum_name(sum));
		some = true;
	}
	if (some)
		fputc(']', f);
}

static void put_json(FILE *f, const struct cli_table *t,
		     const struct cli_entry *e)
{
	const char *key = t->processes ? "comm" : pagedet_field(t->key)->name;
	size_t i;

	fputc('{', f);
	if (t->processes)
		fprintf(f, "\"pid\":%" PRIu32 ",", e->pid);
	if (e->name)
		cli_json_member(f, key, e->name, strlen(e->name));
	else
		fprintf(f, "\"%s\":null", key);
	if (!t->processes)
		fprintf(f, ",\"bytes\":%" PRIu64, e->bytes);
	for (i = 0; i < CLI_COUNT(json_order); i++) {
		const uint32_t sum = json_order[i];

		if (e->state[sum] == PAGEDET_HAVE)
			fprintf(f, ",\"%s\":%" PRIu64, cli_sum_name(sum),
				e->value[sum]);
		else
			fprintf(f, ",\"%s\":null", cli_sum_name(sum));
	}
	if (e->same_as_state == PAGEDET_HAVE)
		fprintf(f, ",\"same_as\":%" PRIu32, e->same_as);
	put_estimated(f, e);
	put_missing(f, t, e);
	fputs("}\n", f);
}

static void put_csv(FILE *f, const struct cli_table *t,
		    const struct cli_entry *e)
{
	size_t i;

	if (t->processes)
		fprintf(f, "%" PRIu32 ",", e->pid);
	cli_csv_text(f, e->name ? e->name : "");
	if (!t->processes)
		fprintf(f, ",%" PRIu64, e->bytes);
	for (i = 0; i < CLI_COUNT(json_order); i++) {
		const uint32_t sum = json_order[i];

		if (e->state[sum] == PAGEDET_HAVE)
			fprintf(f, ",%" PRIu64, e->value[sum]);
		else
			fprintf(f, ",%s", e->state[sum] == PAGEDET_NONE ? "" :
				"?");
	}
	if (t->processes && e->same_as_state == PAGEDET_HAVE)
		fprintf(f, ",%" PRIu32, e->same_as);
	else if (t->processes)
		fputs(e->same_as_state == PAGEDET_NONE ? "," : ",?", f);
	fputc('\n', f);
}

static void put_csv_head(FILE *f, const struct cli_table *t)
{
	size_t i;

	fprintf(f, "%s%s", t->processes ? "pid,comm" :
		pagedet_field(t->key)->name, t->processes ? "" : ",bytes");
	for (i = 0; i < CLI_COUNT(json_order); i++)
		fprintf(f, ",%s", cli_sum_name(json_order[i]));
	fputs(t->processes ? ",same_as\n" : "\n", f);
}

/* Sorts, applies limits and writes. */
static int put_table(const struct cli_job *job, struct cli_table *t, int status)
{
	const uint64_t bound = cli_bound(job);
	struct cli_report report;
	size_t n = t->n, i;
	int error = cli_report_open(&report);

	if (error)
		return error;
	if (t->n)
		qsort_r(t->entries, t->n, sizeof(*t->entries), compare, t);
	if (bound && bound < n)
		n = (size_t)bound;
	if (job->format == PAGEDET_FORMAT_TEXT)
		cli_table_text(report.f, job, t, n);
	if (job->format == PAGEDET_FORMAT_CSV)
		put_csv_head(report.f, t);
	for (i = 0; i < n && job->format == PAGEDET_FORMAT_JSON; i++)
		put_json(report.f, t, &t->entries[i]);
	for (i = 0; i < n && job->format == PAGEDET_FORMAT_CSV; i++)
		put_csv(report.f, t, &t->entries[i]);
	return cli_report_close(&report, job, status);
}

/* A number of /proc/meminfo, in bytes; 0: unknown. */
static uint64_t memory_of(const struct cli_job *job, const char *key)
{
	char path[PATH_MAX], line[128];
	unsigned long long kib = 0;
	const size_t len = strlen(key);
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/meminfo",
		 job->open.root ? job->open.root : "");
	f = fopen(path, "re");
	while (f && !kib && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, len) && line[len] == ':')
			kib = strtoull(line + len + 1, NULL, 10);
	if (f)
		fclose(f);
	return (uint64_t)kib * 1024;
}

/* Reports that most memory belongs to no process. */
static void tell_share(const struct cli_job *job, const struct cli_table *t)
{
	const uint64_t total = memory_of(job, "MemTotal");
	const uint64_t used = total - memory_of(job, "MemFree");
	char one[32], all[32];
	bool at_most = false;
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < t->n; i++) {
		const struct cli_entry *e = &t->entries[i];
		const int place = place_of(e, CLI_BY_PSS);

		if (e->same_as_state == PAGEDET_HAVE)
			continue;
		sum += e->value[place];
		at_most |= e->value[place] && place != CLI_BY_PSS;
	}
	if (job->quiet || job->watching || job->open.n_files ||
	    job->format != PAGEDET_FORMAT_TEXT || !total || sum >= used / 2)
		return;
	cli_size(one, sizeof(one), sum);
	cli_size(all, sizeof(all), used);
	cli_say("processes explain %s%s (%" PRIu64 " %%) of the %s in use%s; "
		"to see all of it: %s top kind", at_most ? "at most " : "",
		one, sum * 100 / used, all, at_most ? " (where PSS is not "
		"known, RSS, which counts a page once for each process that "
		"shares it)" : "", job->again);
}

int cli_run_top(struct cli_job *job, struct pagedet *pd)
{
	struct pagedet_usage_info info;
	struct cli_table t = { 0 };
	int status;

	find_kind(job, &t);
	cli_interrupt_asked(true);
	status = t.processes ? cli_usage_of(job, pd, NULL, 0, &t, &info) :
			       cli_count_pages(job, pd, &t);
	cli_interrupt_asked(job->watching);
	if (t.n && (status == CLI_ANSWERED ||
		    (status == CLI_UNSURE && !t.processes)))
		status = put_table(job, &t, status);
	if (!status && t.processes) {
		tell_share(job, &t);
		status = cli_usage_tell(job, &t, &info);
	}
	if (!status && !t.n) {
		if (!job->quiet)
			cli_say("%s", t.processes ? "no process has memory" :
				"no page has an owner of this kind");
		status = CLI_NO;
	}
	cli_table_free(&t);
	return status;
}
