/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Lines become pages. Several writers may be at work at the same time, each
 * with a page that is not complete yet; where the log tells them apart (it has
 * callers) their lines are not mixed. Without, Page Detective's own lines
 * still are no others', since only one of its answers is written at a time.
 */
#include <errno.h>
#include <string.h>

#include "backend/log.h"

/* Pages that are being said at the same time. */
#define OPEN 4

/* Lines and bytes of text that one block or report may have; what begins then
 * is another. */
#define MOST_LINES 4096
#define MOST_TEXT ((size_t)1 << 18)

static const char prefix[] = "Page Detective: ";

struct open_page {
	bool used;
	bool has_caller;
	uint64_t caller;
	uint64_t last;		/* line that belonged to it, as heard */
	struct pdet_log_page page;
};

struct pdet_log {
	struct open_page open[OPEN];
	struct {
		struct pdet_log_page *data;
		size_t n, cap;
	} ready;		/* complete, in the order of their first line */
	size_t taken;		/* of ready */
	struct pdet_log_page given;
	struct pdet_log_page scratch; /* empty, but within a call */
	uint8_t shift;
	uint8_t n_open;
	uint64_t line;
	uint64_t heard;		/* lines but those that say nothing anyway */
	uint64_t seq;		/* the next record's */
	bool has_seq;
	char release[96];
	struct pdet_log_line parsed;
};

void pdet_log_page_free(struct pdet_log_page *p)
{
	pdet_vec_free(&p->maps);
	pdet_vec_free(&p->text);
	memset(p, 0, sizeof(*p));
}

struct pdet_log *pdet_log_new(void)
{
	struct pdet_log *log = calloc(1, sizeof(*log));

	if (log)
		log->shift = 12;
	return log;
}

void pdet_log_page_shift(struct pdet_log *log, unsigned shift)
{
	log->shift = (uint8_t)shift;
}

void pdet_log_free(struct pdet_log *log)
{
	size_t i;

	if (!log)
		return;
	for (i = 0; i < OPEN; i++)
		pdet_log_page_free(&log->open[i].page);
	for (i = log->taken; i < log->ready.n; i++)
		pdet_log_page_free(&log->ready.data[i]);
	pdet_vec_free(&log->ready);
	pdet_log_page_free(&log->given);
	pdet_log_page_free(&log->scratch);
	free(log);
}

const char *pdet_log_release(const struct pdet_log *log)
{
	return log->release;
}

const struct pdet_log_page *pdet_log_take(struct pdet_log *log)
{
	if (log->taken == log->ready.n) {
		log->taken = log->ready.n = 0;
		return NULL;
	}
	pdet_log_page_free(&log->given);
	memcpy(&log->given, &log->ready.data[log->taken], sizeof(log->given));
	log->taken++;
	return &log->given;
}

void pdet_log_steal(struct pdet_log *log, struct pdet_log_page *ret)
{
	memcpy(ret, &log->given, sizeof(*ret));
	memset(&log->given, 0, sizeof(log->given));
}

/* What was not finished is partial, if somebody else did not say so. @cut: the
 * last line may go on. */
static int complete_cut(struct pdet_log *log, struct open_page *o, bool cut)
{
	struct pdet_log_page *p = &o->page;

	if (p->has_phys && p->kind == PDET_LOG_REPORT) {
		p->pfn = p->phys >> p->shift;
		p->has |= PDET_LOG_PFN;
	}
	if (!pdet_log_names_something(p)) {
		pdet_log_page_free(p);
		memset(o, 0, sizeof(*o));
		log->n_open--;
		return 0;
	}
	if (!pdet_vec_reserve(&log->ready, 1))
		return -ENOMEM;
	if (p->needs_block && !p->block)
		p->partial = true;
	if (p->kind == PDET_LOG_DETECTIVE && !p->refusal &&
	    !(p->has & PDET_LOG_FINISHED))
		p->partial = true;
	if (p->kind == PDET_LOG_DUMP_PAGE && !(p->has & PDET_LOG_FLAGS))
		p->partial = true;
	pdet_log_owner_end(p, cut);
	memcpy(&log->ready.data[log->ready.n++], p, sizeof(*p));
	memset(o, 0, sizeof(*o));
	log->n_open--;
	return 0;
}

static int complete(struct pdet_log *log, struct open_page *o)
{
	return complete_cut(log, o, false);
}

static bool is_by(const struct open_page *o, const struct pdet_log_line *l)
{
	return !o->has_caller || !l->has_caller || o->caller == l->caller;
}

enum part {
	OF_DETECTIVE,
	OF_BLOCK,		/* lines of dump_page(), page_owner */
	OF_EXPECTED,		/* a block is to follow */
	OF_REPORT
};

static bool is_part(const struct pdet_log_page *p, enum part part)
{
	switch (part) {
	case OF_DETECTIVE:
		return p->kind == PDET_LOG_DETECTIVE;
	case OF_BLOCK:
		return p->kind == PDET_LOG_DUMP_PAGE;
	case OF_EXPECTED:
		return p->expects;
	default:
		return p->kind != PDET_LOG_DETECTIVE &&
		       p->report != PAGEDET_REPORT_DUMP_PAGE;
	}
}

/* The page that a line of this writer belongs to. */
static struct open_page *open_of(struct pdet_log *log,
				 const struct pdet_log_line *l, enum part part)
{
	struct open_page *found = NULL;
	size_t i;

	for (i = 0; i < OPEN; i++) {
		struct open_page *o = &log->open[i];

		if (o->used && is_by(o, l) && is_part(&o->page, part) &&
		    (!found || o->last > found->last))
			found = o;
	}
	return found;
}

/* A place for a new page; if there is none the oldest is as whole as it
 * gets. NULL without memory. */
static struct open_page *begin(struct pdet_log *log,
			       const struct pdet_log_line *l)
{
	struct open_page *o = &log->open[0];
	size_t i;

	for (i = 0; i < OPEN && o->used; i++)
		if (!log->open[i].used || log->open[i].last < o->last)
			o = &log->open[i];
	if (o->used && complete(log, o) < 0)
		return NULL;
	o->used = true;
	o->has_caller = l->has_caller;
	o->caller = l->caller;
	o->last = log->heard;
	o->page.line = log->line;
	o->page.seq = l->seq;
	o->page.shift = log->shift;
	log->n_open++;
	return o;
}

static int begin_detective(struct pdet_log *log, const struct pdet_log_line *l,
			   const struct pdet_log_page *question)
{
	struct open_page *o = open_of(log, l, OF_DETECTIVE);

	/* One is answered at a time: the one before has no end. That a question
	 * has no answer is said before its turn comes. */
	if (o && !question->refusal && complete(log, o) < 0)
		return -ENOMEM;
	o = begin(log, l);
	if (!o)
		return -ENOMEM;
	o->page.kind = PDET_LOG_DETECTIVE;
	o->page.report = PAGEDET_REPORT_PAGE_DETECTIVE;
	o->page.has = question->has;
	o->page.refusal = question->refusal;
	o->page.pid = question->pid;
	o->page.virt = question->virt;
	o->page.phys = question->phys;
	o->page.pfn = question->pfn;
	o->page.bad_entry = question->bad_entry;
	o->page.bad_level = question->bad_level;
	/* Nothing follows. */
	return question->refusal ? complete(log, o) : 0;
}

/* Of a line by Page Detective: 1 it was one, 0, or -ENOMEM. */
static int feed_detective(struct pdet_log *log, struct pdet_log_line *l)
{
	struct pdet_log_page question = { 0 };
	struct open_page *o;
	bool memory = true, taken;

	if (pdet_log_detective_begins(l->text, &question) ||
	    pdet_log_detective_refuses(l->text, &question))
		return begin_detective(log, l, &question) < 0 ? -ENOMEM : 1;
	o = open_of(log, l, OF_DETECTIVE);
	if (!o)
		return 0;
	taken = pdet_log_detective(&o->page, l->text, &memory) ||
		pdet_log_dump_page(&o->page, l->text, &memory);
	if (taken)
		o->last = log->heard;
	if (!memory)
		return -ENOMEM;
	if (taken && o->page.has & PDET_LOG_FINISHED)
		return complete(log, o) < 0 ? -ENOMEM : 1;
	return taken;
}

/* A line of a block, or of page_owner's behind it. */
static bool take_of_block(struct pdet_log_page *p,
			  const struct pdet_log_line *l, bool *memory)
{
	if (pdet_log_owner(p, l->text, l->indented, memory))
		return true;
	pdet_log_owner_other(p, l->text);
	return pdet_log_dump_page(p, l->text, memory);
}

static void touch(struct pdet_log *log, struct open_page *o)
{
	o->last = log->heard;
	o->page.lines++;
}

/* A block, of the report before it if that is to have this one. */
static struct open_page *begin_block(struct pdet_log *log,
				     const struct pdet_log_line *l)
{
	struct open_page *o = open_of(log, l, OF_EXPECTED);
	uint64_t pfn;

	if (o && o->page.has & PDET_LOG_PFN &&
	    pdet_log_dump_page_pfn(l->text, &pfn) && pfn != o->page.pfn)
		o = NULL;
	if (o) {
		o->page.expects = false;
		o->page.block = true;
		o->page.kind = PDET_LOG_DUMP_PAGE;
		return o;
	}
	o = open_of(log, l, OF_BLOCK);
	if (o && o->page.report == PAGEDET_REPORT_DUMP_PAGE &&
	    complete(log, o) < 0)
		return NULL;
	o = begin(log, l);
	if (o) {
		o->page.kind = PDET_LOG_DUMP_PAGE;
		o->page.report = PAGEDET_REPORT_DUMP_PAGE;
	}
	return o;
}

/* Of a line that may be dump_page()'s. */
static int feed_dump_page(struct pdet_log *log, struct pdet_log_line *l)
{
	bool memory = true, taken = false;
	struct open_page *o;

	/* The core prints it without Page Detective's prefix, too. */
	o = open_of(log, l, OF_DETECTIVE);
	if (o && o->page.has & PDET_LOG_FLAGS &&
	    !(o->page.has & (PDET_LOG_RAW | PDET_LOG_TYPE)) &&
	    (size_t)(l->text.end - l->text.at) > 10 &&
	    !memcmp(l->text.at, "page_type:", 10)) {
		pdet_log_dump_page(&o->page, l->text, &memory);
		return memory ? 1 : -ENOMEM;
	}
	if (pdet_log_dump_page_begins(l->text)) {
		o = begin_block(log, l);
		if (!o)
			return -ENOMEM;
	} else {
		o = open_of(log, l, OF_BLOCK);
	}
	if (o)
		taken = take_of_block(&o->page, l, &memory);
	if (taken)
		touch(log, o);
	return memory ? taken : -ENOMEM;
}

/* A further line of the report of a page, which may be the only one. */
static int join(struct pdet_log *log, const struct pdet_log_line *l,
		struct pdet_log_page *q, bool *memory)
{
	struct open_page *o;
	size_t i;

	for (i = 0; i < OPEN; i++) {
		o = &log->open[i];
		if (!o->used || !o->page.joins || !is_by(o, l) ||
		    !pdet_log_poison_joins(&o->page, q, memory))
			continue;
		touch(log, o);
		pdet_log_page_free(q);
		return o->page.over && complete(log, o) < 0 ? -ENOMEM : 1;
	}
	return 0;
}

/* Of a line that may be one of a report. */
static int feed_report(struct pdet_log *log, const struct pdet_log_line *l)
{
	struct open_page *o = log->n_open ? open_of(log, l, OF_REPORT) : NULL;
	struct pdet_log_page *p = &log->scratch;
	bool memory = true;
	int r;

	if (o && pdet_log_report_takes(&o->page, l->text, &memory)) {
		touch(log, o);
		if (!memory)
			return -ENOMEM;
		return o->page.over && complete(log, o) < 0 ? -ENOMEM : 1;
	}
	if (!pdet_log_report_begins(p, l->text, &memory))
		return memory ? 0 : -ENOMEM;
	if (p->joins && memory) {
		r = join(log, l, p, &memory);
		if (r)
			return memory ? r : -ENOMEM;
	} else if (o && p->report == o->page.report &&
		   complete(log, o) < 0) {
		/* The one before has no end. */
		return -ENOMEM;
	}
	o = memory ? begin(log, l) : NULL;
	if (!o)
		return -ENOMEM;
	p->line = o->page.line;
	p->seq = o->page.seq;
	p->shift = o->page.shift;
	p->kind = PDET_LOG_REPORT;
	memcpy(&o->page, p, sizeof(*p));
	memset(p, 0, sizeof(*p));
	return o->page.over && complete(log, o) < 0 ? -ENOMEM : 1;
}

static int close_old(struct pdet_log *log)
{
	size_t i;

	for (i = 0; i < OPEN && log->n_open; i++) {
		const struct open_page *o = &log->open[i];

		if (o->used && o->page.kind != PDET_LOG_DETECTIVE &&
		    (log->heard - o->last > pdet_log_patience(&o->page) ||
		     o->page.lines > MOST_LINES ||
		     o->page.text.n > MOST_TEXT) &&
		    complete(log, &log->open[i]) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* "Linux version 6.12.117 (lab@lab) ...": a new boot, perhaps of another
 * kernel. */
static void take_release(struct pdet_log *log, struct pdet_scan s)
{
	struct pdet_scan word;
	size_t len;

	if (!pdet_scan_word(&s, "Linux version "))
		return;
	word = pdet_scan_token(&s);
	len = (size_t)(word.end - word.at);
	if (!len || len >= sizeof(log->release))
		return;
	memcpy(log->release, word.at, len);
	log->release[len] = '\0';
}

static void count_record(struct pdet_log *log, const struct pdet_log_line *l)
{
	size_t i;

	if (!l->record)
		return;
	/* What was being said has a hole. */
	for (i = 0; log->has_seq && l->seq > log->seq && i < OPEN; i++) {
		log->open[i].page.partial |= log->open[i].used;
		pdet_log_owner_hole(&log->open[i].page);
	}
	log->has_seq = true;
	log->seq = l->seq + 1;
}

/* Few lines have its letter: faster than memmem(). */
static const char *find_prefix(struct pdet_scan s)
{
	const char *const begin = s.at;
	const size_t len = sizeof(prefix) - 1, letter = strlen("Page ");

	while ((s.at = memchr(s.at, 'D', (size_t)(s.end - s.at)))) {
		const char *at = s.at - letter;

		if ((size_t)(s.at - begin) >= letter &&
		    (size_t)(s.end - at) >= len && !memcmp(at, prefix, len))
			return at;
		s.at++;
	}
	return NULL;
}

int pdet_log_feed(struct pdet_log *log, struct pdet_scan line)
{
	struct pdet_log_line *l = &log->parsed;
	const char *at;
	int r;

	log->line++;
	pdet_log_line(line, l);
	count_record(log, l);
	/* What a process writes about pages is no word of the kernel. */
	if (l->user || (l->continues && log->has_seq))
		return 0;
	log->heard++;
	if (l->text.end - l->text.at > PDET_LOG_TEXT)
		l->text.end = l->text.at + PDET_LOG_TEXT;
	take_release(log, l->text);
	/* Prefixes of loggers that are not known stand before it. */
	at = find_prefix(l->text);
	if (at) {
		l->text.at = at + sizeof(prefix) - 1;
		r = feed_detective(log, l);
	} else {
		/* Where nothing is open, "page:" is all that it knows. */
		r = log->n_open || (l->text.at < l->text.end &&
				    *l->text.at == 'p') ?
			feed_dump_page(log, l) : 0;
		if (r == 0)
			r = feed_report(log, l);
	}
	return r < 0 ? r : close_old(log);
}

int pdet_log_end(struct pdet_log *log, bool cut)
{
	size_t i, first;

	for (;;) {
		first = OPEN;
		for (i = 0; i < OPEN; i++)
			if (log->open[i].used &&
			    (first == OPEN || log->open[i].page.line <
					      log->open[first].page.line))
				first = i;
		if (first == OPEN)
			return 0;
		if (complete_cut(log, &log->open[first], cut) < 0)
			return -ENOMEM;
	}
}
