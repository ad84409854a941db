/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Prints a summary of a task, file, tree or cgroup for a terminal: a few sums,
 * and the command that lists the pages.
 */
#include <errno.h>
#include <fts.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* Mappings of a task that are listed. */
#define BIGGEST 5
/* The words of a line start after "  ", the name and " ". */
#define NAME_COLUMN 13

/* Sums of pages, in bytes. */
struct counted {
	uint64_t all, dirty, writeback, mapped;
	uint64_t dirty_unknown, writeback_unknown, mapped_unknown;
	uint64_t kind[PAGEDET_KIND_UNMAPPED + 1];
};

struct asking {
	struct cli_job *job;
	struct pagedet *pd;
	struct pagedet_query q;
	struct pagedet_iter *it;
	struct cli_verdict verdict;
	uint64_t page_size;
	struct pagedet_coverage coverage; /* of the last query */
	bool some;		/* pages can be listed */
	FILE *f;
};

/* Whether an option is about rows. */
static bool asks_for_rows(const struct cli_job *job)
{
	return job->all || job->fields || job->where || job->format_given ||
	       job->by || job->summary || job->runs || job->undecided ||
	       job->sort || cli_bound(job) ||
	       job->format != PAGEDET_FORMAT_TEXT;
}

static bool is_for_person(const struct cli_job *job)
{
	const char *out = job->output;

	return job->watching ||
	       ((!out || !strcmp(out, "-")) && isatty(STDOUT_FILENO));
}

bool cli_summarizes(const struct cli_job *job)
{
	switch (job->command->target) {
	case PAGEDET_TARGET_TASK:
	case PAGEDET_TARGET_FILE:
	case PAGEDET_TARGET_TREE:
	case PAGEDET_TARGET_CGROUP:
		break;
	default:
		return false;
	}
	if (job->list || asks_for_rows(job))
		return false;
	/* If a user names single pages, rows are wanted. */
	if (job->command->target == PAGEDET_TARGET_FILE && job->n_items)
		return job->watching;
	return is_for_person(job);
}

bool cli_counts(const struct cli_job *job)
{
	return (job->list || job->command->target == PAGEDET_TARGET_SCAN) &&
	       !job->command->picture && !asks_for_rows(job) &&
	       is_for_person(job);
}

/* --- queries --- */

/* Runs a query, and passes each group to @take. */
static int ask(struct asking *a, const uint32_t *by, size_t n_by,
	       int (*take)(void *arg, struct asking *a,
			   const struct pagedet_columns *c, uint64_t row),
	       void *arg)
{
	struct cli_progress line;
	struct pagedet_columns c;
	int error, n, status = CLI_ANSWERED;
	uint64_t row;

	a->q.group_by = by;
	a->q.n_group_by = n_by;
	a->q.threads = cli_threads(a->job);
	a->q.deadline_ns = cli_deadline_left(a->job);
	cli_progress_start(&line, a->job, STDOUT_FILENO, &a->q);
	error = pagedet_query(a->pd, &a->q, &a->it);
	if (error)
		return cli_fail(a->pd, error);
	cli_interrupt_cancels(a->it);
	memset(&c, 0, sizeof(c));
	c.size = sizeof(c);
	while ((n = pagedet_next_columns(a->it, &c)) > 0)
		for (row = 0; row < (uint64_t)n && !status; row++)
			status = take(arg, a, &c, row);
	cli_progress_end(&line);
	cli_interrupt_cancels(NULL);
	cli_verdict_add(&a->verdict, a->it, a->q.target);
	memset(&a->coverage, 0, sizeof(a->coverage));
	a->coverage.size = sizeof(a->coverage);
	pagedet_coverage(a->it, &a->coverage);
	pagedet_iter_free(a->it);
	a->it = NULL;
	if (n < 0 && n != -ETIMEDOUT && n != -ECANCELED)
		return cli_fail(a->pd, n);
	return status;
}

/* Counts a bit. It is known or unknown for each page. */
static void count_bit(uint64_t *set, uint64_t *unknown, unsigned bit,
		      uint64_t flags, uint64_t known, uint64_t bytes)
{
	if (!(known >> bit & 1))
		*unknown += bytes;
	else if (flags >> bit & 1)
		*set += bytes;
}

static int count_group(void *arg, struct asking *a,
		       const struct pagedet_columns *c, uint64_t row)
{
	struct counted *n = arg;
	uint32_t state;
	const uint64_t bytes = a->page_size *
		cli_value_of(c, row, PAGEDET_FIELD_PAGES, &state);
	const uint64_t flags = cli_value_of(c, row, PAGEDET_FIELD_FLAGS,
					    &state);
	uint64_t known = cli_value_of(c, row, PAGEDET_FIELD_FLAGS_KNOWN,
				      &state);
	uint64_t maps, kind;

	known = state == PAGEDET_HAVE ? known : 0;
	n->all += bytes;
	count_bit(&n->dirty, &n->dirty_unknown, PAGEDET_PF_DIRTY, flags, known,
		  bytes);
	count_bit(&n->writeback, &n->writeback_unknown, PAGEDET_PF_WRITEBACK,
		  flags, known, bytes);
	maps = cli_value_of(c, row, PAGEDET_FIELD_MAPCOUNT, &state);
	if ((state != PAGEDET_HAVE && state != PAGEDET_NONE) || maps >> 63)
		n->mapped_unknown += bytes;
	else if (maps)
		n->mapped += bytes;
	kind = cli_value_of(c, row, PAGEDET_FIELD_KIND, &state);
	if (state != PAGEDET_HAVE || kind > PAGEDET_KIND_UNMAPPED)
		kind = PAGEDET_KIND_UNKNOWN;
	n->kind[kind] += bytes;
	return CLI_ANSWERED;
}

/* --- text --- */

/* What stands before a sum: not everything may have been looked at. */
static const char *at_least(const struct asking *a)
{
	const struct pagedet_coverage *c = &a->coverage;

	return !c->complete || c->tasks_denied || c->tasks_damaged ||
	       c->files_denied ? "at least " : "";
}

/* Begins a line: its words start after the name, also when it is wrapped. */
static struct cli_wrap begin_line(const struct asking *a, const char *name)
{
	struct cli_wrap w = {
		a->f, cli_answer_width(a->job), NAME_COLUMN, NAME_COLUMN,
	};

	fprintf(a->f, "  %-10s ", name);
	return w;
}

/* Writes a sentence after the name. */
__attribute__((format(printf, 3, 4)))
static void put_words(const struct asking *a, const char *name,
		      const char *format, ...)
{
	struct cli_wrap w = begin_line(a, name);
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	cli_wrap_words(&w, text);
	fputc('\n', a->f);
}

static void put_line(FILE *f, const char *name, uint64_t bytes, bool roughly)
{
	char size[32];

	cli_size(size, sizeof(size), bytes);
	fprintf(f, "  %-10s %s%s\n", name, roughly ? "~" : "", size);
}

/*
 * If the bit is unknown for some pages, the sum covers only a part, or is not
 * known at all.
 */
static void put_part(const struct asking *a, const char *name, uint64_t bytes,
		     uint64_t unknown)
{
	char size[32], rest[32];
	FILE *f = a->f;

	cli_size(size, sizeof(size), bytes);
	cli_size(rest, sizeof(rest), unknown);
	if (!unknown)
		fprintf(f, "  %-10s %s%s\n", name, at_least(a), size);
	else if (bytes)
		fprintf(f, "  %-10s %s%s, not known for %s\n", name,
			at_least(a), size, rest);
	else
		fprintf(f, "  %-10s ?  (not known for %s)\n", name, rest);
}

static void put_kinds(const struct asking *a, const struct counted *n)
{
	bool done[PAGEDET_KIND_UNMAPPED + 1] = { false };
	struct cli_wrap w = begin_line(a, "by kind");
	const char *before = at_least(a);
	char size[32], item[128] = "";
	unsigned i, k, best;

	for (i = 0; i <= PAGEDET_KIND_UNMAPPED; i++) {
		best = PAGEDET_KIND_UNMAPPED + 1;
		for (k = 0; k <= PAGEDET_KIND_UNMAPPED; k++)
			if (n->kind[k] && !done[k] &&
			    (best > PAGEDET_KIND_UNMAPPED ||
			     n->kind[k] > n->kind[best]))
				best = k;
		if (best > PAGEDET_KIND_UNMAPPED)
			break;
		done[best] = true;
		if (i) {
			strcat(item, ",");
			cli_wrap_item(&w, item);
		}
		cli_size(size, sizeof(size), n->kind[best]);
		snprintf(item, sizeof(item) - 1, "%s%s %s", i ? "" : before,
			 pagedet_value_name(PAGEDET_FIELD_KIND, best), size);
	}
	cli_wrap_item(&w, i ? item : *before ? "?" : "-");
	fputc('\n', a->f);
}

static void put_hint(struct asking *a)
{
	const struct pagedet_coverage *c = &a->coverage;

	if (*at_least(a) && c->wanted)
		fprintf(a->f, "  %-10s %" PRIu64 " of %" PRIu64 " places\n",
			"visited", c->visited, c->wanted);
	/* After a list of frames. */
	if (a->job->stacks)
		fputc('\n', a->f);
	fprintf(a->f, "'--all' lists the pages\n");
}

/* --- a task --- */

struct mappings {
	struct cli_table by_name;
	struct counted n;
};

static int add_mapping(void *arg, struct asking *a,
		       const struct pagedet_columns *c, uint64_t row)
{
	struct mappings *m = arg;
	uint32_t state;
	const uint64_t id = cli_value_of(c, row, PAGEDET_FIELD_VMA_NAME,
					 &state);
	const char *name = state == PAGEDET_HAVE ?
		pagedet_string(a->it, id, NULL) :
		state == PAGEDET_NONE ? "(without a name)" : "?";
	const uint64_t bytes = a->page_size *
		cli_value_of(c, row, PAGEDET_FIELD_PAGES, &state);
	uint64_t kind = cli_value_of(c, row, PAGEDET_FIELD_KIND, &state);
	struct cli_entry *e = cli_table_entry(&m->by_name, name ? name : "?");

	if (state != PAGEDET_HAVE || kind > PAGEDET_KIND_UNMAPPED)
		kind = PAGEDET_KIND_UNKNOWN;
	m->n.kind[kind] += bytes;
	if (!e)
		return CLI_IO;
	e->bytes += bytes;
	return CLI_ANSWERED;
}

static int by_bytes(const void *a, const void *b)
{
	const struct cli_entry *x = a, *y = b;

	return (y->bytes > x->bytes) - (y->bytes < x->bytes);
}

static void put_mappings(struct asking *a, struct cli_table *t)
{
	const uint32_t width = cli_answer_width(a->job);
	char size[32];
	size_t i;

	if (t->n)
		qsort(t->entries, t->n, sizeof(*t->entries), by_bytes);
	for (i = 0; i < t->n && i < BIGGEST; i++) {
		cli_size(size, sizeof(size), t->entries[i].bytes);
		fprintf(a->f, "  %-10s %10s  ", i ? "" : "biggest", size);
		cli_clipped_text(a->f, t->entries[i].name,
				 width > 30 ? width - 25 : 0);
		fputc('\n', a->f);
	}
	if (t->n > BIGGEST)
		fprintf(a->f, "  %-10s %10s  %zu more\n", "", "",
			t->n - BIGGEST);
}

/* @name: NULL if it has no usage, as kernel threads have none. */
static void put_name(struct asking *a, uint32_t pid, const char *name)
{
	struct pagedet_task *tasks = NULL;
	uint64_t lost;
	size_t n = 0, i;

	if (!name && cli_tasks(a->pd, 0, &tasks, &n, &lost))
		n = 0;
	for (i = 0; i < n; i++)
		if (tasks[i].pid == pid)
			name = tasks[i].comm;
	if (!name)
		name = "?";
	cli_plain_text(a->f, name, strlen(name));
	fprintf(a->f, " (%" PRIu32 ")\n", pid);
	free(tasks);
}

/*
 * Adds the stacks of its threads. They belong to a query, which here has no
 * rows.
 */
static int put_stacks(struct asking *a, uint32_t pid)
{
	const struct pagedet_item nowhere = { 0, 1, pid, 0 };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_emitter *e;
	struct pagedet_iter *it;
	const char *text;
	size_t len;
	int error, status;

	q.target = PAGEDET_TARGET_TASK;
	q.items = &nowhere;
	q.n_items = 1;
	q.where = "pages=0";
	q.deadline_ns = cli_deadline_left(a->job);
	q.options = cli_stacks_options(a->job);
	error = pagedet_query(a->pd, &q, &it);
	if (error)
		return cli_fail(a->pd, error);
	status = cli_emitter_new(a->job, a->pd, STDOUT_FILENO, -1, &e);
	if (!status) {
		error = pagedet_emit_all(e, it);
		if (error && error != -ETIMEDOUT && error != -ECANCELED)
			status = cli_fail(a->pd, error);
		else if (error)
			status = CLI_UNSURE;
		if (status <= CLI_UNSURE && pagedet_emitter_finish(e))
			status = cli_fail_errno("cannot keep the stacks");
		text = pagedet_emitter_text(e, &len);
		fwrite(text, 1, len, a->f);
		pagedet_emitter_free(e);
	}
	pagedet_iter_free(it);
	return status;
}

static int put_task(struct asking *a, uint32_t pid)
{
	static const uint32_t by[] = {
		PAGEDET_FIELD_VMA_NAME, PAGEDET_FIELD_KIND,
	};
	const struct pagedet_item item = { 0, PAGEDET_TO_END, pid, 0 };
	struct cli_table usage = { .processes = true };
	struct mappings maps = { .by_name = { 0 } };
	struct pagedet_usage_info info;
	const struct cli_entry *e;
	int status, told;
	size_t i;

	a->q.items = &item;
	a->q.n_items = 1;
	a->q.where = "pte:present";
	status = cli_usage_of(a->job, a->pd, &pid, 1, &usage, &info);
	/* If the task may not be read, the walk reports that, with advice. */
	if (!status)
		status = ask(a, by, CLI_COUNT(by), add_mapping, &maps);
	if (!status) {
		told = cli_usage_tell(a->job, &usage, &info);
		e = usage.entries;
		put_name(a, pid, usage.n ? e->name : NULL);
		if (!usage.n && info.complete)
			fputs("  it has no memory of its own\n", a->f);
		for (i = 0; usage.n && cli_sums[i].name; i++) {
			const uint32_t sum = cli_sums[i].sum;

			if (e->state[sum] != PAGEDET_HAVE)
				put_words(a, cli_sums[i].name, "?  (%s)",
					  pagedet_state_text(e->state[sum]));
			else if (e->value[sum] || sum != PAGEDET_SUM_HUGETLB)
				put_line(a->f, cli_sums[i].name,
					 e->value[sum],
					 e->estimated >> sum & 1);
		}
		if (maps.by_name.n) {
			put_kinds(a, &maps.n);
			put_mappings(a, &maps.by_name);
			a->some = true;
		}
		status = told;
	}
	if (status <= CLI_UNSURE && a->job->stacks) {
		told = put_stacks(a, pid);
		status = told > status ? told : status;
	}
	cli_table_free(&usage);
	cli_table_free(&maps.by_name);
	return status;
}

static int put_tasks(struct asking *a)
{
	int status = CLI_ANSWERED, told;
	size_t i;

	for (i = 0; i < a->job->n_items && status <= CLI_UNSURE &&
	     !cli_interrupted(); i++) {
		told = put_task(a, a->job->items[i].pid);
		/* "unknown" outweighs "no". */
		status = told > status ? told : status;
	}
	if (a->some)
		put_hint(a);
	return status;
}

/* --- files --- */

/*
 * Bytes of the files below the path on its filesystem. Unreadable files are
 * left out; the walk reports them. Returns false if it had to stop.
 */
static bool tree_size(const struct cli_job *job, uint64_t *ret)
{
	char *const paths[] = { (char *)job->path, NULL };
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	FTSENT *e;

	*ret = 0;
	while (fts && !cli_must_stop(job) && (e = fts_read(fts)))
		if (e->fts_info == FTS_F && S_ISREG(e->fts_statp->st_mode))
			*ret += (uint64_t)e->fts_statp->st_size;
	if (fts)
		fts_close(fts);
	return !cli_must_stop(job);
}

/* For a dump or a captured tree, sizes are not known. */
static bool total_of(const struct cli_job *job, uint64_t *ret)
{
	struct stat st;

	if (job->open.n_files || job->open.root || stat(job->path, &st))
		return false;
	if (job->command->target == PAGEDET_TARGET_TREE)
		return tree_size(job, ret);
	*ret = (uint64_t)st.st_size;
	return S_ISREG(st.st_mode);
}

static void put_cached(struct asking *a, const struct counted *n)
{
	char size[32], of[64] = "", share[32] = "", files[64] = "";
	uint64_t total;

	cli_size(size, sizeof(size), n->all);
	if (total_of(a->job, &total)) {
		strcpy(of, " of ");
		cli_size(of + 4, sizeof(of) - 4, total);
		if (total && !*at_least(a))
			snprintf(share, sizeof(share), ", %.0f%%", 100.0 *
				 (double)(n->all < total ? n->all : total) /
				 (double)total);
	}
	if (a->q.target == PAGEDET_TARGET_TREE)
		snprintf(files, sizeof(files), ", %" PRIu64 " file%s",
			 a->coverage.files, cli_plural(a->coverage.files));
	put_words(a, "cached", "%s%s%s%s%s", at_least(a), size, of, share,
		  files);
	put_part(a, "dirty", n->dirty, n->dirty_unknown);
	put_part(a, "mapped", n->mapped, n->mapped_unknown);
}

/* --- a cgroup --- */

static void put_charged(struct asking *a, const struct counted *n)
{
	char size[32];
	const char *file;
	uint64_t usage;

	cli_size(size, sizeof(size), n->all);
	fprintf(a->f, "  %-10s %s%s in pages\n", "charged", at_least(a), size);
	file = cli_cgroup_usage(a->job, &usage);
	cli_size(size, sizeof(size), file ? usage : 0);
	if (file)
		put_words(a, "in all", "%s  (the kernel's count, %s)", size,
			  file);
	put_words(a, "not here", "slab objects are charged one by one and are "
		  "not counted as pages");
	put_kinds(a, n);
	put_part(a, "dirty", n->dirty, n->dirty_unknown);
}

/* --- both --- */

static int put_pages(struct asking *a)
{
	static const uint32_t by[] = {
		PAGEDET_FIELD_KIND, PAGEDET_FIELD_MAPCOUNT,
		PAGEDET_FIELD_FLAGS, PAGEDET_FIELD_FLAGS_KNOWN,
	};
	struct counted n = { .all = 0 };
	int status;

	a->q.path = a->job->path;
	a->q.items = a->job->items;
	a->q.n_items = a->job->n_items;
	status = ask(a, by, CLI_COUNT(by), count_group, &n);
	if (status)
		return status;
	cli_clipped_text(a->f, a->job->path, 0);
	fputc('\n', a->f);
	if (a->q.target == PAGEDET_TARGET_CGROUP)
		put_charged(a, &n);
	else
		put_cached(a, &n);
	put_part(a, "writeback", n.writeback, n.writeback_unknown);
	put_hint(a);
	return CLI_ANSWERED;
}

int cli_run_summary(struct cli_job *job, struct pagedet *pd)
{
	struct asking a = { .job = job, .pd = pd, .q = PAGEDET_QUERY_INIT };
	struct pagedet_info info = { .size = sizeof(info) };
	struct cli_report report;
	int error, status;

	error = pagedet_info(pd, &info);
	if (error)
		return cli_fail(pd, error);
	a.page_size = info.page_size;
	a.q.target = job->command->target;
	status = cli_report_open(&report);
	if (status)
		return status;
	a.f = report.f;
	cli_interrupt_asked(true);
	status = job->command->target == PAGEDET_TARGET_TASK ?
		put_tasks(&a) : put_pages(&a);
	cli_interrupt_asked(job->watching);
	status = cli_report_close(&report, job, status);
	if (status > CLI_UNSURE)
		return status;
	if (!job->quiet)
		cli_verdict_losses(&a.verdict, job);
	if (a.verdict.partial || cli_interrupted())
		return CLI_UNSURE;
	/* As the list of its pages does. */
	if (!status && !a.verdict.sum.rows)
		status = CLI_NO;
	if (status == CLI_NO)
		cli_tell_no_row(job, pd);
	return status;
}
