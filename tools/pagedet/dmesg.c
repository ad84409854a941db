/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes the log of a dump or of the running kernel as dmesg(1) does: "[
 * 1.234567] text". The command from-log can parse it.
 */
#include <errno.h>
#include <string.h>

#include "cli.h"

struct printing {
	const struct cli_job *job;
	struct cli_report *report; /* NULL: it goes to a file */
	FILE *f;
	int status;		/* why it cannot be written */
	uint64_t n;
};

static void print_json(FILE *f, const struct pagedet_log_record *r)
{
	fprintf(f, "{\"seq\":%llu,\"time_ns\":%llu,\"level\":%u,"
		"\"facility\":%u,\"text\":", (unsigned long long)r->seq,
		(unsigned long long)r->time_ns, r->level, r->facility);
	cli_json_text(f, r->text, r->len);
	fprintf(f, "}\n");
}

/* Each line of a record begins with its time, as in dmesg(1). */
static void print_text(FILE *f, const struct pagedet_log_record *r)
{
	const char *at = r->text, *end = r->text + r->len, *nl;

	do {
		nl = memchr(at, '\n', (size_t)(end - at));
		fprintf(f, "[%5llu.%06llu] ",
			(unsigned long long)(r->time_ns / 1000000000),
			(unsigned long long)(r->time_ns / 1000 % 1000000));
		cli_plain_text(f, at, (size_t)((nl ? nl : end) - at));
		fputc('\n', f);
		at = nl ? nl + 1 : end;
	} while (at < end);
}

static int print(void *user, const struct pagedet_log_record *record)
{
	struct printing *p = user;
	const uint64_t bound = cli_bound(p->job);
	FILE *f = p->report ? p->report->f : p->f;

	p->n++;
	/* The rest is read, too: whether any of it was lost is the status. */
	if (bound && p->n > bound)
		return cli_must_stop(p->job);
	if (p->job->format == PAGEDET_FORMAT_JSON)
		print_json(f, record);
	else
		print_text(f, record);
	if (ferror(f))
		p->status = cli_fail_errno("cannot write the log");
	else if (p->report)
		p->status = cli_report_spill(p->report, p->job);
	return p->status || cli_must_stop(p->job);
}

/* The status if records of a log were printed. */
static int judge(const struct printing *p, struct pagedet *pd, int error,
		 uint64_t lost)
{
	const bool stopped = error == -ECANCELED;

	if (error && !(stopped && p->n))
		return cli_fail(pd, error);
	if (!p->n && !lost && !p->job->quiet)
		cli_say("the log is empty");
	if (stopped && !p->job->quiet)
		cli_say("%s: looked at %llu", cli_stop_words(),
			(unsigned long long)p->n);
	if (lost && !p->job->quiet)
		cli_say("%llu record%s could not be read",
			(unsigned long long)lost, cli_plural(lost));
	return stopped || lost ? CLI_UNSURE : p->n ? CLI_ANSWERED : CLI_NO;
}

static int read_log(struct printing *p, struct pagedet *pd)
{
	uint64_t lost = 0;
	int error;

	cli_interrupt_asked(true);
	error = pagedet_kernel_log(pd, print, p, &lost);
	cli_interrupt_asked(false);
	return p->status ? p->status : judge(p, pd, error, lost);
}

int cli_dmesg_text(const struct cli_job *job, struct pagedet *pd, FILE *f)
{
	struct cli_job as_text = *job;
	struct printing p = { .job = &as_text, .f = f };

	as_text.format = PAGEDET_FORMAT_TEXT;
	as_text.top = as_text.limit = 0;
	return read_log(&p, pd);
}

int cli_run_dmesg(struct cli_job *job, struct pagedet *pd)
{
	struct cli_report report;
	struct printing p = { .job = job, .report = &report };
	int status = cli_check_format(job);

	if (!status)
		status = cli_report_open(&report);
	if (status)
		return status;
	status = read_log(&p, pd);
	cli_tell_more(job, p.n, "record", "records");
	return cli_report_close(&report, job, status);
}
