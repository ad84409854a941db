/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The command kmap watch: which code reads and writes an object of the running
 * kernel, while a program runs or for some time. Without a file, the KMAP is
 * shown as 'kmap report' does.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "kmap.h"

/* Ranges of words whose coverage is told, at most. */
#define MOST_RANGES 16
#define KALLSYMS "/proc/kallsyms"

struct watching {
	struct cli_job *job;
	struct pagedet *pd;
	struct pagedet_kmap_watch *watch;
	struct pagedet_kmap_watch_total total;
	struct cli_child child;
	int program;		/* the word that it begins with */
	struct cli_output out;	/* fd: also of a file without a name */
	bool watched;		/* there is something to tell */
};

/* --- arguments --- */

static int program_of(const struct cli_job *job)
{
	return job->watch_fd || job->watch_cache ? 1 : 2;
}

static int refuse(const struct cli_job *job)
{
	const char *wrong = job->before ? "before" :
			    job->kallsyms ? "kallsyms" :
			    job->kallsyms_before ? "kallsyms-before" :
			    job->folded ? "folded" :
			    job->hz ? "hz" :
			    job->open.n_files ? "from" :
			    job->open.root ? "root" :
			    job->open.vmlinux ? "vmlinux" :
			    !job->output ? NULL :
			    job->by ? "by" :
			    job->sort ? "sort" :
			    job->where ? "where" :
			    job->matrix ? "matrix" :
			    job->accesses ? "accesses" : NULL;

	if (wrong && job->output)
		return cli_usage("kmap watch -o: --%s has no meaning; 'kmap "
				 "report' shows the file", wrong);
	if (wrong)
		return cli_usage("kmap watch asks the running kernel: --%s has "
				 "no meaning", wrong);
	if (job->as_dot || job->strict)
		return cli_usage("kmap watch: --%s has no meaning",
				 job->as_dot ? "format dot" : "strict");
	return CLI_ANSWERED;
}

/* Options that need another one. */
static int refuse_alone(const struct cli_job *job)
{
	const char *of_cache = job->watch_at ? "at" : job->sample ? "sample" :
			       job->seed_given ? "seed" :
			       job->slice_ns ? "slice" : NULL;

	if (job->watch_cache && job->watch_fd)
		return cli_usage("kmap watch: --cache and --fd exclude each "
				 "other");
	if (!job->watch_cache && of_cache)
		return cli_usage("kmap watch: --%s needs --cache NAME",
				 of_cache);
	if (job->slice_ns && !job->sample)
		return cli_usage("kmap watch: --slice needs --sample");
	return CLI_ANSWERED;
}

/* The same as of a file, before anything is watched. */
static int check_table(struct cli_job *job)
{
	int status;

	job->kallsyms = KALLSYMS;
	status = cli_kmap_check(job);
	job->kallsyms = NULL;
	return status;
}

static int parse(struct cli_job *job)
{
	const int program = program_of(job);
	struct pagedet_item item;
	int status = refuse(job);

	if (!status)
		status = refuse_alone(job);
	if (status)
		return status;
	if (job->n_words < program)
		return cli_usage("kmap watch lacks an object: ADDR, ADDR+LEN, "
				 "--fd PID:FD or --cache NAME");
	if (job->watch_fd && job->n_words > program &&
	    !cli_range(job->words[program], CLI_HEX, &item) &&
	    cli_is_kernel_address(item.first))
		return cli_usage("kmap watch: --fd %s names the object, and so "
				 "does '%s': give one of them; after --fd "
				 "comes a program", job->watch_fd,
				 job->words[program]);
	if (job->for_ns && job->n_words > program)
		return cli_usage("kmap watch: --for and '%s' exclude each "
				 "other", job->words[program]);
	return job->output ? cli_check_format(job) : check_table(job);
}

static int take_address(const struct cli_job *job,
			struct pagedet_kmap_watch_options *o)
{
	const char *word = job->words[1];
	struct pagedet_item item;
	const char *wrong = cli_range(word, CLI_HEX, &item);

	if (wrong)
		return cli_usage("kmap watch: '%s' %s", word, wrong);
	o->address = item.first;
	o->bytes = strchr(word, '+') ? item.count : 0;
	return CLI_ANSWERED;
}

static int take_fd(const struct cli_job *job,
		   struct pagedet_kmap_watch_options *o)
{
	const char *colon = strchr(job->watch_fd, ':');
	uint64_t pid, fd;
	char text[24] = "";

	if (colon && (size_t)(colon - job->watch_fd) < sizeof(text))
		memcpy(text, job->watch_fd, (size_t)(colon - job->watch_fd));
	if (!colon || cli_number(text, CLI_DECIMAL, &pid) ||
	    cli_number(colon + 1, CLI_DECIMAL, &fd) || pid > INT32_MAX ||
	    fd > INT32_MAX)
		return cli_usage("--fd: '%s' is not PID:FD, two numbers such "
				 "as 1234:3", job->watch_fd);
	o->flags |= PAGEDET_KMAP_WATCH_FD;
	o->pid = (uint32_t)pid;
	o->fd = (uint32_t)fd;
	return CLI_ANSWERED;
}

/* --- watching --- */

static int begin(struct watching *w)
{
	struct pagedet_kmap_watch_options o = PAGEDET_KMAP_WATCH_OPTIONS_INIT;
	int status = w->job->watch_fd ? take_fd(w->job, &o) :
					take_address(w->job, &o), error;

	if (status)
		return status;
	o.flags |= w->job->only_writes ? PAGEDET_KMAP_WATCH_WRITES : 0;
	o.rate = w->job->rate;
	o.window_ns = w->job->window_ns;
	cli_allow_descriptors();
	error = pagedet_kmap_watch(w->pd, &o, &w->watch);
	return error ? cli_fail(w->pd, error) : CLI_ANSWERED;
}

static uint32_t failed(void *arg)
{
	struct watching *w = arg;

	w->total.size = sizeof(w->total);
	pagedet_kmap_watch_total(w->watch, &w->total);
	return w->total.error;
}

static int save(struct watching *w)
{
	const int error = pagedet_kmap_watch_write(w->watch, w->out.fd);

	if (error)
		return cli_fail(w->pd, error);
	pagedet_kmap_watch_total(w->watch, &w->total);
	w->watched = true;
	return CLI_ANSWERED;
}

static int watch(struct watching *w)
{
	/* It has no breakpoint, and the limits of before. */
	int status = cli_child_start(&w->child, w->job, w->program);

	if (!status)
		status = begin(w);
	if (!status) {
		cli_interrupt_asked(true);
		status = cli_child_release(&w->child);
		if (!status) {
			cli_child_until(&w->child, w->job, failed, w);
			status = save(w);
		}
		cli_interrupt_asked(false);
	}
	cli_child_close(&w->child);
	return status;
}

/* --- what it says --- */

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

/* Words that were watched alike, and are beside each other. */
struct range {
	struct pagedet_kmap_word first;
	uint64_t end;		/* behind the last one */
};

/* 1, or 0 if there are no more words. */
static int next_range(const struct watching *w, uint64_t *at,
		      struct range *ret)
{
	struct pagedet_kmap_word word = { .size = sizeof(word) };

	if (pagedet_kmap_watch_word(w->watch, *at, &word) != 1)
		return 0;
	*ret = (struct range){ word, word.address };
	do {
		ret->end = word.address + word.bytes;
		if (word.ns < ret->first.ns)
			ret->first.ns = word.ns;
		++*at;
	} while (pagedet_kmap_watch_word(w->watch, *at, &word) == 1 &&
		 word.address == ret->end &&
		 word.windows == ret->first.windows &&
		 !word.limited == !ret->first.limited);
	return 1;
}

static void tell_ranges(const struct watching *w, uint64_t ns)
{
	struct range r;
	uint64_t at = 0, first = 0;
	int n;

	for (n = 0; n < MOST_RANGES && next_range(w, &at, &r); n++) {
		first = n ? first : r.first.address;
		cli_say("+%#llx to +%#llx: %llu window%s, %.3f s of %.3f s%s",
			(unsigned long long)(r.first.address - first),
			(unsigned long long)(r.end - 1 - first),
			(unsigned long long)r.first.windows,
			cli_plural(r.first.windows), seconds(r.first.ns),
			seconds(ns), r.first.limited ? ", less by the rate" :
						       "");
	}
	if (next_range(w, &at, &r))
		cli_say("and other words; -o FILE --json tells each");
}

void cli_kmap_tell_turns(uint64_t unwatched)
{
	if (unwatched)
		cli_say("%llu word%s never had a turn: they have no row",
			(unsigned long long)unwatched, cli_plural(unwatched));
}

static uint64_t unwatched(const struct watching *w)
{
	struct pagedet_kmap_word word = { .size = sizeof(word) };
	uint64_t i, n = 0;

	for (i = 0; pagedet_kmap_watch_word(w->watch, i, &word) == 1; i++)
		n += !word.windows;
	return n;
}

static void tell_coverage(const struct watching *w)
{
	const struct pagedet_kmap_watch_total *t = &w->total;
	const unsigned long long words = t->words;
	const uint64_t ns = t->end_ns - t->begin_ns;

	if (t->turns == 1)
		cli_say("%llu word%s watched for %.3f s, by %u breakpoint%s of "
			"each of %u processor%s", words, cli_plural(words),
			seconds(ns), t->slots, cli_plural(t->slots), t->cpus,
			cli_plural(t->cpus));
	else
		cli_say("%llu words took turns at %u breakpoint%s of each of "
			"%u processor%s: accesses while another word had its "
			"turn are not counted", words, t->slots,
			cli_plural(t->slots), t->cpus, cli_plural(t->cpus));
	if (t->turns > 1 || t->limited)
		tell_ranges(w, ns);
	cli_kmap_tell_turns(unwatched(w));
}

const char *cli_kmap_unknown_why(const struct pagedet_kmap_watch_total *t)
{
	switch (t->unknown_why) {
	case PAGEDET_NONE:
		return "it is not one of a slab";
	case PAGEDET_RACED:
		return "its slab changed each time that it was read";
	case PAGEDET_NO_KERNEL:
		return "a processor may keep it as a free one; where is not "
		       "known: the kernel's symbols lack it, as without "
		       "CONFIG_KALLSYMS_ALL";
	case PAGEDET_UNSUPPORTED:
		return t->mapped ? "its slab has no list of free objects, like "
				   "one of KFENCE" :
				   "no source reads the kernel's memory";
	default:
		return pagedet_state_text(t->unknown_why);
	}
}

static void tell_objects(const struct pagedet_kmap_watch_total *t)
{
	if (t->freed)
		cli_say("the object was freed: the watch ended, and the last "
			"accesses may be to the next user of its memory");
	if (t->unknown)
		cli_say("whether the object was freed meanwhile is not known: "
			"%s", cli_kmap_unknown_why(t));
	if (!t->mapped)
		cli_say("whether memory is mapped at the address is not known: "
			"if there is none, nothing can access it");
}

void cli_kmap_tell_hits(const struct cli_job *job,
			const struct pagedet_kmap_watch_total *t)
{
	if (t->limited)
		cli_say("the rate of %llu hits a second was used up: the rest "
			"of such a window was not watched; --rate allows more, "
			"which slows the kernel",
			(unsigned long long)t->rate);
	if (t->lost)
		cli_say("%llu hit%s came too fast, not counted",
			(unsigned long long)t->lost, cli_plural(t->lost));
	if (t->unsaid)
		cli_say("%u hit%s of which the kernel does not say by whom, "
			"not counted", t->unsaid, cli_plural(t->unsaid));
	if (t->own)
		cli_say("%llu hit%s by pagedet itself, not counted",
			(unsigned long long)t->own, cli_plural(t->own));
	if (t->cpus_missed)
		cli_say("%u processor%s came online meanwhile, not watched",
			t->cpus_missed, cli_plural(t->cpus_missed));
	if (t->estimated)
		cli_say("counts are estimated: on arm64 some percent may be "
			"too many, on an emulated x86 writes may be counted as "
			"reads");
	if (job->only_writes)
		cli_say("only writes were watched");
}

static void tell(const struct watching *w)
{
	cli_child_tell(&w->child);
	tell_coverage(w);
	tell_objects(&w->total);
	cli_kmap_tell_hits(w->job, &w->total);
}

static bool is_lossy(const struct pagedet_kmap_watch_total *t)
{
	return t->limited || t->lost || t->unsaid || t->freed ||
	       t->cpus_missed;
}

static void put_words(const struct watching *w, FILE *f)
{
	struct pagedet_kmap_word word = { .size = sizeof(word) };
	uint64_t i;

	for (i = 0; pagedet_kmap_watch_word(w->watch, i, &word) == 1; i++)
		fprintf(f, "%s{\"address\":\"%#llx\",\"bytes\":%llu,"
			"\"windows\":%llu,\"ns\":%llu,\"limited\":%llu}",
			i ? "," : "", (unsigned long long)word.address,
			(unsigned long long)word.bytes,
			(unsigned long long)word.windows,
			(unsigned long long)word.ns,
			(unsigned long long)word.limited);
}

static int write_json(const struct watching *w)
{
	const struct pagedet_kmap_watch_total *t = &w->total;
	const char *why = t->unknown ? pagedet_state_name(t->unknown_why) :
				       NULL;
	struct cli_job job = *w->job;
	struct cli_report report;
	int status = cli_report_open(&report);

	if (status)
		return status;
	fputc('{', report.f);
	cli_json_member(report.f, "file", job.output, strlen(job.output));
	fprintf(report.f, ",\"reads\":%llu,\"writes\":%llu,\"lost\":%llu,"
		"\"unsaid\":%u,"
		"\"own\":%llu,\"limited\":%llu,\"ns\":%llu,\"turns\":%llu,"
		"\"windows\":%llu,\"window_ns\":%llu,\"rate\":%llu,"
		"\"breakpoints\":%u,\"cpus\":%u,\"cpus_missed\":%u,"
		"\"looks\":%llu,\"freed\":%s,\"estimated\":%s,"
		"\"mapped\":%s,",
		(unsigned long long)t->reads, (unsigned long long)t->writes,
		(unsigned long long)t->lost, t->unsaid,
		(unsigned long long)t->own, (unsigned long long)t->limited,
		(unsigned long long)(t->end_ns - t->begin_ns),
		(unsigned long long)t->turns, (unsigned long long)t->windows,
		(unsigned long long)t->window_ns, (unsigned long long)t->rate,
		t->slots, t->cpus, t->cpus_missed,
		(unsigned long long)t->looks,
		t->freed ? "true" : t->unknown ? "null" : "false",
		t->estimated ? "true" : "false", t->mapped ? "true" : "null");
	if (why)
		fprintf(report.f, "\"missing\":{\"freed\":\"%s\"},", why);
	fputs("\"words\":[", report.f);
	put_words(w, report.f);
	fputs("]}\n", report.f);
	/* The output is the KMAP; this is for the caller. */
	job.output = NULL;
	return cli_report_close(&report, &job, CLI_ANSWERED);
}

/* --- a file, or a table --- */

static int write_file(struct watching *w)
{
	int status = cli_output_open(&w->out, w->job->output);

	if (status)
		return status;
	/* It has addresses of the kernel. */
	if (w->out.target && fchmod(w->out.fd, 0600))
		status = cli_fail_errno("cannot set the mode of '%s'",
					w->job->output);
	if (!status)
		status = watch(w);
	status = cli_output_close(&w->out, !status, status);
	if (!status && w->job->format == PAGEDET_FORMAT_JSON)
		status = write_json(w);
	return status;
}

int cli_kmap_show_watched(const struct cli_job *asked, struct pagedet *pd,
			  int fd)
{
	struct cli_job job = *asked;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	job.path = path;
	job.kallsyms = KALLSYMS;
	job.accesses = !job.by && !job.matrix;
	job.pointers = true;
	job.watched = true;
	return cli_run_kmap(&job, pd);
}

static int write_table(struct watching *w)
{
	int status;

	w->out.fd = memfd_create("kmap", MFD_CLOEXEC);
	if (w->out.fd < 0)
		return cli_fail_errno("cannot keep what is watched");
	status = watch(w);
	if (!status)
		status = cli_kmap_show_watched(w->job, w->pd, w->out.fd);
	close(w->out.fd);
	return status;
}

static int run(struct cli_job *job, struct pagedet *pd)
{
	struct watching w = { .job = job, .pd = pd,
			      .program = program_of(job) };
	int status;

	if (job->watch_cache)
		return cli_kmap_watch_cache(job, pd);
	status = job->output ? write_file(&w) : write_table(&w);
	/* No: what was watched has nothing to show. A failure may have the same
	 * status. */
	if (w.watched && (status == CLI_ANSWERED || status == CLI_UNSURE ||
			  status == CLI_NO)) {
		if (!job->quiet)
			tell(&w);
		if (is_lossy(&w.total) || unwatched(&w))
			status = CLI_UNSURE;
	}
	pagedet_kmap_watch_free(w.watch);
	return status;
}

const struct cli_command cli_kmap_watching = {
	"kmap", "watch ADDR[+LEN] | --fd PID:FD | --cache NAME [PROGRAM ...]",
	"", .nothing = "no object is left to show",
	.parse = parse, .run = run, .min_words = 1, .max_words = -1,
	.groups = true,
};
