/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Distinguishes the boot that is asked from others. There are three kinds of
 * evidence. Journals have the boot id. The kernel's own log may have the same
 * line with the same time. The banner may be the same, together with the time
 * at which the clock started, which only the running kernel tells. A captured
 * tree has the files that were copied, a dump has its log alone.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/io.h"
#include "query/walk/log_boot.h"

/* Tolerance in seconds. A clock that was set since then shows another time. */
#define SAME_S 3
#define OTHER_S 600
/* A journal records the time when it received a line. */
#define LATE_S 2

static uint64_t at_time(uint64_t hash, uint64_t us)
{
	return hash ^ (us + 1) * 0x9e3779b97f4a7c15;
}

/* Adds one line of a record, in the form of a line of a log. */
static bool add_line(struct pdet_running *r, struct pdet_scan s, uint64_t us)
{
	uint64_t hash;

	pdet_scan_blanks(&s);
	hash = pdet_hash(s.at, (size_t)(s.end - s.at));
	return pdet_pairs_set(&r->lines, at_time(hash, us), 1) &&
	       pdet_pairs_set(&r->lines, hash, us);
}

static int add_record(void *user, const struct pagedet_log_record *record)
{
	const char *at = record->text, *end = at + record->len, *nl;

	/*
	 * Skip records of processes, because they are not lines of the kernel.
	 */
	while (at < end && !record->facility) {
		nl = memchr(at, '\n', (size_t)(end - at));
		if (!add_line(user, (struct pdet_scan){ at, nl ? nl : end },
			      record->time_ns / 1000))
			return 1;
		at = nl ? nl + 1 : end;
	}
	return 0;
}

static void read_lines(struct pdet_running *r, struct pdet_env *env,
		       struct pdet_backend *const *backends, size_t n)
{
	uint64_t lost;
	size_t i;

	for (i = 0; i < n && !r->lines.n; i++) {
		if (!backends[i]->ops->kernel_log)
			continue;
		lost = 0;
		backends[i]->ops->kernel_log(backends[i], env, add_record, r,
					     &lost);
		/*
		 * If this process may not read it, there are other ways to
		 * decide, or none.
		 */
		pdet_clear(env);
	}
}

/* Returns the length without the newline, or 0 if it cannot be read. */
static size_t small_file(struct pdet_env *env, const char *path, char *buf,
			 size_t size)
{
	struct pdet_text text;
	size_t len;

	if (pdet_slurp(env, &text, size, "%s", path) < 0)
		return 0;
	len = PDET_MIN(text.len, size);
	memcpy(buf, text.data, len);
	pdet_text_free(&text);
	while (len && buf[len - 1] == '\n')
		len--;
	return len;
}

static void look_at_clocks(struct pdet_running *r)
{
	const int64_t real = (int64_t)(pdet_clock_ns(CLOCK_REALTIME) / 1000);

	r->booted_s = (real - (int64_t)(pdet_clock_ns(CLOCK_BOOTTIME) / 1000)) /
		1000000;
	r->clock_us = real - (int64_t)(pdet_clock_ns(CLOCK_MONOTONIC) / 1000);
}

static void look_at_files(struct pdet_running *r, struct pdet_env *env)
{
	char text[1024];
	size_t len, i, to = 0;

	len = small_file(env, "/proc/version", text, sizeof(text));
	r->has_banner = len;
	r->banner = pdet_hash(text, len);
	len = small_file(env, "/proc/sys/kernel/random/boot_id", text,
			 sizeof(text));
	for (i = 0; i < len && to < sizeof(r->id) - 1; i++)
		if (text[i] != '-')
			r->id[to++] = text[i];
}

static void look(struct pdet_running *r, struct pdet_env *env,
		 struct pdet_backend *const *backends, size_t n)
{
	r->read = true;
	if (r->live)
		look_at_clocks(r);
	/* Those of this machine say nothing of a dump. */
	if (r->live || *env->root)
		look_at_files(r, env);
	read_lines(r, env, backends, n);
}

/* Whether the kernel wrote the line at the time that the log gives. */
static bool is_line(const struct pdet_running *r,
		    const struct pdet_log_page *p)
{
	uint64_t us;
	struct tm tm;
	int64_t apart;
	time_t when;

	if (p->stamp.has_us)
		return pdet_pairs_get(&r->lines, at_time(p->hash, p->stamp.us),
				      &us);
	if (!r->live || !p->stamp.has_day ||
	    !pdet_pairs_get(&r->lines, p->hash, &us))
		return false;
	when = (time_t)((r->clock_us + (int64_t)us) / 1000000);
	if (!localtime_r(&when, &tm))
		return false;
	apart = (int64_t)p->stamp.day_s -
		(tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec);
	return llabs(apart) <= LATE_S || llabs(apart) >= 86400 - LATE_S;
}

enum pdet_log_of pdet_running_of(struct pdet_running *r, struct pdet_env *env,
				 struct pdet_backend *const *backends,
				 size_t n, const struct pdet_log_page *p)
{
	const struct pdet_log_boot *b = &p->boot;
	int64_t apart;

	if (!r->read)
		look(r, env, backends, n);
	if (b->has_id && *r->id)
		return memcmp(b->id, r->id, sizeof(b->id)) ?
			PDET_LOG_OF_OTHER : PDET_LOG_OF_THIS;
	if (b->has_banner && r->has_banner && b->banner != r->banner)
		return PDET_LOG_OF_OTHER;
	if (is_line(r, p))
		return PDET_LOG_OF_THIS;
	if (!r->live || !b->has_banner || !b->has_clock)
		return PDET_LOG_OF_UNKNOWN;
	apart = llabs(b->booted_s - r->booted_s);
	return apart <= SAME_S ? PDET_LOG_OF_THIS :
	       apart >= OTHER_S ? PDET_LOG_OF_OTHER : PDET_LOG_OF_UNKNOWN;
}

void pdet_running_free(struct pdet_running *r)
{
	pdet_pairs_free(&r->lines);
}
