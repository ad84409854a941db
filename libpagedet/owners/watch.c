/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Watches deadline, progress and cancel while page_owner's records are read. */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/env.h"
#include "owners/watch.h"

#define MILLISECOND_NS 1000000u
#define PROGRESS_NS (200u * MILLISECOND_NS)

void pdet_owners_watch_init(struct pdet_owners_watch *w,
			    const struct pagedet_owners_query *q)
{
	memset(w, 0, sizeof(*w));
	w->start_ns = w->told_ns = pdet_clock_ns(CLOCK_MONOTONIC);
	if (q->deadline_ns)
		w->deadline_ns = q->deadline_ns > UINT64_MAX - w->start_ns ?
				 UINT64_MAX : w->start_ns + q->deadline_ns;
	w->progress = q->progress;
	w->user = q->progress_user;
	w->every_ns = q->progress_ns ? q->progress_ns : PROGRESS_NS;
}

bool pdet_owners_watched(const struct pdet_owners_watch *w)
{
	return w->deadline_ns || w->progress;
}

/* Keeps the first reason. */
static void stop(struct pdet_owners_watch *w, int why)
{
	int none = 0;

	atomic_compare_exchange_strong(&w->stopped, &none, why);
}

static void tell(struct pdet_owners_watch *w, uint64_t now)
{
	struct pagedet_progress p = { .size = sizeof(p) };

	w->told_ns = now;
	p.done = atomic_load_explicit(&w->done, memory_order_relaxed);
	p.total = w->total;
	p.elapsed_ns = now - w->start_ns;
	if (w->progress(w->user, &p))
		stop(w, ECANCELED);
}

int pdet_owners_stopped(struct pdet_owners_watch *w, bool caller, int *ms)
{
	uint64_t now, wait = PROGRESS_NS;

	if (!pdet_owners_watched(w))
		return 0;
	now = pdet_clock_ns(CLOCK_MONOTONIC);
	if (w->deadline_ns && now >= w->deadline_ns)
		stop(w, ETIMEDOUT);
	if (caller && w->progress && now - w->told_ns >= w->every_ns)
		tell(w, now);
	if (w->deadline_ns > now)
		wait = PDET_MIN(wait, w->deadline_ns - now);
	if (caller && w->progress)
		wait = PDET_MIN(wait, w->every_ns);
	if (ms)
		*ms = (int)(wait / MILLISECOND_NS) + 1;
	return atomic_load_explicit(&w->stopped, memory_order_relaxed);
}
