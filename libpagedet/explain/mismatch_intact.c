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

/* Nothing outside of the guest is known that may have written it. */
static bool is_alone(const struct pdet_case *c)
{
	return pdet_others_map(c) == PAGEDET_NO &&
	       c->e.file_written != PAGEDET_YES && !pdet_file_moved(c);
}

/*
 * The guest may have written the page, and something else brought the version
 * back that it had before it was sent. A page that was zero comes back if it is
 * given back, and no tracking sees that.
 */
static bool is_as_before(const struct pdet_case *c)
{
	return is(c, BEFORE, STOPPED) && pdet_is_zero(c, STOPPED, PAGEDET_NO) &&
	       (c->e.sent_stopped == PAGEDET_YES ||
		(c->e.track == PAGEDET_WRITES_NONE && is_alone(c)));
}

/*
 * Whether the version of the source when it stopped is certainly right. This is
 * so if it was sent like that, was like that before it was sent and was not
 * written since, or was written only by the guest. Hardware must be excluded as
 * well.
 */
static bool is_sound(const struct pdet_case *c)
{
	return is(c, SENT, STOPPED) || is_as_before(c) ||
	       (c->e.track == PAGEDET_WRITES_SEEN &&
		c->e.sent_stopped != PAGEDET_YES &&
		c->e.counters_here == PAGEDET_NO && is_alone(c));
}

/*
 * A guest that ran may have written the page, or given it back. The write of a
 * device that was in flight at the stop is not damage either.
 */
static bool is_damaged_here(const struct pdet_case *c)
{
	if (pdet_row_poisoned(&c->here) == PAGEDET_YES ||
	    c->e.here_read == PAGEDET_READ_REFUSED)
		return true;
	return c->e.here_ran == PAGEDET_NO &&
	       (pdet_is_given_back(c) ||
		(pdet_is_changed_here(c) &&
		 c->e.stopped_drained == PAGEDET_YES));
}

/* Zeroes that may be what is read of a page that is not there any more. */
static bool may_be_given_back(const struct pdet_case *c)
{
	const uint32_t lacks = pdet_lacks(c, PAGEDET_SIDE_HERE);

	return !pdet_is_zero(c, SENT, PAGEDET_YES) &&
	       (lacks == PAGEDET_YES || (lacks == PAGEDET_DUNNO &&
					 pdet_is_zero(c, NOW, PAGEDET_YES)));
}

static uint32_t here(const struct pdet_case *c)
{
	if (is_damaged_here(c))
		return PAGEDET_NO;
	if (pdet_moved(c) || c->e.here_ran == PAGEDET_YES ||
	    c->e.here_frozen == PAGEDET_NO || pdet_is_changed_here(c) ||
	    pdet_is_given_back(c) || may_be_given_back(c) ||
	    (c->early && !is_alone(c)))
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
	if (is(c, PEER, STOPPED) && is_sound(c) &&
	    (c->e.stopped_drained == PAGEDET_YES || is(c, STOPPED, NOW)))
		return PAGEDET_YES;
	if (c->e.peer_ran != PAGEDET_NO && !is(c, PEER_STOPPED, PEER))
		return PAGEDET_DUNNO;
	return here(c) == PAGEDET_YES && pdet_contents(c) == DIFFERENT ?
	       PAGEDET_NO : PAGEDET_DUNNO;
}

uint32_t pdet_intact(const struct pdet_case *c, uint32_t side)
{
	return side == PAGEDET_SIDE_PEER ? peer(c) : here(c);
}

/* What the guest did at a side that ran would be lost with it. */
bool pdet_may_run(const struct pdet_case *c, uint32_t side)
{
	const uint32_t other_ran = side == PAGEDET_SIDE_PEER ? c->e.here_ran :
							       c->e.peer_ran;

	return other_ran == PAGEDET_NO && pdet_intact(c, side) == PAGEDET_YES;
}
