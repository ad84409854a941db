/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * "COMM-TID [(TGID)] [CPU] [FLAGS] SECONDS: EVENT: KEY=VALUE...". A name of a
 * thread may hold anything, but is too short for all that follows.
 */
#include <limits.h>
#include <string.h>

#include "base/env.h"
#include "trace/line.h"

/* Nanoseconds have nine digits; ftrace writes six. */
#define DIGITS 9
/* Names of threads are shorter. */
#define MOST_COMM 64

static bool blanks(struct pdet_scan *s)
{
	const char *begin = s->at;

	pdet_scan_blanks(s);
	return s->at > begin;
}

/* "12.345678:", or "12:" of a clock that counts something else. */
static bool take_time(struct pdet_scan *s, struct pdet_trace_line *l)
{
	uint64_t whole, part = 0;
	unsigned n = 0;

	if (!pdet_scan_dec(s, &whole))
		return false;
	l->no_ns = !pdet_scan_char(s, '.');
	if (!l->no_ns) {
		for (; s->at < s->end && *s->at >= '0' && *s->at <= '9';
		     s->at++)
			if (n < DIGITS) {
				part = part * 10 + (uint64_t)(*s->at - '0');
				n++;
			}
		if (!n || whole > UINT64_MAX / 1000000000 - 1)
			return false;
		for (; n < DIGITS; n++)
			part *= 10;
		whole = whole * 1000000000 + part;
	}
	l->event.ns = whole;
	return pdet_scan_char(s, ':');
}

/* "(  123)" or "(-----)": the process, if ftrace was asked for it. */
static void skip_process(struct pdet_scan *s)
{
	const char *end;

	if (s->at == s->end || *s->at != '(')
		return;
	end = memchr(s->at, ')', (size_t)(s->end - s->at));
	if (!end)
		return;
	s->at = end + 1;
	pdet_scan_blanks(s);
}

/* What follows the name of the thread and its minus. */
static bool take_head(struct pdet_scan *s, struct pdet_trace_line *l)
{
	struct pdet_scan flags;
	uint64_t tid, cpu;

	if (!pdet_scan_dec(s, &tid) || tid > INT32_MAX || !blanks(s))
		return false;
	skip_process(s);
	if (!pdet_scan_char(s, '[') || !pdet_scan_dec(s, &cpu) ||
	    cpu > UINT16_MAX || !pdet_scan_char(s, ']') || !blanks(s))
		return false;
	l->event.pid = (int32_t)tid;
	l->event.cpu = (uint16_t)cpu;
	flags = *s;
	if (take_time(s, l))
		return true;
	*s = flags;
	pdet_scan_token(s);
	return blanks(s) && take_time(s, l);
}

static bool take_thread(struct pdet_scan *s, struct pdet_trace_line *l)
{
	const char *at = s->at;
	struct pdet_scan rest;

	pdet_scan_blanks(s);
	l->comm.at = s->at;
	while ((at = memchr(at, '-', (size_t)(s->end - at)))) {
		if (at - s->at > MOST_COMM)
			break;
		rest = (struct pdet_scan){ ++at, s->end };
		if (!take_head(&rest, l))
			continue;
		l->comm.end = at - 1;
		if (pdet_scan_is(&l->comm, "<...>"))
			l->comm.end = l->comm.at;
		*s = rest;
		return true;
	}
	return false;
}

/* --- fields --- */

struct field {
	struct pdet_scan key, value;
};

/* The next KEY=VALUE; what is not one is stepped over. */
static bool next_field(struct pdet_scan *s, struct field *ret)
{
	struct pdet_scan word;
	const char *equals;

	for (;;) {
		pdet_scan_blanks(s);
		word = pdet_scan_token(s);
		if (word.at == word.end)
			return false;
		equals = memchr(word.at, '=', (size_t)(word.end - word.at));
		if (!equals)
			continue;
		ret->key = (struct pdet_scan){ word.at, equals };
		ret->value = (struct pdet_scan){ equals + 1, word.end };
		return true;
	}
}

static bool is_number(struct pdet_scan s, uint64_t *ret)
{
	return (pdet_scan_word(&s, "0x") ? pdet_scan_hex(&s, ret) :
					   pdet_scan_dec(&s, ret)) &&
	       s.at == s.end;
}

/* -1 or a number. */
static bool is_small(struct pdet_scan s, int32_t *ret)
{
	const bool minus = pdet_scan_char(&s, '-');
	uint64_t v;

	if (!is_number(s, &v) || v >= INT32_MAX)
		return false;
	*ret = minus ? -(int32_t)v : (int32_t)v;
	return true;
}

/* An address, which the kernel hashes to 32 bits unless it is told not to. */
static bool is_address(struct pdet_scan s, struct pdet_trace_line *l)
{
	const bool nil = pdet_scan_is(&s, "(nil)");
	size_t n;

	if (nil) {
		l->event.object = 0;
		return true;
	}
	pdet_scan_word(&s, "0x");
	n = (size_t)(s.end - s.at);
	if (!pdet_scan_hex(&s, &l->event.object) || s.at != s.end)
		return false;
	l->hashed = n == 16 && l->event.object &&
		    l->event.object <= UINT32_MAX;
	return true;
}

/* "FUNCTION+0x45/0x330", and "[MODULE]" behind it. */
static void take_site(struct pdet_scan *s, struct pdet_scan value,
		      struct pdet_trace_line *l)
{
	const char *slash = memchr(value.at, '/',
				   (size_t)(value.end - value.at));
	struct pdet_scan rest = *s, word;

	l->site = value;
	if (slash)
		l->site.end = slash;
	pdet_scan_blanks(&rest);
	word = pdet_scan_token(&rest);
	if (word.end - word.at > 2 && *word.at == '[' && word.end[-1] == ']') {
		l->module = (struct pdet_scan){ word.at + 1, word.end - 1 };
		*s = rest;
	}
}

/* Fields that an event must have. */
enum { OBJECT = 1, REQUESTED = 2, ALLOCATED = 4 };

static bool take_field(struct pdet_scan *s, const struct field *f,
		       struct pdet_trace_line *l, unsigned *have)
{
	struct pdet_kmem_event *e = &l->event;
	const bool is_page = e->kind >= PDET_KMEM_PAGE_ALLOC;
	uint64_t v;

	if (pdet_scan_is(&f->key, is_page ? "pfn" : "ptr")) {
		*have |= OBJECT;
		return is_page ? is_number(f->value, &e->object) :
				 is_address(f->value, l);
	}
	if (pdet_scan_is(&f->key, "call_site"))
		take_site(s, f->value, l);
	else if (pdet_scan_is(&f->key, "name"))
		l->cache = f->value;
	else if (pdet_scan_is(&f->key, "node"))
		return is_small(f->value, &e->node);
	else if (pdet_scan_is(&f->key, "migratetype"))
		return is_small(f->value, &e->migratetype);
	if (pdet_scan_is(&f->key, "bytes_req")) {
		*have |= REQUESTED;
		return is_number(f->value, &e->requested);
	}
	if (pdet_scan_is(&f->key, "bytes_alloc")) {
		*have |= ALLOCATED;
		return is_number(f->value, &e->allocated);
	}
	if (pdet_scan_is(&f->key, "order")) {
		if (!is_number(f->value, &v))
			return false;
		e->order = (uint8_t)PDET_MIN(v, UINT8_MAX);
	}
	return true;
}

static bool take_fields(struct pdet_scan *s, struct pdet_trace_line *l)
{
	const bool is_alloc = l->event.kind == PDET_KMEM_KMALLOC ||
			      l->event.kind == PDET_KMEM_CACHE_ALLOC;
	const unsigned want = is_alloc ? OBJECT | REQUESTED | ALLOCATED :
					 OBJECT;
	unsigned have = 0;
	struct field f;

	l->event.node = l->event.migratetype = PDET_KMEM_NO_NUMBER;
	/* A text has names of flags, and not their number. */
	l->event.gfp = PDET_KMEM_NO_GFP;
	while (next_field(s, &f))
		if (!take_field(s, &f, l, &have))
			return false;
	return (have & want) == want;
}

/* --- kmemtrace --- */

/* The next word is a number, after "0x" or not; hexadecimal if @hex. */
static bool take_word(struct pdet_scan *s, bool hex, uint64_t *ret)
{
	struct pdet_scan word;

	pdet_scan_blanks(s);
	word = pdet_scan_token(s);
	if (hex)
		pdet_scan_word(&word, "0x");
	return (hex ? pdet_scan_hex(&word, ret) : pdet_scan_dec(&word, ret)) &&
	       word.at == word.end;
}

static bool take_node(struct pdet_scan *s, int32_t *ret)
{
	uint64_t n;

	pdet_scan_blanks(s);
	if (pdet_scan_word(s, "-1")) {
		*ret = -1;
		return true;
	}
	*ret = 0;
	if (!take_word(s, false, &n) || n > INT32_MAX)
		return false;
	*ret = (int32_t)n;
	return true;
}

/*
 * "  +      K    408    512   000000d0   0xffff8881b2d42e00     -1   site" of
 * an allocation, "  -      C   0xffff888104db1180   site" of a free: the text
 * of the tracer of Linux 2.6.29 to 2.6.35 (kernel/trace/kmemtrace.c).
 */
static enum pdet_trace_line_kind take_kmemtrace(struct pdet_scan s,
						struct pdet_trace_line *l)
{
	struct pdet_kmem_event *e = &l->event;
	bool is_alloc, is_cache;

	pdet_scan_blanks(&s);
	is_alloc = pdet_scan_word(&s, "+ ");
	if (!is_alloc && !pdet_scan_word(&s, "- "))
		return PDET_TRACE_LINE_NOTHING;
	pdet_scan_blanks(&s);
	is_cache = pdet_scan_word(&s, "C ");
	if (!is_cache && !pdet_scan_word(&s, "K "))
		return pdet_scan_word(&s, "P ") ? PDET_TRACE_LINE_OTHER :
						  PDET_TRACE_LINE_NOTHING;
	l->no_ns = l->no_cpu = true;
	l->comm = (struct pdet_scan){ s.at, s.at };
	e->pid = -1;
	e->node = e->migratetype = PDET_KMEM_NO_NUMBER;
	e->gfp = PDET_KMEM_NO_GFP;
	e->kind = is_alloc ? is_cache ? PDET_KMEM_CACHE_ALLOC :
					PDET_KMEM_KMALLOC :
		  is_cache ? PDET_KMEM_CACHE_FREE : PDET_KMEM_KFREE;
	if (is_alloc && (!take_word(&s, false, &e->requested) ||
			 !take_word(&s, false, &e->allocated) ||
			 !take_word(&s, true, &e->gfp)))
		return PDET_TRACE_LINE_DAMAGED;
	if (!take_word(&s, true, &e->object) ||
	    (is_alloc && !take_node(&s, &e->node)))
		return PDET_TRACE_LINE_DAMAGED;
	pdet_scan_blanks(&s);
	l->site = pdet_scan_token(&s);
	return l->site.at < l->site.end ? PDET_TRACE_LINE_EVENT :
					  PDET_TRACE_LINE_DAMAGED;
}

/* --- other lines --- */

/* "CPU:0 [LOST 12 EVENTS]" of ftrace, "CPU:0 [12 EVENTS DROPPED]" of trace-cmd;
 * the number may be missing. */
static bool take_lost(struct pdet_scan s, struct pdet_trace_line *l)
{
	uint64_t cpu;

	l->lost = 0;
	if (!pdet_scan_word(&s, "CPU:") || !pdet_scan_dec(&s, &cpu) ||
	    cpu > UINT16_MAX || !blanks(&s) || !pdet_scan_char(&s, '['))
		return false;
	l->event.cpu = (uint16_t)cpu;
	pdet_scan_word(&s, "LOST ");
	if (pdet_scan_dec(&s, &l->lost))
		pdet_scan_blanks(&s);
	return pdet_scan_word(&s, "EVENTS");
}

/* "# entries-in-buffer/entries-written: 460/1564   #P:2" */
static bool take_written(struct pdet_scan s, struct pdet_trace_line *l)
{
	uint64_t kept, written;

	if (!pdet_scan_word(&s, "# entries-in-buffer/entries-written: ") ||
	    !pdet_scan_dec(&s, &kept) || !pdet_scan_char(&s, '/') ||
	    !pdet_scan_dec(&s, &written) || written < kept)
		return false;
	l->lost = written - kept;
	return true;
}

/* A number that is perhaps below 0: the kernel adds up what its processors have
 * counted, one after the other. */
static bool take_count(struct pdet_scan *s, uint64_t *ret)
{
	const bool below = pdet_scan_char(s, '-');

	if (!pdet_scan_dec(s, ret))
		return false;
	*ret = below ? 0 : *ret;
	return true;
}

/*
 * "  25344      103 ipc/msgutil.c:65 [module] func:alloc_msg accurate:no"
 * (lib/alloc_tag.c of Linux 6.10 and later): bytes, objects, and who has them.
 */
static bool take_allocinfo(struct pdet_scan s, struct pdet_trace_line *l)
{
	struct pdet_scan word;

	pdet_scan_blanks(&s);
	if (!take_count(&s, &l->event.allocated) || !blanks(&s) ||
	    !take_count(&s, &l->event.object) || !blanks(&s))
		return false;
	l->site = pdet_scan_token(&s);
	if (!memchr(l->site.at, ':', (size_t)(l->site.end - l->site.at)))
		return false;
	pdet_scan_blanks(&s);
	if (pdet_scan_char(&s, '[')) {
		l->module = pdet_scan_token(&s);
		if (l->module.at == l->module.end ||
		    *--l->module.end != ']' || !blanks(&s))
			return false;
	}
	if (!pdet_scan_word(&s, "func:"))
		return false;
	l->function = pdet_scan_token(&s);
	pdet_scan_blanks(&s);
	word = pdet_scan_token(&s);
	l->inexact = pdet_scan_is(&word, "accurate:no");
	l->event.kind = PDET_KMEM_SUM;
	l->event.pid = -1;
	l->event.node = l->event.migratetype = PDET_KMEM_NO_NUMBER;
	l->event.gfp = PDET_KMEM_NO_GFP;
	return l->function.at < l->function.end;
}

/* Whether it names an event of memory allocation, as a cut line may. */
static bool names_kmem(struct pdet_scan s)
{
	for (;;) {
		struct pdet_scan word;

		pdet_scan_blanks(&s);
		word = pdet_scan_token(&s);
		if (word.at == word.end)
			return false;
		if (word.end[-1] == ':' &&
		    pdet_kmem_kind(word.at, (size_t)(word.end - word.at) - 1))
			return true;
	}
}

enum pdet_trace_line_kind pdet_trace_line(struct pdet_scan line,
					  struct pdet_trace_line *ret)
{
	struct pdet_scan s = line, name;
	enum pdet_trace_line_kind kind;

	memset(ret, 0, sizeof(*ret));
	if (take_written(line, ret))
		return PDET_TRACE_LINE_WRITTEN;
	if (line.at < line.end && *line.at == '#')
		return PDET_TRACE_LINE_NOTHING;
	if (take_lost(line, ret))
		return PDET_TRACE_LINE_LOST;
	if (take_allocinfo(line, ret))
		return PDET_TRACE_LINE_SUM;
	memset(ret, 0, sizeof(*ret));
	kind = take_kmemtrace(line, ret);
	if (kind != PDET_TRACE_LINE_NOTHING)
		return kind;
	if (!take_thread(&s, ret))
		return names_kmem(line) ? PDET_TRACE_LINE_DAMAGED :
					  PDET_TRACE_LINE_NOTHING;
	pdet_scan_blanks(&s);
	name = pdet_scan_token(&s);
	if (name.at == name.end)
		return PDET_TRACE_LINE_DAMAGED;
	if (name.end[-1] == ':')
		name.end--;
	ret->event.kind = pdet_kmem_kind(name.at,
					 (size_t)(name.end - name.at));
	if (!ret->event.kind)
		return PDET_TRACE_LINE_OTHER;
	return take_fields(&s, ret) ? PDET_TRACE_LINE_EVENT :
				      PDET_TRACE_LINE_DAMAGED;
}
