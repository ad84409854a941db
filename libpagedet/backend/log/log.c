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

/* An error that is not known here, whose task will be printed. */
struct stranger {
	bool used, has_pid;
	uint32_t pid;
	uint64_t heard;
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
	struct stranger strangers[OPEN];
	unsigned next_stranger;
	uint64_t bad_swap;	/* a swap entry was bad there, and the page map
				 * is to come; 0: none */
	unsigned traces;	/* backtraces that have begun, and not ended */
	uint64_t traced;	/* the last one began there */
	bool owner_traced;	/* one of them before page_owner's lines */
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
	pdet_log_poison_cut(p);
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
	if (p->kind == PDET_LOG_DUMP_PAGE && !p->uninitialized &&
	    !(p->has & PDET_LOG_FLAGS_WORD))
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

/* Whether frames of a backtrace may come. */
static bool is_traced(const struct pdet_log *log)
{
	return log->traces && log->heard - log->traced <= PDET_LOG_PATIENCE;
}

static void estrange(struct pdet_log *log, struct stranger who)
{
	who.used = true;
	log->strangers[log->next_stranger++ % OPEN] = who;
}

/* Whether a report that prints a backtrace, and then its task, goes on. */
static bool is_active(const struct pdet_log *log, const struct open_page *o)
{
	return o->used && o->page.kind != PDET_LOG_DETECTIVE &&
	       log->heard - o->last <= PDET_LOG_PATIENCE &&
	       pdet_log_has_trace(&o->page);
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
	/* Its task may come, of which nothing is known. */
	if (o->used && !l->has_caller && is_active(log, o) &&
	    !o->page.comm.len)
		estrange(log, (struct stranger){ .heard = log->heard });
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

/* Frames of a backtrace may be of each of the reports that are printed now, or
 * of one that has ended with its task. */
static void mix(struct pdet_log *log, struct open_page *o)
{
	size_t i;

	if (o->has_caller)
		return;
	for (i = 0; i < OPEN; i++) {
		struct open_page *other = &log->open[i];

		if (other == o || !other->used || other->has_caller)
			continue;
		other->page.crowded = o->page.crowded = true;
		if (!pdet_log_has_trace(&o->page) ||
		    (!is_active(log, other) &&
		     !pdet_log_stack_open(&other->page)))
			continue;
		pdet_log_mix(&other->page);
		pdet_log_mix(&o->page);
	}
	if (is_traced(log) && pdet_log_has_trace(&o->page))
		pdet_log_mix(&o->page);
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
		mix(log, o);
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

		if (o == of || !o->used || !o->page.joins ||
		    !(o->page.has & PDET_LOG_PFN) || o->page.pfn != p->pfn ||
		    (handles && (o->page.report != p->report || !is_by(o, l))))
			continue;
		pdet_log_poison_ends(&o->page, p);
		if (complete(log, o) < 0)
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

/* Of the open reports to which the line may belong, tell each that it may lack
 * one. */
static void lose(struct open_page *const *o, size_t n)
{
	while (n-- > 0)
		o[n]->page.partial = o[n]->page.loses = true;
}

/*
 * The open report that can have printed the line if no other one can, or if
 * something in the line says so; NULL if there is none. *shared becomes true if
 * several can.
 */
static struct open_page *taker_of(struct pdet_log *log,
				  const struct pdet_log_line *l, bool *shared,
				  bool *memory)
{
	struct open_page *may[OPEN], *sure = NULL;
	size_t i, n = 0, n_sure = 0;

	for (i = 0; i < OPEN; i++) {
		struct open_page *o = &log->open[i];
		enum pdet_log_fit fit;
		bool tells = false;

		if (!o->used || !is_by(o, l) || !is_part(&o->page, OF_REPORT))
			continue;
		fit = pdet_log_report_fits(&o->page, l->text, &tells, memory);
		if (fit == PDET_LOG_FITS) {
			sure = o;
			n_sure++;
		} else if (fit && tells) {
			may[n++] = o;
		}
	}
	if (n_sure == 1)
		return sure;
	*shared = n_sure || n > 1;
	if (*shared)
		lose(may, n);
	return n == 1 && !n_sure ? may[0] : NULL;
}

/* The report that a line of this writer continues. */
static struct open_page *report_of(struct pdet_log *log,
				   const struct pdet_log_line *l, bool *shared,
				   bool *memory)
{
	return l->has_caller || (l->writer && !l->adopts) || log->n_open < 2 ?
		open_of(log, l, OF_REPORT) : taker_of(log, l, shared, memory);
}

/* The kernel reports one error of an object at a time: others that name it were
 * cut off. */
static int complete_twins(struct pdet_log *log, struct open_page *of)
{
	const struct pdet_log_page *p = &of->page;
	size_t i;

	for (i = 0; i < OPEN && p->report == PAGEDET_REPORT_KFENCE; i++) {
		struct open_page *o = &log->open[i];

		if (o == of || !o->used || o->page.report != p->report ||
		    !o->page.has_serial || o->page.serial != p->serial)
			continue;
		if (complete(log, o) < 0)
			return -ENOMEM;
		/* Only that one may have made the frames unsure. */
		of->page.mixed = false;
		mix(log, of);
	}
	return 0;
}

/* Give a report its line. */
static int take(struct pdet_log *log, const struct pdet_log_line *l,
		struct open_page *o, bool *memory)
{
	const bool had = o->page.has_serial;

	if (!pdet_log_report_takes(&o->page, l->text, memory))
		return 0;
	touch(log, l, o);
	if (l->adopts)
		o->writer = l->writer;
	if (!*memory || (!had && o->page.has_serial &&
			 complete_twins(log, o) < 0))
		return -ENOMEM;
	return o->page.over && complete(log, o) < 0 ? -ENOMEM : 1;
}

/* Whether the report @o has ended if one like @p begins. The kernel prints some
 * with a lock or by one task; others may be printed at the same time. */
static bool ends_before(const struct pdet_log_page *o,
			const struct pdet_log_page *p, bool known)
{
	if (o->report != p->report)
		return false;
	switch (known ? 0 : p->report) {
	case PAGEDET_REPORT_KFENCE: case PAGEDET_REPORT_LIST:
	case PAGEDET_REPORT_FAULT:
		return false;
	case PAGEDET_REPORT_SLAB:
		return o->task;
	case PAGEDET_REPORT_APEI:
		return !o->has_serial || !p->has_serial ||
		       o->serial == p->serial;
	default:
		return true;
	}
}

/* A report begins: complete those that it shows to be cut off, or over. */
static int complete_before(struct pdet_log *log, const struct pdet_log_line *l,
			   const struct pdet_log_page *p)
{
	const bool known = l->has_caller || l->writer;
	size_t i;

	for (i = 0; i < OPEN && log->n_open; i++) {
		struct open_page *o = &log->open[i];

		if (o->used && is_by(o, l) && is_part(&o->page, OF_REPORT) &&
		    ends_before(&o->page, p, known) && complete(log, o) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* An error begins that is not known here. It has a task, and a backtrace. */
static void meet_stranger(struct pdet_log *log, const struct pdet_log_line *l)
{
	struct stranger who = { .heard = log->heard };
	struct open_page *own = NULL;
	size_t i, n = 0;

	if (!log->n_open || !pdet_log_is_error(l->text, &who.pid, &who.has_pid))
		return;
	for (i = 0; i < OPEN; i++) {
		struct open_page *o = &log->open[i];

		if (!o->used || !is_by(o, l))
			continue;
		if (pdet_log_owns_error(&o->page, l->text)) {
			own = o;
			n++;
		} else if (l->has_caller) {
			o->page.others = true;
		}
	}
	if (n == 1) {
		own->page.erred = true;
		return;
	}
	if (l->has_caller)
		return;
	estrange(log, who);
	for (i = 0; i < OPEN; i++)
		if (log->open[i].used && !log->open[i].has_caller)
			pdet_log_mix(&log->open[i].page);
}

/* No page map is to come for a swap entry, or it has come. */
static void end_bad_swap(struct pdet_log *log, bool alone)
{
	log->unread += log->bad_swap && alone;
	log->bad_swap = 0;
}

/* Process a line that may belong to a report. */
static int feed_report(struct pdet_log *log, const struct pdet_log_line *l)
{
	struct pdet_log_page *p = &log->scratch;
	bool memory = true, shared = false;
	struct open_page *o = log->n_open ?
		report_of(log, l, &shared, &memory) : NULL;
	int r = memory ? 0 : -ENOMEM;

	if (r == 0 && o)
		r = take(log, l, o, &memory);
	if (r || shared)
		return r ? r : 1;
	if (!pdet_log_report_begins(p, l->text, &memory)) {
		meet_stranger(log, l);
		return memory ? 0 : -ENOMEM;
	}
	if (p->joins && memory) {
		r = join(log, l, p, &memory);
		if (r)
			return memory ? r : -ENOMEM;
	} else if (complete_before(log, l, p) < 0) {
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
	if (p->report == PAGEDET_REPORT_BAD_PAGE_MAP)
		end_bad_swap(log, log->heard - log->bad_swap >
				  PDET_LOG_PATIENCE);
	p->partial |= o->page.partial;
	p->ends_lost |= o->page.ends_lost;
	see_end(p, l);
	memcpy(&o->page, p, sizeof(*p));
	memset(p, 0, sizeof(*p));
	mix(log, o);
	return o->page.over && complete_error(log, l, o) < 0 ? -ENOMEM : 1;
}

/* --- tasks of reports --- */

/* Whether the task may be that of an error which is not known here. If it is,
 * the error has ended: *is. */
static bool is_strange(struct pdet_log *log, const struct pdet_log_task *task,
		       bool *is)
{
	bool may = false;
	size_t i;

	*is = false;
	for (i = 0; i < OPEN; i++) {
		struct stranger *s = &log->strangers[i];

		s->used &= log->heard - s->heard <= PDET_LOG_PATIENCE;
		if (!s->used)
			continue;
		may |= !s->has_pid;
		if (s->has_pid && s->pid == task->pid) {
			s->used = false;
			*is = true;
		}
	}
	return may;
}

/* The report that writers.c has found for the line of a task, of those whose
 * names it compares. */
static struct open_page *named_by(struct pdet_log *log,
				  const struct pdet_log_line *l)
{
	size_t i;

	for (i = 0; i < OPEN && l->writer; i++)
		if (log->open[i].used && log->open[i].writer == l->writer &&
		    pdet_log_is_named(&log->open[i].page))
			return &log->open[i];
	return NULL;
}

/* Whether the line of a task may belong to this open report or block. */
static enum pdet_log_fit fits_task(const struct pdet_log *log,
				   const struct open_page *o,
				   const struct open_page *named,
				   const struct pdet_log_task *task)
{
	const struct pdet_log_page *p = &o->page;

	if (!o->used || p->kind == PDET_LOG_DETECTIVE ||
	    (p->task_lost && log->heard - o->last > PDET_LOG_PATIENCE) ||
	    (p->report == PAGEDET_REPORT_DUMP_PAGE &&
	     (pdet_log_is_check(p) ? !p->erred :
	      log->heard - o->last > PDET_LOG_PATIENCE_SHORT)) ||
	    (named && o != named && pdet_log_is_named(p)))
		return PDET_LOG_FITS_NOT;
	return pdet_log_task_fits(p, task);
}

/* Whether the line of a task, which no other report may have printed, is that
 * of @o. */
static bool has_task(const struct open_page *o, const struct open_page *named)
{
	const struct pdet_log_page *p = &o->page;

	if (p->task_lost)
		return false;
	if (p->report == PAGEDET_REPORT_DUMP_PAGE)
		return pdet_log_is_check(p) && p->erred;
	return !o->writer || o == named;
}

/* Give the line of a task to its report. */
static int take_task(struct pdet_log *log, const struct pdet_log_line *l,
		     struct open_page *o)
{
	bool memory = true;

	if (pdet_log_task_take(&o->page, l->text, &memory))
		touch(log, l, o);
	if (!memory)
		return -ENOMEM;
	return o->page.over && complete(log, o) < 0 ? -ENOMEM : 1;
}

/* Whether the line of its task has come. */
static bool had_task(const struct pdet_log_page *p)
{
	return p->task && (p->report == PAGEDET_REPORT_SLAB ||
			   p->report == PAGEDET_REPORT_DUMP_PAGE);
}

/* The line of a task is not given to @named. For writers.c it was the last one
 * of that report, so others may be lost. */
static void lose_named(struct open_page *named)
{
	if (named)
		named->page.partial = named->page.loses = true;
}

/* Process the line of a task: "CPU: 1 PID: 58 Comm: x". It belongs to a report
 * only if that one knows the task, or no other may have printed it. */
static int feed_task(struct pdet_log *log, const struct pdet_log_line *l)
{
	struct open_page *may[OPEN], *sure = NULL;
	struct open_page *named = named_by(log, l);
	struct pdet_log_task task;
	size_t i, n = 0, n_sure = 0;
	bool strange, other;

	if (!log->n_open || l->has_caller ||
	    !pdet_log_task_of(l->text, &task))
		return 0;
	other = is_strange(log, &task, &strange);
	for (i = 0; i < OPEN; i++) {
		struct open_page *o = &log->open[i];
		const enum pdet_log_fit fit = fits_task(log, o, named,
							   &task);

		if (fit == PDET_LOG_FITS && had_task(&o->page)) {
			other = true;
		} else if (fit == PDET_LOG_FITS) {
			sure = o;
			n_sure++;
		} else if (fit) {
			may[n++] = o;
		}
	}
	if (n_sure || strange)
		lose_named(named);
	if (n_sure)
		return n_sure == 1 ? take_task(log, l, sure) : 1;
	if (strange || !n)
		return 1;
	if (n == 1 && !other && has_task(may[0], named))
		return take_task(log, l, may[0]);
	for (i = 0; i < n; i++) {
		struct pdet_log_page *p = &may[i]->page;

		p->task_lost = true;
		if (p->report != PAGEDET_REPORT_DUMP_PAGE ||
		    pdet_log_is_check(p))
			p->partial = p->loses = true;
	}
	return 1;
}

/* The caller has a block of its own before the line of a task. */
static int feed_own_task(struct pdet_log *log, const struct pdet_log_line *l)
{
	struct open_page *o = log->n_open && l->has_caller ?
		open_of(log, l, OF_BLOCK) : NULL;
	struct pdet_log_task task;

	if (!o || !pdet_log_is_check(&o->page) || o->page.task ||
	    o->page.others || !pdet_log_task_of(l->text, &task))
		return 0;
	return take_task(log, l, o);
}

/* Lines of others may come in between if there are others. */
static unsigned patience_of(const struct open_page *o)
{
	const unsigned alone = pdet_log_patience(&o->page);

	return o->page.crowded || o->has_caller ?
		PDET_MAX(alone, PDET_LOG_PATIENCE) : alone;
}

static int close_old(struct pdet_log *log)
{
	size_t i;

	for (i = 0; i < OPEN && log->n_open; i++) {
		const struct open_page *o = &log->open[i];

		if (o->used && o->page.kind != PDET_LOG_DETECTIVE &&
		    (log->heard - o->last > patience_of(o) ||
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

/* What follows "BUG: ". Also after a number of reports that were not printed:
 * "Bad page state: 12 messages suppressed". */
static bool is_bug(struct pdet_scan s)
{
	static const char *const bugs[] = {
		"KASAN: ", "KASan: ", "KFENCE: ", "KMSAN: ",
		"unable to handle page fault for address",
		"unable to handle kernel paging request at ",
	};
	struct pdet_scan behind;
	size_t i;

	if (pdet_scan_word(&s, "Bad page "))
		return pdet_log_behind(s, " in process ", &behind);
	for (i = 0; i < PDET_COUNT(bugs); i++)
		if (pdet_scan_word(&s, bugs[i]))
			return true;
	return false;
}

/* Whether a line begins with one of four letters: most do not. */
static inline bool is_one_of(struct pdet_scan s, const char letters[4])
{
	return s.at < s.end && (*s.at == letters[0] || *s.at == letters[1] ||
				*s.at == letters[2] || *s.at == letters[3]);
}

/* "mm/pgtable-generic.c:50: bad pmd 0000000071bca7d8(8000000100c000e2)", on
 * arm64 "bad pmd 8000000100c000e2." */
static bool is_bad_entry(struct pdet_scan s)
{
	static const char *const levels[] = {
		"md ", "ud ", "4d ", "gd ", "te ",
	};
	size_t i;

	if (s.at == s.end || (s.end[-1] != ')' && s.end[-1] != '.') ||
	    !pdet_log_behind(s, ": bad p", &s))
		return false;
	for (i = 0; i < PDET_COUNT(levels); i++)
		if (pdet_scan_word(&s, levels[i]))
			return s.at < s.end && pdet_hex_digit(*s.at) < 16;
	return false;
}

/* "swap_free: Bad swap file entry 0200e400". If a page table had it, "Bad page
 * map" follows, which has the same value. */
static bool is_bad_swap(struct pdet_scan s)
{
	return pdet_log_behind(s, ": Bad swap ", &s) &&
	       (pdet_scan_word(&s, "file entry ") ||
		pdet_scan_word(&s, "offset entry "));
}

/* First words of reports of which nothing is read here. */
static bool is_unknown(struct pdet_scan s)
{
	static const char *const words[] = {
		"Read-error on swap-device ", "Write-error on swap-device ",
		"Unable to handle kernel paging request at ",
	};
	struct pdet_scan cpu = s;
	uint64_t number;
	size_t i;

	for (i = 0; i < PDET_COUNT(words); i++)
		if (pdet_scan_word(&s, words[i]))
			return true;
	/* of PowerPC */
	return pdet_scan_word(&cpu, "MCE: CPU") &&
	       pdet_scan_dec(&cpu, &number) &&
	       pdet_scan_word(&cpu, ": machine check (");
}

/* Whether a line that is of no report here has the words of one: its prefix, or
 * its form, is not known, or its end is missing. */
static bool looks_like_report(struct pdet_scan s)
{
	static const char bug[] = "BUG: ";
	struct pdet_scan behind = s;

	if (pdet_log_is_rest(s) ||
	    (pdet_is_broken(s) && pdet_report_begins(s)))
		return true;
	behind.at = find_words(s, bug, 0);
	if (behind.at) {
		behind.at += strlen(bug);
		if (is_bug(behind))
			return true;
	}
	return find_words(s, "emory failure: 0x", strlen("emor")) ||
	       find_words(s, "Corrupted page table at address ", 0) ||
	       is_bad_entry(s) || (is_one_of(s, "RWUM") && is_unknown(s));
}

/* Count a line that no report here has taken. */
static void leave(struct pdet_log *log, struct pdet_scan s)
{
	if (looks_like_report(s)) {
		log->unread++;
	} else if (is_one_of(s, "s_gl") && is_bad_swap(s)) {
		end_bad_swap(log, true);
		log->bad_swap = log->heard;
	}
}

uint64_t pdet_log_unread(const struct pdet_log *log)
{
	return log->unread + (log->bad_swap != 0);
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

/* Whether a backtrace that begins while page_owner's lines come is not the
 * report's own. That of KASAN has come before; that of others comes after these
 * lines, and after the line of the task. */
static bool is_of_another(const struct pdet_log_page *p)
{
	return p->owner.free.state == PDET_LOG_STACK_UNSAID ||
	       p->report == PAGEDET_REPORT_KASAN ||
	       (!p->task && !p->task_lost);
}

/* Keep in mind if a backtrace is being printed: its frames look like those of
 * a stack in a report. A line of signs begins or ends a report. */
static void watch_trace(struct pdet_log *log, const struct pdet_log_line *l)
{
	struct pdet_scan s = l->text;
	bool begins, owner, task;
	size_t i;

	if (!is_one_of(s, "C<=p"))
		return;
	owner = pdet_scan_word(&s, "page last ");
	if (owner)
		log->owner_traced = is_traced(log);
	begins = owner || pdet_scan_word(&s, "Call Trace:") ||
		 pdet_scan_word(&s, "Call trace:");
	task = pdet_scan_word(&s, "<TASK>");
	if (task) {
		begins = true;
		log->traces = is_traced(log) ? log->traces + 1 : 1;
		log->traced = log->heard;
	} else if (pdet_scan_word(&s, "</TASK>")) {
		log->traces -= log->traces > 0;
	}
	if (!begins && !pdet_scan_word(&s, PDET_LOG_SIGNS))
		return;
	for (i = 0; i < OPEN && log->n_open; i++) {
		struct open_page *o = &log->open[i];

		if (!o->used || o->has_caller)
			continue;
		if (begins && !owner && o->page.owner.kept &&
		    pdet_log_stack_open(&o->page) &&
		    is_of_another(&o->page)) {
			pdet_log_owner_hole(&o->page);
			o->page.partial = true;
		}
		if (o->page.report != PAGEDET_REPORT_KFENCE)
			continue;
		if (begins)
			pdet_log_mix(&o->page);
		else
			pdet_log_kfence_parts(&o->page);
	}
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

	if (!l->has_caller)
		watch_trace(log, l);
	if (l->writer == PDET_LOG_NOBODY) {
		if (!is_of_detective(log, l->text, is_type_of)) {
			r = feed_task(log, l);
			if (r == 0 && !log->n_open)
				leave(log, l->text);
			if (r == 0 && pdet_is_broken(l->text))
				lose_end(log, l);
			return r < 0 ? r : 0;
		}
		l->writer = PDET_LOG_ANYONE;
	}
	/* If nothing is open, only "page:" can begin a block. */
	r = log->n_open || (l->text.at < l->text.end && *l->text.at == 'p') ?
		feed_dump_page(log, l) : 0;
	if (r == 0)
		r = feed_task(log, l);
	if (r == 0)
		r = feed_own_task(log, l);
	if (r == 0)
		r = feed_report(log, l);
	if (r == 0)
		leave(log, l->text);
	if (r == 0 && pdet_is_broken(l->text))
		lose_end(log, l);
	return r;
}

/* Whether frames may come that are not of the stack of @o: those of a
 * backtrace, or of another report that prints stacks. */
static bool may_be_of_others(const struct pdet_log *log,
			     const struct open_page *o)
{
	size_t i;

	if (log->owner_traced && is_traced(log))
		return true;
	for (i = 0; i < OPEN; i++) {
		const struct open_page *other = &log->open[i];

		if (other != o && !other->has_caller && is_active(log, other) &&
		    pdet_log_has_stacks(&other->page))
			return true;
	}
	return false;
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
		    (!pdet_log_writers_traced(log->writers, o->writer) &&
		     (!pdet_log_stack_open(&o->page) ||
		      !may_be_of_others(log, o))))
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
		memset(log->strangers, 0, sizeof(log->strangers));
		log->traces = 0;
		end_bad_swap(log, true);
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
