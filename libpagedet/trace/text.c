/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The text of ftrace, trace-cmd report or kmemtrace, a line for each event, in
 * the order of time. Names of threads and places of calls become events of
 * their own where they come first.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/codec/text_stream.h"
#include "base/hash.h"
#include "base/pairs.h"
#include "base/vec.h"
#include "trace/gaps.h"
#include "trace/line.h"
#include "trace/trace.h"

/* Lines that are read at once. Each may be three events, behind losses. */
#define LINES 256
#define MOST_EVENTS (3 * LINES + PDET_TRACE_GAPS)
/* Room for the texts of these. */
#define MOST_TEXTS ((size_t)256 << 10)
/* Where the first event of a text must be. */
#define PEEK ((size_t)64 << 10)
/* A place of a call with its module. */
#define MOST_SITE 512

/*
 * A number that changes with the list of lines of /proc/allocinfo, as in
 * include/uapi/linux/alloc_tag.h. The other requests there tell less than the
 * lines do: they cut names.
 */
#define ASK_CONTENT _IOR(0xa6, 0, uint64_t)

struct text {
	struct pdet_trace_stream s;
	struct pdet_env *env;
	struct pdet_trace *t;
	struct pdet_text_stream *in;
	struct pdet_pairs comms; /* hash of the name, by thread */
	struct pdet_pairs sites; /* those that were told */
	struct pdet_kmem_event *events; /* of the piece */
	char *texts;		/* of these */
	size_t n_texts;
	uint64_t n_untimed;	/* events without a time */
	bool has_events;	/* so that it is not of /proc/allocinfo */
	bool has_written;	/* the kernel has counted its events */
	bool at_end;
	bool has_content;	/* the kernel has told it */
	uint64_t content;
	uint64_t lost_lines, lost_written;
	struct pdet_trace_gaps gaps;
	uint64_t ns;		/* of the last event */
};

static int no_memory(struct text *x)
{
	return pdet_fail(x->env, ENOMEM, "no memory");
}

/* NULL: there is no room for it in this piece. */
static const char *keep(struct text *x, struct pdet_scan s)
{
	const size_t n = (size_t)(s.end - s.at);
	char *to = x->texts + x->n_texts;

	if (n > MOST_TEXTS - x->n_texts)
		return NULL;
	memcpy(to, s.at, n);
	x->n_texts += n;
	return to;
}

static void put(struct text *x, const struct pdet_kmem_event *e)
{
	x->events[x->s.piece.n] = *e;
	x->s.piece.data[x->s.piece.n] = &x->events[x->s.piece.n];
	x->s.piece.n++;
}

static void put_text(struct text *x, struct pdet_kmem_event *e,
		     struct pdet_scan s)
{
	e->cache = keep(x, s);
	e->cache_len = e->cache ? (uint32_t)(s.end - s.at) : 0;
}

/* A thread may change its name. */
static bool note_comm(struct text *x, const struct pdet_trace_line *l)
{
	const size_t n = (size_t)(l->comm.end - l->comm.at);
	struct pdet_kmem_event e = { .ns = l->event.ns, .pid = l->event.pid,
				     .cpu = l->event.cpu,
				     .kind = PDET_KMEM_NAME };
	uint64_t hash, had;

	if (!n)
		return true;
	hash = pdet_hash(l->comm.at, n);
	if (pdet_pairs_get(&x->comms, (uint32_t)e.pid, &had) && had == hash)
		return true;
	put_text(x, &e, l->comm);
	if (e.cache)
		put(x, &e);
	return pdet_pairs_set(&x->comms, (uint32_t)e.pid, hash);
}

/* "0xffffffff81234567", which other names may be known for. */
static bool is_address(struct pdet_scan s, uint64_t *ret)
{
	return pdet_scan_word(&s, "0x") && pdet_scan_hex(&s, ret) &&
	       s.at == s.end;
}

static bool note_site(struct text *x, const struct pdet_trace_line *l,
		      uint64_t *ret)
{
	const size_t n = (size_t)(l->site.end - l->site.at);
	const size_t module = (size_t)(l->module.end - l->module.at);
	struct pdet_kmem_event e = { .ns = l->event.ns, .cpu = l->event.cpu,
				     .kind = PDET_KMEM_SITE };
	char whole[MOST_SITE];
	size_t len = n;
	uint64_t had;

	*ret = 0;
	/* The place of a free is in no group. */
	if (!pdet_kmem_is_alloc(l->event.kind) &&
	    l->event.kind != PDET_KMEM_SUM && !x->t->wants_rows)
		return true;
	if (!n || is_address(l->site, ret) || n + module + 4 > sizeof(whole))
		return true;
	memcpy(whole, l->site.at, n);
	if (module) {
		memcpy(whole + n, " [", 2);
		memcpy(whole + n + 2, l->module.at, module);
		whole[n + 2 + module] = ']';
		len += module + 3;
	}
	*ret = e.object = pdet_hash(whole, len) | 1;
	if (pdet_pairs_get(&x->sites, e.object, &had))
		return true;
	put_text(x, &e, (struct pdet_scan){ whole, whole + len });
	if (!e.cache) {
		*ret = 0;
		return true;
	}
	put(x, &e);
	return pdet_pairs_set(&x->sites, e.object, 1);
}

/* Losses that a line tells wait until now. False without memory. */
static bool note_time(struct text *x, const struct pdet_trace_line *l)
{
	pdet_trace_gaps_give(&x->gaps, l->event.ns, x->events, &x->s.piece);
	x->ns = l->event.ns;
	return pdet_trace_gaps_note(&x->gaps, l->event.cpu, l->event.ns);
}

static int take_event(struct text *x, struct pdet_trace_line *l)
{
	struct pdet_kmem_event e = l->event;

	if (x->t->only_live) {
		x->s.loss.damaged++;
		return 0;
	}
	x->has_events = true;
	if (l->no_cpu)
		l->event.ns = e.ns = ++x->n_untimed;
	x->t->no_cpu |= l->no_cpu;
	x->t->no_ns |= l->no_ns;
	x->t->hashed |= l->hashed;
	if (!note_time(x, l) || !note_comm(x, l) || !note_site(x, l, &e.site))
		return no_memory(x);
	if (l->cache.at < l->cache.end)
		put_text(x, &e, l->cache);
	put(x, &e);
	return 0;
}

/* The site is "FUNCTION (FILE:LINE)", with its module as others have it. */
static int take_sum(struct text *x, const struct pdet_trace_line *l)
{
	struct pdet_trace_line named = *l;
	char site[MOST_SITE];
	const int n = snprintf(site, sizeof(site), "%.*s (%.*s)",
			       (int)(l->function.end - l->function.at),
			       l->function.at,
			       (int)(l->site.end - l->site.at), l->site.at);

	/* A text has either. */
	if (n < 0 || (size_t)n >= sizeof(site) || x->has_events) {
		x->s.loss.damaged++;
		return 0;
	}
	x->t->only_live = x->t->no_ns = x->t->no_cpu = x->has_written = true;
	x->s.loss.inexact += l->inexact;
	named.site = (struct pdet_scan){ site, site + n };
	if (!note_site(x, &named, &named.event.site))
		return no_memory(x);
	put(x, &named.event);
	return 0;
}

/* A line says that events were lost in front of the next one of the processor,
 * which follows unless somebody has removed it. */
static void take_lost(struct text *x, const struct pdet_trace_line *line)
{
	const uint64_t n = line->lost;

	if (x->gaps.n == PDET_TRACE_GAPS)
		pdet_trace_gaps_give(&x->gaps, PDET_KMEM_NO_NS, x->events,
				     &x->s.piece);
	pdet_trace_gaps_add(&x->gaps, line->event.cpu, n ? n : UINT64_MAX);
	pdet_trace_lost_behind(&x->s.loss, x->ns);
	x->s.loss.unknown += !n;
	x->lost_lines += n;
}

/* Both may tell the same loss. */
static void note_loss(struct text *x)
{
	x->s.loss.lost = PDET_MAX(x->lost_lines, x->lost_written);
}

/* Whether it begins as a number does. */
static bool is_count(struct pdet_scan line)
{
	pdet_scan_blanks(&line);
	pdet_scan_char(&line, '-');
	return line.at < line.end && *line.at >= '0' && *line.at <= '9';
}

static int take_line(struct text *x, const struct pdet_text_line *line)
{
	struct pdet_trace_line l;

	/* What ends in the middle of a number is another number. */
	if (line->open) {
		x->s.loss.damaged++;
		return 0;
	}
	switch (pdet_trace_line(line->text, &l)) {
	case PDET_TRACE_LINE_EVENT:
		if (!line->cut)
			return take_event(x, &l);
		x->s.loss.damaged++;
		return 0;
	case PDET_TRACE_LINE_SUM:
		if (!line->cut)
			return take_sum(x, &l);
		x->s.loss.damaged++;
		return 0;
	case PDET_TRACE_LINE_OTHER:
		x->s.loss.other++;
		return note_time(x, &l) ? 0 : no_memory(x);
	case PDET_TRACE_LINE_LOST:
		take_lost(x, &l);
		note_loss(x);
		return 0;
	case PDET_TRACE_LINE_WRITTEN:
		x->has_written = true;
		x->lost_written += l.lost;
		note_loss(x);
		return 0;
	case PDET_TRACE_LINE_DAMAGED:
		x->s.loss.damaged++;
		return 0;
	default:
		/* The other lines of /proc/allocinfo begin with a letter. */
		x->s.loss.damaged += x->t->only_live && !line->cut &&
				     is_count(line->text);
		return 0;
	}
}

/* Only the kernel itself answers: its files have no size. */
static bool ask_content(int fd, uint64_t *ret)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       !st.st_size && ioctl(fd, ASK_CONTENT, ret) == 0;
}

static void note_end(struct text *x)
{
	uint64_t content;

	x->at_end = true;
	x->s.loss.uncounted = !x->has_written;
	if (x->has_content && x->t->only_live)
		x->s.loss.changed = !ask_content(x->t->fd, &content) ||
				    content != x->content;
}

static int more(struct pdet_trace_stream *s)
{
	struct text *x = PDET_CONTAINER(s, struct text, s);
	struct pdet_text_line line;
	int r = 1, taken;
	unsigned i;

	x->n_texts = 0;
	if (x->at_end)
		return 0;
	if (!pdet_vec_reserve(&s->piece, MOST_EVENTS))
		return no_memory(x);
	for (i = 0; i < LINES; i++) {
		r = pdet_text_stream_line(x->in, x->env, &line);
		if (r <= 0)
			break;
		taken = take_line(x, &line);
		if (taken < 0)
			return taken;
	}
	/* Damaged compressed data is read up to the damage. */
	if (r == -EBADMSG)
		s->loss.damaged++;
	else if (r < 0)
		return r;
	if (r != 0 && r != -EBADMSG)
		return 1;
	note_end(x);
	pdet_trace_gaps_give(&x->gaps, PDET_KMEM_NO_NS, x->events, &s->piece);
	return s->piece.n > 0;
}

static void close_text(struct pdet_trace_stream *s)
{
	struct text *x = PDET_CONTAINER(s, struct text, s);

	if (x->in)
		pdet_text_stream_close(x->in);
	pdet_vec_free(&s->piece);
	pdet_pairs_free(&x->comms);
	pdet_pairs_free(&x->sites);
	pdet_trace_gaps_free(&x->gaps);
	free(x->events);
	free(x->texts);
	free(x);
}

/* Whether there is a line of either program near the beginning. */
static int judge(struct text *x)
{
	struct pdet_scan begin, line;
	struct pdet_trace_line l;
	int r = pdet_text_stream_peek(x->in, x->env, PEEK, &begin);

	if (r < 0)
		return r;
	while (pdet_scan_line(&begin, &line)) {
		const enum pdet_trace_line_kind kind =
			pdet_trace_line(line, &l);

		if (kind != PDET_TRACE_LINE_NOTHING &&
		    kind != PDET_TRACE_LINE_DAMAGED)
			return 0;
	}
	return pdet_fail(x->env, EBADMSG, "%s is not a trace: neither a "
			 "trace.dat, nor a perf.data, nor a text of ftrace, "
			 "nor a directory", pdet_text_stream_name(x->in));
}

int pdet_trace_text(struct pdet_env *env, const char *name,
		    struct pdet_trace *t)
{
	struct text *x = calloc(1, sizeof(*x));
	int r;

	if (!x)
		return pdet_fail(env, ENOMEM, "no memory");
	x->s.more = more;
	x->s.close = close_text;
	if (!pdet_vec_push(&t->own, &x->s)) {
		free(x);
		return pdet_fail(env, ENOMEM, "no memory");
	}
	x->env = env;
	x->t = t;
	x->events = calloc(MOST_EVENTS, sizeof(*x->events));
	x->texts = malloc(MOST_TEXTS);
	if (!x->events || !x->texts)
		return no_memory(x);
	x->has_content = ask_content(t->fd, &x->content);
	r = pdet_text_stream_open(env, name, &x->in);
	return r < 0 ? r : judge(x);
}
