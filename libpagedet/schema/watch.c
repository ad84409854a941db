/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Several threads may read; the first reason to stop is kept. */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/env.h"
#include "schema/watch.h"

#define MILLISECOND_NS 1000000u
#define PROGRESS_NS (200u * MILLISECOND_NS)

void pdet_watch_init(struct pdet_watch *w, uint64_t deadline_ns,
		     pagedet_progress_fn *progress, void *user,
		     uint64_t progress_ns)
{
	memset(w, 0, sizeof(*w));
	w->start_ns = w->told_ns = pdet_clock_ns(CLOCK_MONOTONIC);
	if (deadline_ns)
		w->deadline_ns = deadline_ns > UINT64_MAX - w->start_ns ?
				 UINT64_MAX : w->start_ns + deadline_ns;
	w->progress = progress;
	w->user = user;
	w->every_ns = progress_ns ? progress_ns : PROGRESS_NS;
}

bool pdet_is_watched(const struct pdet_watch *w)
{
	return w->deadline_ns || w->progress;
}

/* Keeps the first reason. */
static void stop(struct pdet_watch *w, int why)
{
	int none = 0;

	atomic_compare_exchange_strong(&w->stopped, &none, why);
}

static void tell(struct pdet_watch *w, uint64_t now)
{
	struct pagedet_progress p = { .size = sizeof(p) };

	w->told_ns = now;
	p.done = atomic_load_explicit(&w->done, memory_order_relaxed);
	p.total = w->total;
	p.elapsed_ns = now - w->start_ns;
	if (w->progress(w->user, &p))
		stop(w, ECANCELED);
}

int pdet_watch_stopped(struct pdet_watch *w, bool caller, int *ms)
{
	uint64_t now, wait = PROGRESS_NS;

	if (!pdet_is_watched(w))
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
