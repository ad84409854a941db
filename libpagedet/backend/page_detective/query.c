/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Sends one query to the file "query" and reads its answer. Each query opens
 * the file anew: users never mix, and the driver can be unloaded between
 * queries. A query that examines all tasks may take long, and only a fatal
 * signal ends it. The helper program sends it, and is killed at the deadline or
 * when the query is cancelled. No other query starts until it has ended. If
 * this process ends first, the helper ends after its answer. libpagedet never
 * writes to a captured tree.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backend/page_detective/query.h"
#include "base/clock.h"
#include "base/io.h"

#define QUERY PAGE_DETECTIVE_DIR "/query"
#define FEATURES PAGE_DETECTIVE_DIR "/features"

/* The longest answer (kmod/text.c, MOST). */
#define MOST_TEXT ((size_t)48 << 20)
#define READ 65536

/* The supported version of the answers' format (kmod/README.md). */
#define KNOWN_VERSION "1"

/* Limit for examining all tasks without a deadline; documented in
 * pagedet(1). */
#define PATIENCE_NS 60000000000
#define POLL_MS 20

/* Attempts after a signal that is not fatal. */
#define TRIES 16

struct text {
	char *data;
	size_t n, cap;
};

/* --- probing the driver --- */

static int open_query(const struct pdet_env *env)
{
	char path[4096];
	int fd;

	if (pdet_path(env, path, sizeof(path), QUERY) < 0)
		return -ENOENT;
	fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

bool page_detective_query_probe(const struct pdet_env *env)
{
	char path[4096];

	/* a captured tree cannot answer */
	return !*env->root && pdet_path(env, path, sizeof(path), QUERY) == 0 &&
	       faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0;
}

/* Report the features that are off in the driver. */
static void say_features(struct page_detective *d, const struct pdet_env *env)
{
	char name[64];
	struct pdet_text text;
	struct pdet_scan all;
	size_t n;

	n = (size_t)snprintf(d->advice, sizeof(d->advice),
			     "asked through its file query, which leaves no "
			     "trace");
	if (pdet_slurp(env, &text, 65536, FEATURES) < 0)
		return;
	all = (struct pdet_scan){ text.data, text.data + text.len };
	if (page_detective_version(all, name, sizeof(name)) &&
	    strcmp(name, KNOWN_VERSION) != 0) {
		d->reason = PAGEDET_NO_KERNEL;
		snprintf(d->advice, sizeof(d->advice),
			 "its file query is of version %s, and only %s is known: load the module of kmod/ that came with this library",
			 name, KNOWN_VERSION);
		pdet_text_free(&text);
		return;
	}
	while (page_detective_feature_off(&all, name, sizeof(name))) {
		d->no_kpageflags |= !strncmp(name, "kpageflags", 10);
		d->no_kernel_walk |= !strncmp(name, "kernel_walk", 11);
		if (n < sizeof(d->advice))
			n += (size_t)snprintf(d->advice + n,
					      sizeof(d->advice) - n,
					      "; it has no %s", name);
	}
	pdet_text_free(&text);
}

bool page_detective_query_look(struct page_detective *d,
			       const struct pdet_env *env)
{
	int fd = open_query(env);

	if (fd == -ENOENT)
		return false;
	d->query = true;
	d->reason = PAGEDET_HAVE;
	if (fd >= 0) {
		close(fd);
		say_features(d, env);
		d->no_helper = !page_detective_helper_is_there(d->libexec_dir);
		return true;
	}
	d->reason = (uint8_t)page_detective_reason(-fd);
	snprintf(d->advice, sizeof(d->advice), "%s",
		 d->reason == PAGEDET_NO_ACCESS ?
		 "needs CAP_SYS_ADMIN in the first user namespace, "
		 "and a kernel that is not locked down" :
		 "cannot open " QUERY);
	return true;
}

/* --- a helper that cannot be killed --- */

/* The reason why no query may start; 0 if the helper has ended. Called with the
 * lock held. */
static unsigned why_closed(struct page_detective *d)
{
	if (d->closed && page_detective_helper_is_alone(&d->helper, 0))
		d->closed = 0;
	return d->closed;
}

unsigned page_detective_query_closed(struct page_detective *d)
{
	unsigned reason = d->closed;

	/* the holder of the lock checks by itself */
	if (reason && !pthread_mutex_trylock(&d->lock)) {
		reason = why_closed(d);
		pthread_mutex_unlock(&d->lock);
	}
	return reason;
}

static unsigned give_up(struct page_detective *d, struct pdet_env *env)
{
	d->closed = PAGEDET_UNSAFE;
	pdet_log(env, PAGEDET_LOG_WARNING,
		 "page_detective is not asked again until its helper has "
		 "ended");
	return PAGEDET_UNSAFE;
}

/* --- queries from this process --- */

static ssize_t write_all(int fd, const char *text, size_t len)
{
	ssize_t n;
	int i = 0;

	do
		n = write(fd, text, len);
	while (n < 0 && errno == EINTR && ++i < TRIES);
	return n;
}

/* Returns 0 or an errno. */
static int read_all(int fd, struct text *t)
{
	ssize_t n;

	for (;;) {
		if (!pdet_vec_reserve(t, READ))
			return ENOMEM;
		n = read(fd, t->data + t->n, READ);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		if (!n)
			return 0;
		t->n += (size_t)n;
		if (t->n > MOST_TEXT)
			return EIO;
	}
}

static unsigned ask_here(struct page_detective_session *s, const char *text,
			 struct text *t, int *error)
{
	const size_t len = strlen(text);
	const unsigned reason = page_detective_query_closed(
		page_detective_of(s->session.backend));
	ssize_t n;
	int fd, r;

	if (reason)
		return reason;
	fd = open_query(&s->session.env);
	if (fd < 0)
		return page_detective_reason(-fd);
	n = write_all(fd, text, len);
	if (n < 0)
		*error = errno;
	r = *error ? *error : n != (ssize_t)len ? EIO : read_all(fd, t);
	close(fd);
	return r ? page_detective_reason(r) : 0;
}

/* --- queries through the helper --- */

/* Called with the lock held. */
static unsigned begin(struct page_detective *d, struct pdet_env *env,
		      const char *text)
{
	int r = page_detective_helper_ask(&d->helper, env, d->libexec_dir, -1,
					  'q', text);

	if (r == 0)
		return 0;
	if (r == -EBUSY)
		return give_up(d, env);
	if (r == -EPIPE)
		return PAGEDET_IO;
	pdet_log(env, PAGEDET_LOG_WARNING,
		 "page_detective is not asked which tasks map a page: needs "
		 "%.100s/%s, which %s",
		 d->libexec_dir, PAGE_DETECTIVE_HELPER,
		 r == -ENOENT ? "does not exist" : "cannot be run");
	return PAGEDET_UNSAFE;
}

static unsigned end(struct page_detective *d, struct pdet_env *env,
		    unsigned reason)
{
	if (!page_detective_helper_kill(&d->helper))
		give_up(d, env);
	return reason;
}

static unsigned wait_for_report(struct page_detective_session *s,
				struct page_detective *d,
				struct page_detective_report *ret)
{
	const uint64_t last = s->session.wants->deadline_ns ? UINT64_MAX :
		pdet_clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
	struct pdet_env *env = &s->session.env;
	struct pollfd p = { .fd = d->helper.from, .events = POLLIN };
	int r;

	for (;;) {
		r = page_detective_helper_report(&d->helper, ret);
		if (r > 0)
			return 0;
		if (r < 0)
			return end(d, env, r == -ENOMEM ? PAGEDET_NO_MEMORY :
							  PAGEDET_IO);
		if (page_detective_must_stop(s) ||
		    pdet_clock_ns(CLOCK_MONOTONIC) > last)
			return end(d, env, PAGEDET_TIMEOUT);
		poll(&p, 1, POLL_MS);
	}
}

static unsigned ask_there(struct page_detective_session *s, const char *text,
			  struct text *t, int *error)
{
	struct page_detective *d = page_detective_of(s->session.backend);
	struct page_detective_report report = { 0 };
	unsigned reason;

	if (!page_detective_lock(s))
		return PAGEDET_TIMEOUT;
	reason = why_closed(d);
	if (!reason)
		reason = begin(d, &s->session.env, text);
	if (!reason)
		reason = wait_for_report(s, d, &report);
	pthread_mutex_unlock(&d->lock);
	if (reason)
		return reason;
	t->data = report.text;
	t->n = report.len;
	if (report.opened)
		*error = report.error;
	if (report.error)
		return page_detective_reason(report.error);
	return report.result == (int64_t)strlen(text) ? 0 : PAGEDET_IO;
}

unsigned page_detective_query_ask(struct page_detective_session *s,
				  const char *text, bool takes_long,
				  struct page_detective_reply *ret,
				  int *error)
{
	const struct page_detective *d =
		page_detective_of(s->session.backend);
	struct text t = { 0 };
	unsigned reason;
	int r;

	memset(ret, 0, sizeof(*ret));
	*error = 0;
	if (page_detective_must_stop(s))
		return PAGEDET_TIMEOUT;
	reason = takes_long || !d->real ? ask_there(s, text, &t, error) :
					  ask_here(s, text, &t, error);
	if (!reason) {
		r = page_detective_parse((struct pdet_scan){
				t.data, t.data + t.n }, ret);
		reason = r < 0 ? pdet_reason_of(r) : 0;
		if (r == -EBADMSG || r == -EIO)
			pdet_log(&s->session.env, PAGEDET_LOG_WARNING,
				 "an answer of page_detective was lost: it %s",
				 r == -EIO ? "has no end" :
				 "cannot be understood");
	}
	pdet_vec_free(&t);
	return reason;
}
