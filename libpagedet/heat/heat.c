/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * At the end of an interval DAMON tells all regions of a target one after the
 * other, in ascending order, each with their number.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "heat/heat.h"
#include "pagedet.h"

/* 50 megabytes of them. */
#define MOST_EVENTS ((size_t)1 << 20)
#define MOST_MONITORS 4096u

int pdet_heat_begin(struct pdet_heat *h, struct pdet_env *env)
{
	memset(h, 0, sizeof(*h));
	h->state = PAGEDET_HAVE;
	if (pdet_damons_find(env, &h->damons) < 0)
		return pdet_fail(env, ENOMEM, "no memory");
	if (h->damons.n)
		return 0;
	h->state = h->damons.is_denied ? PAGEDET_NO_ACCESS : PAGEDET_NO_KERNEL;
	snprintf(h->advice, sizeof(h->advice), "%s", h->damons.is_denied ?
		 "needs root, to see what DAMON monitors" :
		 "needs DAMON: it does not run here, or nothing tells what it "
		 "monitors; pagedet starts none");
	return 0;
}

int pdet_heat_learn(struct pdet_heat *h, struct pdet_env *env,
		    struct pdet_backend *const *backends, size_t n)
{
	if (h->state != PAGEDET_HAVE)
		return 0;
	if (pdet_damons_read(&h->damons, env, backends, n) < 0)
		return pdet_fail(env, ENOMEM, "no memory");
	if (!h->damons.n) {
		h->state = PAGEDET_UNSUPPORTED;
		snprintf(h->advice, sizeof(h->advice), "DAMON runs, but what "
			 "it monitors is not known: its files may have been "
			 "changed since it began, and %.150s", env->error);
	}
	pdet_clear(env);
	return 0;
}

void pdet_heat_end(struct pdet_heat *h)
{
	size_t i;

	for (i = 0; i < h->monitors.n; i++)
		pdet_vec_free(&h->monitors.data[i].regions);
	pdet_vec_free(&h->monitors);
	pdet_vec_free(&h->events);
	pdet_damons_free(&h->damons);
}

bool pdet_heat_add(struct pdet_heat *h, const struct pdet_heat_event *e)
{
	if (h->events.n == MOST_EVENTS) {
		h->lost++;
		return true;
	}
	if (!pdet_vec_push(&h->events, *e))
		return false;
	h->events.data[h->events.n - 1].lost = h->lost_before;
	return true;
}

/* --- events into regions --- */

static const struct pdet_damon *damon_of(const struct pdet_heat *h,
					 uint32_t thread)
{
	size_t i;

	for (i = 0; i < h->damons.n; i++)
		if (h->damons.data[i].thread == thread)
			return &h->damons.data[i];
	return NULL;
}

static struct pdet_heat_monitor *monitor_of(struct pdet_heat *h,
					    const struct pdet_heat_event *e)
{
	const struct pdet_damon *d = damon_of(h, e->thread);
	struct pdet_heat_monitor m = { .thread = e->thread,
				       .target = e->target, .unit = 1 };
	size_t i;

	for (i = 0; i < h->monitors.n; i++)
		if (h->monitors.data[i].thread == e->thread &&
		    h->monitors.data[i].target == e->target)
			return &h->monitors.data[i];
	if (d) {
		m.unit = d->unit;
		m.checks = pdet_damon_checks(d);
		m.interval_us = d->interval_us;
		m.is_known = d->is_physical;
	}
	if (d && !d->is_physical && e->target < d->targets.n) {
		m.pid = d->targets.data[e->target].pid;
		m.is_known = d->targets.data[e->target].is_sure;
	}
	return h->monitors.n < MOST_MONITORS && pdet_vec_push(&h->monitors, m) ?
		       &h->monitors.data[h->monitors.n - 1] : NULL;
}

static int order(const void *a, const void *b)
{
	const struct pdet_heat_event *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->target != y->target)
		return x->target < y->target ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	/* Some clocks have the same time for several. */
	return x->start < y->start ? -1 : x->start > y->start;
}

/* Whether @e is told in the same interval as the one before it. */
static bool goes_on(const struct pdet_heat_event *before,
		    const struct pdet_heat_event *e)
{
	return e->thread == before->thread && e->target == before->target &&
	       e->regions == before->regions && e->start >= before->end;
}

/* Whether these are all events of an interval. If some were lost meanwhile,
 * they may be the begin of one and the end of another. */
static bool is_whole(const struct pdet_heat *h, const struct pdet_heat_event *e,
		     size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (e[i].lost != h->lost)
			return false;
	return n == e->regions;
}

/* False: no memory. */
static bool take_interval(struct pdet_heat_monitor *m,
			  const struct pdet_heat_event *e, size_t n)
{
	struct pdet_heat_region r;
	size_t i;

	m->regions.n = 0;
	if (!pdet_vec_reserve(&m->regions, n))
		return false;
	for (i = 0; i < n; i++) {
		if (__builtin_mul_overflow(e[i].start, m->unit, &r.start) ||
		    __builtin_mul_overflow(e[i].end, m->unit, &r.end))
			continue;
		r.accesses = e[i].accesses;
		r.age = e[i].age;
		/* Then the settings that are read are not those in force. */
		if (r.accesses > m->checks)
			m->checks = 0;
		m->regions.data[m->regions.n++] = r;
	}
	m->ns = e[n - 1].ns;
	return true;
}

/*
 * The events of an interval: a part replaces only a part. False: no memory.
 */
static bool take(struct pdet_heat *h, const struct pdet_heat_event *e, size_t n)
{
	struct pdet_heat_monitor *m = monitor_of(h, e);

	if (!m)
		return false;
	if (m->is_complete && !is_whole(h, e, n))
		return true;
	m->is_complete = is_whole(h, e, n);
	return take_interval(m, e, n);
}

bool pdet_heat_digest(struct pdet_heat *h, bool all)
{
	struct pdet_heat_event *e = h->events.data;
	const size_t n = h->events.n;
	size_t i, end, kept = 0;
	bool last, ok = true;

	if (n)
		qsort(e, n, sizeof(*e), order);
	for (i = 0; i < n && ok; i = end) {
		for (end = i + 1; end < n && goes_on(&e[end - 1], &e[end]);)
			end++;
		last = end == n || e[end].thread != e[i].thread ||
		       e[end].target != e[i].target;
		if (last && !all && end - i < e[i].regions) {
			memmove(e + kept, e + i, (end - i) * sizeof(*e));
			kept += end - i;
			continue;
		}
		ok = take(h, e + i, end - i);
	}
	h->events.n = kept;
	h->lost_before = h->lost;
	return ok;
}

/* --- what may have changed while they told --- */

static bool is_as_before(const struct pdet_heat_monitor *m,
			 const struct pdet_damon *d,
			 const struct pdet_damon *now)
{
	if (now->is_physical != d->is_physical || now->unit != m->unit)
		return false;
	return now->is_physical || (m->target < now->targets.n &&
				    now->targets.data[m->target].pid == m->pid);
}

static void recheck(struct pdet_heat *h, const struct pdet_damon *d,
		    const struct pdet_damon *now)
{
	size_t i;

	for (i = 0; i < h->monitors.n; i++) {
		struct pdet_heat_monitor *m = &h->monitors.data[i];

		if (m->thread != d->thread)
			continue;
		if (!now->is_read || !is_as_before(m, d, now))
			m->is_known = false;
		if (pdet_damon_checks(now) != pdet_damon_checks(d))
			m->checks = 0;
	}
}

void pdet_heat_recheck(struct pdet_heat *h, struct pdet_env *env,
		       struct pdet_backend *const *backends, size_t n)
{
	size_t i;

	for (i = 0; i < h->damons.n; i++) {
		const struct pdet_damon *d = &h->damons.data[i];
		struct pdet_damon now = { .thread = d->thread };

		if (!d->is_read)
			continue;
		pdet_damon_read(&now, env, backends, n);
		recheck(h, d, &now);
		pdet_vec_free(&now.targets);
	}
	pdet_clear(env);
}

static bool is_told(const struct pdet_heat *h, const struct pdet_damon *d)
{
	size_t i, n = 0;

	for (i = 0; i < h->monitors.n; i++)
		n += h->monitors.data[i].thread == d->thread &&
		     h->monitors.data[i].is_complete;
	return n && (d->is_physical || n >= d->targets.n);
}

bool pdet_heat_is_complete(const struct pdet_heat *h)
{
	size_t i;

	for (i = 0; i < h->damons.n; i++)
		if (!is_told(h, &h->damons.data[i]))
			return false;
	return h->damons.n;
}

/* --- pages --- */

static const struct pdet_heat_region *
find_region(const struct pdet_heat_monitor *m, uint64_t at)
{
	size_t low = 0, high = m->regions.n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (m->regions.data[middle].end <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low < m->regions.n && m->regions.data[low].start <= at ?
		       &m->regions.data[low] : NULL;
}

/* Whether a monitor looks at memory of this kind. */
static bool is_about(const struct pdet_heat_monitor *m,
		     const struct pdet_heat_page *p, bool by_process)
{
	if (!m->is_known || (m->pid != 0) != by_process)
		return false;
	return by_process ? p->has_virtual &&
			    (m->pid == p->pid || m->pid == p->tgid) :
			    p->page == PAGEDET_HAVE;
}

/* By the regions of processes, or of physical memory. */
static bool find(const struct pdet_heat *h, const struct pdet_heat_page *p,
		 bool by_process, const struct pdet_heat_monitor **monitor,
		 const struct pdet_heat_region **region)
{
	const uint64_t at = by_process ? p->virtual : p->address;
	size_t i;

	*monitor = NULL;
	for (i = 0; i < h->monitors.n; i++) {
		const struct pdet_heat_monitor *m = &h->monitors.data[i];
		const struct pdet_heat_region *r;

		if (!is_about(m, p, by_process))
			continue;
		r = find_region(m, at);
		if (r && (!*monitor || m->ns > (*monitor)->ns)) {
			*monitor = m;
			*region = r;
		}
	}
	return *monitor;
}

/* --- pages in none of the regions --- */

static bool has_told(const struct pdet_heat *h, const struct pdet_damon *d,
		     uint64_t target)
{
	size_t i;

	for (i = 0; i < h->monitors.n; i++)
		if (h->monitors.data[i].thread == d->thread &&
		    h->monitors.data[i].target == target)
			return h->monitors.data[i].is_complete;
	return false;
}

static unsigned why_late(const struct pdet_heat *h)
{
	return h->lost ? PAGEDET_IO : PAGEDET_TIMEOUT;
}

/* Why a thread that monitors processes has not told the page. Without the
 * address in a process, or if the process is not sure, it may have it. */
static unsigned why_not_process(const struct pdet_heat *h,
				const struct pdet_damon *d,
				const struct pdet_heat_page *p)
{
	unsigned why = PAGEDET_EXCLUDED;
	size_t i;

	for (i = 0; i < d->targets.n; i++) {
		const struct pdet_damon_target *t = &d->targets.data[i];

		if (!t->is_sure || !p->has_virtual)
			why = PAGEDET_UNSUPPORTED;
		else if ((t->pid == p->pid || t->pid == p->tgid) &&
			 !has_told(h, d, i))
			return why_late(h);
	}
	return why;
}

static unsigned why_not(const struct pdet_heat *h, const struct pdet_damon *d,
			const struct pdet_heat_page *p)
{
	if (!d->is_physical)
		return why_not_process(h, d, p);
	if (p->page != PAGEDET_HAVE)
		return p->page == PAGEDET_NONE ? PAGEDET_EXCLUDED : p->page;
	return is_told(h, d) ? PAGEDET_EXCLUDED : why_late(h);
}

/* Whether threads run, or tell, that may have any page. */
static bool has_strangers(const struct pdet_heat *h)
{
	size_t i;

	for (i = 0; i < h->monitors.n; i++)
		if (!h->monitors.data[i].is_known)
			return true;
	return h->damons.is_partial;
}

/* Of all reasons, the one that time may change is the first. */
static unsigned why_none(const struct pdet_heat *h,
			 const struct pdet_heat_page *p)
{
	unsigned all = PAGEDET_EXCLUDED, why;
	size_t i;

	for (i = 0; i < h->damons.n; i++) {
		why = why_not(h, &h->damons.data[i], p);
		if (why == PAGEDET_TIMEOUT || why == PAGEDET_IO)
			return why;
		if (all == PAGEDET_EXCLUDED)
			all = why;
	}
	if (all != PAGEDET_EXCLUDED)
		return all;
	return h->damons.is_denied ? PAGEDET_NO_ACCESS :
	       has_strangers(h) ? PAGEDET_UNSUPPORTED : PAGEDET_EXCLUDED;
}

static bool is_monitored(const struct pdet_heat *h,
			 const struct pdet_heat_page *p)
{
	size_t i;

	for (i = 0; i < h->monitors.n; i++)
		if (is_about(&h->monitors.data[i], p, true))
			return true;
	return false;
}

unsigned pdet_heat_find(const struct pdet_heat *h,
			const struct pdet_heat_page *p,
			const struct pdet_heat_monitor **monitor,
			const struct pdet_heat_region **region)
{
	unsigned why;

	if (h->state != PAGEDET_HAVE)
		return h->state;
	if (find(h, p, true, monitor, region))
		return PAGEDET_HAVE;
	/* It looks only at those pages (mm/damon/ops-common.c). */
	if (find(h, p, false, monitor, region))
		return p->lru == PAGEDET_NONE ? PAGEDET_EXCLUDED : p->lru;
	why = why_none(h, p);
	return why == PAGEDET_EXCLUDED && p->page == PAGEDET_NONE &&
	       !is_monitored(h, p) ? PAGEDET_NONE : why;
}
