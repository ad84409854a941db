/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Sends one query to the driver and waits for its answer. All callers take
 * turns: with a mutex in a process, and between processes with a lock on the
 * driver's directory. The helper process holds that lock while it lives, so
 * that no query starts while a helper is stuck. A caller that stops waiting
 * leaves the helper behind. The driver answers one query at a time, and repeats
 * the query in its first line.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "backend/page_detective/page_detective.h"
#include "base/clock.h"

/* Attempts if the log was overwritten before it was read. */
#define TRIES 3

/* How long to wait for an error message, which is printed at once. */
#define WORDS_NS 50000000

/*
 * Rate limit: this many queries at once, then one per interval. Each query
 * prints about 20 lines.
 */
#define BURST 32
#define INTERVAL_NS 20000000

#define PAUSE_NS 200000

static const char left_behind[] = "a question was not answered in time: the "
				  "process that asked it is left behind";

struct asking {
	struct page_detective_session *s;
	struct page_detective *d;
	struct pdet_env *env;
	const struct page_detective_question *q;
	struct pdet_log *log;
	struct pdet_log_page *found; /* the answer; valid if has_found */
	bool has_found;
	bool exact;		/* for exactly the query's address */
	bool refused;		/* the driver gave a reason instead of an
				 * answer */
	bool lost;		/* a part of the log was overwritten */
	bool reported;
	bool may_report;	/* the helper's report may have arrived */
	struct page_detective_report report;
	uint64_t end_ns;
};

static void pause_ns(uint64_t ns)
{
	const struct timespec ts = { (time_t)(ns / 1000000000),
				     (long)(ns % 1000000000) };

	nanosleep(&ts, NULL);
}

/* Wait, so that queries do not fill the log. */
static void wait_turn(struct page_detective *d)
{
	uint64_t now = pdet_clock_ns(CLOCK_MONOTONIC);
	const uint64_t ahead = (uint64_t)BURST * INTERVAL_NS;

	if (d->tokens_ns < now)
		d->tokens_ns = now;
	if (d->tokens_ns - now > ahead)
		pause_ns(d->tokens_ns - now - ahead);
	d->tokens_ns += INTERVAL_NS;
}

/* --- matching answers --- */

static bool same_page(uint64_t a, uint64_t b)
{
	return a >> 12 == b >> 12;
}

/* True if @p answers the query. *exact: it repeats the query exactly. */
static bool answers(const struct asking *a, const struct pdet_log_page *p,
		    bool *exact)
{
	const struct page_detective_question *q = a->q;

	*exact = false;
	if (p->kind != PDET_LOG_DETECTIVE || p->refusal)
		return false;
	if (q->virt) {
		*exact = p->virt == q->addr;
		return p->has & PDET_LOG_VIRT && p->pid == q->pid &&
		       same_page(p->virt, q->addr);
	}
	*exact = p->phys == q->addr;
	return !(p->has & PDET_LOG_VIRT) && p->pfn == q->pfn;
}

/* True if @p says why the query has no answer. Any refusal that fits is
 * accepted, because one writer prints the same text for the same mistake. */
static bool refuses(const struct asking *a, const struct pdet_log_page *p)
{
	switch (p->refusal) {
	case PDET_LOG_REFUSED_NOT:
		return false;
	case PDET_LOG_REFUSED_TASK:
	case PDET_LOG_REFUSED_KTHREAD:
		return a->q->virt && p->pid == a->q->pid;
	case PDET_LOG_REFUSED_ADDRESS:
		return a->q->virt && same_page(p->virt, a->q->addr);
	default:
		return a->q->virt;
	}
}

static void take(struct asking *a, bool refusal)
{
	pdet_log_page_free(a->found);
	pdet_log_steal(a->log, a->found);
	a->has_found = true;
	a->refused = refusal;
}

static void take_pages(struct asking *a)
{
	const struct pdet_log_page *p;
	bool exact;

	while ((p = pdet_log_take(a->log))) {
		if (answers(a, p, &exact)) {
			/* The first exact answer stays. */
			if (a->has_found && !a->refused &&
			    (a->exact || !exact))
				continue;
			a->exact = exact;
			take(a, false);
		} else if (!a->has_found && refuses(a, p)) {
			take(a, true);
		}
	}
}

/*
 * Parse the answer of a kernel that returns it in the file: the same lines,
 * possibly without prefix.
 */
static int take_text(struct asking *a)
{
	static const char prefix[] = "Page Detective: ";
	struct pdet_scan all = { a->report.text,
				 a->report.text + a->report.len };
	struct pdet_scan line;
	char buf[PDET_LOG_TEXT + sizeof(prefix)];
	size_t n;
	int r = 0;

	while (r == 0 && all.at && pdet_scan_line(&all, &line)) {
		n = PDET_MIN((size_t)(line.end - line.at),
			     (size_t)PDET_LOG_TEXT);
		if (memmem(line.at, n, prefix, sizeof(prefix) - 1)) {
			r = pdet_log_feed(a->log, line);
			continue;
		}
		memcpy(buf, prefix, sizeof(prefix) - 1);
		memcpy(buf + sizeof(prefix) - 1, line.at, n);
		line = (struct pdet_scan){ buf, buf + n + sizeof(prefix) - 1 };
		r = pdet_log_feed(a->log, line);
	}
	free(a->report.text);
	a->report.text = NULL;
	if (r == 0)
		take_pages(a);
	return r;
}

/* --- one attempt --- */

/*
 * The helper ends after its query is answered, and holds the lock until then.
 */
static void leave_behind(struct asking *a)
{
	page_detective_helper_stop(&a->d->helper, false);
	close(a->d->dir);
	a->d->dir = -1;
}

static unsigned close_source(struct asking *a, const char *why)
{
	a->d->closed = PAGEDET_UNSAFE;
	snprintf(a->d->advice, sizeof(a->d->advice), "%s", why);
	pdet_log(a->env, PAGEDET_LOG_WARNING,
		 "page_detective is not asked again: %s", why);
	leave_behind(a);
	return PAGEDET_UNSAFE;
}

/* Read the report if it has arrived. Returns 0, or a reason. */
static unsigned look_for_report(struct asking *a)
{
	int r = 0;

	if (!a->reported && a->may_report)
		r = page_detective_helper_report(&a->d->helper, &a->report);
	if (r < 0)
		return close_source(a, "its helper has ended while it was "
				    "asked: the driver may hang until the "
				    "next boot");
	if (r > 0) {
		a->reported = true;
		if (take_text(a) < 0)
			return PAGEDET_NO_MEMORY;
	}
	return 0;
}

/* Read lines until there are no more. Returns 0, or a reason. */
static unsigned read_log(struct asking *a)
{
	int r;

	if (a->d->kmsg.fd < 0)
		return 0;
	do {
		r = page_detective_kmsg_read(&a->d->kmsg, a->log);
		if (r == -ENOMEM)
			return PAGEDET_NO_MEMORY;
		if (r < 0)
			return PAGEDET_IO;
		a->lost |= r == PAGE_DETECTIVE_OVERRUN;
		take_pages(a);
		/* Stop in time: other writers may print without end. */
	} while (r != PAGE_DETECTIVE_DRAINED &&
		 pdet_clock_ns(CLOCK_MONOTONIC) < a->end_ns);
	return 0;
}

static bool was_written(const struct asking *a, size_t len)
{
	return a->reported && a->report.opened &&
	       a->report.result == (int64_t)len;
}

static void wait_for_more(struct asking *a)
{
	const struct page_detective_kmsg *k = &a->d->kmsg;
	struct pollfd p[2] = {
		{ .fd = a->reported ? -1 : a->d->helper.from,
		  .events = POLLIN },
		{ .fd = k->polls ? k->fd : -1, .events = POLLIN },
	};

	poll(p, 2, k->polls ? 1 : 0);
	a->may_report = p[0].revents;
	/* A pipe without a writer is always ready, and so is a file. */
	if (!a->may_report &&
	    (!k->polls || p[1].revents & (POLLHUP | POLLNVAL)))
		pause_ns(PAUSE_NS);
}

/* Wait until the outcome is known. Returns 0, or a reason. */
static unsigned wait_for_answer(struct asking *a, size_t len)
{
	uint64_t words_ns = 0;
	unsigned reason;

	a->may_report = true;
	for (;;) {
		/*
		 * The order matters: lines that were printed before the report
		 * are in the log by then.
		 */
		reason = look_for_report(a);
		if (!reason)
			reason = read_log(a);
		if (reason)
			return reason;
		if (a->reported && was_written(a, len)) {
			if (a->has_found && !a->refused)
				return 0;
			if (a->lost)
				return 0;
		} else if (a->reported) {
			if (a->has_found || !a->report.opened)
				return 0;
			if (!words_ns)
				words_ns = pdet_clock_ns(CLOCK_MONOTONIC) +
					   WORDS_NS;
			if (pdet_clock_ns(CLOCK_MONOTONIC) > words_ns)
				return 0;
		}
		if (page_detective_must_stop(a->s)) {
			if (!a->reported)
				leave_behind(a);
			return PAGEDET_TIMEOUT;
		}
		if (pdet_clock_ns(CLOCK_MONOTONIC) > a->end_ns)
			return a->reported ? PAGEDET_TIMEOUT :
				close_source(a, left_behind);
		wait_for_more(a);
	}
}

/* Pass the query to the helper. Returns 0, or a reason. */
static unsigned begin(struct asking *a, const char *text)
{
	struct page_detective *d = a->d;
	int r = page_detective_helper_ask(&d->helper, a->env, d->libexec_dir,
					  d->dir, a->q->virt ? 'v' : 'p',
					  text);

	if (r == 0)
		return 0;
	if (r == -EPIPE || r == -EBUSY)
		return close_source(a, r == -EPIPE ? "its helper has ended" :
				    "its helper does not end");
	snprintf(d->advice, sizeof(d->advice), "needs %.100s/%s, which %s",
		 d->libexec_dir, PAGE_DETECTIVE_HELPER,
		 r == -ENOENT ? "does not exist" : "cannot be run");
	pdet_log(a->env, PAGEDET_LOG_WARNING,
		 "page_detective cannot be asked safely: %s", d->advice);
	d->closed = PAGEDET_UNSAFE;
	return PAGEDET_UNSAFE;
}

static unsigned try_once(struct asking *a)
{
	char text[64];
	unsigned reason;

	if (a->d->kmsg.fd >= 0)
		page_detective_kmsg_skip(&a->d->kmsg);
	if (a->q->virt)
		snprintf(text, sizeof(text), "%u 0x%llx", a->q->pid,
			 (unsigned long long)a->q->addr);
	else
		snprintf(text, sizeof(text), "0x%llx",
			 (unsigned long long)a->q->addr);
	a->end_ns = pdet_clock_ns(CLOCK_MONOTONIC) + a->d->patience_ns;
	reason = begin(a, text);
	return reason ? reason : wait_for_answer(a, strlen(text));
}

/* The reason for a query that could not be written. */
static unsigned failure(struct asking *a)
{
	if (a->has_found && a->refused)
		return 0;
	return a->report.opened ? PAGEDET_IO :
				  page_detective_reason(a->report.error);
}

static unsigned ask_once(struct asking *a, bool *again)
{
	unsigned reason;

	*again = false;
	a->log = pdet_log_new();
	if (!a->log)
		return PAGEDET_NO_MEMORY;
	reason = try_once(a);
	pdet_log_free(a->log);
	free(a->report.text);
	if (reason)
		return reason;
	if (a->has_found && a->refused)
		return 0;
	if (a->lost && (!a->has_found || a->found->partial)) {
		*again = true;
		return a->has_found ? 0 : PAGEDET_IO;
	}
	return a->has_found ? 0 : failure(a);
}

static unsigned ask_until_whole(struct asking *a)
{
	struct asking first = *a;
	unsigned i, reason = PAGEDET_IO;
	bool again = true;

	for (i = 0; i < TRIES && again; i++) {
		pdet_log_page_free(a->found);
		*a = first;
		if (page_detective_must_stop(a->s))
			return PAGEDET_TIMEOUT;
		wait_turn(a->d);
		reason = ask_once(a, &again);
	}
	if (again)
		pdet_log(a->env, PAGEDET_LOG_WARNING,
			 "an answer of page_detective was lost: the kernel log was overwritten before it could be read");
	return reason;
}

/* Take the lock between processes. Returns 0, or a reason. */
static unsigned lock_all(struct asking *a)
{
	struct page_detective *d = a->d;
	const uint64_t end = pdet_clock_ns(CLOCK_MONOTONIC) + d->patience_ns;

	if (d->dir < 0)
		d->dir = page_detective_open_dir(a->env);
	if (d->dir < 0)
		return page_detective_reason(-d->dir);
	while (flock(d->dir, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return PAGEDET_IO;
		if (page_detective_must_stop(a->s))
			return PAGEDET_TIMEOUT;
		if (pdet_clock_ns(CLOCK_MONOTONIC) > end) {
			/* our own helper holds it */
			if (!page_detective_helper_is_alone(&d->helper, 0))
				return close_source(a, left_behind);
			pdet_log(a->env, PAGEDET_LOG_WARNING,
				 "page_detective is not asked: it has not "
				 "answered the question of another process "
				 "yet");
			return PAGEDET_TIMEOUT;
		}
		pause_ns(PAUSE_NS);
	}
	return 0;
}

bool page_detective_lock(struct page_detective_session *s)
{
	struct page_detective *d = page_detective_of(s->session.backend);

	while (pthread_mutex_trylock(&d->lock)) {
		if (page_detective_must_stop(s))
			return false;
		pause_ns(PAUSE_NS);
	}
	return true;
}

unsigned page_detective_ask(struct page_detective_session *s,
			    const struct page_detective_question *q,
			    struct pdet_log_page *ret)
{
	struct page_detective *d = page_detective_of(s->session.backend);
	struct asking a = {
		.s = s, .d = d, .env = &s->session.env, .q = q, .found = ret,
	};
	unsigned reason;

	memset(ret, 0, sizeof(*ret));
	if (!page_detective_lock(s))
		return PAGEDET_TIMEOUT;
	reason = d->closed;
	if (!reason)
		reason = lock_all(&a);
	if (!reason) {
		reason = ask_until_whole(&a);
		if (d->dir >= 0)
			flock(d->dir, LOCK_UN);
	}
	pthread_mutex_unlock(&d->lock);
	if (reason)
		pdet_log_page_free(ret);
	return reason;
}
