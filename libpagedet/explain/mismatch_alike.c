/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Rules for pages that do not differ, or that cannot be judged. */
#include "explain/mismatch.h"

/*
 * The page changed although this side was stopped after the switch. The other
 * side does not explain that, even if it runs.
 */
static bool is_changed_still(const struct pdet_case *c)
{
	return pdet_is_changed_here(c) && c->e.here_ran == PAGEDET_NO &&
	       c->e.here_frozen == PAGEDET_YES;
}

bool pdet_not_frozen(struct pdet_case *c)
{
	if (pdet_contents(c) == EQUAL || !pdet_runs(c) || is_changed_still(c))
		return false;
	pdet_facts_still(c);
	if (pdet_moved(c)) {
		pdet_fact_hash(c, NOW);
		pdet_fact_hash(c, AGAIN);
	}
	return true;
}

/* No evidence says that the side ran, but two reads differ. */
bool pdet_moved_frozen(struct pdet_case *c)
{
	if (pdet_contents(c) == EQUAL || !pdet_moved(c) || is_changed_still(c))
		return false;
	pdet_facts_still(c);
	pdet_fact_hash(c, NOW);
	pdet_fact_hash(c, AGAIN);
	return true;
}

bool pdet_other_keys(struct pdet_case *c)
{
	if (pdet_contents(c) != OTHER_KEYS)
		return false;
	pdet_facts_versions(c);
	pdet_fact_number(c, "hash_key_now", c->e.hash_key[NOW],
			 PAGEDET_TYPE_HEX, PAGEDET_SIDE_HERE, 0);
	pdet_fact_number(c, "hash_key_peer", c->e.hash_key[PEER],
			 PAGEDET_TYPE_HEX, PAGEDET_SIDE_PEER, 0);
	pdet_unknown(c, "hashes of both sides under one key, or a comparison "
		     "of their bytes");
	return true;
}

static void both_rows(struct pdet_case *c)
{
	pdet_facts_still(c);
	pdet_facts_both(c, PAGEDET_FIELD_PFN);
	pdet_facts_both(c, PAGEDET_FIELD_FLAGS);
	pdet_facts_both(c, PAGEDET_FIELD_PTE);
}

bool pdet_same_page(struct pdet_case *c)
{
	if (!pdet_is_same_page(c))
		return false;
	c->cause = "no fault: both sides are the same page of one kernel";
	both_rows(c);
	return true;
}

bool pdet_same_bytes(struct pdet_case *c)
{
	if (pdet_contents(c) != EQUAL || c->e.compared != PAGEDET_YES)
		return false;
	pdet_facts_difference(c);
	both_rows(c);
	return true;
}

bool pdet_same_hash(struct pdet_case *c)
{
	if (pdet_contents(c) != EQUAL)
		return false;
	pdet_fact_hash(c, NOW);
	pdet_fact_hash(c, PEER);
	pdet_unknown(c, "a comparison of the bytes");
	both_rows(c);
	return true;
}

bool pdet_mismatch_unknown(struct pdet_case *c)
{
	pdet_facts_versions(c);
	pdet_facts_difference(c);
	pdet_facts_track(c);
	pdet_facts_writers(c);
	pdet_facts_still(c);
	pdet_facts_both(c, PAGEDET_FIELD_PTE);
	if (pdet_contents(c) == UNKNOWN) {
		c->cause = "cannot tell whether the contents differ";
		if (c->e.hash_state[PEER] != PAGEDET_HAVE)
			pdet_unknown(c, "the hash at the peer");
		if (c->e.hash_state[NOW] != PAGEDET_HAVE)
			pdet_unknown(c, "the hash here");
	}
	if (pdet_compare(c, SENT, PEER) != EQUAL &&
	    pdet_compare(c, SENT, PEER) != DIFFERENT)
		pdet_sent_unknown(c);
	return true;
}
