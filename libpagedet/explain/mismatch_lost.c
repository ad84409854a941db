/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Rules for pages whose contents no longer exist on one side. */
#include "explain/mismatch.h"

static bool is_poisoned(const struct pagedet_page *row, uint32_t read,
			bool refused)
{
	return pdet_row_poisoned(row) == PAGEDET_YES &&
	       read == (refused ? (uint32_t)PAGEDET_READ_REFUSED :
				  (uint32_t)PAGEDET_READ_DUNNO);
}

static void poison_facts(struct pdet_case *c, uint32_t read, uint32_t side)
{
	if (read == PAGEDET_READ_REFUSED)
		pdet_fact_word(c, "read", read, "refused", side);
	pdet_fact_field(c, side, PAGEDET_FIELD_FLAGS);
	pdet_fact_field(c, side, PAGEDET_FIELD_PTE);
}

static bool memory_error(struct pdet_case *c, bool refused)
{
	const bool here = is_poisoned(&c->here, c->e.here_read, refused);
	const bool peer = is_poisoned(&c->peer, c->e.peer_read, refused);

	if (here)
		poison_facts(c, c->e.here_read, PAGEDET_SIDE_HERE);
	if (peer)
		poison_facts(c, c->e.peer_read, PAGEDET_SIDE_PEER);
	if (!here && !peer)
		return false;
	pdet_facts_counters(c);
	if ((here && c->e.counters_here == PAGEDET_YES) ||
	    (peer && c->e.counters_peer == PAGEDET_YES)) {
		c->likely = "broken memory: counters of machine checks moved";
		c->likely_confidence = PAGEDET_CONFIDENCE_MEDIUM;
	} else {
		pdet_counters_unknown(c);
	}
	return true;
}

bool pdet_unreadable(struct pdet_case *c)
{
	return memory_error(c, true);
}

/*
 * The kernel says that the page is poisoned, although nobody has tried to read
 * it.
 */
bool pdet_poisoned(struct pdet_case *c)
{
	return memory_error(c, false);
}

static void why_missing(struct pdet_case *c)
{
	c->likely_confidence = PAGEDET_CONFIDENCE_HIGH;
	if (c->e.peer_complete == PAGEDET_NO) {
		c->likely = "pages are still to come";
		/* This one has come once. */
		if (c->e.hash_state[SENT] == PAGEDET_HAVE &&
		    c->e.peer_discarded != PAGEDET_YES)
			c->likely_confidence = PAGEDET_CONFIDENCE_MEDIUM;
	} else if (pdet_never_sent(c)) {
		c->likely = "it was never sent";
	} else if (c->e.peer_discarded == PAGEDET_YES) {
		c->likely = "the peer gave it back: for a balloon or free page "
			    "hints, by a hole in its file, or because postcopy "
			    "told it to, and it was not sent again";
	} else {
		c->likely = c->e.hash_state[SENT] == PAGEDET_HAVE ?
			    "the peer did not store it, or gave it back" :
			    "it was never sent, or the peer gave it back";
		c->likely_confidence = PAGEDET_CONFIDENCE_MEDIUM;
		if (c->e.peer_complete == PAGEDET_DUNNO)
			pdet_unknown(c, "whether all pages have been sent");
		if (c->e.peer_discarded == PAGEDET_DUNNO)
			pdet_unknown(c, "whether the peer gave it back "
				     "(balloon, punched hole)");
	}
}

/*
 * True if a read of the peer finds zeroes because nothing arrived there. This
 * is not so if zeroes were sent.
 */
static bool is_never_filled(const struct pdet_case *c)
{
	return pdet_is_zero(c, PEER, PAGEDET_YES) &&
	       (pdet_never_sent(c) || pdet_is_zero(c, SENT, PAGEDET_NO));
}

/*
 * Zeroes that were sent last need not be stored: a page without contents has
 * them.
 */
static bool is_zero_as_sent(const struct pdet_case *c)
{
	return pdet_is_zero(c, SENT, PAGEDET_YES) &&
	       c->e.peer_discarded != PAGEDET_YES &&
	       c->e.peer_complete != PAGEDET_NO;
}

bool pdet_missing(struct pdet_case *c)
{
	const bool told = c->e.peer_missing == PAGEDET_YES ||
			  c->e.peer_hole == PAGEDET_YES;

	if ((pdet_row_absent(&c->peer) != PAGEDET_YES &&
	     !(told && is_never_filled(c))) ||
	    pdet_lacks(c, PAGEDET_SIDE_PEER) != PAGEDET_YES ||
	    pdet_is_zero(c, NOW, PAGEDET_YES) || pdet_is_changed_here(c) ||
	    is_zero_as_sent(c))
		return false;
	/* Neither side has it: nothing shows that it should be there. */
	if (pdet_lacks(c, PAGEDET_SIDE_HERE) == PAGEDET_YES &&
	    !pdet_is_zero(c, SENT, PAGEDET_NO))
		return false;
	pdet_fact_field(c, PAGEDET_SIDE_PEER, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, PAGEDET_SIDE_PEER, PAGEDET_FIELD_PTE);
	pdet_fact_field(c, PAGEDET_SIDE_PEER, PAGEDET_FIELD_VMA_PROT);
	pdet_fact_known(c, "hole", c->e.peer_hole, PAGEDET_SIDE_PEER);
	pdet_fact_known(c, "missing", c->e.peer_missing, PAGEDET_SIDE_PEER);
	pdet_facts_versions(c);
	pdet_facts_sending(c);
	why_missing(c);
	return true;
}

static void why_vanished(struct pdet_case *c)
{
	if (!pdet_is_given_back(c)) {
		c->cause = "the page has no contents here, and the peer has "
			   "what was sent: it was given back, by its guest "
			   "while that ran, or by something else";
		c->advice = "if the guest has a balloon or reports free pages, "
			    "nothing is wrong with this page; if not, find "
			    "what gives back memory of the source, and do not "
			    "let it go on";
	}
	if (c->e.here_discarded == PAGEDET_YES) {
		c->likely = "it was seen given back: MADV_DONTNEED, a balloon, "
			    "or a hole in its file";
		c->likely_confidence = PAGEDET_CONFIDENCE_HIGH;
		return;
	}
	pdet_unknown(c, "what gave it back: MADV_DONTNEED, a balloon, a hole "
		     "in its file, or a file that was cut off");
}

/* The page had contents, and the peer has them, but this side has nothing. */
bool pdet_vanished(struct pdet_case *c)
{
	if (pdet_contents(c) == EQUAL ||
	    pdet_lacks(c, PAGEDET_SIDE_HERE) != PAGEDET_YES ||
	    pdet_is_zero(c, PEER, PAGEDET_YES) ||
	    !(pdet_is_zero(c, STOPPED, PAGEDET_NO) ||
	      pdet_is_zero(c, SENT, PAGEDET_NO)))
		return false;
	pdet_fact_field(c, PAGEDET_SIDE_HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, PAGEDET_SIDE_HERE, PAGEDET_FIELD_PTE);
	pdet_fact_known(c, "hole", c->e.here_hole, PAGEDET_SIDE_HERE);
	pdet_fact_known(c, "missing", c->e.here_missing, PAGEDET_SIDE_HERE);
	pdet_facts_versions(c);
	pdet_facts_sending(c);
	why_vanished(c);
	return true;
}
