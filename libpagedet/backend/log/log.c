/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Assembles lines into pages. Several writers may print at the same time, each
 * with an incomplete page. Lines are kept apart if the log identifies their
 * callers. Otherwise Page Detective's lines are separate, because it writes one
 * answer at a time, and writers.c finds the writers of blocks.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "backend/log/log.h"
#include "base/hash.h"
#include "kernel/text/broken_lines.h"
#include "kernel/text/report_form.h"

/* Most incomplete pages at a time. */
#define OPEN PDET_LOG_WRITERS

/* Most lines and bytes of text of one block or report. Later text starts a new
 * one. */
#define MOST_LINES 4096
#define MOST_TEXT ((size_t)1 << 18)

/* Most lines of one report between "page does not match folio" and "page:", and
 * if others are printed at the same time. */
#define STRAY_NEAR 4
#define STRAY_FAR 64

/* Most complete pages that wait for an earlier one. */
#define MOST_HELD 256

/* Most lines and bytes that wait for the next line with kernel time. */
#define MOST_DOUBTED 64
#define MOST_DOUBTED_TEXT ((size_t)1 << 16)

static const char prefix[] = "Page Detective: ";

struct open_page {
	bool used;
	bool has_caller;
	uint64_t caller;
	uint32_t writer;	/* PDET_LOG_ANYONE: not known */
	uint64_t last;		/* its last line, counted as in heard */
	struct pdet_log_page page;
};

/* A line that precedes the block of a tail without a folio. */
struct stray {
	bool used, has_caller;
	uint64_t caller;
	uint64_t heard;
};

/* The last line, to find lines that a log has twice. */
struct last_line {
	bool is, skipped;	/* skipped: it is a copy */
	bool doubled;		/* lines are there twice */
	uint64_t hash;
	size_t len;
	bool has_caller;
	uint64_t caller;
	struct pdet_log_stamp stamp;
};

/*
 * A line that may begin another boot, among lines with kernel time, and those
 * after it, each with a newline. The next line with kernel time tells: it is a
 * boot if that one is of an earlier time, too. Else it was a line of another
 * host in a collected log, or one that was printed late.
 */
struct doubted {
	char *data;
	size_t n, cap;
	unsigned lines;
	enum pdet_log_begins begins;
};

struct pdet_log {
	struct open_page open[OPEN];
	struct {
		struct pdet_log_page *data;
		size_t n, cap;
	} ready;		/* complete pages */
	size_t taken;		/* number taken from ready */
	struct pdet_log_page given;
	struct pdet_log_page scratch; /* empty except during a call */
	uint8_t shift;
	uint8_t n_open;
	bool in_order;
	bool all;		/* also return reports without a page */
	uint64_t line;
	uint64_t heard;		/* lines so far, without meaningless ones */
	uint64_t unread;	/* lines with words of a report that is not
				 * known here */
	uint64_t end_lost;	/* heard, at a line whose end is missing and
				 * that was not understood; 0: none */
	uint64_t seq;		/* sequence number of the next record */
	bool has_seq;
	struct last_line last;
	char release[96];
	struct pdet_log_boot boot;
	struct doubted doubted;
	bool strange;		/* see pdet_log_stamp */
	struct pdet_log_line parsed;
	struct pdet_broken_lines *broken;
	struct pdet_log_writers *writers;
	struct stray strays[OPEN];
	unsigned next_stray;
};

void pdet_log_page_free(struct pdet_log_page *p)
{
	pdet_vec_free(&p->maps);
	pdet_vec_free(&p->text);
	memset(p, 0, sizeof(*p));
}

static size_t prefix_of(void *user, struct pdet_scan line)
{
	struct pdet_log *log = user;

	return pdet_log_prefix(line, &log->parsed);
}

static int feed_whole(void *user, struct pdet_scan line, unsigned n);

struct pdet_log *pdet_log_new(void)
{
	struct pdet_log *log = calloc(1, sizeof(*log));

	if (!log)
		return NULL;
	log->writers = pdet_log_writers_new();
	log->broken = pdet_broken_lines_new(&(struct pdet_broken_ops){
		prefix_of, feed_whole, log });
	if (log->writers && log->broken)
		return log;
	pdet_log_free(log);
	return NULL;
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
	pdet_vec_free(&log->doubted);
	pdet_log_page_free(&log->given);
	pdet_log_page_free(&log->scratch);
	pdet_log_writers_free(log->writers);
	pdet_broken_lines_free(log->broken);
	free(log);
}

const struct pdet_log_boot *pdet_log_boot(const struct pdet_log *log)
{
	return &log->boot;
}

const char *pdet_log_release(const struct pdet_log *log)
{
	return log->release;
}

void pdet_log_in_order(struct pdet_log *log)
{
	log->in_order = true;
}

void pdet_log_all(struct pdet_log *log)
{
	log->all = true;
}

/* Move the page with the earliest first line to the front of the complete
 * pages. Returns false if an incomplete page began earlier. */
static bool put_first(struct pdet_log *log)
{
	struct pdet_log_page *first = &log->ready.data[log->taken], other;
	size_t i, min = log->taken;

	for (i = log->taken; i < log->ready.n; i++)
		if (log->ready.data[i].line < log->ready.data[min].line)
			min = i;
	memcpy(&other, first, sizeof(other));
	memcpy(first, &log->ready.data[min], sizeof(*first));
	memcpy(&log->ready.data[min], &other, sizeof(other));
	for (i = 0; i < OPEN && log->ready.n - log->taken < MOST_HELD; i++)
		if (log->open[i].used && log->open[i].page.line < first->line)
			return false;
	return true;
}

/* Free the room of pages already taken. */
static void forget_taken(struct pdet_log *log)
{
	if (log->taken < MOST_HELD)
		return;
	log->ready.n -= log->taken;
	memmove(log->ready.data, log->ready.data + log->taken,
		log->ready.n * sizeof(*log->ready.data));
	log->taken = 0;
}

struct pdet_log_page *pdet_log_take(struct pdet_log *log)
{
	if (log->taken == log->ready.n) {
		log->taken = log->ready.n = 0;
		return NULL;
	}
	if (log->in_order && !put_first(log)) {
		forget_taken(log);
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

void pdet_log_settle(struct pdet_log_page *p, unsigned shift)
{
	if (!p->shift)
		p->shift = (uint8_t)shift;
	if (p->shift && p->has_phys && p->kind == PDET_LOG_REPORT) {
		p->pfn = p->phys >> p->shift;
		p->has |= PDET_LOG_PFN;
	}
}

void pdet_log_tell_sizeless(struct pdet_env *env, const struct pdet_log_page *p,
			    const char *name, bool *told)
{
	if (*told || p->shift || !p->has_phys || p->kind != PDET_LOG_REPORT)
		return;
	*told = true;
	pdet_log(env, PAGEDET_LOG_WARNING, "%s does not say which page size "
		 "its machine has, so physical addresses in it, from line %"
		 PRIu64 " on, are not turned into page frame numbers "
		 "(--page-size says it)", name, p->line);
}

/* Complete a page. It is partial if an expected part is missing. @cut: the last
 * line may be incomplete. */
static int complete_cut(struct pdet_log *log, struct open_page *o, bool cut)
{
	struct pdet_log_page *p = &o->page;

	if (p->report == PAGEDET_REPORT_MACHINE_CHECK &&
	    !pdet_log_machine_check_ends(p))
		return -ENOMEM;
	p->found |= p->has_phys;
	pdet_log_judge_pointers(p);
	pdet_log_settle(p, p->shift);
	if (!pdet_log_names_something(p)) {
		if (!log->all && !pdet_log_is_about_memory(p)) {
			pdet_log_page_free(p);
			memset(o, 0, sizeof(*o));
			log->n_open--;
			return 0;
		}
		p->partial = true;
	}
	if (!pdet_vec_reserve(&log->ready, 1))
		return -ENOMEM;
	p->loses |= pdet_log_writers_lost(log->writers, o->writer);
	if (p->loses || (p->needs_block && !p->block))
		p->partial = true;
	if (p->report == PAGEDET_REPORT_KFENCE && !p->over)
		pdet_log_kfence_cut(p);
	if (p->kind == PDET_LOG_DETECTIVE && !p->refusal &&
	    !(p->has & PDET_LOG_FINISHED))
		p->partial = true;
	if (p->kind == PDET_LOG_DUMP_PAGE && !(p->has & PDET_LOG_FLAGS_WORD))
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
	if (l->writer && o->writer)
		return o->writer == l->writer;
	if (l->writer)
		return l->adopts && !o->has_caller;
	return !o->has_caller || !l->has_caller || o->caller == l->caller;
}

/* Complete all pages, in the order of their first lines. */
static int complete_all(struct pdet_log *log, bool cut)
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

/* The end of the line may be missing. */
static void see_end(struct pdet_log_page *p, const struct pdet_log_line *l)
{
	if (pdet_is_broken(l->text))
		p->partial = p->ends_lost = true;
}

enum part {
	OF_DETECTIVE,
	OF_BLOCK,		/* lines of dump_page(), page_owner */
	OF_EXPECTED,		/* a block should follow */
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

/* The open page to which a line of this writer belongs. */
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

/* A slot for a new page. If all are in use, the oldest page is completed.
 * Returns NULL if memory is short. */
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
	o->writer = l->writer;
	o->last = log->heard;
	o->page.line = log->line;
	o->page.seq = l->seq;
	o->page.stamp = l->stamp;
	o->page.boot = log->boot;
	if (l->stamp.strange)
		o->page.boot.number = PDET_LOG_NO_BOOT;
	o->page.hash = pdet_hash(l->text.at,
				 (size_t)(l->text.end - l->text.at));
	o->page.shift = log->boot.page_shift ? log->boot.page_shift :
					       log->shift;
	/* That line may be of the same report. */
	if (log->end_lost && log->heard - log->end_lost < STRAY_FAR)
		o->page.partial = o->page.ends_lost = true;
	log->n_open++;
	return o;
}

static int begin_detective(struct pdet_log *log, const struct pdet_log_line *l,
			   const struct pdet_log_page *question)
{
	struct open_page *o = open_of(log, l, OF_DETECTIVE);

	/* The driver answers only one query at a time, so the previous answer
	 * was cut off. But a refusal is printed before it is its turn. */
	if (o && !question->refusal && complete(log, o) < 0)
		return -ENOMEM;
	o = begin(log, l);
	if (!o)
		return -ENOMEM;
	o->page.kind = PDET_LOG_DETECTIVE;
	o->page.report = PAGEDET_REPORT_PAGE_DETECTIVE;
	o->page.has = question->has;
	o->page.partial = question->partial;
	o->page.refusal = question->refusal;
	o->page.pid = question->pid;
	o->page.virt = question->virt;
	o->page.phys = question->phys;
	o->page.pfn = question->pfn;
	o->page.bad_entry = question->bad_entry;
	o->page.bad_level = question->bad_level;
	/* No more lines follow. */
	return question->refusal ? complete(log, o) : 0;
}

/*
 * Process a line of Page Detective. Returns 1 if it was one, 0 if not, or
 * -ENOMEM.
 */
static int feed_detective(struct pdet_log *log, struct pdet_log_line *l)
{
	struct pdet_log_page question = { 0 };
	struct open_page *o;
	bool memory = true, taken;

	if (pdet_log_detective_begins(l->text, &question) ||
	    pdet_log_detective_refuses(l->text, &question))
		return begin_detective(log, l, &question) < 0 ? -ENOMEM : 1;
	o = open_of(log, l, OF_DETECTIVE);
	if (!o && pdet_log_detective_resumes(l->text, &question)) {
		if (begin_detective(log, l, &question) < 0)
			return -ENOMEM;
		o = open_of(log, l, OF_DETECTIVE);
	}
	if (!o)
		return 0;
	taken = pdet_log_detective(&o->page, l->text, &memory) ||
		pdet_log_dump_page(&o->page, l->text, &memory);
	if (taken) {
		see_end(&o->page, l);
		o->last = log->heard;
	}
	if (!memory)
		return -ENOMEM;
	if (taken && o->page.has & PDET_LOG_FINISHED)
		return complete(log, o) < 0 ? -ENOMEM : 1;
	return taken;
}

/* Take a line of a block, or of page_owner after it. */
static bool take_of_block(struct pdet_log_page *p,
			  const struct pdet_log_line *l, bool *memory)
{
	if (pdet_log_owner(p, l->text, l->indented, memory))
		return true;
	pdet_log_owner_other(p, l->text);
	return pdet_log_dump_page(p, l->text, memory);
}

static void touch(struct pdet_log *log, const struct pdet_log_line *l,
		  struct open_page *o)
{
	o->last = log->heard;
	if (l->stamp.strange)
		o->page.boot.number = PDET_LOG_NO_BOOT;
	see_end(&o->page, l);
	o->page.lines++;
}

/* Complete the blocks of this writer, and those that have no more lines. */
static int complete_blocks(struct pdet_log *log, const struct pdet_log_line *l)
{
	size_t i;

	for (i = 0; i < OPEN; i++) {
		struct open_page *o = &log->open[i];

		if (o->used && o->page.report == PAGEDET_REPORT_DUMP_PAGE &&
		    (o->writer ? !pdet_log_writers_open(log->writers,
							o->writer) :
		     is_by(o, l)) && complete(log, o) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Begin a block, or add it to the previous report if that expects one. */
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
	if (complete_blocks(log, l) < 0)
		return NULL;
	o = begin(log, l);
	if (o) {
		o->page.kind = PDET_LOG_DUMP_PAGE;
		o->page.report = PAGEDET_REPORT_DUMP_PAGE;
	}
	return o;
}

/*
 * "page does not match folio" precedes a block. Without callers it may be of
 * any block that begins soon: of none of these is the folio believed.
 */
static void keep_stray(struct pdet_log *log, const struct pdet_log_line *l)
{
	log->strays[log->next_stray++ % OPEN] = (struct stray){
		.used = true, .has_caller = l->has_caller,
		.caller = l->caller, .heard = log->heard,
	};
}

/* Whether no other block than that of @p is being printed. */
static bool is_alone(const struct pdet_log *log, const struct pdet_log_page *p)
{
	size_t i;

	for (i = 0; i < OPEN; i++)
		if (log->open[i].used && &log->open[i].page != p &&
		    !(log->open[i].page.has & PDET_LOG_FINISHED))
			return false;
	return true;
}

static void take_stray(struct pdet_log *log, const struct pdet_log_line *l,
		       struct pdet_log_page *p)
{
	const bool alone = is_alone(log, p);
	size_t i;

	for (i = 0; i < OPEN; i++) {
		struct stray *s = &log->strays[i];
		const bool known = s->has_caller && l->has_caller;

		if (!s->used || log->heard - s->heard >
				(known || !alone ? STRAY_FAR : STRAY_NEAR) ||
		    (known && s->caller != l->caller))
			continue;
		p->stray = true;
		p->tail_unsure = !known && !alone;
		s->used = !known;
	}
}

/* True if a block without prefix belongs to an answer that does not have a
 * block yet. The block shows the page itself or the head of its folio. */
static bool is_block_of(const struct pdet_log_page *p, struct pdet_scan text)
{
	uint64_t pfn;

	/* The line before the block identifies the folio. */
	if ((p->has & (PDET_LOG_PAGE | PDET_LOG_META)) != PDET_LOG_META ||
	    !pdet_log_dump_page_begins(text) ||
	    !pdet_log_dump_page_pfn(text, &pfn))
		return false;
	return pfn == p->pfn || pfn == p->pfn >> p->order << p->order;
}

/* "page_type:" is printed by the core kernel, so it never has the prefix. */
static bool is_type_of(const struct pdet_log_page *p, struct pdet_scan text)
{
	return p->has & PDET_LOG_FLAGS &&
	       !(p->has & (PDET_LOG_RAW | PDET_LOG_TYPE)) &&
	       pdet_scan_word(&text, "page_type:");
}

/* Another block begins. The next lines do not belong to the answer. Its own
 * lines may come in between. */
static void leave_bare(struct pdet_log_page *p)
{
	p->partial |= !(p->has & PDET_LOG_RAW);
	p->bare = false;
}

/* Take a line of Page Detective without its prefix. Lines printed by the core
 * kernel for a module lack it. */
static bool take_bare(struct pdet_log *log, const struct pdet_log_line *l,
		      bool *memory)
{
	struct open_page *o = open_of(log, l, OF_DETECTIVE), *report;
	struct pdet_log_page *p;

	if (!o)
		return false;
	p = &o->page;
	if (is_block_of(p, l->text)) {
		report = open_of(log, l, OF_EXPECTED);
		p->bare = !report || report->last < o->last;
	} else if (p->bare && pdet_log_dump_page_begins(l->text)) {
		leave_bare(p);
	}
	if (p->bare ? !take_of_block(p, l, memory) &&
		      !pdet_log_chain(p, l->text, memory) :
		      !is_type_of(p, l->text) ||
		      !pdet_log_dump_page(p, l->text, memory))
		return false;
	see_end(p, l);
	o->last = log->heard;
	if (l->adopts)
		o->writer = l->writer;
	return true;
}

/* Process a line that may come from dump_page(). */
static int feed_dump_page(struct pdet_log *log, struct pdet_log_line *l)
{
	bool memory = true, taken = take_bare(log, l, &memory);
	struct open_page *o;

	if (taken)
		return memory ? 1 : -ENOMEM;
	if (pdet_log_dump_page_strays(l->text)) {
		keep_stray(log, l);
		return 1;
	}
	if (pdet_log_dump_page_begins(l->text)) {
		o = begin_block(log, l);
		if (!o)
			return -ENOMEM;
		take_stray(log, l, &o->page);
	} else {
		o = open_of(log, l, OF_BLOCK);
	}
	if (o)
		taken = take_of_block(&o->page, l, &memory);
	if (taken)
		touch(log, l, o);
	return memory ? taken : -ENOMEM;
}

/*
 * Complete a report, and others about the same memory error: a later line is of
 * the next one. Who handles an error at the same time may not have begun; no
 * page is handled while its mark is taken away.
 */
static int complete_error(struct pdet_log *log, const struct pdet_log_line *l,
			  struct open_page *of)
{
	const struct pdet_log_page *p = &of->page;
	const bool handles = p->report == PAGEDET_REPORT_MEMORY_FAILURE;
	size_t i;

	for (i = 0; i < OPEN && p->joins && p->has & PDET_LOG_PFN; i++) {
		struct open_page *o = &log->open[i];

		if (o != of && o->used && o->page.joins &&
		    o->page.has & PDET_LOG_PFN && o->page.pfn == p->pfn &&
		    (!handles ||
		     (o->page.report == p->report && is_by(o, l))) &&
		    complete(log, o) < 0)
			return -ENOMEM;
	}
	return complete(log, of);
}

/* Add another line to the report of a page, which may have no other line. */
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
		touch(log, l, o);
		pdet_log_page_free(q);
		return o->page.over && complete_error(log, l, o) < 0 ?
			-ENOMEM : 1;
	}
	return 0;
}

/* Process a line that may belong to a report. */
static int feed_report(struct pdet_log *log, const struct pdet_log_line *l)
{
	struct open_page *o = log->n_open ? open_of(log, l, OF_REPORT) : NULL;
	struct pdet_log_page *p = &log->scratch;
	bool memory = true;
	int r;

	if (o && pdet_log_report_takes(&o->page, l->text, &memory)) {
		touch(log, l, o);
		if (l->adopts)
			o->writer = l->writer;
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
		/* The previous report was cut off. */
		return -ENOMEM;
	}
	o = memory ? begin(log, l) : NULL;
	if (!o)
		return -ENOMEM;
	p->line = o->page.line;
	p->seq = o->page.seq;
	p->stamp = o->page.stamp;
	p->boot = o->page.boot;
	p->hash = o->page.hash;
	if (!p->shift)
		p->shift = o->page.shift;
	p->kind = PDET_LOG_REPORT;
	p->partial |= o->page.partial;
	p->ends_lost |= o->page.ends_lost;
	see_end(p, l);
	memcpy(&o->page, p, sizeof(*p));
	memset(p, 0, sizeof(*p));
	return o->page.over && complete_error(log, l, o) < 0 ? -ENOMEM : 1;
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

/* "Linux version 6.12.117 (lab@lab) ...": possibly another kernel. */
static void take_release(struct pdet_log *log, struct pdet_scan s)
{
	struct pdet_scan word;
	size_t len;

	pdet_scan_word(&s, "Linux version ");
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
	/* Open pages have a gap. */
	for (i = 0; log->has_seq && l->seq > log->seq && i < OPEN; i++) {
		log->open[i].page.partial |= log->open[i].used;
		pdet_log_owner_hole(&log->open[i].page);
	}
	log->has_seq = true;
	log->seq = l->seq + 1;
}

/*
 * Search for the letter at @letter of the words, which few lines have: faster
 * than memmem().
 */
static const char *find_words(struct pdet_scan s, const char *words,
			      size_t letter)
{
	const char *const begin = s.at;
	const size_t len = strlen(words);

	while ((s.at = memchr(s.at, words[letter], (size_t)(s.end - s.at)))) {
		const char *at = s.at - letter;

		if ((size_t)(s.at - begin) >= letter &&
		    (size_t)(s.end - at) >= len && !memcmp(at, words, len))
			return at;
		s.at++;
	}
	return NULL;
}

bool pdet_log_is_rest(struct pdet_scan s)
{
	struct pdet_scan behind = s;
	uint64_t word;

	if (pdet_scan_word(&behind, "page dumped because: ") ||
	    (pdet_scan_word(&behind, "raw: ") &&
	     pdet_scan_hex(&behind, &word) && pdet_scan_char(&behind, ' ') &&
	     pdet_scan_hex(&behind, &word)))
		return true;
	pdet_scan_word(&s, "INFO: ");
	return pdet_scan_word(&s, "Slab 0x") && pdet_scan_hex(&s, &word) &&
	       pdet_scan_word(&s, " objects=") && pdet_scan_dec(&s, &word) &&
	       pdet_scan_word(&s, " used=");
}

/* Whether a line that is of no report here has the words of one: its prefix, or
 * its form, is not known, or its end is missing. */
static bool looks_like_report(struct pdet_scan s)
{
	static const char *const bugs[] = {
		"Bad page state in process ", "Bad page map in process ",
		"KASAN: ", "KASan: ", "KFENCE: ",
	};
	static const char bug[] = "BUG: ";
	struct pdet_scan behind = s;
	size_t i;

	if (pdet_log_is_rest(s) ||
	    (pdet_is_broken(s) && pdet_report_begins(s)))
		return true;
	behind.at = find_words(s, bug, 0);
	if (behind.at) {
		behind.at += strlen(bug);
		for (i = 0; i < PDET_COUNT(bugs); i++)
			if (pdet_scan_word(&behind, bugs[i]))
				return true;
	}
	return find_words(s, "emory failure: 0x", strlen("emor")) ||
	       find_words(s, "Corrupted page table at address ", 0);
}

uint64_t pdet_log_unread(const struct pdet_log *log)
{
	return log->unread;
}

/* The line is one without prefix that an answer of Page Detective awaits. */
static bool is_of_detective(const struct pdet_log *log, struct pdet_scan text,
			    bool (*is)(const struct pdet_log_page *,
				       struct pdet_scan))
{
	size_t i;

	for (i = 0; i < OPEN && log->n_open; i++)
		if (log->open[i].used &&
		    log->open[i].page.kind == PDET_LOG_DETECTIVE &&
		    is(&log->open[i].page, text))
			return true;
	return false;
}

/* Whether the line of a task, which no report with a block awaits, is of the
 * last report, which has none. */
static bool is_task_of_last(struct pdet_log *log, struct pdet_log_line *l)
{
	struct pdet_scan s = l->text;
	const struct open_page *o;

	if (!log->n_open ||
	    (!pdet_scan_word(&s, "CPU: ") && !pdet_scan_word(&s, "Pid: ")))
		return false;
	l->writer = PDET_LOG_ANYONE;
	o = open_of(log, l, OF_REPORT);
	l->writer = PDET_LOG_NOBODY;
	return o && (o->page.report == PAGEDET_REPORT_SLAB ||
		     o->page.report == PAGEDET_REPORT_KFENCE ||
		     o->page.report == PAGEDET_REPORT_LIST);
}

/* A line whose end is missing was not understood: it may be of any report. */
static void lose_end(struct pdet_log *log, const struct pdet_log_line *l)
{
	size_t i;

	if (looks_like_report(l->text))
		log->end_lost = log->heard;
	else
		log->unread += log->n_open > 0;
	for (i = 0; i < OPEN && log->n_open; i++)
		if (log->open[i].used && is_by(&log->open[i], l))
			see_end(&log->open[i].page, l);
}

/* Process a line without the prefix of Page Detective. */
static int feed_other(struct pdet_log *log, struct pdet_log_line *l)
{
	int r;

	if (l->writer == PDET_LOG_NOBODY) {
		if (!is_of_detective(log, l->text, is_type_of) &&
		    !is_task_of_last(log, l)) {
			log->unread += !log->n_open &&
				       looks_like_report(l->text);
			if (pdet_is_broken(l->text))
				lose_end(log, l);
			return 0;
		}
		l->writer = PDET_LOG_ANYONE;
	}
	/* If nothing is open, only "page:" can begin a block. */
	r = log->n_open || (l->text.at < l->text.end && *l->text.at == 'p') ?
		feed_dump_page(log, l) : 0;
	if (r == 0)
		r = feed_report(log, l);
	log->unread += r == 0 && looks_like_report(l->text);
	if (r == 0 && pdet_is_broken(l->text))
		lose_end(log, l);
	return r;
}

/* A line that may belong to a page is lost, or frames may be of another's
 * backtrace. */
static void mark_lost(struct pdet_log *log)
{
	size_t i;

	for (i = 0; i < OPEN && log->n_open; i++) {
		const struct open_page *o = &log->open[i];

		if (o->used && pdet_log_writers_lost(log->writers, o->writer))
			log->open[i].page.partial =
				log->open[i].page.loses = true;
		if (!o->used || !o->page.owner.kept ||
		    !pdet_log_writers_traced(log->writers, o->writer))
			continue;
		pdet_log_owner_hole(&log->open[i].page);
		log->open[i].page.partial = true;
	}
}

/* Other reports are being printed than that of @writer: the next frames may be
 * of any. */
static void break_stacks(struct pdet_log *log, uint32_t writer)
{
	size_t i;

	for (i = 0; i < OPEN && log->n_open; i++) {
		struct open_page *o = &log->open[i];

		if (!o->used || !o->writer || o->writer == writer ||
		    !pdet_log_writers_open(log->writers, o->writer))
			continue;
		pdet_log_owner_hole(&o->page);
		o->page.partial |= o->page.owner.kept;
	}
}

/* Process the lines that waited until their writers are known. */
static int replay(struct pdet_log *log)
{
	const uint64_t line = log->line, heard = log->heard;
	struct pdet_log_line *l = &log->parsed;
	int r = 0;

	while (pdet_log_writers_next(log->writers, l, &log->line,
				     &log->heard)) {
		if (r < 0)
			continue;
		break_stacks(log, PDET_LOG_NOBODY);
		mark_lost(log);
		r = feed_other(log, l);
		if (r >= 0)
			r = close_old(log);
	}
	log->line = line;
	log->heard = heard;
	return r;
}

static int decide(struct pdet_log *log, bool now)
{
	const int r = pdet_log_writers_decide(log->writers, log->heard, now);

	return r > 0 ? replay(log) : r;
}

static void parse(struct pdet_log *log, struct pdet_scan line)
{
	struct pdet_log_line *l = &log->parsed;

	pdet_log_line(line, l);
	l->stamp.strange = log->strange;
	if (l->text.end - l->text.at < PDET_LOG_TEXT)
		return;
	/* The last word may be a part of a number. */
	l->text.end = l->text.at + PDET_LOG_TEXT;
	while (l->text.end > l->text.at && l->text.end[-1] != ' ')
		l->text.end--;
}

/* Process a line of an unknown caller. */
static int feed_untagged(struct pdet_log *log, struct pdet_scan line)
{
	struct pdet_log_line *l = &log->parsed;
	const bool detective = is_of_detective(log, l->text, is_block_of);
	int r = pdet_log_writers_take(log->writers, l, log->line, log->heard,
				      detective);

	if (r == -EAGAIN) {
		if (decide(log, true) < 0)
			return -ENOMEM;
		parse(log, line);
		r = pdet_log_writers_take(log->writers, l, log->line,
					  log->heard, detective);
	}
	if (r == 0) {
		if (l->writer)
			break_stacks(log, l->writer);
		r = feed_other(log, l);
	}
	mark_lost(log);
	return r < 0 ? r : decide(log, false);
}

/* What is held has no more lines, or lines between are missing. No report goes
 * on in another boot. */
static int end_held(struct pdet_log *log, struct pdet_scan line,
		    enum pdet_log_begins begins)
{
	const struct pdet_log_line *l = &log->parsed;

	if (!begins && (!l->record || !log->has_seq || l->seq == log->seq))
		return 0;
	if (decide(log, true) < 0)
		return -ENOMEM;
	if (begins) {
		if (complete_all(log, false) < 0)
			return -ENOMEM;
		memset(log->strays, 0, sizeof(log->strays));
		pdet_log_writers_forget(log->writers);
	}
	parse(log, line);
	return 0;
}

/* Whether a line begins a report or its block, which the kernel does not print
 * twice without lines in between. */
static bool begins_report(struct pdet_scan s)
{
	return pdet_log_dump_page_begins(s) || pdet_scan_word(&s, "BUG: ") ||
	       pdet_scan_word(&s, "BUG ");
}

/*
 * Whether the line is a copy of the one before it. A log that two programs have
 * written has lines twice. Other lines than the first of a report may be equal,
 * so they are copies only as long as each line is there twice.
 */
static bool is_copy(struct pdet_log *log, const struct pdet_log_line *l)
{
	const size_t len = (size_t)(l->text.end - l->text.at);
	struct last_line *last = &log->last;
	const bool begins = begins_report(l->text);
	struct last_line now = {
		.is = !l->record, .doubled = last->doubled && last->skipped,
		.len = len, .has_caller = l->has_caller,
		.caller = l->caller, .stamp = l->stamp,
	};

	if (!begins && !last->doubled) {
		last->is = false;
		return false;
	}
	now.hash = pdet_hash(l->text.at, len);
	now.skipped = now.is && last->is && !last->skipped &&
		last->hash == now.hash && last->len == now.len &&
		last->has_caller == now.has_caller &&
		last->caller == now.caller &&
		last->stamp.has_us == now.stamp.has_us &&
		last->stamp.us == now.stamp.us &&
		last->stamp.day_s == now.stamp.day_s;
	now.doubled |= now.skipped;
	*last = now;
	return now.skipped;
}

/* Process a line that was parsed. */
static int feed(struct pdet_log *log, struct pdet_scan line,
		enum pdet_log_begins begins)
{
	struct pdet_log_line *l = &log->parsed;
	const char *at;
	int r;

	if (end_held(log, line, begins) < 0)
		return -ENOMEM;
	log->line++;
	count_record(log, l);
	/* A message from a process is not a statement of the kernel. */
	if (l->user || (l->continues && log->has_seq))
		return 0;
	if (is_copy(log, l))
		return 0;
	log->heard++;
	pdet_log_boot_line(&log->boot, l, begins);
	if (begins == PDET_LOG_BANNER || begins == PDET_LOG_UNTIMED_BANNER)
		take_release(log, l->text);
	/* Unknown prefixes of log daemons may precede it. */
	at = find_words(l->text, prefix, strlen("Page "));
	if (at) {
		l->text.at = at + sizeof(prefix) - 1;
		r = feed_detective(log, l);
	} else {
		r = l->has_caller ? feed_other(log, l) :
				    feed_untagged(log, line);
	}
	return r < 0 ? r : close_old(log);
}

/* Process the lines that waited. @boot: they are of another boot, perhaps. */
static int settle_doubted(struct pdet_log *log, bool boot)
{
	struct pdet_scan text = { log->doubted.data,
				  log->doubted.data + log->doubted.n };
	enum pdet_log_begins begins = boot ? log->doubted.begins :
					     PDET_LOG_BEGINS_NONE;
	struct pdet_scan line;
	int r = 0;

	log->strange = !boot && log->doubted.begins == PDET_LOG_GOES_BACK;
	while (r >= 0 && pdet_scan_line(&text, &line)) {
		parse(log, line);
		r = feed(log, line, begins);
		begins = PDET_LOG_BEGINS_NONE;
		log->strange = false;
	}
	log->doubted.n = 0;
	log->doubted.lines = 0;
	return r < 0 ? r : 0;
}

static int doubt(struct pdet_log *log, struct pdet_scan line)
{
	struct doubted *d = &log->doubted;
	const size_t len = (size_t)(line.end - line.at);

	if (!pdet_vec_reserve(d, len + 1))
		return -ENOMEM;
	memcpy(d->data + d->n, line.at, len);
	d->n += len;
	d->data[d->n++] = '\n';
	d->lines++;
	return d->lines < MOST_DOUBTED && d->n < MOST_DOUBTED_TEXT ?
		0 : settle_doubted(log, true);
}

static enum pdet_log_begins begins_boot(const struct pdet_log *log)
{
	const struct pdet_log_line *l = &log->parsed;
	const bool follows = l->record && log->has_seq && l->seq == log->seq;

	return l->user ? PDET_LOG_BEGINS_NONE :
			 pdet_log_begins_boot(&log->boot, l, follows);
}

static int feed_line(struct pdet_log *log, struct pdet_scan line)
{
	enum pdet_log_begins begins;

	parse(log, line);
	begins = begins_boot(log);
	if (log->doubted.n) {
		if (!begins && !pdet_log_has_time(&log->parsed))
			return doubt(log, line);
		if (settle_doubted(log, begins) < 0)
			return -ENOMEM;
		parse(log, line);
		begins = begins_boot(log);
	}
	if (begins == PDET_LOG_GOES_BACK ||
	    (begins == PDET_LOG_UNTIMED_BANNER && log->boot.has_latest)) {
		log->doubted.begins = begins;
		return doubt(log, line);
	}
	return feed(log, line, begins);
}

/* Process a line that was made of @n. */
static int feed_whole(void *user, struct pdet_scan line, unsigned n)
{
	struct pdet_log *log = user;
	const int r = feed_line(log, line);

	log->line += n - 1;
	return r;
}

int pdet_log_feed(struct pdet_log *log, struct pdet_scan line)
{
	return pdet_broken_lines_feed(log->broken, line);
}

int pdet_log_end(struct pdet_log *log, bool cut)
{
	if (pdet_broken_lines_end(log->broken) < 0)
		return -ENOMEM;
	if (settle_doubted(log, true) < 0)
		return -ENOMEM;
	return decide(log, true) < 0 ? -ENOMEM : complete_all(log, cut);
}
