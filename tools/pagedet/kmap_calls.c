/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The command kmap calls: who called which function, also as a graph. */
#include "kmap.h"

struct calling {
	struct cli_job *job;
	struct pagedet *pd;
	struct pagedet_kmap_calls *calls;
	struct pagedet_kmap_calls_total total;
	struct cli_progress line;
	struct cli_asked asked;
};

static int parse(struct cli_job *job)
{
	const char *wrong = job->by ? "by" :
			    job->sort ? "sort" :
			    job->hz ? "hz" :
			    job->accesses ? "accesses" :
			    job->matrix ? "matrix" :
			    job->where ? "where" :
			    job->open.vmlinux ? "vmlinux" :
			    job->kallsyms_before ? "kallsyms-before" : NULL;

	if (wrong)
		return cli_usage("kmap calls: --%s has no meaning", wrong);
	if (job->folded && (job->as_dot || job->format_given))
		return cli_usage("--folded is a format of its own");
	if (job->n_words != 2)
		return cli_usage("kmap calls takes one file");
	job->path = job->words[1];
	return cli_kmap_refuse(job);
}

static int ask(struct calling *c)
{
	struct pagedet_kmap_query q = PAGEDET_KMAP_QUERY_INIT;
	int error;

	q.path = c->job->path;
	q.kallsyms = c->job->kallsyms;
	q.deadline_ns = cli_deadline_left(c->job);
	q.progress = cli_asked_progress;
	q.progress_user = &c->asked;
	q.progress_ns = CLI_KMAP_ASK_NS;
	cli_progress_start(&c->line, c->job, -1, &c->asked.shown);
	cli_interrupt_asked(true);
	error = pagedet_kmap_calls(c->pd, &q, &c->calls);
	cli_interrupt_asked(false);
	cli_progress_end(&c->line);
	return error ? cli_fail(c->pd, error) : CLI_ANSWERED;
}

/* A file of names may have any sign. */
static void put_quoted(FILE *f, const char *text)
{
	for (putc('"', f); *text; text++) {
		if (*text == '"' || *text == '\\')
			putc('\\', f);
		putc(*text, f);
	}
	putc('"', f);
}

static void draw_call(const struct pagedet_kmap_call *call, FILE *f)
{
	putc('\t', f);
	put_quoted(f, call->from_function);
	fprintf(f, " -> ");
	put_quoted(f, call->to_function);
	fprintf(f, " [label=%llu];\n", (unsigned long long)call->count);
}

static void draw(const struct calling *c, FILE *f, uint64_t max)
{
	struct pagedet_kmap_call call = { .size = sizeof(call) };

	if (c->job->as_dot)
		fprintf(f, "digraph calls {\n");
	for (; max && pagedet_kmap_next_call(c->calls, &call) == 1; max--)
		if (c->job->as_dot)
			draw_call(&call, f);
		else
			fprintf(f, "%s;%s %llu\n", call.from_function,
				call.to_function,
				(unsigned long long)call.count);
	if (c->job->as_dot)
		fprintf(f, "}\n");
}

static int emit_graph(const struct calling *c, int fd, uint64_t max)
{
	FILE *f = cli_output_stream(fd);

	if (!f)
		return cli_fail_errno("cannot write the output");
	draw(c, f, max);
	return fclose(f) ? cli_fail_errno("cannot write the output") :
			   CLI_ANSWERED;
}

static int emit_rows(const struct calling *c, int fd, uint64_t max)
{
	struct pagedet_emitter *e;
	int status = cli_emitter_new(c->job, c->pd, fd, fd, &e), error;

	if (status)
		return status;
	error = pagedet_emit_kmap_calls(e, c->calls, max);
	return cli_emitter_end(c->pd, e, error, fd);
}

static int emit(struct calling *c)
{
	const uint64_t bound = cli_bound(c->job);
	const uint64_t max = bound ? bound : UINT64_MAX;
	struct cli_output out;
	int status = cli_output_open(&out, c->job->output);

	if (!status)
		status = c->job->folded || c->job->as_dot ?
				 emit_graph(c, out.fd, max) :
				 emit_rows(c, out.fd, max);
	pagedet_kmap_calls_total(c->calls, &c->total);
	return cli_output_close(&out, !status && !cli_interrupted(), status);
}

static int judge(const struct calling *c)
{
	const struct pagedet_kmap_calls_total *t = &c->total;
	const bool lossy = t->strange || t->cut || t->saturated || t->dropped;

	if (!c->job->quiet) {
		cli_kmap_tell_lines(t->strange, "that are not two "
				    "addresses and a number", t->strange_line);
		cli_kmap_tell_cut(t->cut, t->saturated);
		cli_kmap_tell(t->dropped, "line", "not counted: there are too "
			      "many different calls");
		cli_kmap_tell_unnamed(c->job, t->unnamed);
		cli_kmap_tell_stop(t->stopped);
	}
	cli_tell_more(c->job, t->calls, "call", "calls");
	if (lossy || !t->complete)
		return CLI_UNSURE;
	if (!t->calls && !c->job->quiet)
		cli_say("there is no call");
	return t->calls ? CLI_ANSWERED : CLI_NO;
}

static int run(struct cli_job *job, struct pagedet *pd)
{
	struct calling c = { .job = job, .pd = pd,
			     .total = { .size = sizeof(c.total) } };
	int status = ask(&c);

	if (!status)
		status = emit(&c);
	if (!status)
		status = judge(&c);
	pagedet_kmap_calls_free(c.calls);
	return status;
}

const struct cli_command cli_kmap_calls = {
	"kmap", "calls FILE", "", .parse = parse, .run = run, .min_words = 1,
	.max_words = 2, .groups = true,
};
