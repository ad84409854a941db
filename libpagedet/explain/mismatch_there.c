/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Rules for events while the page was sent, or at the peer. */
#include "explain/mismatch.h"

/* The peer has neither the sent version nor the source's last one. */
static bool is_other_there(const struct pdet_case *c)
{
	return pdet_contents(c) == DIFFERENT &&
	       pdet_compare(c, SENT, PEER) != EQUAL &&
	       pdet_compare(c, PEER, STOPPED) != EQUAL &&
	       !pdet_is_changed_here(c);
}

static void there_facts(struct pdet_case *c)
{
	pdet_facts_versions(c);
	pdet_fact_hash(c, PEER_STOPPED);
	pdet_facts_sending(c);
	pdet_facts_difference(c);
}

bool pdet_stale_version(struct pdet_case *c)
{
	if (c->e.earlier != PAGEDET_YES || !is_other_there(c) ||
	    pdet_is_cleared_there(c))
		return false;
	there_facts(c);
	pdet_facts_track(c);
	pdet_fact_known(c, "earlier", c->e.earlier, PAGEDET_SIDE_PEER);
	if (c->e.earlier_pass)
		pdet_fact_number(c, "earlier_pass", c->e.earlier_pass,
				 PAGEDET_TYPE_NUMBER, PAGEDET_SIDE_PEER, 0);
	return true;
}

bool pdet_misplaced(struct pdet_case *c)
{
	if (c->e.same_as_other != PAGEDET_YES || !is_other_there(c) ||
	    pdet_is_zero(c, PEER, PAGEDET_YES))
		return false;
	pdet_fact_number(c, "same_as", c->e.same_as, PAGEDET_TYPE_NUMBER,
			 PAGEDET_SIDE_HERE, 0);
	there_facts(c);
	return true;
}

static bool is_changed_there(const struct pdet_case *c)
{
	return is_other_there(c) && pdet_is_changed_after(c);
}

/* One differing bit is not a proof: a stale page may look the same. */
bool pdet_bit_flip(struct pdet_case *c)
{
	if (!is_changed_there(c) || c->e.compared != PAGEDET_YES ||
	    c->e.bits != 1 || !pdet_counters_moved(c))
		return false;
	there_facts(c);
	pdet_facts_counters(c);
	return true;
}

/*
 * Find out whether the page changed on the way or after it arrived. This is
 * known if the peer was read before anything ran there.
 */
static void where(struct pdet_case *c)
{
	if (pdet_compare(c, PEER_STOPPED, SENT) == EQUAL)
		c->cause = "changed at the peer after it arrived";
	else if (pdet_compare(c, PEER_STOPPED, PEER) == EQUAL)
		c->cause = "changed on the way, or when the peer received it: "
			   "it has not changed there since";
}

bool pdet_changed_after(struct pdet_case *c)
{
	if (!is_changed_there(c))
		return false;
	where(c);
	there_facts(c);
	pdet_facts_counters(c);
	pdet_facts_both(c, PAGEDET_FIELD_MAPCOUNT);
	pdet_fact_known(c, "other_maps", c->e.peer_other_maps,
			PAGEDET_SIDE_PEER);
	return true;
}

/*
 * If there was only one fault, one of these pairs is equal: the peer and the
 * sent version, the source and the sent version, or the peer and the last
 * version of the source.
 */
bool pdet_two_faults(struct pdet_case *c)
{
	const bool both = pdet_compare(c, SENT, PEER) == DIFFERENT &&
			  pdet_compare(c, SENT, NOW) == DIFFERENT;
	const bool later = pdet_is_changed_here(c) && !pdet_runs(c) &&
			   pdet_compare(c, PEER, STOPPED) == DIFFERENT;

	if (pdet_contents(c) != DIFFERENT || !(both || later))
		return false;
	if (later && c->e.stopped_drained != PAGEDET_YES)
		c->cause = "two faults, or one and a write of the guest's "
			   "device that was still in flight: it changed here "
			   "after the source had stopped, and the peer has "
			   "other bytes";
	else if (later)
		c->cause = "two faults: it changed here after the source had "
			   "stopped, and the peer has other bytes";
	pdet_facts_versions(c);
	pdet_facts_track(c);
	pdet_facts_writers(c);
	pdet_facts_difference(c);
	return true;
}
