/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The command from-log: what a kernel log says about pages. Each event has a
 * line: when it happened, what happened, which page, and why. --details shows
 * all fields of each event. For a dump it reads the dump's own log.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

#define BATCH 64
#define F(name) PAGEDET_FIELD_##name

/* Fields that a line about an event shows. */
static const uint32_t told[] = {
	F(PFN), F(KIND), F(REFCOUNT), F(MAPCOUNT), F(FLAGS), F(MEMCG_PATH),
};

struct events {
	struct cli_job *job;
	struct pagedet *pd;
	struct pagedet_iter *it;
	FILE *f;
	struct cli_verdict verdict;
	uint64_t n;		/* number of events */
	uint64_t faults;
	uint64_t hidden;	/* kernel addresses */
	uint64_t unsaid[CLI_COUNT(told)]; /* events without that field */
	struct cli_faults alive;
};

static bool has(const struct pagedet_page *row, uint32_t field)
{
	return PAGEDET_CELL_STATE(row->cell[field]) == PAGEDET_HAVE;
}

static void put_string(const struct events *e, const struct pagedet_page *row,
		       uint32_t field, uint64_t id, const char *before)
{
	const char *text, *end;
	size_t len;

	if (!has(row, field))
		return;
	text = pagedet_string(e->it, id, &len);
	if (!text)
		return;
	fputs(before, e->f);
	/* The bytes of a program's code are only for explain. */
	end = row->report == PAGEDET_REPORT_FAULT ?
		memmem(text, len, "; Code: ", 8) : NULL;
	cli_plain_text(e->f, text, end ? (size_t)(end - text) : len);
}

static void put_time(const struct events *e, const struct pagedet_page *row)
{
	if (has(row, F(EVENT_NS)))
		fprintf(e->f, "[%5llu.%06llu] ",
			(unsigned long long)(row->event_ns / 1000000000),
			(unsigned long long)(row->event_ns / 1000 % 1000000));
}

static void put_report(const struct events *e, const struct pagedet_page *row)
{
	const char *name = pagedet_value_name(F(REPORT), row->report);

	for (; name && *name; name++)
		fputc(*name == '_' ? ' ' : *name, e->f);
}

static void put_pfn(const struct events *e, const struct pagedet_page *row)
{
	if (has(row, F(PFN)))
		fprintf(e->f, ", pfn %llu (0x%llx)",
			(unsigned long long)row->pfn,
			(unsigned long long)row->pfn);
}

static void put_task(const struct events *e, const struct pagedet_page *row)
{
	put_string(e, row, F(COMM), row->comm, ", ");
	if (has(row, F(PID)))
		fprintf(e->f, "%s[%u]", has(row, F(COMM)) ? "" : ", task ",
			row->pid);
}

static void put_flags(const struct events *e, const struct pagedet_page *row)
{
	const char *before = ", flags ";
	uint64_t bits;

	if (!has(row, F(FLAGS)))
		return;
	for (bits = row->flags & row->flags_known; bits; bits &= bits - 1) {
		const char *name = pagedet_value_name(F(FLAGS), (uint64_t)
						      __builtin_ctzll(bits));

		fprintf(e->f, "%s%s", before, name ? name : "?");
		before = "|";
	}
}

static void put_count(const struct events *e, const struct pagedet_page *row,
		      uint32_t field, uint64_t value, const char *name)
{
	if (has(row, field))
		fprintf(e->f, ", %s %lld", name, (long long)value);
}

/* Writes the page's fields from the log, or from the kernel. */
static void put_page(const struct events *e, const struct pagedet_page *row)
{
	const char *kind = pagedet_value_name(F(KIND), row->kind);

	if (has(row, F(KIND)) && row->kind != PAGEDET_KIND_UNKNOWN && kind)
		fprintf(e->f, ", %s", kind);
	put_count(e, row, F(REFCOUNT), row->refcount, "refcount");
	put_count(e, row, F(MAPCOUNT), row->mapcount, "mapcount");
	put_flags(e, row);
	put_string(e, row, F(SLAB_CACHE), row->slab_cache, ", cache ");
	put_string(e, row, F(MEMCG_PATH), row->memcg_path, ", cgroup ");
	put_string(e, row, F(PATH), row->path, ", ");
}

/* If a report does not name a file, the reason begins with the field. */
static bool is_reason(const struct events *e, const struct pagedet_page *row)
{
	size_t len, other;
	const char *text, *reason;

	if (!has(row, F(REASON)))
		return false;
	text = pagedet_string(e->it, row->object, &len);
	reason = pagedet_string(e->it, row->reason, &other);
	return text && reason && len <= other && !memcmp(text, reason, len);
}

static void count_unsaid(struct events *e, const struct pagedet_page *row)
{
	const bool about_page = row->report != PAGEDET_REPORT_FAULT &&
		row->report != PAGEDET_REPORT_IO_ERROR;
	size_t i;

	/* Events about a program's address or a block have no other fields. */
	for (i = 0; i < CLI_COUNT(told) && about_page; i++)
		e->unsaid[i] += PAGEDET_CELL_STATE(row->cell[told[i]]) ==
				PAGEDET_UNSUPPORTED;
}

/* Whether the address is of the kernel: on a 32-bit machine, too. */
static bool is_of_kernel(const struct pagedet_page *row)
{
	return row->vaddr >> 63 || row->report == PAGEDET_REPORT_SLAB ||
	       row->report == PAGEDET_REPORT_LIST ||
	       row->report == PAGEDET_REPORT_KFENCE ||
	       (row->report == PAGEDET_REPORT_KASAN && row->vaddr >> 30 &&
		!(row->vaddr >> 32));
}

static void put_event(struct events *e, const struct pagedet_page *row)
{
	e->n++;
	if (row->notes & PAGEDET_NOTE(PAGEDET_NOTE_NEW_BOOT))
		fputs("-- another boot, or kernel time goes back --\n", e->f);
	put_time(e, row);
	put_report(e, row);
	put_string(e, row, F(REASON), row->reason, ": ");
	put_pfn(e, row);
	put_task(e, row);
	if (has(row, F(VADDR)) && is_of_kernel(row))
		e->hidden++;
	else if (has(row, F(VADDR)))
		fprintf(e->f, ", page at 0x%llx",
			(unsigned long long)row->vaddr);
	put_page(e, row);
	if (row->report != PAGEDET_REPORT_FAULT && !is_reason(e, row))
		put_string(e, row, F(OBJECT), row->object, ", ");
	if (row->notes & PAGEDET_NOTE(PAGEDET_NOTE_PARTIAL))
		fputs(" (its end or a part of it is missing)", e->f);
	fputc('\n', e->f);
	count_unsaid(e, row);
	if (row->report != PAGEDET_REPORT_FAULT)
		return;
	e->faults++;
	if (!e->job->text_only)
		cli_faults_alive(&e->alive, e->pd, e->it, row, e->f);
}

static void put_now(struct events *e, const struct pagedet_page *row)
{
	const unsigned state = PAGEDET_CELL_STATE(row->cell[F(KIND)]);

	fputs("    now", e->f);
	put_page(e, row);
	if (state != PAGEDET_HAVE)
		fprintf(e->f, ", not known: %s",
			pagedet_state_text(state));
	if (has(row, F(KIND)) && row->kind == PAGEDET_KIND_UNKNOWN)
		fputs(", of an unknown kind", e->f);
	if (row->notes & PAGEDET_NOTE(PAGEDET_NOTE_CHANGED))
		fputs(" (another page by now)", e->f);
	fputc('\n', e->f);
}

static int put_rows(struct events *e)
{
	struct pagedet_page rows[BATCH];
	int i, n;

	while ((n = pagedet_next(e->it, rows, BATCH)) > 0)
		for (i = 0; i < n; i++) {
			if (rows[i].at == PAGEDET_AT_NOW)
				put_now(e, &rows[i]);
			else
				put_event(e, &rows[i]);
		}
	return n;
}

/* Writes once which fields no event has, and what is not shown. */
static void put_omitted(const struct events *e)
{
	const char *before = "\nthe text does not say: ";
	uint64_t about = 0;
	size_t i;

	for (i = 0; i < CLI_COUNT(told); i++)
		about = e->unsaid[i] > about ? e->unsaid[i] : about;
	for (i = 0; i < CLI_COUNT(told) && about; i++) {
		if (e->unsaid[i] != about)
			continue;
		fprintf(e->f, "%s%s", before, pagedet_field(told[i])->name);
		before = ", ";
	}
	if (about)
		fputc('\n', e->f);
	if (e->hidden)
		fprintf(e->f, "%shidden: kernel addresses are shown only with "
			"--pointers\n", about ? "" : "\n");
}

static int set_query(const struct events *e, struct pagedet_query *q)
{
	const struct cli_job *job = e->job;

	q->target = PAGEDET_TARGET_LOG;
	q->path = job->path;
	q->where = job->where;
	q->deadline_ns = cli_deadline_left(job);
	q->threads = 1;
	q->page_size = job->page_size;
	if (job->text_only)
		q->sources = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_LOG);
	if (job->now)
		q->options |= PAGEDET_Q_ANY_BOOT;
	return pagedet_fields_parse(e->pd, "at,report,event_ns,reason,pfn,pid,"
				    "comm,vaddr,kind,flags,refcount,mapcount,"
				    "memcg_path,path,slab_cache,object,notes",
				    q);
}

static int run(struct events *e)
{
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	int n = set_query(e, &q);
	char file[CLI_QUOTED];

	if (!n)
		n = pagedet_query(e->pd, &q, &e->it);
	if (n)
		return cli_fail(e->pd, n);
	cli_interrupt_cancels(e->it);
	n = put_rows(e);
	cli_interrupt_cancels(NULL);
	put_omitted(e);
	/* It reads the programs' files, which are those of this machine. */
	if (e->faults && e->job->from_file && e->alive.here)
		fprintf(e->f, "\nto compare the programs' code with the disk: "
			"pagedet explain crash %s\n",
			cli_argument(e->job->path, "FILE", file));
	cli_verdict_add(&e->verdict, e->it, q.target);
	if (n < 0 && n != -ETIMEDOUT && n != -ECANCELED)
		return cli_fail(e->pd, n);
	return cli_verdict_tell(&e->verdict, e->job, e->it);
}

static int run_short(struct cli_job *job, struct pagedet *pd)
{
	struct events e = { .job = job, .pd = pd,
			    .alive.job = job,
			    .alive.here = !job->open.n_files &&
					  !job->open.root };
	struct cli_report report;
	int status = cli_report_open(&report);

	if (status)
		return status;
	job->terse = true;
	e.f = report.f;
	status = run(&e);
	pagedet_iter_free(e.it);
	cli_faults_free(&e.alive);
	return cli_report_close(&report, job, status);
}

/* Whether the output has one line for each event. */
static bool is_short(const struct cli_job *job)
{
	return job->format == PAGEDET_FORMAT_TEXT && !job->details &&
	       !job->fields && !job->by && !job->summary && !job->runs &&
	       !job->sort && !job->limit && !job->top && !job->undecided &&
	       !job->verbose && !job->pointers;
}

/* Makes the dump's log the standard input. */
static int take_own_log(const struct cli_job *job, struct pagedet *pd)
{
	FILE *f = tmpfile();
	int status;

	if (!f)
		return cli_fail_errno("cannot keep the log of the dump");
	status = cli_dmesg_text(job, pd, f);
	if (status <= CLI_UNSURE &&
	    (fflush(f) || dup2(fileno(f), STDIN_FILENO) < 0 ||
	     lseek(STDIN_FILENO, 0, SEEK_SET) < 0))
		status = cli_fail_errno("cannot keep the log of the dump");
	fclose(f);
	return status;
}

/* Whether --from names a log, which from-log takes as its argument, too. */
static bool is_text(struct pagedet *pd)
{
	struct pagedet_info info = { .size = sizeof(info) };

	return !pagedet_info(pd, &info) &&
	       info.sources & PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_LOG);
}

/* A file of another kind mentions no page, either. */
static void suggest(const struct cli_job *job)
{
	char text[CLI_HINT];

	if (!job->quiet && cli_command_for_record(job, job->path, text))
		cli_say("hint: it is not a kernel log; to read it: %s", text);
}

int cli_run_log(struct cli_job *job, struct pagedet *pd)
{
	int log = CLI_ANSWERED, status;

	if (!job->n_words && job->open.n_files && is_text(pd)) {
		/* It is all that is opened: nothing else is asked. */
		if (job->now)
			return cli_usage("from-log: --now asks the running "
					 "kernel, which --from leaves out: "
					 "'pagedet from-log LOG --now'");
		job->path = job->open.files[0];
		job->text_only = true;
	} else if (!job->n_words && job->open.n_files) {
		log = take_own_log(job, pd);
		if (log > CLI_UNSURE)
			return log;
	}
	status = is_short(job) ? run_short(job, pd) : cli_run_query(job, pd);
	if (status == CLI_NO)
		suggest(job);
	/* A lost part of the log may have contained an event. */
	return log == CLI_UNSURE && status < CLI_UNSURE ? log : status;
}
