/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Follows the reports that are being printed. While one is printed alone, its
 * lines pass. While several are, the lines are kept until all are complete, and
 * untangle.c finds out whose they are. A line without a certain writer is lost
 * to all that may have printed it.
 */
#include <errno.h>
#include <string.h>

#include "backend/log/report.h"
#include "backend/log/writers.h"

/* Most lines that are kept, and how often they are judged before the end. */
#define MOST_HELD 256
#define MOST_TRIES 8

struct pdet_log_writers {
	struct pdet_log_tangle t;
	struct { char *data; size_t n, cap; } text; /* of lines that are kept */
	uint32_t last_id;
	uint32_t blind_from;	/* too many are open: reports from this id on
				 * keep only what names them; 0: not so */
	bool held, replays;
	bool traces;		/* the frames of a backtrace come next */
	bool repeats;		/* "flags:" comes next, of no page */
	bool drops;		/* the writers are unknown after the replay */
	bool wordy;		/* blocks have lines after that of the flags;
				 * not so before 3.15 */
	unsigned tries;
	size_t next;		/* line to replay */
	uint64_t last;		/* the last line of a report */
};

struct pdet_log_writers *pdet_log_writers_new(void)
{
	return calloc(1, sizeof(struct pdet_log_writers));
}

void pdet_log_writers_free(struct pdet_log_writers *w)
{
	if (!w)
		return;
	pdet_vec_free(&w->t.lines);
	pdet_vec_free(&w->text);
	free(w);
}

static const struct pdet_log_writer *writer_of(const struct pdet_log_writers *w,
					       uint32_t id)
{
	unsigned i;

	for (i = 0; i < w->t.n; i++)
		if (w->t.writers[i].id == id)
			return &w->t.writers[i];
	return NULL;
}

bool pdet_log_writers_lost(const struct pdet_log_writers *w, uint32_t id)
{
	const struct pdet_log_writer *is = writer_of(w, id);

	return is ? is->loses : w->blind_from && id >= w->blind_from;
}

bool pdet_log_writers_traced(const struct pdet_log_writers *w, uint32_t id)
{
	const struct pdet_log_writer *is = writer_of(w, id);

	return is && is->traced;
}

bool pdet_log_writers_open(const struct pdet_log_writers *w, uint32_t id)
{
	return w->replays || writer_of(w, id);
}

static void drop(struct pdet_log_writers *w, unsigned i)
{
	memmove(&w->t.writers[i], &w->t.writers[i + 1],
		(--w->t.n - i) * sizeof(w->t.writers[0]));
}

static void drop_old(struct pdet_log_writers *w, uint64_t heard)
{
	unsigned i;

	for (i = w->t.n; i-- > 0;)
		if (heard - w->t.writers[i].last > PDET_LOG_PATIENCE)
			drop(w, i);
	if (heard - w->last > PDET_LOG_PATIENCE)
		w->blind_from = 0;
}

/* A line that is not of a block: it may belong to the backtrace of a report
 * that is complete. */
static void watch_traces(struct pdet_log_writers *w, struct pdet_scan s)
{
	struct pdet_scan frame;
	unsigned i;

	w->traces = pdet_scan_word(&s, "Call Trace:") ||
		    pdet_scan_word(&s, "Call trace:") ||
		    pdet_scan_word(&s, "<TASK>");
	if (!w->traces && !pdet_log_behind(s, "+0x", &frame))
		return;
	/* owner.c handles those after page_owner's lines. */
	for (i = 0; i < w->t.n; i++)
		w->t.writers[i].traced |=
			w->t.writers[i].stage < PDET_LOG_AT_OWNER;
}

/* The block has come, and only page_owner's lines may follow. */
static bool is_idle(const struct pdet_log_writer *x)
{
	return x->form != PDET_LOG_OF_STATE && x->form != PDET_LOG_OF_MAP &&
	       x->stage >= PDET_LOG_AT_REASON;
}

/* Whether no line of its block is missing at @stage: the block has not begun,
 * and its first line will name the page, or it has ended. Its task may follow,
 * which has a name, too. */
static bool rests(const struct pdet_log_writers *w,
		  const struct pdet_log_writer *x, uint8_t stage)
{
	switch (stage) {
	case PDET_LOG_AT_HEAD:
		return x->head.named;
	case PDET_LOG_AT_FLAGS:
		return !w->wordy && x->form == PDET_LOG_OF_STATE;
	case UINT8_MAX:
		return false;
	default:
		return stage >= (x->form == PDET_LOG_OF_MAP ?
				 PDET_LOG_AT_ADDR : PDET_LOG_AT_REASON);
	}
}

/* Forget the report that has had no line for the longest time, of those whose
 * next line is not taken for another's. */
static void make_room(struct pdet_log_writers *w)
{
	unsigned i, oldest = w->t.n;

	for (i = 0; i < w->t.n; i++) {
		const struct pdet_log_writer *x = &w->t.writers[i];

		if (x->idle || (rests(w, x, x->stage) && (oldest == w->t.n ||
				x->last < w->t.writers[oldest].last)))
			oldest = i;
		if (x->idle)
			break;
	}
	if (oldest < w->t.n)
		drop(w, oldest);
}

/* Before a new report begins: forget those that are complete. Returns true if
 * others are not. */
static bool are_open(struct pdet_log_writers *w)
{
	bool open = false;
	unsigned i;

	for (i = w->t.n; i-- > 0;) {
		struct pdet_log_writer *x = &w->t.writers[i];

		x->idle = is_idle(x);
		if (x->idle && x->owned)
			drop(w, i);
	}
	if (w->t.n == PDET_LOG_WRITERS)
		make_room(w);
	for (i = 0; i < w->t.n; i++)
		open |= !w->t.writers[i].idle;
	return open;
}

static struct pdet_log_writer *add(struct pdet_log_writers *w,
				   const struct pdet_log_step *s,
				   uint64_t heard)
{
	struct pdet_log_writer *x;

	if (w->t.n == PDET_LOG_WRITERS)
		return NULL;
	x = &w->t.writers[w->t.n++];
	memset(x, 0, sizeof(*x));
	x->id = ++w->last_id;
	x->last = heard;
	x->form = s->kind == PDET_LOG_BEGIN ? s->form : PDET_LOG_OF_DUMP;
	x->head = *s;
	x->traced = w->traces;
	return x;
}

/* Bits of the writers to which a "page:" line may belong. */
static unsigned of_page(const struct pdet_log_writers *w,
			const struct pdet_log_step *s)
{
	unsigned named = 0, others = 0, i;

	for (i = 0; i < w->t.n; i++) {
		const struct pdet_log_writer *x = &w->t.writers[i];

		if (x->paged)
			continue;
		if (!s->named || !x->head.named)
			others |= 1U << i;
		else if (pdet_log_step_names(&x->head, s->pfn))
			named |= 1U << i;
	}
	return named ? named : others;
}

static unsigned of_cpu(const struct pdet_log_writers *w,
		       const struct pdet_log_step *s)
{
	unsigned bits = 0, blocks = 0, i;

	for (i = 0; i < w->t.n; i++) {
		const struct pdet_log_writer *x = &w->t.writers[i];

		if (x->form == PDET_LOG_OF_DUMP)
			blocks |= 1U << i;
		else if ((x->form == PDET_LOG_OF_STATE ||
			  x->form == PDET_LOG_OF_MAP) &&
			 !strcmp(x->head.comm, s->comm))
			bits |= 1U << i;
	}
	return bits ? bits | blocks : 0;
}

/* Bits of the writers that a line may have, without regard to their order. */
static unsigned may_be_by(const struct pdet_log_writers *w,
			  const struct pdet_log_step *s)
{
	unsigned bits = 0, i;

	switch (s->kind) {
	case PDET_LOG_NO_STEP:
		return 0;
	case PDET_LOG_STEP_PAGE:
		return of_page(w, s);
	case PDET_LOG_STEP_CPU:
		return of_cpu(w, s);
	case PDET_LOG_STEP_LEVELS:
	case PDET_LOG_STEP_ADDR:
	case PDET_LOG_STEP_FILE:
		for (i = 0; i < w->t.n; i++)
			if (w->t.writers[i].form == PDET_LOG_OF_MAP)
				bits |= 1U << i;
		return bits;
	default:
		return (1U << w->t.n) - 1;
	}
}

/* A block begins, which is known to be of writer @x. */
static void page_came(struct pdet_log_writer *x, const struct pdet_log_step *s)
{
	x->paged = true;
	x->counted = true;
	x->refcount = s->refcount;
	x->mapcount = s->mapcount;
}

static int hold(struct pdet_log_writers *w, const struct pdet_log_line *l,
		const struct pdet_log_step *s, unsigned may, uint64_t line,
		uint64_t heard)
{
	const size_t len = (size_t)(l->text.end - l->text.at);
	const struct pdet_log_held h = {
		.line = line, .heard = heard, .seq = l->seq, .stamp = l->stamp,
		.record = l->record, .indented = l->indented,
		.adopts = l->adopts, .at = w->text.n, .len = len, .step = *s,
		.may = (uint8_t)may,
	};

	if (!pdet_vec_reserve(&w->text, len) ||
	    !pdet_vec_push(&w->t.lines, h))
		return -ENOMEM;
	if (len)
		memcpy(w->text.data + w->text.n, l->text.at, len);
	w->text.n += len;
	return 1;
}

/* --- one report alone --- */

/* Whether the line of a task ends the report. Others are printed at the same
 * time, of which nothing is known here, so page_owner's lines may still come if
 * the report does not name its task. */
static bool ends_with(const struct pdet_log_writer *x,
		      const struct pdet_log_step *s)
{
	switch (x->form) {
	case PDET_LOG_OF_STATE:
	case PDET_LOG_OF_MAP:
		return !strcmp(x->head.comm, s->comm);
	case PDET_LOG_OF_DUMP:
		return x->owned;
	default:
		return false;
	}
}

/* The stage after a line of a report that is alone: lines may be missing before
 * it, but none comes again. */
static uint8_t later(const struct pdet_log_writer *x,
		     const struct pdet_log_step *s)
{
	static const uint8_t stages[] = {
		[PDET_LOG_STEP_PAGE] = PDET_LOG_AT_PAGE,
		[PDET_LOG_STEP_HEAD] = PDET_LOG_AT_PAGE,
		[PDET_LOG_STEP_MEMCG] = PDET_LOG_AT_REASON,
		[PDET_LOG_STEP_MAPPING] = PDET_LOG_AT_PAGE,
		[PDET_LOG_STEP_FLAGS] = PDET_LOG_AT_FLAGS,
		[PDET_LOG_STEP_TYPE] = PDET_LOG_AT_FLAGS,
		[PDET_LOG_STEP_RAW] = PDET_LOG_AT_RAW,
		[PDET_LOG_STEP_REASON] = PDET_LOG_AT_REASON,
		[PDET_LOG_STEP_OWNER] = PDET_LOG_AT_OWNER,
		[PDET_LOG_STEP_ADDR] = PDET_LOG_AT_ADDR,
		[PDET_LOG_STEP_FILE] = PDET_LOG_AT_FILE,
		[PDET_LOG_STEP_CPU] = PDET_LOG_AT_END,
	};
	const uint8_t stage = pdet_log_advance(x, x->stage, s, 0);

	if (stage || s->kind == PDET_LOG_BEGIN)
		return stage;
	if (s->kind == PDET_LOG_STEP_REASON && s->named &&
	    s->form != x->form && x->form != PDET_LOG_OF_DUMP)
		return 0;
	if (s->kind == PDET_LOG_STEP_CPU && !ends_with(x, s))
		return 0;
	return stages[s->kind] > x->stage ? stages[s->kind] : 0;
}

static bool is_last_of_owner(struct pdet_scan s)
{
	return pdet_scan_word(&s, "page last free ") ||
	       pdet_scan_word(&s, "page_owner free stack ") ||
	       pdet_scan_word(&s, "page_owner info is not present");
}

/* page_owner's first line follows a block, and others follow it. */
static unsigned of_owner(const struct pdet_log_writers *w, struct pdet_scan s)
{
	const bool first = pdet_scan_word(&s, "page_owner tracks ") ||
			   pdet_scan_word(&s, "page_owner info is not ");
	unsigned after = 0, within = 0, i;
	bool lost = false;

	for (i = 0; i < w->t.n; i++) {
		const struct pdet_log_writer *x = &w->t.writers[i];

		lost |= x->loses;
		if (x->stage == PDET_LOG_AT_OWNER)
			within |= 1U << i;
		else if (x->stage == PDET_LOG_AT_REASON ||
			 (x->form == PDET_LOG_OF_DUMP &&
			  x->stage >= PDET_LOG_AT_FLAGS))
			after |= 1U << i;
	}
	/* The first line of one may be lost. */
	if (lost)
		return after | within;
	return first || !within ? after : within;
}

/* The only writer that is not complete, or the last one. */
static unsigned alone(const struct pdet_log_writers *w)
{
	unsigned i, last = 0;

	for (i = 0; i < w->t.n; i++) {
		if (!w->t.writers[i].idle)
			return 1U << i;
		if (w->t.writers[i].last >= w->t.writers[last].last)
			last = i;
	}
	return w->t.n ? 1U << last : 0;
}

static void lose(struct pdet_log_writers *w, unsigned bits)
{
	unsigned i;

	for (i = 0; i < w->t.n; i++)
		w->t.writers[i].loses |= bits >> i & 1;
}

static void pass(struct pdet_log_writers *w, struct pdet_log_line *l,
		 const struct pdet_log_step *s, unsigned may, uint64_t heard)
{
	unsigned i;
	uint8_t stage;

	l->writer = PDET_LOG_NOBODY;
	if (w->blind_from || (may & (may - 1))) {
		lose(w, may);
		return;
	}
	for (i = 0; may && !(may >> i & 1);)
		i++;
	if (!may) {
		/* It may be of a report that has no block. */
		if (s->kind == PDET_LOG_STEP_CPU && !w->t.n)
			l->writer = PDET_LOG_ANYONE;
		return;
	}
	stage = later(&w->t.writers[i], s);
	if (!stage) {
		/* A line that was there already is of another report. */
		w->t.writers[i].loses |= s->kind != PDET_LOG_STEP_CPU &&
					 !w->repeats;
		return;
	}
	l->writer = w->t.writers[i].id;
	w->t.writers[i].stage = stage;
	w->t.writers[i].last = heard;
	if (s->kind == PDET_LOG_STEP_FLAGS)
		w->t.writers[i].flags = s->word;
	else if (s->kind == PDET_LOG_STEP_PAGE)
		page_came(&w->t.writers[i], s);
	else if (s->kind == PDET_LOG_STEP_OWNER)
		w->t.writers[i].owned |= is_last_of_owner(l->text);
	if (stage != PDET_LOG_AT_END)
		return;
	drop(w, i);
	w->traces = true;
	for (i = 0; i < w->t.n; i++)
		w->t.writers[i].traced = true;
}

/* --- all lines --- */

/* Too many reports at a time. */
static int go_blind(struct pdet_log_writers *w, struct pdet_log_line *l)
{
	l->writer = ++w->last_id;
	if (!w->blind_from)
		w->blind_from = l->writer;
	lose(w, ~0U);
	return 0;
}

static int begin(struct pdet_log_writers *w, struct pdet_log_line *l,
		 const struct pdet_log_step *s, uint64_t line, uint64_t heard)
{
	struct pdet_log_writer *x;

	if (!w->held && !w->blind_from)
		w->held = are_open(w);
	x = w->blind_from ? NULL : add(w, s, heard);
	if (!x && w->held)
		return -EAGAIN;
	if (!x)
		return go_blind(w, l);
	if (s->kind == PDET_LOG_STEP_PAGE)
		page_came(x, s);
	if (w->held)
		return hold(w, l, s, 1U << (w->t.n - 1), line, heard);
	x->stage = pdet_log_advance(x, PDET_LOG_AT_NONE, s, 0);
	l->writer = x->id;
	return 0;
}

static bool begins(const struct pdet_log_writers *w,
		   const struct pdet_log_step *s, bool detective)
{
	return s->kind == PDET_LOG_BEGIN || detective ||
	       (s->kind == PDET_LOG_STEP_PAGE && !of_page(w, s));
}

int pdet_log_writers_take(struct pdet_log_writers *w, struct pdet_log_line *l,
			  uint64_t line, uint64_t heard, bool detective)
{
	struct pdet_log_step s;
	unsigned may;

	l->writer = PDET_LOG_ANYONE;
	if (!w->held && (w->t.n || w->blind_from))
		drop_old(w, heard);
	if (!pdet_log_step_of(l->text, &s))
		return -ENOMEM;
	if (s.kind != PDET_LOG_NO_STEP)
		w->last = heard;
	w->wordy |= s.kind == PDET_LOG_STEP_RAW ||
		    s.kind == PDET_LOG_STEP_REASON;
	l->adopts = detective || (s.kind == PDET_LOG_BEGIN &&
				  s.form == PDET_LOG_OF_KASAN);
	if (begins(w, &s, detective)) {
		w->repeats = false;
		return begin(w, l, &s, line, heard);
	}
	may = may_be_by(w, &s);
	if (w->held) {
		unsigned i;

		for (i = 0; s.kind == PDET_LOG_STEP_PAGE && i < w->t.n; i++)
			if (may == 1U << i)
				page_came(&w->t.writers[i], &s);
		return hold(w, l, &s, may, line, heard);
	}
	if (s.kind == PDET_LOG_NO_STEP) {
		if (w->t.n || w->traces)
			watch_traces(w, l->text);
		/* Before 4.6 the names of these are on the next line. */
		w->repeats = w->t.n && pdet_scan_is(&l->text,
						    "bad because of flags:");
		return 0;
	}
	if (s.kind == PDET_LOG_STEP_OWNER)
		may = of_owner(w, l->text);
	else if (s.kind != PDET_LOG_STEP_PAGE)
		may = alone(w);
	w->repeats &= s.kind == PDET_LOG_STEP_FLAGS;
	pass(w, l, &s, may, heard);
	w->repeats = false;
	return 0;
}

/* Whether there are enough lines for all reports to be complete. */
static bool may_be_complete(struct pdet_log_writers *w)
{
	const struct pdet_log_held *h;

	if (!w->t.lines.n || w->tries == MOST_TRIES)
		return false;
	h = &w->t.lines.data[w->t.lines.n - 1];
	return h->step.kind == PDET_LOG_STEP_REASON ||
	       h->step.kind == PDET_LOG_STEP_CPU;
}

static void judge(struct pdet_log_writers *w)
{
	size_t n;

	for (n = 0; n < w->t.lines.n; n++) {
		const struct pdet_log_held *h = &w->t.lines.data[n];

		if (h->may && (!h->by || h->by & (h->by - 1)))
			lose(w, h->by ? h->by : h->may);
	}
}

/* Whether lines may follow of which the writer would not be known. */
static bool are_cut(const struct pdet_log_writers *w,
		    const uint8_t stages[PDET_LOG_WRITERS])
{
	unsigned i;

	for (i = 0; i < w->t.n; i++)
		if (!w->t.writers[i].idle && !rests(w, &w->t.writers[i],
						    stages[i]))
			return true;
	return false;
}

int pdet_log_writers_decide(struct pdet_log_writers *w, uint64_t heard,
			    bool now)
{
	uint8_t stages[PDET_LOG_WRITERS];
	bool done;
	unsigned i;

	if (!w->held)
		return 0;
	now |= w->drops || w->t.lines.n >= MOST_HELD ||
	       heard - w->last > PDET_LOG_PATIENCE;
	if (!now && !may_be_complete(w))
		return 0;
	w->tries++;
	if (!pdet_log_untangle(&w->t, &done, stages))
		return -ENOMEM;
	if (!now && !done)
		return 0;
	judge(w);
	for (i = 0; i < w->t.n; i++)
		w->t.writers[i].stage = stages[i];
	w->drops = !done && are_cut(w, stages);
	w->replays = true;
	w->next = 0;
	return 1;
}

/* After the replay: forget the reports that are complete. */
static void settle(struct pdet_log_writers *w)
{
	unsigned i;

	for (i = w->t.n; i-- > 0;) {
		struct pdet_log_writer *x = &w->t.writers[i];

		x->idle = x->traced = true;
		if (w->drops || x->stage == PDET_LOG_AT_END)
			drop(w, i);
		else if (x->stage == UINT8_MAX)
			x->stage = PDET_LOG_AT_OWNER;
	}
	if (w->drops)
		w->blind_from = w->last_id + 1;
	w->held = w->replays = w->drops = false;
	w->traces = true;
	w->tries = 0;
	w->t.lines.n = w->text.n = 0;
}

void pdet_log_writers_forget(struct pdet_log_writers *w)
{
	w->t.n = 0;
	w->blind_from = 0;
	w->wordy = false;
}

bool pdet_log_writers_next(struct pdet_log_writers *w, struct pdet_log_line *l,
			   uint64_t *line, uint64_t *heard)
{
	const struct pdet_log_held *h;
	unsigned i;

	if (w->next == w->t.lines.n) {
		settle(w);
		return false;
	}
	h = &w->t.lines.data[w->next++];
	memset(l, 0, offsetof(struct pdet_log_line, unescaped));
	l->text = (struct pdet_scan){ w->text.data + h->at,
				      w->text.data + h->at + h->len };
	l->record = h->record;
	l->indented = h->indented;
	l->adopts = h->adopts;
	l->seq = h->seq;
	l->stamp = h->stamp;
	l->writer = h->step.kind == PDET_LOG_NO_STEP ? PDET_LOG_ANYONE :
						       PDET_LOG_NOBODY;
	for (i = 0; i < w->t.n; i++)
		if (h->by == 1U << i)
			l->writer = w->t.writers[i].id;
	*line = h->line;
	*heard = h->heard;
	return true;
}
