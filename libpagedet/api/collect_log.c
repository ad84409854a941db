/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Collects the kernel's reports of pages from its own log. That of a bad page
 * (Linux mm/page_alloc.c, bad_page()) is kept until the page has a memory
 * error; of other reports the last one counts, as in a log that is opened. A
 * row gets "no report" only if the whole log was read, or if the kernel states
 * that it never reported a bad page.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/collect.h"
#include "backend/log/log.h"
#include "backend/log/said.h"
#include "base/io.h"
#include "base/pairs.h"
#include "explain/evidence.h"
#include "explain/explain.h"
#include "schema/schema.h"

/* Limit of records to read. A ring of 2^25 bytes has fewer. */
#define MOST_RECORDS ((uint64_t)1 << 20)
/* The kernel may omit reports after this many. */
#define MOST_REPORTS 60
/* TAINT_BAD_PAGE of include/linux/panic.h */
#define BAD_PAGE ((uint64_t)1 << 5)

struct report {
	uint64_t ns;
	bool has_ns;
	char reason[200];	/* "": a part of the report is lost */
};

struct reading {
	const struct pdet_evidence_list *list;
	struct pdet_log *log;
	struct pdet_pairs asked; /* pages of the list */
	struct pdet_log_said said; /* all reports */
	struct pdet_pairs by_pfn; /* which of reports of bad pages */
	struct {
		struct report *data;
		size_t n, cap;
	} reports;
	uint64_t records, first_seq, n_reports;
	unsigned why;		/* it ended early: PAGEDET_* */
	bool no_memory;
};

/* --- the text of a report --- */

static size_t put(char *to, size_t size, size_t len, const char *text)
{
	const size_t more = strlen(text);

	if (size - len <= more)
		return len;
	memcpy(to + len, text, more + 1);
	return len + more;
}

/* "nonzero mapcount (refcount:0 mapcount:1 flags:0x28(uptodate|lru))" */
static void put_reason(const struct pdet_log_page *p, char *to, size_t size)
{
	struct pdet_scan why = pdet_log_page_text(p, p->why);
	uint64_t bits = p->flags;
	char what[PDET_LOG_OVERWRITTEN];
	const char *before;
	char part[64];
	size_t len;

	if (why.at == why.end)
		why = pdet_log_page_text(p, p->says);
	len = PDET_MIN((size_t)(why.end - why.at), size / 2);
	if (!len)
		return;
	memcpy(to, why.at, len);
	to[len] = '\0';
	if (p->has & PDET_LOG_PAGE) {
		snprintf(part, sizeof(part), " (refcount:%" PRId64
			 " mapcount:%" PRId64 ")", p->refcount, p->mapcount);
		len = put(to, size, len, part);
	}
	pdet_log_overwritten(p, what, sizeof(what));
	if (*what) {
		put(to, size, put(to, size, len, "; "), what);
		return;
	}
	if (!(p->has & PDET_LOG_FLAGS) || to[len - 1] != ')')
		return;
	snprintf(part, sizeof(part), " flags:0x%" PRIx64, p->flags_word);
	len = put(to, size, len - 1, part);
	for (before = "("; bits; bits &= bits - 1) {
		const char *name = pdet_value_name(PAGEDET_FIELD_FLAGS,
			(unsigned)__builtin_ctzll(bits));

		if (!name)
			continue;
		len = put(to, size, len, before);
		len = put(to, size, len, name);
		before = "|";
	}
	put(to, size, len, *before == '|' ? "))" : ")");
}

static bool note(struct reading *r, const struct pdet_log_page *p)
{
	struct report *report;
	uint64_t i;

	if (!pdet_pairs_get(&r->by_pfn, p->pfn, &i)) {
		i = r->reports.n;
		if (!pdet_vec_reserve(&r->reports, 1) ||
		    !pdet_pairs_set(&r->by_pfn, p->pfn, i))
			return false;
		r->reports.n++;
	}
	report = &r->reports.data[i];
	memset(report, 0, sizeof(*report));
	report->has_ns = p->stamp.has_us;
	report->ns = p->stamp.us * 1000;
	put_reason(p, report->reason, sizeof(report->reason));
	return true;
}

/* Whether the report is about a page that was asked for. That of a bad page is
 * kept apart. */
static bool is_asked(void *user, const struct pdet_log_page *p, bool *memory)
{
	struct reading *r = user;
	const bool bad = p->report == PAGEDET_REPORT_BAD_PAGE_STATE;
	uint64_t i;

	if (!(p->has & PDET_LOG_PFN))
		return false;
	r->n_reports += bad;
	if (!pdet_pairs_get(&r->asked, p->pfn, &i))
		return false;
	*memory = !bad || note(r, p);
	return *memory;
}

/* --- records --- */

static bool take_pages(struct reading *r)
{
	return !pdet_log_said_take(&r->said, r->log, is_asked, r);
}

static int stop(struct reading *r, unsigned why)
{
	r->why = why;
	r->no_memory = why == PAGEDET_NO_MEMORY;
	return 1;
}

/*
 * Formats a record as a line of /dev/kmsg, so that the parser sees gaps in the
 * numbers and who wrote the record. A newline in the text does not come from
 * the kernel.
 */
static int add_record(void *user, const struct pagedet_log_record *record)
{
	struct reading *r = user;
	char line[PDET_LOG_TEXT + 64];
	int head;
	size_t len;

	if (!r->records++)
		r->first_seq = record->seq;
	if (r->records > MOST_RECORDS)
		return stop(r, PAGEDET_TOO_COSTLY);
	if (r->records % 64 == 0 && pdet_evidence_late(r->list))
		return stop(r, PAGEDET_TIMEOUT);
	head = snprintf(line, sizeof(line), "%" PRIu64 ",%" PRIu64 ",%" PRIu64
			",-;", (uint64_t)record->facility * 8 + record->level,
			record->seq, record->time_ns / 1000);
	len = PDET_MIN(record->len, sizeof(line) - (size_t)head);
	memcpy(line + head, record->text, len);
	if (pdet_log_feed(r->log, (struct pdet_scan){ line, line + head + len })
	    < 0 || !take_pages(r))
		return stop(r, PAGEDET_NO_MEMORY);
	return 0;
}

static void read_log(struct reading *r, struct pagedet *pd)
{
	uint64_t lost = 0;
	int error = pagedet_kernel_log(pd, add_record, r, &lost);

	if (pdet_log_end(r->log, false) < 0 || !take_pages(r))
		stop(r, PAGEDET_NO_MEMORY);
	if (r->why)
		return;
	if (error < 0)
		r->why = error == -ENODATA ? PAGEDET_UNSUPPORTED :
					     pdet_reason_of(error);
	else if (lost || !r->records || r->first_seq ||
		 r->n_reports >= MOST_REPORTS)
		r->why = PAGEDET_EXCLUDED;
}

/* --- rows --- */

static void put_cell(struct pagedet_page *row, unsigned field, unsigned state)
{
	row->cell[field] = PDET_CELL(state, PAGEDET_SOURCE_LOG);
}

static void put_bad(struct pagedet_evidence *e, struct pagedet_page *row,
		    const struct report *report)
{
	row->report = PAGEDET_REPORT_BAD_PAGE_STATE;
	put_cell(row, PAGEDET_FIELD_REPORT, PAGEDET_HAVE);
	row->reason = *report->reason ?
		      pdet_evidence_prose(e, report->reason) : 0;
	put_cell(row, PAGEDET_FIELD_REASON, row->reason ? PAGEDET_HAVE :
		 *report->reason ? PAGEDET_NO_MEMORY : PAGEDET_EXCLUDED);
	if (!report->has_ns)
		return;
	row->event_ns = report->ns;
	put_cell(row, PAGEDET_FIELD_EVENT_NS, PAGEDET_HAVE);
}

static void put_event(struct pagedet_evidence *e, struct pagedet_page *row,
		      const struct pdet_log_page *p)
{
	char text[PDET_LOG_REASON + 1];
	const size_t len = pdet_log_event_reason(p, text, sizeof(text) - 1);

	text[len] = '\0';
	row->report = p->report;
	put_cell(row, PAGEDET_FIELD_REPORT, PAGEDET_HAVE);
	row->reason = pdet_evidence_prose(e, text);
	put_cell(row, PAGEDET_FIELD_REASON, row->reason ? PAGEDET_HAVE :
		 len ? PAGEDET_NO_MEMORY : PAGEDET_EXCLUDED);
	if (!p->stamp.has_us)
		return;
	row->event_ns = p->stamp.us * 1000;
	put_cell(row, PAGEDET_FIELD_EVENT_NS, PAGEDET_HAVE);
}

/* A memory error is later than the report of a bad page, and graver. */
static bool is_graver(const struct pdet_log_page *p)
{
	return p->remembers || PDET_REPORTED_MEMORY >> (p->report & 63) & 1 ||
	       p->report == PAGEDET_REPORT_UNPOISON;
}

static bool put_said(const struct reading *r, struct pagedet_evidence *e,
		     struct pagedet_page *row)
{
	const struct pdet_log_page *p;
	uint64_t i;

	if (!pdet_pairs_get(&r->said.by_pfn, row->pfn, &i))
		return false;
	p = &r->said.pages.data[i];
	/* It is of an earlier boot. */
	if (p->boot.number != pdet_log_boot(r->log)->number)
		return false;
	if (pdet_pairs_get(&r->by_pfn, row->pfn, &i) && !is_graver(p))
		put_bad(e, row, &r->reports.data[i]);
	else
		put_event(e, row, p);
	return true;
}

static bool has_memory_error(const struct pagedet_page *row)
{
	return pdet_row_flag(row, PAGEDET_PF_HWPOISON) == PAGEDET_YES;
}

/* @never: the kernel has never reported a bad page. Memory errors do not tell
 * whether it has. */
static void tell(const struct reading *r, const struct pdet_evidence_list *list,
		 bool never)
{
	uint64_t i;

	for (i = 0; i < list->n; i++) {
		struct pagedet_evidence *e = pdet_evidence_at(list, i);
		struct pagedet_page row;

		memcpy(&row, e->here, sizeof(row));
		/* A row from a log already has the report. */
		if (!pdet_row_has(&row, PAGEDET_FIELD_PFN) ||
		    pdet_row_has(&row, PAGEDET_FIELD_REPORT))
			continue;
		if (never && !has_memory_error(&row))
			put_cell(&row, PAGEDET_FIELD_REPORT, PAGEDET_NONE);
		else if (!put_said(r, e, &row))
			put_cell(&row, PAGEDET_FIELD_REPORT,
				 r->why ? r->why : PAGEDET_NONE);
		memcpy(e->here, &row, sizeof(row));
	}
}

/* Whether the running kernel states that it has never reported a bad page. */
static bool never_tainted(const struct pagedet *pd)
{
	struct pdet_text text;
	char *end;
	bool never;

	if (pd->opened.options.n_files ||
	    pdet_slurp(&pd->env, &text, 64, "/proc/sys/kernel/tainted") < 0)
		return false;
	never = !(strtoull(text.data, &end, 10) & BAD_PAGE) && end != text.data;
	pdet_text_free(&text);
	return never;
}

/*
 * Notes which pages are asked about. *@poisoned: one of them has a memory
 * error, which the kernel reports without a taint. Returns false if memory is
 * short.
 */
static bool note_asked(struct reading *r, bool *poisoned)
{
	struct pagedet_page row;
	uint64_t i;

	*poisoned = false;
	for (i = 0; i < r->list->n; i++) {
		memcpy(&row, pdet_evidence_at(r->list, i)->here, sizeof(row));
		if (!pdet_row_has(&row, PAGEDET_FIELD_PFN) ||
		    pdet_row_has(&row, PAGEDET_FIELD_REPORT))
			continue;
		*poisoned |= has_memory_error(&row);
		if (!pdet_pairs_set(&r->asked, row.pfn, i))
			return false;
	}
	return true;
}

static int collect(struct reading *r, struct pagedet *pd)
{
	const bool never = never_tainted(pd);
	bool poisoned;

	r->log = pdet_log_new();
	if (!r->log || !note_asked(r, &poisoned))
		return pdet_fail(&pd->env, ENOMEM, "no memory");
	if (pd->page_size)
		pdet_log_page_shift(r->log, (unsigned)
				    __builtin_ctzll(pd->page_size));
	pdet_log_in_order(r->log);
	if (!never || poisoned)
		read_log(r, pd);
	pdet_clear(&pd->env);
	if (r->no_memory)
		return pdet_fail(&pd->env, ENOMEM, "no memory");
	tell(r, r->list, never);
	return 0;
}

int pdet_collect_log(struct pagedet *pd, const struct pdet_evidence_list *list)
{
	struct reading r = { .list = list };
	size_t i;
	int error;

	for (i = 0; i < pd->n_backends; i++)
		if (pd->backends[i]->ops->kernel_log)
			break;
	/* The source is a text or a snapshot, without a kernel. */
	if (i == pd->n_backends)
		return 0;
	error = collect(&r, pd);
	pdet_log_free(r.log);
	pdet_log_said_free(&r.said);
	pdet_pairs_free(&r.asked);
	pdet_pairs_free(&r.by_pfn);
	pdet_vec_free(&r.reports);
	return error;
}
