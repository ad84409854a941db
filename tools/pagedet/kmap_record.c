/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The command kmap record: what Memorizer counts while a program runs, or for
 * some time. Memorizer's switches are restored whatever happens, so that no
 * signal ends the process until they are.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "child.h"
#include "kmap.h"

/* What makes the file a part. */
#define NEEDED (1u << PAGEDET_MEMORIZER_LOG_ACCESSES | \
		1u << PAGEDET_MEMORIZER_CLEAR_DEAD)

struct recording {
	struct cli_job *job;
	struct pagedet *pd;
	struct pagedet_kmap_recorder *recorder;
	struct pagedet_kmap_record_total total;
	struct cli_output out;
	struct cli_child child;
};

/* --- arguments --- */

static int check_follow(const struct cli_job *job)
{
	uint64_t pid;

	if (!job->follow)
		return CLI_ANSWERED;
	if (!strcmp(job->follow, "program"))
		return job->n_words > 1 ? CLI_ANSWERED :
		       cli_usage("--follow program: there is no program");
	if (cli_number(job->follow, CLI_DECIMAL, &pid) || pid < 4 ||
	    pid > INT32_MAX)
		return cli_usage("--follow: '%s' is neither program nor a "
				 "process that Memorizer can follow",
				 job->follow);
	return CLI_ANSWERED;
}

static int parse(struct cli_job *job)
{
	int status = cli_kmap_live(job);

	if (!status && job->for_ns && job->n_words > 1)
		return cli_usage("kmap record: --for and '%s' exclude each "
				 "other", job->words[1]);
	if (!status && !job->output)
		return cli_usage("kmap record lacks its file: -o FILE");
	if (!status && !strcmp(job->output, "-") &&
	    job->format == PAGEDET_FORMAT_JSON)
		return cli_usage("kmap record: standard output has the KMAP: "
				 "--json has no meaning");
	job->path = job->output;
	if (!status)
		status = check_follow(job);
	return status ? status : cli_check_format(job);
}

/* --- recording --- */

static void ask(struct recording *r)
{
	r->total.size = sizeof(r->total);
	pagedet_kmap_recorder_total(r->recorder, &r->total);
}

static uint32_t failed(void *arg)
{
	struct recording *r = arg;

	ask(r);
	return r->total.error;
}

/* The directory of the file, to whose filesystem the text belongs; NULL: of
 * standard output, or without memory. */
static char *folder_of(const struct recording *r)
{
	const char *target = r->out.target;
	const char *slash = target ? strrchr(target, '/') : NULL;

	return slash ? strndup(target, (size_t)(slash - target) + 1) :
	       target ? strdup(".") : NULL;
}

static uint32_t followed(const struct recording *r)
{
	uint64_t pid = 0;

	if (!r->job->follow)
		return 0;
	if (!strcmp(r->job->follow, "program"))
		return (uint32_t)r->child.pid;
	return cli_number(r->job->follow, CLI_DECIMAL, &pid) ? 0 :
							       (uint32_t)pid;
}

static int begin(struct recording *r)
{
	struct pagedet_kmap_record_options o =
		PAGEDET_KMAP_RECORD_OPTIONS_INIT;
	char *folder = folder_of(r);
	int error, status;

	o.folder = folder;
	o.drain_ns = r->job->drain_ns;
	o.pid = followed(r);
	error = pagedet_kmap_record(r->pd, &o, &r->recorder);
	free(folder);
	if (!error)
		return CLI_ANSWERED;
	status = cli_fail(r->pd, error);
	return error == -EAGAIN ? CLI_UNAVAILABLE : status;
}

static int stops_reading(void *arg)
{
	(void)arg;
	return cli_interrupts() > 1;
}

/* One signal ends the recording, a second one the reading of the rest. */
static int save(struct recording *r)
{
	int error;

	pagedet_set_stop(r->pd, stops_reading, NULL);
	error = pagedet_kmap_recorder_write(r->recorder, r->out.fd);
	ask(r);
	if (error == -ECANCELED) {
		cli_say("%s", pagedet_error(r->pd));
		return CLI_UNSURE;
	}
	return error ? cli_fail(r->pd, error) : CLI_ANSWERED;
}

static int record(struct recording *r)
{
	int status = cli_child_start(&r->child, r->job, 1);

	cli_interrupt_holds(true);
	if (!status)
		status = begin(r);
	if (!status)
		status = cli_child_release(&r->child);
	if (!status) {
		cli_child_until(&r->child, r->job, failed, r);
		status = save(r);
	}
	pagedet_kmap_recorder_free(r->recorder);
	cli_interrupt_holds(false);
	cli_stops(r->job, r->pd);
	cli_child_close(&r->child);
	return status;
}

/* --- what it says --- */

static void tell_lacks(uint32_t lacks)
{
	static const char *const words[] = {
		[PAGEDET_MEMORIZER_LOG_ACCESSES] =
			"no switch for accesses: perhaps these are missing",
		[PAGEDET_MEMORIZER_LOG_LIVE] =
			"no switch for live objects: each drain reads them, "
			"while it is off",
		[PAGEDET_MEMORIZER_CLEAR_DEAD] =
			"no way to clear freed objects: those of before are in "
			"the file, too",
		[PAGEDET_MEMORIZER_CLEAR_PRINTED] =
			"no way to clear printed objects: it is off during a "
			"drain",
	};
	uint32_t i;

	for (i = 0; i < CLI_COUNT(words); i++)
		if (lacks >> i & 1)
			cli_say("this kernel's Memorizer has %s", words[i]);
}

static void tell_losses(const struct pagedet_kmap_record_total *t)
{
	if (t->gaps)
		cli_say("Memorizer was off for %.3f s, in %llu drain%s: what "
			"happened then is not recorded",
			(double)t->gap_ns / 1e9, (unsigned long long)t->gaps,
			cli_plural(t->gaps));
	if (t->disturbed)
		cli_say("someone else has turned Memorizer off during the "
			"recording");
	cli_kmap_tell(t->vanished, "live object", "gone before its end was "
		      "read, and not recorded");
	cli_kmap_tell(t->strange, "line", "not understood: whether it came "
		      "again is not known");
	if (t->cut)
		cli_say("a text of the kernel ended inside a line, which is "
			"not recorded");
	if (t->uncleared)
		cli_say("the kernel refused to clear %llu time%s: what it "
			"repeated was left out", (unsigned long long)
			t->uncleared, cli_plural(t->uncleared));
}

static void tell(const struct recording *r)
{
	const struct pagedet_kmap_record_total *t = &r->total;

	cli_child_tell(&r->child);
	cli_say("%s: %llu object%s, %llu live, %llu line%s of accesses in "
		"%.3f s; %s", r->job->path, (unsigned long long)t->objects,
		cli_plural(t->objects), (unsigned long long)t->live,
		(unsigned long long)t->accesses, cli_plural(t->accesses),
		(double)(t->end_ns - t->begin_ns) / 1e9, t->streamed ?
		"by the stream" : "by reading kmap");
	cli_kmap_tell(t->repeated, "object", "read again, and recorded once");
	tell_lacks(t->lacks);
	tell_losses(t);
	if (t->was_on)
		cli_say("Memorizer was on before, and is again; 'pagedet kmap "
			"off' turns it off");
}

static int write_json(const struct recording *r)
{
	const struct pagedet_kmap_record_total *t = &r->total;
	struct cli_job job = *r->job;
	struct cli_report report;
	int status = cli_report_open(&report);

	if (status)
		return status;
#define NUMBER(name) \
	fprintf(report.f, ",\"" #name "\":%llu", (unsigned long long)t->name)
#define YES(name) \
	fprintf(report.f, ",\"" #name "\":%s", t->name ? "true" : "false")
	fputc('{', report.f);
	cli_json_member(report.f, "file", r->job->path, strlen(r->job->path));
	NUMBER(objects);
	NUMBER(live);
	NUMBER(accesses);
	NUMBER(bytes);
	NUMBER(drains);
	NUMBER(repeated);
	NUMBER(vanished);
	NUMBER(strange);
	NUMBER(gaps);
	NUMBER(gap_ns);
	NUMBER(uncleared);
	fprintf(report.f, ",\"ns\":%llu",
		(unsigned long long)(t->end_ns - t->begin_ns));
	YES(streamed);
	YES(disturbed);
	YES(was_on);
	YES(cut);
#undef NUMBER
#undef YES
	fputs("}\n", report.f);
	/* The output is the KMAP; this is for the caller. */
	job.output = NULL;
	return cli_report_close(&report, &job, CLI_ANSWERED);
}

static int judge(const struct recording *r)
{
	const struct pagedet_kmap_record_total *t = &r->total;

	return t->gaps || t->disturbed || t->vanished || t->strange ||
	       t->cut || t->lacks & NEEDED ? CLI_UNSURE : CLI_ANSWERED;
}

static int run(struct cli_job *job, struct pagedet *pd)
{
	struct recording r = { .job = job, .pd = pd };
	int status = cli_output_open(&r.out, job->path);

	if (status)
		return status;
	/* It has addresses of the kernel. */
	if (r.out.target && fchmod(r.out.fd, 0600))
		status = cli_fail_errno("cannot set the mode of '%s'",
					job->path);
	if (!status)
		status = record(&r);
	status = cli_output_close(&r.out, !status, status);
	if (status)
		return status;
	if (!job->quiet)
		tell(&r);
	if (job->format == PAGEDET_FORMAT_JSON)
		status = write_json(&r);
	return status ? status : judge(&r);
}

const struct cli_command cli_kmap_record = {
	"kmap", "record -o FILE [PROGRAM ...]", "", .parse = parse, .run = run,
	.min_words = 1, .max_words = -1,
};
