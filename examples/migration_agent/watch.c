/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads memory before and while pages are sent, in a low-priority thread. The
 * source is read repeatedly: the destination may end up with any of these
 * versions. It reads the source once more as soon as it has stopped: this is
 * what the destination should have. Writes of its disks may end a moment later;
 * a second look, once they have ended, shows which pages that is not true of.
 * If the destination is to run early, the source, which stands still, is read
 * for the last time once that runs.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "agent.h"

#define LOOKS 12		/* of the source, during the migration */
#define NICE 10
#define REST_MS 20
#define FIRST_MS 10000		/* the first page is sent then, at the latest */
#define PIECE (4u << 20)	/* bytes that are read without a break */

struct watch {
	struct agent *a;
	struct pagedet *pd;
	pthread_t thread;
	atomic_bool begun;	/* it was read once, or tried to be */
	atomic_bool stopped;	/* the source has stopped */
	atomic_bool drained;	/* and so have its disks */
	atomic_bool last;	/* and is to be read for the last time */
	atomic_bool quit;
	struct pagedet_seen *source;
};

static bool goes_on(struct watch *w)
{
	return !atomic_load(&w->stopped) && !atomic_load(&w->quit);
}

/* Reads the source, but no further if it stops meanwhile. */
static int look_source(struct watch *w, bool stopped)
{
	struct agent *a = w->a;
	struct pagedet_item items[MAX_BLOCKS];
	const int n = pagedet_blocks_items(a->map, SOURCE,
					   (uint32_t)a->vm[SOURCE].pid, items,
					   MAX_BLOCKS);
	struct pagedet_seen *seen = w->source;
	int i;

	for (i = 0; i < n; i++) {
		struct pagedet_item piece = items[i];
		const uint64_t end = piece.first + piece.count;

		for (; piece.first < end; piece.first += piece.count) {
			piece.count = end - piece.first < PIECE ?
				      end - piece.first : PIECE;
			if (!stopped && !goes_on(w))
				return 0;
			if (pagedet_look(w->pd, &piece, 1, NULL, seen,
					 piece.count / PAGE_BYTES))
				return -1;
			seen += piece.count / PAGE_BYTES;
		}
	}
	return 0;
}

static void look_once(struct watch *w, uint32_t when)
{
	struct agent *a = w->a;

	memset(w->source, 0, a->pages * sizeof(*w->source));
	if (!look_source(w, when != PAGEDET_WHEN_RUNNING) &&
	    !pagedet_versions_look(a->versions, w->source, a->pages, when))
		a->looks++;
}

/* If its disks have yet to end their writes, it is read before and after. */
static void look_stopped(struct watch *w)
{
	if (!atomic_load(&w->drained))
		look_once(w, PAGEDET_WHEN_STOPPED);
	while (!atomic_load(&w->drained) && !atomic_load(&w->quit))
		agent_sleep(1);
	if (atomic_load(&w->drained))
		look_once(w, PAGEDET_WHEN_DRAINED);
}

/* Uses at most half of a processor. */
static void look(struct watch *w)
{
	const uint64_t from = agent_clock();
	uint64_t until;

	if (w->a->looks < LOOKS)
		look_once(w, PAGEDET_WHEN_RUNNING);
	atomic_store(&w->begun, true);
	until = 2 * agent_clock() - from + REST_MS;
	while (agent_clock() < until && goes_on(w))
		agent_sleep(5);
}

static void *run(void *user)
{
	struct watch *w = user;

	setpriority(PRIO_PROCESS, 0, NICE);
	while (goes_on(w))
		look(w);
	while (!atomic_load(&w->last) && !atomic_load(&w->quit))
		agent_sleep(1);
	if (atomic_load(&w->last))
		look_stopped(w);
	return NULL;
}

static void forget(struct watch *w)
{
	if (!w)
		return;
	pagedet_free(w->pd);
	free(w->source);
	free(w);
}

/*
 * What a page has before it is sent tells what is sent wrongly. The guest runs
 * meanwhile.
 */
static void wait_for_first(struct watch *w)
{
	const uint64_t until = agent_clock() + FIRST_MS;

	while (!atomic_load(&w->begun) && agent_clock() < until)
		agent_sleep(2);
}

int watch_start(struct agent *a)
{
	struct watch *w = calloc(1, sizeof(*w));

	if (!w)
		return agent_fail_errno(AGENT_IO, "memory");
	w->a = a;
	w->source = calloc(a->pages, sizeof(*w->source));
	if (!w->source || pagedet_dup(a->pd, &w->pd) ||
	    pthread_create(&w->thread, NULL, run, w)) {
		forget(w);
		return agent_fail_errno(AGENT_IO, "cannot watch memory");
	}
	a->watch = w;
	wait_for_first(w);
	return 0;
}

void watch_stopped(struct agent *a)
{
	if (!a->watch)
		return;
	atomic_store(&a->watch->stopped, true);
	/* With postcopy the guest waits until all has come. */
	if (!a->o.go_on || a->o.mode == PAGEDET_MODE_POSTCOPY)
		watch_last(a);
}

void watch_drained(struct agent *a)
{
	if (a->watch)
		atomic_store(&a->watch->drained, true);
}

void watch_last(struct agent *a)
{
	if (a->watch)
		atomic_store(&a->watch->last, true);
}

void watch_end(struct agent *a)
{
	if (!a->watch)
		return;
	atomic_store(&a->watch->quit, true);
	pthread_join(a->watch->thread, NULL);
	forget(a->watch);
	a->watch = NULL;
}
