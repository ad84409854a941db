/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The commands kmap on, off, clear and stats: Memorizer's own switches. */
#include <string.h>

#include "kmap.h"

static const char *const clears[] = { "dead", "printed", "calls" };

int cli_kmap_live(struct cli_job *job)
{
	const char *wrong = job->hz ? "hz" :
			    job->accesses ? "accesses" :
			    job->matrix ? "matrix" :
			    job->kallsyms ? "kallsyms" :
			    job->kallsyms_before ? "kallsyms-before" :
			    job->open.n_files ? "from" :
			    job->open.vmlinux ? "vmlinux" : NULL;

	if (wrong)
		return cli_usage("kmap %s asks the running kernel: --%s has "
				 "no meaning", job->words[0], wrong);
	/* No source is asked; this one opens at once. */
	job->open.sources = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_PROCFS);
	return CLI_ANSWERED;
}

/* --- what to set --- */

static const struct {
	const char *name;
	uint32_t control;
} switches[] = {
	{ "objects", PAGEDET_MEMORIZER_ENABLED },
	{ "accesses", PAGEDET_MEMORIZER_LOG_ACCESSES },
	{ "live", PAGEDET_MEMORIZER_LOG_LIVE },
	{ "calls", PAGEDET_MEMORIZER_LOG_CALLS },
	{ "frames", PAGEDET_MEMORIZER_LOG_FRAMES },
};

/* Index of a word in @switches; -1: it is not there. */
static int switch_of(const char *word)
{
	size_t i;

	for (i = 0; i < CLI_COUNT(switches); i++)
		if (!strcmp(word, switches[i].name))
			return (int)i;
	return -1;
}

static bool is_pid(const char *word, uint64_t *ret)
{
	return !cli_number(word, CLI_DECIMAL, ret);
}

static int check_word(const struct cli_job *job, const char *word)
{
	const char *command = job->words[0];
	uint64_t pid;

	if (switch_of(word) >= 0)
		return CLI_ANSWERED;
	if (strcmp(command, "on") || !is_pid(word, &pid))
		return cli_no_word("objects accesses live calls frames", word,
				   strlen(word), "kmap %s: there is no switch "
				   "'%s': there are objects, accesses, live, "
				   "calls and frames", command, word);
	if (pid < 4 || pid > INT32_MAX)
		return cli_usage("kmap on: '%s' is not a process that "
				 "Memorizer can follow", word);
	return CLI_ANSWERED;
}

static int check_clear(const char *word)
{
	size_t i;

	for (i = 0; i < CLI_COUNT(clears); i++)
		if (!strcmp(word, clears[i]))
			return CLI_ANSWERED;
	return cli_no_word("dead printed calls", word, strlen(word),
			   "kmap clear: '%s' cannot be cleared: there are "
			   "dead, printed and calls", word);
}

static int parse(struct cli_job *job)
{
	const char *command = job->words[0];
	int status = cli_kmap_live(job), i;

	if (!status && !strcmp(command, "stats") && job->n_words > 1)
		status = cli_usage("kmap stats takes no argument");
	for (i = 1; !status && i < job->n_words; i++)
		status = !strcmp(command, "clear") ?
				 check_clear(job->words[i]) :
				 check_word(job, job->words[i]);
	return status ? status : cli_check_format(job);
}

static int set(struct pagedet *pd, struct pagedet_memorizer *m,
	       uint32_t control, uint64_t value)
{
	const int error = pagedet_memorizer_set(m, control, value);

	return error ? cli_fail(pd, error) : CLI_ANSWERED;
}

/* --- on and off --- */

/* Whether the kernel has it. */
static bool has(struct pagedet_memorizer *m, uint32_t control)
{
	struct pagedet_memorizer_file file = { .size = sizeof(file) };

	return !pagedet_memorizer_file(m, control, &file) && file.path;
}

/* Objects last: what else is on then counts from the first one. */
static int turn_on(struct cli_job *job, struct pagedet *pd,
		   struct pagedet_memorizer *m)
{
	uint64_t who = 1, pid;
	bool named = false;
	int status = CLI_ANSWERED, i, which;

	for (i = 1; !status && i < job->n_words; i++) {
		which = switch_of(job->words[i]);
		if (which < 0 && is_pid(job->words[i], &pid))
			who = pid;
		named = named || which >= 0;
		if (which > 0)
			status = set(pd, m, switches[which].control, 1);
	}
	if (!status && !named)
		status = set(pd, m, PAGEDET_MEMORIZER_LOG_ACCESSES, 1);
	return status ? status : set(pd, m, PAGEDET_MEMORIZER_ENABLED, who);
}

/* All that count; on and off do not change what is listed. */
static int turn_all_off(struct pagedet *pd, struct pagedet_memorizer *m)
{
	int status = CLI_ANSWERED;
	size_t i;

	for (i = CLI_COUNT(switches); !status && i-- > 0;)
		if (switches[i].control != PAGEDET_MEMORIZER_LOG_LIVE &&
		    has(m, switches[i].control))
			status = set(pd, m, switches[i].control, 0);
	return status;
}

static int turn_off(struct cli_job *job, struct pagedet *pd,
		    struct pagedet_memorizer *m)
{
	int status = CLI_ANSWERED, i;

	if (job->n_words < 2)
		return turn_all_off(pd, m);
	for (i = 1; !status && i < job->n_words; i++)
		status = set(pd, m,
			     switches[switch_of(job->words[i])].control, 0);
	return status;
}

static int clear(struct cli_job *job, struct pagedet *pd,
		 struct pagedet_memorizer *m)
{
	int status = CLI_ANSWERED, i;
	uint32_t k;

	if (job->n_words < 2)
		return set(pd, m, PAGEDET_MEMORIZER_CLEAR_DEAD, 1);
	for (i = 1; i < job->n_words; i++)
		for (k = 0; !status && k < CLI_COUNT(clears); k++)
			if (!strcmp(job->words[i], clears[k]))
				status = set(pd, m,
					PAGEDET_MEMORIZER_CLEAR_DEAD + k, 1);
	return status;
}

/* --- stats --- */

static void put_text(const struct pagedet_memorizer_file *f, FILE *out)
{
	if (!f->path)
		fprintf(out, "%-14s-       this kernel does not have it\n",
			f->name);
	else if (f->state == PAGEDET_NONE)
		fprintf(out, "%-14s        %s\n", f->name, f->path);
	else if (f->state != PAGEDET_HAVE)
		fprintf(out, "%-14s?       %s\n", f->name, f->path);
	else if (f->pid >= 0)
		fprintf(out, "%-14s%-8llu%s, process %lld\n", f->name,
			(unsigned long long)f->value, f->path,
			(long long)f->pid);
	else
		fprintf(out, "%-14s%-8llu%s\n", f->name,
			(unsigned long long)f->value, f->path);
}

static void put_json(const struct pagedet_memorizer_file *f, FILE *out)
{
	fprintf(out, "{\"file\":\"%s\",", f->name);
	if (f->path)
		cli_json_member(out, "path", f->path, strlen(f->path));
	else
		fputs("\"path\":null", out);
	if (f->state == PAGEDET_HAVE)
		fprintf(out, ",\"value\":%llu", (unsigned long long)f->value);
	else if (f->state != PAGEDET_NONE)
		fprintf(out, ",\"value\":null,\"missing\":{\"value\":\"%s\"}",
			pagedet_state_name(f->state));
	if (f->pid >= 0)
		fprintf(out, ",\"pid\":%lld", (long long)f->pid);
	fputs("}\n", out);
}

static int put_stats(const struct cli_job *job, struct pagedet *pd,
		     struct pagedet_memorizer *m, FILE *out)
{
	const char *text;
	uint64_t len;
	int error;

	if (!has(m, PAGEDET_MEMORIZER_STATS))
		return CLI_ANSWERED;
	error = pagedet_memorizer_stats(m, &text, &len);
	if (error)
		return cli_fail(pd, error);
	if (job->format == PAGEDET_FORMAT_JSON) {
		fputc('{', out);
		cli_json_member(out, "stats", text, (size_t)len);
		fputs("}\n", out);
		return CLI_ANSWERED;
	}
	fputc('\n', out);
	for (; len; len--, text++)
		if (*text == '\n' || *text == '\t')
			fputc(*text, out);
		else
			cli_plain_text(out, text, 1);
	return CLI_ANSWERED;
}

/* A switch that is not known makes the answer a part. */
static int stats(struct cli_job *job, struct pagedet *pd,
		 struct pagedet_memorizer *m)
{
	struct pagedet_memorizer_file file = { .size = sizeof(file) };
	struct cli_report report;
	int status = cli_report_open(&report), lost = CLI_ANSWERED;
	uint32_t i;

	for (i = 0; !status && i < PAGEDET_MEMORIZER_CONTROLS; i++) {
		pagedet_memorizer_file(m, i, &file);
		if (file.path && file.state != PAGEDET_NONE &&
		    file.state != PAGEDET_HAVE)
			lost = CLI_UNSURE;
		if (job->format == PAGEDET_FORMAT_JSON)
			put_json(&file, report.f);
		else
			put_text(&file, report.f);
	}
	if (status)
		return status;
	status = put_stats(job, pd, m, report.f);
	return cli_report_close(&report, job, status ? status : lost);
}

static int run(struct cli_job *job, struct pagedet *pd)
{
	const char *command = job->words[0];
	struct pagedet_memorizer *m;
	int error = pagedet_memorizer(pd, &m), status;

	if (error)
		return cli_fail(pd, error);
	status = !strcmp(command, "on") ? turn_on(job, pd, m) :
		 !strcmp(command, "off") ? turn_off(job, pd, m) :
		 !strcmp(command, "clear") ? clear(job, pd, m) :
					     stats(job, pd, m);
	pagedet_memorizer_free(m);
	return status;
}

const struct cli_command cli_kmap_switch = {
	"kmap", "on | off | clear | stats", "", .parse = parse, .run = run,
	.min_words = 1, .max_words = -1,
};
