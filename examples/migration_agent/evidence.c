/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Adds to the evidence what only the agent knows: what was sent, which side was
 * frozen, and what it did not see. Of two processes that it was given it has
 * seen neither the migration nor what they did before they were stopped.
 */
#include <stdlib.h>

#include "agent.h"

#define TICK_NS 10000000u	/* the longest */

static uint32_t yes_no(bool yes)
{
	return yes ? PAGEDET_YES : PAGEDET_NO;
}

/* Adds what was read while both were frozen, if the evidence lacks it. */
static void add_look(const struct agent *a, struct pagedet_evidence *e,
		     unsigned version, const struct pagedet_seen *s)
{
	if (e->hash_state[version] != PAGEDET_HAVE)
		pagedet_seen_evidence(s, version, a->hash_key, e);
}

static void forget_stopped(struct pagedet_evidence *e, uint32_t why)
{
	const unsigned stopped = PAGEDET_AS_STOPPED - PAGEDET_AS_MORE;

	e->more_hash[stopped] = e->more_ns[stopped] = 0;
	e->more_state[stopped] = why;
	e->more_zero[stopped] = PAGEDET_DUNNO;
	e->stopped_drained = PAGEDET_DUNNO;
}

/*
 * Somebody stopped the source and let it go on while pages were sent: it was
 * read then, and not when it stopped for the switch.
 */
static void forget_first_stop(const struct agent *a, struct pagedet_evidence *e)
{
	if (!a->vm[SOURCE].qmp.ran_again)
		return;
	forget_stopped(e, PAGEDET_NOT_ASKED);
	e->sent_stopped = PAGEDET_DUNNO;
}

/*
 * If the destination went on, the source was first read seconds after it had
 * stopped. What has not changed since may have changed before.
 */
static void forget_late_look(const struct agent *a, struct pagedet_evidence *e)
{
	const unsigned stopped = PAGEDET_AS_STOPPED - PAGEDET_AS_MORE;
	const bool zero = e->more_zero[stopped] == PAGEDET_YES &&
			  e->zero[PAGEDET_AS_NOW] == PAGEDET_YES;
	const bool same = e->more_state[stopped] == PAGEDET_HAVE &&
			  e->hash_state[PAGEDET_AS_NOW] == PAGEDET_HAVE &&
			  e->more_hash[stopped] == e->hash[PAGEDET_AS_NOW];

	/* A page that is absent is zero, and has no hash. */
	if (a->went_on && (zero || same))
		forget_stopped(e, PAGEDET_TIMEOUT);
}

/*
 * What comes after the look at the stop may have been sent before it, and have
 * waited on its way.
 */
static void forget_late_arrival(const struct agent *a,
				struct pagedet_evidence *e, uint64_t page)
{
	if (!a->after_stop || !a->after_stop[page])
		e->sent_stopped = PAGEDET_DUNNO;
}

/*
 * The hashes of two processes that were given are those of the last versions,
 * without times. It is not known what was sent earlier.
 */
static void forget_history(struct pagedet_evidence *e)
{
	e->hash_ns[PAGEDET_AS_SENT] = 0;
	if (e->earlier == PAGEDET_NO)
		e->earlier = PAGEDET_DUNNO;
}

/*
 * The pages of the source as they were when it had stopped, where that is
 * known: what came there later was not sent. The caller frees it. NULL: no
 * memory.
 */
static struct pagedet_seen *as_stopped(const struct agent *a)
{
	struct pagedet_seen *seen = calloc(a->pages, sizeof(*seen));
	uint64_t i;

	for (i = 0; seen && i < a->pages; i++) {
		struct pagedet_version_of of = { .size = sizeof(of) };
		struct pagedet_seen *s = &seen[i];

		pagedet_versions_of(a->versions, i, &of);
		*s = (struct pagedet_seen){ .hash = of.stopped_hash,
					    .state = of.stopped };
		if (s->state == PAGEDET_SEEN_NOTHING ||
		    s->state == PAGEDET_SEEN_LOST ||
		    a->vm[SOURCE].qmp.ran_again)
			*s = a->now[SOURCE][i];
	}
	return seen;
}

/* Finds the pages of the source with the contents of each differing page. */
static struct pagedet_elsewhere *find_places(const struct agent *a,
					     const struct pagedet_seen *source)
{
	struct pagedet_elsewhere *found = calloc(a->n_differences,
						 sizeof(*found));
	uint64_t i;

	for (i = 0; found && i < a->n_differences; i++)
		found[i].hash = a->now[DESTINATION][
			a->differences[i].page].hash;
	if (found)
		pagedet_seen_find(source, a->pages, found, a->n_differences);
	return found;
}

static int by_hash(const void *a, const void *b)
{
	const struct pagedet_elsewhere *x = a, *y = b;

	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/*
 * Adds whether another page of the source had the contents that this page has
 * at the destination. If the page itself had them, it is at its place.
 */
static void add_place(const struct agent *a, struct pagedet_evidence *e,
		      uint64_t page, const struct pagedet_seen *source,
		      const struct pagedet_elsewhere *found)
{
	const struct pagedet_seen *peer = &a->now[DESTINATION][page];
	const struct pagedet_elsewhere key = { .hash = peer->hash };

	if (peer->state != PAGEDET_SEEN_DATA ||
	    pagedet_seen_equal(&source[page], peer) == PAGEDET_YES)
		return;
	found = bsearch(&key, found, a->n_differences, sizeof(key), by_hash);
	if (!found)
		return;
	e->same_as_other = yes_no(found->n);
	if (!found->n)
		return;
	e->same_as = found->last;
	e->unique = yes_no(found->n == 1);
}

/* A processor that was taken off line takes its part of the sum with it. */
static uint32_t moved(const struct agent *a)
{
	if (!a->before.is_read || !a->after.is_read ||
	    a->after.sum < a->before.sum)
		return PAGEDET_DUNNO;
	if (a->after.sum > a->before.sum)
		return PAGEDET_YES;
	return a->before.known && a->after.known ? PAGEDET_NO : PAGEDET_DUNNO;
}

/*
 * The page was read from memory before it came, and times of files go in ticks:
 * only a write before the migration certainly came before the page was sent.
 */
static void add_file(const struct agent *a, struct pagedet_evidence *e,
		     uint64_t page)
{
	const struct block *b = join_block(a, page);

	if (!b->written_ns)
		return;
	e->file_ns = b->written_ns;
	if (!e->hash_ns[PAGEDET_AS_SENT])
		return;
	if (b->written_ns + TICK_NS < a->started_ns)
		e->file_written = PAGEDET_NO;
	else if (b->others_ns >= e->hash_ns[PAGEDET_AS_SENT])
		e->file_written = PAGEDET_YES;
}

static void add(const struct agent *a, struct pagedet_evidence *e,
		uint64_t page, const struct pagedet_seen *source,
		const struct pagedet_elsewhere *found)
{
	e->id = page;
	e->mode = a->o.mode;
	e->one_host = PAGEDET_YES;
	e->here_frozen = (uint32_t)a->vm[SOURCE].frozen;
	e->peer_frozen = (uint32_t)a->vm[DESTINATION].frozen;
	/* That a process is stopped now does not say that it never ran. */
	if (!a->o.blocks) {
		e->peer_complete = PAGEDET_YES;
		if (a->vm[DESTINATION].frozen == PAGEDET_YES)
			e->peer_ran = PAGEDET_NO;
		if (a->vm[SOURCE].frozen == PAGEDET_YES)
			e->here_ran = PAGEDET_NO;
	}
	/* Only a library inside QEMU could arm it. */
	e->track = PAGEDET_WRITES_NOT_ARMED;
	e->counters_here = e->counters_peer = moved(a);
	e->differences = a->n_different + a->n_lost;
	add_look(a, e, PAGEDET_AS_NOW, &a->now[SOURCE][page]);
	add_look(a, e, PAGEDET_AS_AGAIN, &a->again[page]);
	add_look(a, e, PAGEDET_AS_PEER, &a->now[DESTINATION][page]);
	pagedet_versions_evidence(a->versions, page, e);
	forget_first_stop(a, e);
	forget_late_look(a, e);
	forget_late_arrival(a, e, page);
	if (a->o.blocks)
		forget_history(e);
	add_place(a, e, page, source, found);
	add_file(a, e, page);
}

int evidence_add(struct agent *a)
{
	struct pagedet_seen *source = as_stopped(a);
	struct pagedet_elsewhere *found = source ? find_places(a, source) :
						   NULL;
	const int r = found ? 0 : -1;
	uint64_t i;

	for (i = 0; found && i < a->n_differences; i++)
		add(a, &a->evidence[i], a->differences[i].page, source, found);
	free(found);
	free(source);
	return r;
}
