/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads the destination's pages before the switch, in a thread of its own. A
 * page that has what was last sent need not be read while the guest waits. A
 * page that is sent again is late, until it is read again. After the guest went
 * on, pages that were read early are compared once more: only those that are
 * still the same are proven to have been right at the switch.
 *
 * When postcopy begins, the destination drops pages. To read one of these just
 * then would fill the hole, and QEMU could not store the page that comes. The
 * thread therefore ends before.
 */
#include <stdlib.h>
#include <string.h>

#include "agent.h"

#define PIECE 256u		/* pages that are read at a time */
#define REST_MS 5

enum { READ, LATE, NOT_SENT };	/* in late, by page */

void early_sent(struct agent *a, uint64_t page, uint64_t n)
{
	uint64_t i;

	for (i = page; a->late && i < page + n; i++)
		atomic_store(&a->late[i], LATE);
}

bool early_is_late(const struct agent *a, uint64_t page)
{
	return atomic_load_explicit(&a->late[page], memory_order_relaxed);
}

static bool is_as_sent(const struct agent *a, uint64_t page,
		       const struct pagedet_seen *seen)
{
	struct pagedet_version_of of = { .size = sizeof(of) };
	struct pagedet_seen sent = { .state = PAGEDET_SEEN_DATA };

	if (pagedet_versions_of(a->versions, page, &of) || !of.times ||
	    !of.sent_ns || of.dropped)
		return false;
	sent.hash = of.hash;
	if (of.hash == a->hash_zero)
		sent.state = PAGEDET_SEEN_ZERO;
	return pagedet_seen_equal(&sent, seen) == PAGEDET_YES;
}

/* A page that is sent meanwhile is marked again, or is not as sent. */
static void take(struct agent *a, const uint64_t *pages, uint64_t n)
{
	struct pagedet_seen seen[PIECE];
	uint64_t i;

	for (i = 0; i < n; i++)
		atomic_store(&a->late[pages[i]], READ);
	if (look_pages(a, a->early_pd, DESTINATION, pages, n, NULL, seen))
		memset(seen, 0, sizeof(seen));
	for (i = 0; i < n; i++)
		if (is_as_sent(a, pages[i], &seen[i]))
			a->now[DESTINATION][pages[i]] = seen[i];
		else
			atomic_store(&a->late[pages[i]], LATE);
}

static void look(struct agent *a)
{
	uint64_t pages[PIECE], n = 0, page;

	for (page = 0; !atomic_load(&a->early_over) && page < a->pages;
	     page++) {
		if (atomic_load(&a->late[page]) == LATE)
			pages[n++] = page;
		if (!n || (n < PIECE && page + 1 < a->pages))
			continue;
		take(a, pages, n);
		n = 0;
	}
}

static void *run(void *user)
{
	struct agent *a = user;

	while (!atomic_load(&a->early_over)) {
		look(a);
		agent_sleep(REST_MS);
	}
	return NULL;
}

int early_start(struct agent *a)
{
	unsigned i;

	a->late = malloc(a->pages * sizeof(*a->late));
	if (!a->late || pagedet_dup(a->pd, &a->early_pd))
		return agent_fail_errno(AGENT_IO, "memory");
	memset(a->late, NOT_SENT, a->pages * sizeof(*a->late));
	for (i = 0; i < a->n_blocks; i++)
		if (join_is_one(&a->blocks[i]))
			memset(a->late + a->blocks[i].first, READ,
			       a->blocks[i].pages * sizeof(*a->late));
	if (pthread_create(&a->early_thread, NULL, run, a))
		return agent_fail_errno(AGENT_IO, "cannot make a thread");
	a->early_runs = true;
	return 0;
}

void early_end(struct agent *a)
{
	if (!a->early_runs)
		return;
	atomic_store(&a->early_over, true);
	pthread_join(a->early_thread, NULL);
	a->early_runs = false;
}

/* Both sides are the same page, whatever the guest does to it. */
static void share(struct agent *a, const struct block *b)
{
	const size_t bytes = b->pages * sizeof(*a->again);

	memcpy(a->now[DESTINATION] + b->first, a->now[SOURCE] + b->first,
	       bytes);
	memcpy(a->again + b->first, a->now[SOURCE] + b->first, bytes);
}

void early_share(struct agent *a)
{
	unsigned i;

	for (i = 0; i < a->n_blocks; i++)
		if (join_is_one(&a->blocks[i]))
			share(a, &a->blocks[i]);
}

/* What cannot be read again is not proven. */
void early_prove(struct agent *a)
{
	struct pagedet_seen *seen = calloc(a->pages, sizeof(*seen));
	unsigned i;
	uint64_t k;

	if (seen && look_at(a, DESTINATION, seen))
		memset(seen, 0, a->pages * sizeof(*seen));
	for (i = 0; i < a->n_blocks; i++) {
		const struct block *b = &a->blocks[i];

		for (k = b->first; k < b->first + b->pages; k++) {
			if (join_is_one(b) || early_is_late(a, k))
				continue;
			a->n_early++;
			a->n_unproven += !seen || pagedet_seen_equal(&seen[k],
				&a->now[DESTINATION][k]) != PAGEDET_YES;
		}
	}
	free(seen);
}

void early_free(struct agent *a)
{
	early_end(a);
	pagedet_free(a->early_pd);
	free(a->late);
}
