/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Detects pages that change during their writeback. Dirty and writeback
 * together do not prove a change: a page that must stay stable is marked dirty
 * first, and the writer then waits. The bytes are therefore read several times,
 * and the page must be under writeback between and around the reads. The check
 * can never prove that no page changes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text/plural.h"
#include "check/window.h"

#define WATCH_NS 1000000000u
/* Time for one page. */
#define PROBE_NS 100000u
/*
 * In a longer gap between two reads, writeback may have ended and begun again.
 */
#define GAP_NS 20000u

struct watching {
	struct pdet_checked *c;
	struct pdet_check_window w;
	uint64_t end_ns;
	uint64_t probes, seen;
	uint64_t *changed;	/* one bit per page */
};

static bool is_out(const struct pdet_checked *c, uint64_t page)
{
	struct pdet_cachestat cs;

	return pdet_check_stat(c, page, 1, &cs) == 0 && cs.writeback;
}

static bool copy(const struct watching *s, const char *addr, size_t at)
{
	const size_t size = (size_t)1 << s->c->shift;

	return pwrite(s->w.memfd, addr, size, (off_t)(at * size)) ==
	       (ssize_t)size;
}

/*
 * Copies the page once and then compares it repeatedly. Each read lies between
 * two checks that find it under writeback.
 */
static void probe(struct watching *s, const char *addr, uint64_t page)
{
	const size_t size = (size_t)1 << s->c->shift;
	uint64_t last = pdet_clock_ns(CLOCK_MONOTONIC), now;
	const uint64_t end = last + PROBE_NS;

	if (!is_out(s->c, page) || !copy(s, addr, 0))
		return;
	for (; is_out(s->c, page) && last < end; last = now) {
		if (!copy(s, addr, 1) || !is_out(s->c, page))
			return;
		now = pdet_clock_ns(CLOCK_MONOTONIC);
		if (now - last > GAP_NS)
			return;
		s->probes++;
		if (!memcmp(s->w.copy, s->w.copy + size, size))
			continue;
		s->seen++;
		page -= s->c->first;
		s->changed[page / 64] |= 1ull << page % 64;
		return;
	}
}

/* Probes the pages of a piece that are under writeback now. */
static void probe_piece(struct watching *s, uint64_t first, size_t n)
{
	unsigned char resident[PDET_WINDOW_PAGES];
	char *addr = pdet_window_map(s->c, first, n);
	struct pdet_cachestat cs;
	size_t i;

	if (!addr)
		return;
	if (mincore(addr, n << s->c->shift, resident))
		n = 0;
	for (i = 0; i < n; i++) {
		if (pdet_clock_ns(CLOCK_MONOTONIC) >= s->end_ns)
			break;
		if (resident[i] & 1)
			probe(s, addr + (i << s->c->shift), first + i);
		/* Writeback usually ends soon. */
		if (i % 16 == 0 &&
		    (pdet_check_stat(s->c, first, n, &cs) || !cs.writeback))
			break;
	}
	munmap(addr, n << s->c->shift);
}

/* Halves the range to find pieces with such pages. */
static int find(struct watching *s, uint64_t first, uint64_t n)
{
	struct pdet_cachestat cs;
	int r = pdet_check_stat(s->c, first, n, &cs);

	if (r < 0 || !cs.writeback)
		return r;
	if (n <= PDET_WINDOW_PAGES) {
		probe_piece(s, first, (size_t)n);
		return 0;
	}
	r = find(s, first, n / 2);
	return r < 0 ? r : find(s, first + n / 2, n - n / 2);
}

static int watch(struct watching *s)
{
	struct pdet_checked *c = s->c;
	uint64_t now = pdet_clock_ns(CLOCK_MONOTONIC);
	int r = 0;

	s->end_ns = now + (c->check->watch_ns ? c->check->watch_ns : WATCH_NS);
	if (c->deadline_ns)
		s->end_ns = PDET_MIN(s->end_ns, c->deadline_ns);
	while (r == 0 && pdet_clock_ns(CLOCK_MONOTONIC) < s->end_ns)
		r = find(s, c->first, c->end - c->first);
	return r;
}

static void tell(struct watching *s)
{
	struct pdet_checked *c = s->c;
	const uint64_t n = c->end - c->first;
	uint64_t i;

	for (i = 0; i < n; i++) {
		/* Most have not changed. */
		if (i % 64 == 0 && !s->changed[i / 64])
			i += 63;
		else if (s->changed[i / 64] >> i % 64 & 1)
			pdet_check_add(c, PAGEDET_VIOLATED,
				       PAGEDET_CAUSE_CHANGED, c->first + i, 1,
				       "changed while it was written out");
	}
	c->whole.looked_at = s->probes;
	c->whole.violations = s->seen;
}

int pdet_check_stable(struct pdet_checked *c)
{
	struct watching s = { .c = c };
	int r;

	/* Pages of tmpfs are written out, to swap. */
	if (pdet_check_is_made_up(c) && pdet_check_diskless(c))
		return 0;
	r = pdet_window_open(c, &s.w);
	if (r)
		return PDET_MIN(r, 0);
	s.changed = calloc((size_t)(c->end - c->first) / 64 + 1,
			   sizeof(*s.changed));
	if (!s.changed) {
		pdet_window_close(c, &s.w);
		return pdet_fail(c->env, ENOMEM, "no memory");
	}
	r = c->first < c->end ? watch(&s) : 0;
	tell(&s);
	if (r < 0)
		pdet_check_uncounted(c, r);
	else if (!s.seen && !pdet_check_late(c, c->first))
		pdet_check_add(c, PAGEDET_CANNOT_TELL, PAGEDET_CAUSE_UNKNOWN,
			       c->first, c->end - c->first,
			       "no change was seen in %llu read%s of pages "
			       "under writeback, which does not prove that "
			       "there is none",
			       (unsigned long long)s.probes,
			       pdet_plural(s.probes));
	free(s.changed);
	pdet_window_close(c, &s.w);
	return 0;
}
