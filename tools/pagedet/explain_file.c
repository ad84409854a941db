/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Prepares the pages of explain and summarises its findings. Kernel addresses
 * become page frame numbers, a file becomes some of its pages, and a finding
 * about many pages is written once.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* For a file; spread over its length. */
#define MOST_PAGES 1024

static bool has(const struct pagedet_page *row, uint32_t field)
{
	return PAGEDET_CELL_STATE(row->cell[field]) == PAGEDET_HAVE;
}

/* A privilege is missing. */
static bool lost(const struct pagedet_page *row, uint32_t field)
{
	return PAGEDET_CELL_STATE(row->cell[field]) == PAGEDET_NO_ACCESS;
}

static void want(struct pagedet_query *q, uint32_t field)
{
	q->fields[field / 64] |= 1ull << field % 64;
}

/* --- addresses --- */

/* Of a process, if the item has one, or of the kernel. */
static int find_page(const struct cli_job *job, struct pagedet *pd,
		     struct pagedet_item *item)
{
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_item asked = { item->first, 1, item->pid, 0 };
	struct pagedet_page row;
	struct pagedet_iter *it;
	int n;

	q.target = item->pid ? PAGEDET_TARGET_VIRT : PAGEDET_TARGET_KADDR;
	q.items = &asked;
	q.n_items = 1;
	q.deadline_ns = cli_deadline_left(job);
	want(&q, PAGEDET_FIELD_PFN);
	n = pagedet_query(pd, &q, &it);
	if (n)
		return cli_fail(pd, n);
	n = pagedet_next(it, &row, 1);
	pagedet_iter_free(it);
	if (n < 0)
		return cli_fail(pd, n);
	if (n && lost(&row, PAGEDET_FIELD_PFN)) {
		cli_say("cannot explain 0x%llx: its page frame number is "
			"hidden", (unsigned long long)item->first);
		cli_say("hint: needs CAP_SYS_ADMIN (root)");
		return CLI_DENIED;
	}
	if (!n || !has(&row, PAGEDET_FIELD_PFN)) {
		cli_say("there is no page at 0x%llx",
			(unsigned long long)item->first);
		return CLI_NO;
	}
	item->first = row.pfn;
	item->count = 1;
	item->pid = 0;
	return CLI_ANSWERED;
}

int cli_explain_addresses(struct cli_job *job, struct pagedet *pd)
{
	int status = CLI_ANSWERED;
	size_t i;

	for (i = 0; i < job->n_items && !status; i++)
		if (job->items[i].pid || job->items[i].first >> 63)
			status = find_page(job, pd, &job->items[i]);
	return status;
}

/* --- files --- */

int cli_explain_pages_of(struct cli_job *job, struct pagedet *pd,
			 uint64_t *cached)
{
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_page rows[64];
	uint64_t step = 1, at = 0, hidden = 0;
	struct pagedet_iter *it;
	int n, i, status = CLI_ANSWERED;
	size_t k, kept;

	q.target = PAGEDET_TARGET_FILE;
	q.path = job->file;
	q.deadline_ns = cli_deadline_left(job);
	want(&q, PAGEDET_FIELD_PFN);
	n = pagedet_query(pd, &q, &it);
	if (n)
		return cli_fail(pd, n);
	do {
		n = pagedet_next(it, rows, CLI_COUNT(rows));
		for (i = 0; i < n && !status; i++) {
			struct pagedet_item item = { rows[i].pfn, 1, 0, 0 };

			hidden += lost(&rows[i], PAGEDET_FIELD_PFN);
			if (!has(&rows[i], PAGEDET_FIELD_PFN) || at++ % step)
				continue;
			status = cli_add_item(job, &item);
			if (job->n_items < 2 * MOST_PAGES)
				continue;
			/* Keep every second page. */
			for (k = kept = 0; k < job->n_items; k += 2)
				job->items[kept++] = job->items[k];
			job->n_items = kept;
			step *= 2;
		}
	} while (n > 0 && !status && !cli_interrupted());
	pagedet_iter_free(it);
	if (n < 0)
		return cli_fail(pd, n);
	*cached = at;
	if (!status && cli_must_stop(job)) {
		cli_say("%s: found %llu page%s of the file", cli_stop_words(),
			(unsigned long long)at, cli_plural(at));
		return CLI_UNSURE;
	}
	if (status || job->n_items)
		return status;
	if (hidden) {
		cli_say("cannot explain '%s': %llu of its pages %s cached, but "
			"%s hidden", job->file, (unsigned long long)hidden,
			cli_is_or_are(hidden), hidden == 1 ?
			"its page frame number is" :
			"their page frame numbers are");
		cli_say("hint: needs CAP_SYS_ADMIN (root)");
		return CLI_DENIED;
	}
	cli_say("no page of '%s' is cached", job->file);
	return CLI_NO;
}

/* --- summaries --- */

static bool is_same(const struct pagedet_finding *a,
		    const struct pagedet_finding *b)
{
	return a->rule == b->rule && a->question == b->question &&
	       a->verdict == b->verdict && a->confidence == b->confidence &&
	       !strcmp(a->cause, b->cause) && !strcmp(a->advice, b->advice);
}

static const struct pagedet_page *row_of(const struct pagedet_evidence *e,
					 struct pagedet_page *row)
{
	memset(row, 0, sizeof(*row));
	memcpy(row, e->here, sizeof(*row) < sizeof(e->here) ? sizeof(*row) :
							      sizeof(e->here));
	return row;
}

static bool is_same_folio(const struct pagedet_evidence *a,
			  const struct pagedet_evidence *b)
{
	struct pagedet_page x, y;

	row_of(a, &x);
	row_of(b, &y);
	return has(&x, PAGEDET_FIELD_HEAD_PFN) &&
	       has(&y, PAGEDET_FIELD_HEAD_PFN) && x.head_pfn == y.head_pfn;
}

uint64_t cli_explain_fold(struct pagedet_finding *findings, uint64_t *n,
			  const struct pagedet_evidence *evidence)
{
	uint64_t i, k, kept = 0, dropped = 0;

	for (i = 0; i < *n; i++) {
		/*
		 * Findings are in the order of pages. If pages of a folio are
		 * neighbours in the items, so are their findings.
		 */
		for (k = kept; k > 0; k--) {
			const struct pagedet_finding *f = &findings[k - 1];

			if (!is_same_folio(&evidence[f->evidence],
					   &evidence[findings[i].evidence]))
				k = 1;
			else if (f->evidence != findings[i].evidence &&
				 is_same(f, &findings[i]))
				break;
		}
		if (k) {
			dropped++;
			continue;
		}
		findings[kept++] = findings[i];
	}
	*n = kept;
	return dropped;
}

/* --- the answer for a file --- */

static const char *confidence(const struct pagedet_finding *f)
{
	const char *name = pagedet_confidence_name(f->confidence);

	return name ? name : "none";
}

/*
 * Rewrites a command in an advice, so that it names the page and the files that
 * were opened.
 */
static void advice_of(const struct cli_job *job, const char *text,
		      uint64_t pfn, char buf[CLI_HINT])
{
	const char *at = strstr(text, "PFN");
	char page[2048];
	int n = 0;

	if (at)
		n = snprintf(page, sizeof(page), "%.*s%llu%s", (int)(at - text),
			     text, (unsigned long long)pfn,
			     at + strlen("PFN"));
	cli_commands_of(job, at && n < (int)sizeof(page) ? page : text, buf);
}

static void print_json(FILE *out, const struct cli_job *job,
		       const struct pagedet_finding *f,
		       uint64_t pages, uint64_t of, uint64_t pfn)
{
	char advice[CLI_HINT];

	fprintf(out, "{\"finding\":");
	cli_json_text(out, f->name, strlen(f->name));
	fprintf(out, ",\"cause\":");
	cli_json_text(out, f->cause, strlen(f->cause));
	fprintf(out, ",\"confidence\":\"%s\",\"advice\":", confidence(f));
	advice_of(job, f->advice, pfn, advice);
	cli_json_text(out, advice, strlen(advice));
	/* The evidence is about one page: "explain PFN" shows it. */
	fprintf(out, ",\"pages\":%llu,\"of\":%llu,\"pfn\":%llu}\n",
		(unsigned long long)pages, (unsigned long long)of,
		(unsigned long long)pfn);
}

static void print_text(FILE *out, const struct cli_job *job,
		       const struct pagedet_finding *f,
		       uint64_t pages, uint64_t of, uint64_t pfn)
{
	char advice[CLI_HINT], quoted[CLI_QUOTED];

	fprintf(out, "%llu of %llu page%s: %s\n  %s, %s\n",
		(unsigned long long)pages, (unsigned long long)of,
		cli_plural(of), f->cause, f->name, confidence(f));
	if (*f->advice && strcmp(f->advice, "nothing")) {
		advice_of(job, f->advice, pfn, advice);
		fprintf(out, "  what to do: %s\n", advice);
	}
	fprintf(out, "  for example: %s explain %llu%s%s\n", job->again,
		(unsigned long long)pfn, job->why ? " --why " : "",
		job->why ? pagedet_quoted(job->why, "LIST", quoted,
				      sizeof(quoted)) : "");
}

int cli_explain_report(const struct cli_job *job,
		       struct pagedet_finding *findings, uint64_t n,
		       const struct pagedet_evidence *evidence, uint64_t of)
{
	int status = cli_check_format(job);
	struct pagedet_page row;
	struct cli_report r;
	uint64_t i, k, pages;

	if (!status)
		status = cli_report_open(&r);
	if (status)
		return status;
	for (i = 0; i < n; i++) {
		if (!findings[i].name)
			continue;	/* already counted */
		pages = 1;
		for (k = i + 1; k < n; k++) {
			if (!findings[k].name ||
			    !is_same(&findings[i], &findings[k]))
				continue;
			findings[k].name = NULL;
			pages++;
		}
		row_of(&evidence[findings[i].evidence], &row);
		if (job->format == PAGEDET_FORMAT_JSON)
			print_json(r.f, job, &findings[i], pages, of,
				   row.pfn);
		else
			print_text(r.f, job, &findings[i], pages, of,
				   row.pfn);
	}
	return cli_report_close(&r, job, CLI_ANSWERED);
}
