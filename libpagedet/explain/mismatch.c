/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Derives what the evidence of a mismatch proves: which versions of the page
 * are equal, who may have written the page, and whether it exists at all.
 */
#include "explain/evidence.h"
#include "explain/mismatch.h"

static bool is_pair(unsigned a, unsigned b, unsigned x, unsigned y)
{
	return (a == x && b == y) || (a == y && b == x);
}

/*
 * If two hashes with one key differ, the contents certainly differ. If they are
 * equal, the contents are equal almost certainly.
 */
enum relation pdet_compare(const struct pdet_case *c, unsigned a, unsigned b)
{
	const struct pdet_version x = pdet_version(&c->e, a);
	const struct pdet_version y = pdet_version(&c->e, b);
	const bool hashed = x.state == PAGEDET_HAVE && y.state == PAGEDET_HAVE;

	if (is_pair(a, b, NOW, PEER) && c->e.compared == PAGEDET_YES)
		return c->e.bits || c->e.bytes ? DIFFERENT : EQUAL;
	if (hashed && x.key == y.key)
		return x.hash == y.hash ? EQUAL : DIFFERENT;
	if (x.zero == PAGEDET_YES && y.zero == PAGEDET_YES)
		return EQUAL;
	if ((x.zero == PAGEDET_YES && y.zero == PAGEDET_NO) ||
	    (x.zero == PAGEDET_NO && y.zero == PAGEDET_YES))
		return DIFFERENT;
	return hashed ? OTHER_KEYS : UNKNOWN;
}

/*
 * A device of the guest may still write after the guest has stopped. If what is
 * here now was sent, although the look at the stop had something else, it is
 * such a write: that look came too early, and is not what the guest had.
 */
void pdet_drop_early(struct pdet_case *c)
{
	const unsigned i = STOPPED - PAGEDET_AS_MORE;

	c->early = c->e.stopped_drained != PAGEDET_YES &&
		   c->e.sent_stopped != PAGEDET_NO &&
		   pdet_compare(c, SENT, NOW) == EQUAL &&
		   pdet_compare(c, STOPPED, NOW) == DIFFERENT &&
		   pdet_lacks(c, PAGEDET_SIDE_HERE) != PAGEDET_YES;
	if (!c->early)
		return;
	c->e.more_state[i] = PAGEDET_NOT_ASKED;
	c->e.more_zero[i] = PAGEDET_DUNNO;
}

/* Frame and kernel are the same, so the bytes are. */
bool pdet_is_same_page(const struct pdet_case *c)
{
	return c->e.one_host == PAGEDET_YES &&
	       pdet_row_pte(&c->here, PAGEDET_PTE_PRESENT) == PAGEDET_YES &&
	       pdet_row_pte(&c->peer, PAGEDET_PTE_PRESENT) == PAGEDET_YES &&
	       pdet_row_note(&c->here, PAGEDET_NOTE_TORN) == PAGEDET_NO &&
	       pdet_row_note(&c->peer, PAGEDET_NOTE_TORN) == PAGEDET_NO &&
	       pdet_row_has(&c->here, PAGEDET_FIELD_PFN) &&
	       pdet_row_has(&c->peer, PAGEDET_FIELD_PFN) &&
	       c->here.pfn == c->peer.pfn;
}

enum relation pdet_contents(const struct pdet_case *c)
{
	return pdet_is_same_page(c) ? EQUAL : pdet_compare(c, NOW, PEER);
}

bool pdet_is_zero(const struct pdet_case *c, unsigned version, uint32_t known)
{
	return pdet_version(&c->e, version).zero == known;
}

bool pdet_never_sent(const struct pdet_case *c)
{
	return c->e.hash_state[SENT] == PAGEDET_NONE;
}

bool pdet_moved(const struct pdet_case *c)
{
	return pdet_compare(c, NOW, AGAIN) == DIFFERENT;
}

bool pdet_runs(const struct pdet_case *c)
{
	return c->e.peer_frozen == PAGEDET_NO ||
	       c->e.here_frozen == PAGEDET_NO ||
	       c->e.peer_ran == PAGEDET_YES || c->e.here_ran == PAGEDET_YES;
}

bool pdet_counters_moved(const struct pdet_case *c)
{
	return c->e.counters_here == PAGEDET_YES ||
	       c->e.counters_peer == PAGEDET_YES;
}

bool pdet_file_moved(const struct pdet_case *c)
{
	return c->e.file_ns && c->e.hash_ns[SENT] &&
	       c->e.file_ns > c->e.hash_ns[SENT];
}

uint32_t pdet_others_map(const struct pdet_case *c)
{
	if (c->e.here_other_maps == PAGEDET_YES ||
	    c->e.extra_mappers == PAGEDET_YES)
		return PAGEDET_YES;
	return c->e.here_other_maps == PAGEDET_NO ? PAGEDET_NO :
						    c->e.extra_mappers;
}

uint32_t pdet_lacks(const struct pdet_case *c, uint32_t side)
{
	const bool peer = side == PAGEDET_SIDE_PEER;
	const uint32_t said = peer ? c->e.peer_missing : c->e.here_missing;
	const uint32_t hole = peer ? c->e.peer_hole : c->e.here_hole;

	if (pdet_is_zero(c, peer ? PEER : NOW, PAGEDET_NO))
		return PAGEDET_NO;
	if (said != PAGEDET_DUNNO)
		return said;
	if (hole == PAGEDET_YES &&
	    pdet_is_zero(c, peer ? PEER : NOW, PAGEDET_YES))
		return PAGEDET_YES;
	return pdet_row_absent(peer ? &c->peer : &c->here);
}

/*
 * A guest that gives a page back while it runs (balloon, free page reporting)
 * does not want its contents any more, and the peer may have old ones.
 */
bool pdet_is_given_back(const struct pdet_case *c)
{
	return pdet_lacks(c, PAGEDET_SIDE_HERE) == PAGEDET_YES &&
	       (pdet_is_zero(c, STOPPED, PAGEDET_NO) ||
		(c->e.sent_stopped == PAGEDET_YES &&
		 !pdet_is_zero(c, STOPPED, PAGEDET_YES) &&
		 pdet_is_zero(c, SENT, PAGEDET_NO)));
}

bool pdet_is_not_resent(const struct pdet_case *c)
{
	return pdet_compare(c, SENT, PEER) == EQUAL &&
	       pdet_compare(c, SENT, NOW) == DIFFERENT;
}

bool pdet_is_changed_after(const struct pdet_case *c)
{
	return pdet_compare(c, SENT, NOW) == EQUAL &&
	       pdet_compare(c, SENT, PEER) != EQUAL &&
	       pdet_contents(c) == DIFFERENT;
}

/* Zeroes may be an earlier version, but not if what was sent had arrived. */
bool pdet_is_cleared_there(const struct pdet_case *c)
{
	return pdet_is_zero(c, PEER, PAGEDET_YES) &&
	       pdet_compare(c, PEER_STOPPED, SENT) == EQUAL &&
	       pdet_compare(c, SENT, PEER) == DIFFERENT;
}

/* If the keys differ, a third version may connect the two. */
bool pdet_is_changed_here(const struct pdet_case *c)
{
	const enum relation r = pdet_compare(c, STOPPED, NOW);

	if (r == EQUAL || r == DIFFERENT)
		return r == DIFFERENT;
	return (pdet_compare(c, PEER, STOPPED) == EQUAL &&
		pdet_contents(c) == DIFFERENT) ||
	       (pdet_compare(c, SENT, STOPPED) == EQUAL &&
		pdet_compare(c, SENT, NOW) == DIFFERENT);
}
