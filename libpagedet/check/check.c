/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Runs a check and collects its result: ranges with verdicts, and from them the
 * verdict on the whole. Anything that was not examined makes it unknown, unless
 * it is violated anyway.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/vec.h"
#include "check/check.h"

/* More ranges are only counted. */
#define MAX_FOUND 65536

static const struct {
	const char *name;
	int (*run)(struct pdet_checked *c);
} checks[] = {
	[PAGEDET_CHECK_CLEAN] = { "clean", pdet_check_clean },
	[PAGEDET_CHECK_DISK] = { "disk", pdet_check_disk },
	[PAGEDET_CHECK_STABLE] = { "stable", pdet_check_stable },
	[PAGEDET_CHECK_ABSENT] = { "absent", pdet_check_absent },
	[PAGEDET_CHECK_COMMITTED] = { "committed", pdet_check_disk },
	[PAGEDET_CHECK_ERRORS] = { "errors", pdet_check_errors },
};

const char *pdet_check_name(uint32_t kind)
{
	return kind < PDET_COUNT(checks) ? checks[kind].name : NULL;
}

const char *pdet_verdict_name(uint32_t verdict)
{
	switch (verdict) {
	case PAGEDET_HOLDS:
		return "holds";
	case PAGEDET_VIOLATED:
		return "violated";
	case PAGEDET_CANNOT_TELL:
		return "unknown";
	default:
		return NULL;
	}
}

const char *pdet_cause_name(uint32_t cause)
{
	static const char *const names[] = {
		[PAGEDET_CAUSE_NONE] = "none",
		[PAGEDET_CAUSE_DIRTY] = "dirty",
		[PAGEDET_CAUSE_WRITEBACK] = "writeback",
		[PAGEDET_CAUSE_NOT_WRITTEN] = "not_written",
		[PAGEDET_CAUSE_LOST_WRITE] = "lost_write",
		[PAGEDET_CAUSE_DIFFERENT] = "different",
		[PAGEDET_CAUSE_CHANGED] = "changed",
		[PAGEDET_CAUSE_CACHED] = "cached",
		[PAGEDET_CAUSE_ERROR] = "error",
		[PAGEDET_CAUSE_NOT_COMMITTED] = "not_committed",
		[PAGEDET_CAUSE_UNKNOWN] = "unknown",
		[PAGEDET_CAUSE_ACCESS] = "no_access",
		[PAGEDET_CAUSE_KERNEL] = "no_kernel",
		[PAGEDET_CAUSE_FILESYSTEM] = "filesystem",
		[PAGEDET_CAUSE_NETWORK] = "network",
		[PAGEDET_CAUSE_ENCODED] = "encoded",
		[PAGEDET_CAUSE_UNWRITTEN] = "unwritten",
		[PAGEDET_CAUSE_JOURNAL] = "journal",
		[PAGEDET_CAUSE_UNREADABLE] = "unreadable",
		[PAGEDET_CAUSE_RACED] = "raced",
		[PAGEDET_CAUSE_REPLACED] = "replaced",
		[PAGEDET_CAUSE_IO] = "io",
		[PAGEDET_CAUSE_TIMEOUT] = "timeout",
	};

	return cause < PDET_COUNT(names) ? names[cause] : NULL;
}

/* --- the result --- */

/*
 * Gets the id of a text. Returns 0 without memory. Often the same text comes
 * several times in a row.
 */
static uint64_t text_id(struct pdet_checked *c, const char *text)
{
	char *copy;

	if (c->texts.n && !strcmp(c->texts.data[c->texts.n - 1], text))
		return c->texts.n;
	copy = strdup(text);
	if (copy && pdet_vec_push(&c->texts, copy))
		return c->texts.n;
	free(copy);
	c->no_memory = true;
	return 0;
}

static void add_up(struct pdet_checked *c, unsigned verdict, unsigned cause,
		   uint64_t pages, uint64_t why)
{
	if (verdict == PAGEDET_VIOLATED)
		c->whole.violations += pages;
	if (c->whole.verdict == PAGEDET_VIOLATED ||
	    (c->whole.verdict == PAGEDET_CANNOT_TELL &&
	     verdict == PAGEDET_CANNOT_TELL))
		return;
	c->whole.verdict = verdict;
	c->whole.cause = cause;
	c->whole.why = why;
}

void pdet_check_add(struct pdet_checked *c, unsigned verdict, unsigned cause,
		    uint64_t first, uint64_t pages, const char *fmt, ...)
{
	struct pagedet_verdict *last, v = {
		.size = sizeof(v), .first = first, .pages = pages,
		.looked_at = pages, .verdict = verdict, .cause = cause,
		.violations = verdict == PAGEDET_VIOLATED ? pages : 0,
	};
	char text[PDET_ERROR_SIZE];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	v.why = text_id(c, text);
	add_up(c, verdict, cause, pages, v.why);
	last = c->found.n ? &c->found.data[c->found.n - 1] : NULL;
	if (last && last->verdict == verdict && last->cause == cause &&
	    last->why == v.why && last->first + last->pages == first) {
		last->pages += pages;
		last->looked_at += pages;
		last->violations += v.violations;
		return;
	}
	if (c->found.n < MAX_FOUND && !pdet_vec_push(&c->found, v))
		c->no_memory = true;
}

void pdet_check_say(struct pdet_checked *c, const char *fmt, ...)
{
	char text[PDET_ERROR_SIZE];
	va_list ap;

	if (c->whole.verdict != PAGEDET_HOLDS)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	c->whole.why = text_id(c, text);
}

bool pdet_check_late(struct pdet_checked *c, uint64_t first)
{
	if (!c->deadline_ns ||
	    pdet_clock_ns(CLOCK_MONOTONIC) < c->deadline_ns)
		return false;
	pdet_check_add(c, PAGEDET_CANNOT_TELL, PAGEDET_CAUSE_TIMEOUT, first,
		       c->end > first ? c->end - first : 0,
		       "the deadline passed first");
	return true;
}

/* --- running a check --- */

static int start(struct pdet_checked *c, const struct pdet_check_args *args)
{
	const struct pagedet_check *q = args->check;

	c->args = args;
	c->env = args->env;
	c->check = q;
	c->kind = q->kind;
	c->shift = (unsigned)__builtin_ctzll(args->page_size);
	c->deadline_ns = q->deadline_ns ?
		pdet_clock_ns(CLOCK_MONOTONIC) + q->deadline_ns : 0;
	c->whole.size = sizeof(c->whole);
	c->whole.verdict = PAGEDET_HOLDS;
	if (q->kind == PAGEDET_CHECK_ERRORS)
		return pdet_check_name_only(c);
	if (!q->pages)
		return pdet_fail(c->env, EINVAL, "cannot check a range without "
						 "pages");
	return pdet_check_open(c);
}

static int run(struct pdet_checked *c, const struct pdet_check_args *args)
{
	int r = start(c, args);

	if (r < 0)
		return r;
	c->whole.first = c->first;
	c->whole.pages = c->end - c->first;
	r = checks[c->kind].run(c);
	if (r == 0 && c->kind != PAGEDET_CHECK_ERRORS)
		pdet_check_same(c);
	if (r == 0 && c->no_memory)
		r = pdet_fail(c->env, ENOMEM, "no memory");
	if (r == 0 && c->whole.first == c->end &&
	    c->kind != PAGEDET_CHECK_ERRORS)
		pdet_check_say(c, "the %s has no page there",
			       c->block ? "device" : "file");
	return r;
}

int pdet_check_run(const struct pdet_check_args *args,
		   struct pdet_checked **ret)
{
	struct pdet_checked *c;
	int r;

	if (!pdet_check_name(args->check->kind))
		return pdet_fail(args->env, EINVAL, "there is no check %u",
				 args->check->kind);
	c = calloc(1, sizeof(*c));
	if (!c)
		return pdet_fail(args->env, ENOMEM, "no memory");
	c->fd = -1;
	r = run(c, args);
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	c->args = NULL;
	c->check = NULL;
	if (r < 0) {
		pdet_checked_free(c);
		return r;
	}
	*ret = c;
	return 0;
}

int pdet_checked_next(struct pdet_checked *c, struct pagedet_verdict *ret)
{
	if (c->at == c->found.n)
		return 0;
	*ret = c->found.data[c->at++];
	return 1;
}

void pdet_checked_whole(const struct pdet_checked *c,
			struct pagedet_verdict *ret)
{
	*ret = c->whole;
}

const char *pdet_checked_text(const struct pdet_checked *c, uint64_t id)
{
	return id && id <= c->texts.n ? c->texts.data[id - 1] : NULL;
}

const char *pdet_checked_name(const struct pdet_checked *c)
{
	return checks[c->kind].name;
}

const char *pdet_checked_path(const struct pdet_checked *c)
{
	return c->path;
}

void pdet_checked_free(struct pdet_checked *c)
{
	size_t i;

	if (!c)
		return;
	for (i = 0; i < c->texts.n; i++)
		free(c->texts.data[i]);
	pdet_vec_free(&c->texts);
	pdet_vec_free(&c->found);
	free(c->path);
	free(c);
}
