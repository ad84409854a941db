/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Decides which side of a mismatch is proven right. Without proof it is not
 * known: no advice may let a side continue that may be the damaged one.
 */
#include "explain/mismatch.h"

static bool is(const struct pdet_case *c, unsigned a, unsigned b)
{
	return pdet_compare(c, a, b) == EQUAL;
}

/* The page had bytes other than zeroes, and now it has none. */
static bool is_given_back(const struct pdet_case *c)
{
	return pdet_lacks(c, PAGEDET_SIDE_HERE) == PAGEDET_YES &&
	       (pdet_is_zero(c, STOPPED, PAGEDET_NO) ||
		pdet_is_zero(c, SENT, PAGEDET_NO));
}

/*
 * Whether the version of the source when it stopped is certainly right. This is
 * so if it was sent like that, was like that before it was sent, or was written
 * only by the guest. Hardware must be excluded as well.
 */
static bool is_sound(const struct pdet_case *c)
{
	return is(c, SENT, STOPPED) || is(c, BEFORE, STOPPED) ||
	       (c->e.track == PAGEDET_WRITES_SEEN &&
		c->e.sent_stopped != PAGEDET_YES &&
		c->e.counters_here == PAGEDET_NO &&
		pdet_others_map(c) == PAGEDET_NO);
}

static bool is_damaged_here(const struct pdet_case *c)
{
	return pdet_row_poisoned(&c->here) == PAGEDET_YES ||
	       c->e.here_read == PAGEDET_READ_REFUSED || is_given_back(c) ||
	       (pdet_is_changed_here(c) && c->e.here_ran != PAGEDET_YES);
}

static uint32_t here(const struct pdet_case *c)
{
	if (is_damaged_here(c))
		return PAGEDET_NO;
	if (pdet_moved(c) || c->e.here_ran == PAGEDET_YES ||
	    c->e.here_frozen == PAGEDET_NO)
		return PAGEDET_DUNNO;
	return is(c, SENT, NOW) || (is(c, STOPPED, NOW) && is_sound(c)) ?
	       PAGEDET_YES : PAGEDET_DUNNO;
}

static uint32_t peer(const struct pdet_case *c)
{
	if (pdet_row_poisoned(&c->peer) == PAGEDET_YES ||
	    c->e.peer_read == PAGEDET_READ_REFUSED)
		return PAGEDET_NO;
	if (c->e.peer_ran == PAGEDET_YES || c->e.peer_frozen == PAGEDET_NO)
		return PAGEDET_DUNNO;
	if (is(c, PEER, STOPPED) && is_sound(c))
		return PAGEDET_YES;
	return here(c) == PAGEDET_YES && pdet_contents(c) == DIFFERENT ?
	       PAGEDET_NO : PAGEDET_DUNNO;
}

uint32_t pdet_intact(const struct pdet_case *c, uint32_t side)
{
	return side == PAGEDET_SIDE_PEER ? peer(c) : here(c);
}
