/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The command explain crash: did programs that faulted, according to a log, run
 * the code of their file? It compares the bytes in the log ("Code:"), the page
 * that is cached now, and the disk.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define F(name) PAGEDET_FIELD_##name

/* The result, in the form of a finding. */
struct answer {
	const char *rule, *confidence, *advice;
	char cause[512];
};

struct crashes {
	struct cli_job *job;
	struct pagedet *pd;
	FILE *f;
	uint64_t n;
	bool unsure, damaged;
};

/* --- the line --- */

static bool number_behind(const char *text, const char *word, uint64_t *ret)
{
	const char *at = strstr(text, word);
	char *end;

	if (!at)
		return false;
	*ret = strtoull(at + strlen(word), &end, 16);
	return end != at + strlen(word);
}

/* "48 89 e5 <8b> 00" */
static void parse_code(struct cli_crash *c, const char *at)
{
	bool here = false;
	char *end;

	while (c->n_code < CLI_CODE) {
		unsigned long byte;

		at += strspn(at, " ");
		here |= *at == '<';
		at += *at == '<';
		byte = strtoul(at, &end, 16);
		/* Reject "Bad RIP value.". */
		if (end != at + 2 || byte > 0xff)
			break;
		if (here && *end == '>')
			c->at = c->n_code;
		at = end + (*end == '>');
		c->code[c->n_code++] = (uint8_t)byte;
	}
	if (!here)
		c->n_code = 0;
}

/* "... ip 55d0c2a9b13d ... in NAME[113d,55d0c2a9b000+1000]; Code: ..."; of
 * arm64 "... in NAME[400000+1000]; pc: 400754" */
void cli_crash_parse(struct cli_crash *c, const char *text)
{
	const char *in = strstr(text, " in "), *open, *code;
	const bool x86 = number_behind(text, " ip ", &c->ip) ||
			 number_behind(text, " ip:", &c->ip);
	const bool has_ip = x86 || number_behind(text, "; pc: ", &c->ip);
	int n = 0;

	/* x86 has no other base pages. */
	c->log_page = x86 ? 4096 : 0;
	open = in ? strchr(in, '[') : NULL;
	if (open && (size_t)(open - in - 4) < sizeof(c->name)) {
		memcpy(c->name, in + 4, (size_t)(open - in - 4));
		if (sscanf(open, "[%lx,%lx+%lx]%n", &c->offset, &c->base,
			   &c->len, &n) == 3 && n)
			c->has_offset = c->has_base = true;
		else if (sscanf(open, "[%lx+%lx]", &c->base, &c->len) == 2)
			c->has_base = true;
	}
	if (!*c->name)
		c->why = "the log does not name the file";
	else if (!has_ip && !c->has_offset)
		c->why = "the log does not say where the instruction is";
	code = strstr(text, "; Code: ");
	if (code)
		parse_code(c, code + strlen("; Code: "));
}

/* --- conclusions --- */

static unsigned bits_apart(const uint8_t *a, const uint8_t *b, size_t n,
			   size_t *bytes)
{
	unsigned bits = 0;
	size_t i;

	for (i = 0, *bytes = 0; i < n; i++) {
		bits += (unsigned)__builtin_popcount(a[i] ^ b[i]);
		*bytes += a[i] != b[i];
	}
	return bits;
}

/*
 * The part of the log's code that is in one page: its first byte, its offset,
 * and its length.
 */
static size_t code_in_page(const struct cli_crash *c, size_t *from, size_t *at)
{
	const size_t size = c->page_size, in = c->offset % size;

	*from = c->at > in ? c->at - in : 0;
	*at = in + *from - c->at;
	return !c->n_code ? 0 : c->n_code - *from < size - *at ?
		c->n_code - *from : size - *at;
}

static void cannot_tell(struct answer *a, const char *why)
{
	a->rule = "crash-unknown";
	a->confidence = "none";
	a->advice = "nothing";
	snprintf(a->cause, sizeof(a->cause), "cannot tell: %s", why);
}

/* The cached page is clean but differs from the disk. */
static void damaged(const struct cli_crash *c, struct answer *a, bool ran)
{
	a->rule = "crash-text-damaged";
	a->confidence = ran && !c->direct ? "high" : "medium";
	a->advice = "drop the page (posix_fadvise DONTNEED, or drop_caches) "
		    "and test the machine's memory";
	snprintf(a->cause, sizeof(a->cause), "the cached page of the file is "
		 "not what the disk has: %s%s", c->disk_why,
		 ran ? "; the program ran the cached bytes" : "");
}

/* The program ran code that differs from the cached page and the disk. */
static void other_code(struct answer *a, size_t bytes, size_t of, unsigned bits)
{
	cannot_tell(a, "the program ran other bytes than its file has now");
	snprintf(a->cause + strlen(a->cause),
		 sizeof(a->cause) - strlen(a->cause),
		 " (%zu of %zu byte%s, %u bit%s): the file was replaced, or "
		 "the bytes were changed or damaged in memory", bytes, of,
		 cli_plural(of), bits, cli_plural(bits));
}

static void judge(const struct cli_crash *c, struct answer *a)
{
	size_t from, at, n = code_in_page(c, &from, &at), bytes;
	const unsigned bits = bits_apart(c->code + from, c->page + at, n,
					 &bytes);

	if (c->disk == PAGEDET_VIOLATED) {
		damaged(c, a, n && !bits);
	} else if (!n) {
		cannot_tell(a, "the log does not have the bytes that ran; the "
			    "cached page is the same as on the disk");
	} else if (bits) {
		other_code(a, bytes, n, bits);
	} else {
		a->rule = "crash-text-intact";
		a->confidence = c->direct ? "medium" : "high";
		a->advice = "look for the fault in the program";
		snprintf(a->cause, sizeof(a->cause), "the page of code is not "
			 "damaged: the %zu byte%s that ran %s of the file, "
			 "and the cached page is the same as on the disk%s", n,
			 cli_plural(n), n == 1 ? "is that" : "are those",
			 c->direct ? " (by O_DIRECT)" : "");
	}
}

static void answer(const struct cli_crash *c, struct answer *a)
{
	if (c->why)
		cannot_tell(a, c->why);
	else if (!c->cached)
		cannot_tell(a, "the page of the file is not cached now");
	else if (c->disk == PAGEDET_CANNOT_TELL)
		cannot_tell(a, c->disk_why);
	else
		judge(c, a);
}

/* --- output --- */

static void print_text(const struct crashes *x, const struct cli_crash *c,
		       const struct answer *a, const char *who)
{
	fprintf(x->f, "%s%s: ", x->n ? "\n" : "", who);
	cli_plain_text(x->f, a->cause, strlen(a->cause));
	fprintf(x->f, "\n  %s, %s\n", a->rule, a->confidence);
	if (*c->path) {
		fputs("  file ", x->f);
		cli_plain_text(x->f, c->path, strlen(c->path));
		if (c->has_offset)
			fprintf(x->f, ", byte 0x%llx (page %llu)",
				(unsigned long long)c->offset,
				(unsigned long long)(c->offset /
						     c->page_size));
		fputc('\n', x->f);
	}
	if (strcmp(a->advice, "nothing"))
		fprintf(x->f, "  what to do: %s\n", a->advice);
}

/* mips does not log it. */
static bool has_pid(const struct pagedet_page *row)
{
	return PAGEDET_CELL_STATE(row->cell[PAGEDET_FIELD_PID]) ==
	       PAGEDET_HAVE;
}

static void print_json(const struct crashes *x, const struct cli_crash *c,
		       const struct answer *a, const struct pagedet_page *row)
{
	fprintf(x->f, "{\"finding\":\"%s\",\"cause\":", a->rule);
	cli_json_text(x->f, a->cause, strlen(a->cause));
	fprintf(x->f, ",\"confidence\":\"%s\"", a->confidence);
	if (has_pid(row))
		fprintf(x->f, ",\"pid\":%u", row->pid);
	if (*c->path) {
		fputs(",\"path\":", x->f);
		cli_json_text(x->f, c->path, strlen(c->path));
	}
	if (c->has_offset)
		fprintf(x->f, ",\"offset\":%llu",
			(unsigned long long)c->offset);
	fputs(",\"advice\":", x->f);
	cli_json_text(x->f, a->advice, strlen(a->advice));
	fputs("}\n", x->f);
}

static void explain(struct crashes *x, const struct pagedet_iter *it,
		    const struct pagedet_page *row)
{
	struct cli_crash *c = calloc(1, sizeof(*c));
	const uint64_t bound = cli_bound(x->job);
	const char *reason, *comm;
	struct answer a;
	char who[64];
	size_t len;

	reason = pagedet_string(it, row->reason, &len);
	comm = pagedet_string(it, row->comm, &len);
	if (!c || !reason)
		goto out;
	snprintf(who, sizeof(who), has_pid(row) ? "%.*s[%u]" : "%.*s",
		 comm ? (int)len : 0, comm ? comm : "", row->pid);
	cli_crash_parse(c, reason);
	if (!c->why)
		cli_crash_look(x->job, x->pd, c);
	answer(c, &a);
	x->unsure |= !strcmp(a.rule, "crash-unknown");
	x->damaged |= !strcmp(a.rule, "crash-text-damaged");
	if (bound && x->n >= bound)
		;		/* only counted */
	else if (x->job->format == PAGEDET_FORMAT_JSON)
		print_json(x, c, &a, row);
	else
		print_text(x, c, &a, who);
	x->n++;
out:
	free(c);
}

static int each(struct crashes *x)
{
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_page row;
	struct pagedet_iter *it;
	int n;

	q.target = PAGEDET_TARGET_LOG;
	q.path = x->job->path;
	q.sources = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_LOG);
	q.where = "report=fault";
	q.page_size = x->job->page_size;
	n = pagedet_fields_parse(x->pd, "report,reason,pid,comm", &q);
	if (!n)
		n = pagedet_query(x->pd, &q, &it);
	if (n)
		return cli_fail(x->pd, n);
	while ((n = pagedet_next(it, &row, 1)) > 0 && !cli_interrupted())
		explain(x, it, &row);
	pagedet_iter_free(it);
	return n < 0 ? cli_fail(x->pd, n) : CLI_ANSWERED;
}

int cli_run_crash(struct cli_job *job, struct pagedet *pd)
{
	struct crashes x = { .job = job, .pd = pd };
	int status = cli_check_format(job);
	struct cli_report report;

	if (!status)
		status = cli_report_open(&report);
	if (status)
		return status;
	x.f = report.f;
	status = each(&x);
	if (!status)
		status = x.unsure ? CLI_UNSURE : x.damaged ? CLI_ANSWERED :
			 CLI_NO;
	if (!x.n && status == CLI_NO && !job->quiet)
		cli_say("the log mentions no fault of a program");
	cli_tell_more(job, x.n, "fault", "faults");
	return cli_report_close(&report, job, status);
}
