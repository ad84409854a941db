/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The command kmem record: a trace of allocations, of all of the machine, while
 * a program runs or for some time.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kmem.h"

#define DEFAULT_FILE "kmem.dat"
/* Of an instance that the kernel makes at boot; and its buffers. */
#define BOOT_NAME "pagedet-boot"
#define BOOT_BUFFER ((uint64_t)64 << 20)

/* --- arguments --- */

static int run_boot(struct cli_job *job, struct pagedet *pd);

static const struct cli_command boot = {
	"kmem", "record --boot", "", .run = run_boot,
};

static int parse_boot(const struct cli_job *job)
{
	if (job->n_words > 1 || job->for_ns || job->output || job->stacks ||
	    job->totals || job->frees || job->max_size)
		return cli_usage("kmem record --boot only prints words for the "
				 "kernel's command line: %s has no meaning",
				 job->n_words > 1 ? "a program" :
				 job->for_ns ? "--for" :
				 job->output ? "-o" :
				 job->stacks ? "--stacks" :
				 job->totals ? "--totals" :
				 job->frees ? "--frees" : "--max-size");
	if (job->format != PAGEDET_FORMAT_TEXT)
		return cli_usage("kmem record --boot prints words, not rows: "
				 "--format has no meaning");
	return CLI_ANSWERED;
}

int cli_kmem_recorded(struct cli_job *job)
{
	const char *wrong = job->before ? "before" :
			    job->kallsyms ? "kallsyms" :
			    job->kallsyms_before ? "kallsyms-before" :
			    job->flame ? "flame" :
			    job->folded ? "folded" :
			    job->window_ns ? "window" :
			    job->page_size ? "page-size" :
			    job->text_only ? "text-only" :
			    job->now ? "now" :
			    job->instance ? "instance" :
			    job->open.n_files ? "from" :
			    job->open.root ? "root" :
			    job->open.vmlinux ? "vmlinux" : NULL;

	if (wrong)
		return cli_usage("kmem record asks the running kernel: --%s "
				 "has no meaning", wrong);
	if (job->verify && job->boot)
		return cli_usage("kmem record --boot asks nothing: --verify "
				 "has no meaning");
	if (job->verify && !job->totals)
		return cli_usage("kmem record verifies only the live objects "
				 "of --totals --frees; 'kmem report FILE "
				 "--verify' does those of a recording");
	if (job->verify && !job->frees)
		return cli_usage("--verify needs --frees: sums of allocations "
				 "do not tell what is live");
	if (job->frees && !job->totals && !job->boot)
		return cli_usage("--frees needs --totals: a recording has "
				 "frees");
	if (!job->boot && job->for_ns && job->n_words > 1)
		return cli_usage("kmem record: --for and '%s' exclude each "
				 "other", job->words[1]);
	/* No source is asked; this one opens at once. */
	if (!job->verify)
		job->open.sources = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_PROCFS);
	return CLI_ANSWERED;
}

static int parse(struct cli_job *job)
{
	const char *file = job->output ? job->output : DEFAULT_FILE;
	int status = cli_kmem_recorded(job);
	struct stat st;

	if (job->boot)
		job->command = &boot;
	if (status)
		return status;
	if (job->boot)
		return parse_boot(job);
	if (!strcmp(file, "-") ||
	    (!stat(file, &st) && !S_ISREG(st.st_mode)))
		return cli_usage("kmem record: '%s' is not a regular file: a "
				 "trace is written at several places", file);
	if (!job->output && !lstat(file, &st))
		return cli_usage("kmem record: '%s' is there already: name a "
				 "file with -o FILE, which replaces it", file);
	job->path = file;
	return cli_check_format(job);
}

/* --- from boot on --- */

/*
 * The kernel makes the instance before the first allocation that it can trace
 * (Documentation/admin-guide/kernel-parameters.txt, trace_instance).
 */
static int run_boot(struct cli_job *job, struct pagedet *pd)
{
	static const char objects[] = "kmem:kmalloc,kmem:kfree,"
		"kmem:kmem_cache_alloc,kmem:kmem_cache_free";
	static const char pages[] = ",kmem:mm_page_alloc,kmem:mm_page_free,"
				    "kmem:mm_page_free_batched";
	const uint64_t buffer = job->buffer ? job->buffer : BOOT_BUFFER;
	char text[512];
	int len;

	(void)pd;
	len = snprintf(text, sizeof(text), "trace_instance=%s,%s%s "
		       "trace_buf_size=%lluK\n", BOOT_NAME, objects,
		       job->pages ? pages : "",
		       (unsigned long long)(buffer + 1023) >> 10);
	if (!job->quiet)
		cli_say("for the kernel's command line, since Linux 6.3; after "
			"the boot: pagedet kmem report --instance "
			BOOT_NAME);
	return cli_output_write(STDOUT_FILENO, text, (size_t)len);
}

/* --- recording --- */

int cli_kmem_begin(struct cli_recording *r, struct pagedet_record_options *o)
{
	int error;

	o->buffer = r->job->buffer;
	o->flags |= PAGEDET_RECORD_NOT_CALLER |
		    (r->job->pages ? PAGEDET_RECORD_PAGES : 0);
	error = pagedet_allocs_record(r->pd, o, &r->recorder);
	return error ? cli_fail(r->pd, error) : CLI_ANSWERED;
}

/* The directory of the file: what is recorded belongs to its filesystem. */
static char *folder_of(const struct cli_recording *r)
{
	const char *target = r->out.target, *slash = strrchr(target, '/');

	return slash ? strndup(target, (size_t)(slash - target) + 1) :
		       strdup(".");
}

static int begin(struct cli_recording *r)
{
	struct pagedet_record_options o = PAGEDET_RECORD_OPTIONS_INIT;
	char *folder = folder_of(r);
	int status;

	if (!folder)
		return cli_fail_errno("cannot record");
	cli_allow_descriptors();
	o.folder = folder;
	o.flags = r->job->stacks ? PAGEDET_RECORD_STACKS : 0;
	status = cli_kmem_begin(r, &o);
	free(folder);
	if (!status)
		cli_kmem_watch_begin(r);
	return status;
}

void cli_kmem_ask(struct cli_recording *r)
{
	r->total.size = sizeof(r->total);
	pagedet_recorder_total(r->recorder, &r->total);
}

static uint32_t failed(void *arg)
{
	struct cli_recording *r = arg;

	cli_kmem_ask(r);
	return r->total.error;
}

static int save(struct cli_recording *r)
{
	int error;

	cli_kmem_watch_end(r);
	error = pagedet_recorder_stop(r->recorder);
	cli_kmem_ask(r);
	return error ? cli_fail(r->pd, error) : cli_kmem_pack(r);
}

/* 'kmem record FILE' runs a program of that name. */
static int release(struct cli_recording *r)
{
	const struct cli_job *job = r->job;
	const int status = cli_child_release(&r->child);
	char file[CLI_QUOTED];

	if (status && job->n_words == 2 && !job->output)
		cli_say("hint: a word is a program to run; to record into a "
			"file of that name: pagedet kmem record -o %s",
			pagedet_quoted(job->words[1], "FILE", file,
				       sizeof(file)));
	return status;
}

int cli_kmem_record(struct cli_recording *r,
		    int (*start)(struct cli_recording *r),
		    int (*end)(struct cli_recording *r))
{
	int status = cli_child_start(&r->child, r->job, 1);

	if (!status)
		status = start(r);
	if (!status) {
		cli_interrupt_asked(true);
		status = release(r);
		if (!status) {
			/* timeout(1) sends two signals, and means one. */
			cli_interrupt_holds(true);
			cli_kmem_say_end(r);
			cli_child_until(&r->child, r->job, r->groups ? failed :
					cli_kmem_watch, r);
			status = end(r);
			cli_interrupt_holds(false);
		}
		cli_interrupt_asked(false);
	}
	pagedet_recorder_free(r->recorder);
	cli_child_close(&r->child);
	return status;
}

/* --- what it says --- */

static void tell(const struct cli_recording *r)
{
	const struct pagedet_record_total *t = &r->total;
	char file[CLI_QUOTED];

	cli_child_tell(&r->child);
	cli_say("%s: %llu event%s of the whole machine in %.3f s", r->file,
		(unsigned long long)t->events, cli_plural(t->events),
		(double)(t->end_ns - t->begin_ns) / 1e9);
	if (r->child.name)
		cli_say("hint: to see whose they are: pagedet kmem report %s "
			"--by comm; --where comm=NAME selects some of these "
			"groups", cli_argument(r->file, "FILE", file));
	if (t->lost)
		cli_say("%llu event%s lost: the buffer of each processor had "
			"%llu KiB; --buffer %lluM would have held them",
			(unsigned long long)t->lost, cli_plural(t->lost),
			(unsigned long long)t->buffer >> 10,
			(unsigned long long)t->buffer_needed >> 20);
}

static int write_json(const struct cli_recording *r)
{
	const struct pagedet_record_total *t = &r->total;
	struct cli_job job = *r->job;
	struct cli_report report;
	int status = cli_report_open(&report);

	if (status)
		return status;
	fputc('{', report.f);
	cli_json_member(report.f, "file", r->file, strlen(r->file));
	fprintf(report.f, ",\"events\":%llu,\"lost\":%llu,\"bytes\":%llu,"
		"\"ns\":%llu,\"ended\":\"%s\",\"cpus\":%u,\"mapped\":%u,"
		"\"buffer\":%llu,\"buffer_needed\":",
		(unsigned long long)t->events, (unsigned long long)t->lost,
		(unsigned long long)t->bytes,
		(unsigned long long)(t->end_ns - t->begin_ns), r->ended,
		t->cpus, t->mapped, (unsigned long long)t->buffer);
	if (t->lost)
		fprintf(report.f, "%llu}\n",
			(unsigned long long)t->buffer_needed);
	else
		fputs("null}\n", report.f);
	/* The output is the trace; this is for the caller. */
	job.output = NULL;
	return cli_report_close(&report, &job, CLI_ANSWERED);
}

/* Whether there would be more. A size alone is an end that was asked for. */
static bool is_cut(const struct cli_recording *r)
{
	return !strcmp(r->ended, "disk") ||
	       (!strcmp(r->ended, "max_size") &&
		(r->child.name || r->job->for_ns));
}

static int run(struct cli_job *job, struct pagedet *pd)
{
	struct cli_recording r = { .job = job, .pd = pd, .file = job->path };
	int status = cli_output_open(&r.out, r.file);

	if (status)
		return status;
	/* It has addresses of the kernel. */
	if (fchmod(r.out.fd, 0600))
		status = cli_fail_errno("cannot set the mode of '%s'", r.file);
	if (!status)
		status = cli_kmem_record(&r, begin, save);
	status = cli_output_close(&r.out, !status, status);
	if (status)
		return status;
	if (!job->quiet)
		tell(&r);
	if (job->format == PAGEDET_FORMAT_JSON)
		status = write_json(&r);
	return status ? status : r.total.lost || is_cut(&r) ? CLI_UNSURE :
							      CLI_ANSWERED;
}

const struct cli_command cli_kmem_recording = {
	"kmem", "record [-o FILE] [PROGRAM ...]", "", .parse = parse,
	.run = run, .min_words = 1, .max_words = -1,
};
