/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The possible causes of a mismatch, and what the evidence says about each.
 * They form one class: all that is not excluded competes with the finding.
 */
#include "explain/mismatch.h"

static const char look_stopped[] =
	"the contents of the page here as soon as the source had stopped";
static const char look_sent[] = "the hash as sent";
static const char as_sent[] = "memory here has what was sent";
static const char peer_as_sent[] = "the peer has what was sent";
static const char peer_final[] =
	"the peer has what the source had when it stopped";
static const char never[] = "it was never sent";

static bool is(const struct pdet_case *c, unsigned a, unsigned b)
{
	return pdet_compare(c, a, b) == EQUAL;
}

static bool differs(const struct pdet_case *c, unsigned a, unsigned b)
{
	return pdet_compare(c, a, b) == DIFFERENT;
}

/* --- at the source, after it had stopped --- */

static struct pdet_state changed_here(const struct pdet_case *c)
{
	if (pdet_is_changed_here(c))
		return pdet_maybe("it differs from what it was when the source "
				  "stopped");
	if (is(c, STOPPED, NOW))
		return pdet_gone("it is the same as when the source stopped");
	return is(c, SENT, NOW) ? pdet_gone(as_sent) :
				  pdet_unseen(look_stopped);
}

/* QEMU says that it has stopped before it has waited for its disks. */
static struct pdet_state in_flight(const struct pdet_case *c)
{
	return pdet_needs(c->e.stopped_drained == PAGEDET_YES ? PAGEDET_NO :
			  c->e.stopped_drained == PAGEDET_NO ? PAGEDET_YES :
			  PAGEDET_DUNNO,
			  "the guest's devices had ended their writes when it "
			  "was read as the source stopped",
			  "it changed before the guest's devices had ended "
			  "their writes",
			  "whether the guest's devices had ended their writes "
			  "when the page was read as the source stopped");
}

static struct pdet_state here_ran(const struct pdet_case *c)
{
	if (c->e.here_ran == PAGEDET_YES)
		return pdet_maybe("it ran");
	if (c->e.here_ran == PAGEDET_NO)
		return pdet_gone("it did not run");
	if (is(c, STOPPED, NOW))
		return pdet_gone("it is the same as when the source stopped");
	return is(c, SENT, NOW) ? pdet_gone(as_sent) :
		pdet_unseen("whether the source ran after the switch");
}

static struct pdet_state vanished(const struct pdet_case *c)
{
	const uint32_t lacks = pdet_lacks(c, PAGEDET_SIDE_HERE);

	if (is(c, SENT, NOW))
		return pdet_gone(as_sent);
	if (lacks == PAGEDET_NO)
		return pdet_gone("the page is there");
	return lacks == PAGEDET_YES ? pdet_maybe("there is nothing there") :
		pdet_unseen("whether the page is still there at the source");
}

static struct pdet_state by_guest(const struct pdet_case *c)
{
	if (pdet_is_given_back(c))
		return pdet_gone("it was still there when the source had "
				 "stopped");
	return pdet_is_zero(c, STOPPED, PAGEDET_YES) ?
	       pdet_maybe("it had no contents when the source had stopped") :
	       pdet_unseen(look_stopped);
}

/* --- between memory of the source and the sent bytes --- */

static struct pdet_state before_tap(const struct pdet_case *c)
{
	if (is(c, SENT, BEFORE))
		return pdet_gone("memory had the same right before it was "
				 "sent");
	if (is(c, SENT, NOW) || is(c, SENT, STOPPED))
		return pdet_gone(as_sent);
	if (differs(c, SENT, PEER))
		return pdet_gone("the peer does not have what was sent");
	if (pdet_never_sent(c))
		return pdet_gone(never);
	if (c->e.track == PAGEDET_WRITES_SEEN)
		return pdet_gone("it was written after it was sent");
	if (differs(c, SENT, BEFORE) && (is(c, BEFORE, STOPPED) ||
					 is(c, BEFORE, NOW)))
		return pdet_maybe("memory had the same before and after");
	if (differs(c, SENT, BEFORE))
		return pdet_maybe("memory had other bytes right before");
	return pdet_unseen("the contents of the page in memory right before it "
			   "was sent");
}

/* --- writes at the source after the page was sent --- */

/* Excludes all writes after which the page was not sent again. */
static bool was_not_lost(const struct pdet_case *c, struct pdet_state *s)
{
	if (is(c, SENT, NOW) || is(c, SENT, STOPPED))
		*s = pdet_gone(as_sent);
	else if (differs(c, SENT, PEER))
		*s = pdet_gone("the peer does not have what was sent");
	else if (pdet_never_sent(c))
		*s = pdet_gone(never);
	else if (is(c, PEER, STOPPED))
		*s = pdet_gone(peer_final);
	else if (!is(c, SENT, PEER))
		*s = pdet_unseen(look_sent);
	else
		return false;
	return true;
}

static struct pdet_state no_track(const struct pdet_case *c)
{
	return pdet_unseen(c->e.track == PAGEDET_WRITES_NOT_ARMED ?
		"whether the write went through the tracked mapping: tracking "
		"was not armed" :
		"whether the write went through the tracked mapping");
}

static struct pdet_state not_resent(const struct pdet_case *c)
{
	struct pdet_state s;

	if (was_not_lost(c, &s))
		return s;
	if (c->e.sent_stopped == PAGEDET_YES)
		return pdet_gone("the guest had stopped when it was sent");
	if (c->e.track == PAGEDET_WRITES_NONE)
		return pdet_gone("no write went through the tracked mapping");
	if (c->e.track == PAGEDET_WRITES_SEEN)
		return pdet_maybe("a write through the tracked mapping was "
				 "seen");
	return no_track(c);
}

static struct pdet_state untracked(const struct pdet_case *c)
{
	struct pdet_state s;

	if (was_not_lost(c, &s))
		return s;
	if (c->e.sent_stopped == PAGEDET_YES && is(c, STOPPED, NOW))
		return pdet_gone("it was sent after the source had stopped, "
				 "and has not changed since");
	if (c->e.track == PAGEDET_WRITES_SEEN)
		return pdet_gone("the write went through the tracked mapping");
	if (c->e.track == PAGEDET_WRITES_NONE)
		return pdet_maybe("no write went through the tracked mapping");
	return no_track(c);
}

/* It says more to name a known writer than a possible one. */
static struct pdet_state writers(const struct pdet_case *c)
{
	struct pdet_state s;

	if (was_not_lost(c, &s))
		return s;
	if (c->e.track == PAGEDET_WRITES_SEEN)
		return pdet_gone("the write went through the tracked mapping");
	if (c->e.file_written == PAGEDET_YES || pdet_file_moved(c))
		return pdet_maybe("its file was written past the mapping, or "
				 "through it: its time moved");
	if (pdet_others_map(c) == PAGEDET_YES)
		return pdet_maybe("another mapping of it is there");
	return pdet_others_map(c) == PAGEDET_NO ?
	       pdet_gone("no other process maps it") :
	       pdet_unseen("whether another mapping wrote it");
}

/* --- on the way, and at the peer --- */

static struct pdet_state old(const struct pdet_case *c)
{
	if (is(c, SENT, PEER))
		return pdet_gone(peer_as_sent);
	if (is(c, PEER, STOPPED))
		return pdet_gone(peer_final);
	if (pdet_is_cleared_there(c))
		return pdet_gone("what was sent had arrived, and was cleared");
	if (c->e.earlier == PAGEDET_YES)
		return pdet_maybe("the source had it earlier");
	if (c->e.earlier == PAGEDET_NO)
		return pdet_gone("the source never had it");
	if (pdet_never_sent(c))
		return pdet_gone(never);
	return c->e.pass_sent == 1 ? pdet_gone("it was sent only once") :
		pdet_unseen("whether it is an earlier version of the page");
}

static struct pdet_state misplaced(const struct pdet_case *c)
{
	if (is(c, SENT, PEER))
		return pdet_gone(peer_as_sent);
	if (is(c, PEER, STOPPED))
		return pdet_gone(peer_final);
	if (pdet_is_zero(c, PEER, PAGEDET_YES))
		return pdet_gone("zeroes do not belong to any one page");
	if (c->e.same_as_other == PAGEDET_YES)
		return pdet_maybe("another page here has it");
	return c->e.same_as_other == PAGEDET_NO ?
	       pdet_gone("no other page here has it") :
	       pdet_unseen("whether it is another page's contents");
}

static struct pdet_state after_tap(const struct pdet_case *c)
{
	if (is(c, SENT, PEER))
		return pdet_gone(peer_as_sent);
	if (is(c, PEER, STOPPED))
		return pdet_gone(peer_final);
	if (pdet_never_sent(c))
		return pdet_gone(never);
	/*
	 * Damage does not turn a page into one of its older versions, or into
	 * another page. But it may clear a page that was zero before.
	 */
	if (pdet_is_zero(c, PEER, PAGEDET_YES))
		return differs(c, SENT, PEER) ?
		       pdet_maybe("the peer has zeroes, which were not sent") :
		       pdet_unseen(look_sent);
	if (c->e.earlier == PAGEDET_YES)
		return pdet_gone("the peer has what the source had "
				     "earlier");
	if (c->e.same_as_other == PAGEDET_YES)
		return pdet_gone("the peer has what another page has");
	return differs(c, SENT, PEER) ?
	       pdet_maybe("the peer does not have what was sent") :
	       pdet_unseen(look_sent);
}

static struct pdet_state missing(const struct pdet_case *c)
{
	const uint32_t lacks = pdet_lacks(c, PAGEDET_SIDE_PEER);

	if (is(c, SENT, PEER))
		return pdet_gone(peer_as_sent);
	if (is(c, PEER, STOPPED))
		return pdet_gone(peer_final);
	if (lacks == PAGEDET_NO)
		return pdet_gone("the peer has contents for it");
	return lacks == PAGEDET_YES ? pdet_maybe("there is nothing there") :
		pdet_unseen("whether the peer has the page at all");
}

static struct pdet_state peer_ran(const struct pdet_case *c)
{
	if (c->e.peer_ran == PAGEDET_YES)
		return pdet_maybe("it ran");
	if (c->e.peer_ran == PAGEDET_NO)
		return pdet_gone("it did not run");
	if (is(c, SENT, PEER))
		return pdet_gone(peer_as_sent);
	if (is(c, PEER, STOPPED))
		return pdet_gone(peer_final);
	return is(c, PEER_STOPPED, PEER) ?
	       pdet_gone("it has not changed since it arrived") :
	       pdet_unseen("whether the peer ran after the switch");
}

/* One differing bit is not a proof: a stale page may look the same. */
static struct pdet_state flip(const struct pdet_case *c)
{
	if (c->e.compared == PAGEDET_YES && c->e.bits != 1)
		return pdet_gone("more than one bit differs");
	if (c->e.counters_here == PAGEDET_NO &&
	    c->e.counters_peer == PAGEDET_NO)
		return pdet_gone("no counter of machine checks moved");
	if (c->e.compared != PAGEDET_YES)
		return pdet_unseen("where the bytes differ");
	return pdet_unseen("whether counters of machine checks (MCE, EDAC) "
			   "moved on either host");
}

/* Hardware can write without the tracker's notice. */
static struct pdet_state rot(const struct pdet_case *c)
{
	if (c->e.counters_here == PAGEDET_YES)
		return pdet_maybe("counters of machine checks moved");
	return c->e.counters_here == PAGEDET_NO ?
	       pdet_gone("no counter of machine checks moved") :
	       pdet_unseen("whether counters of machine checks (MCE, EDAC) "
			   "moved at the source");
}

/* --- anywhere --- */

static bool was_read(uint32_t read, const struct pdet_case *c, unsigned version)
{
	return read == PAGEDET_READ_DONE || c->e.compared == PAGEDET_YES ||
	       c->e.hash_state[version] == PAGEDET_HAVE ||
	       c->e.zero[version] != PAGEDET_DUNNO;
}

static struct pdet_state poison(const struct pdet_case *c)
{
	return was_read(c->e.here_read, c, NOW) &&
	       was_read(c->e.peer_read, c, PEER) ?
	       pdet_gone("the bytes of both sides can be read") :
	       pdet_unseen("whether its bytes can still be read");
}

/*
 * Counts the places where the fault may have happened. If there is only one
 * place, there was one fault.
 */
static struct pdet_state two(const struct pdet_case *c)
{
	if (pdet_is_changed_here(c) && differs(c, PEER, STOPPED))
		return pdet_maybe("it changed here after the source had "
				 "stopped, and the peer has other bytes");
	if (is(c, SENT, NOW))
		return pdet_gone(as_sent);
	if (is(c, SENT, PEER))
		return pdet_gone(peer_as_sent);
	if (is(c, PEER, STOPPED))
		return pdet_gone(peer_final);
	if (pdet_never_sent(c))
		return pdet_gone(never);
	return differs(c, SENT, NOW) && differs(c, SENT, PEER) ?
	       pdet_maybe("all three contents differ") : pdet_unseen(look_sent);
}

/* --- errors of the observation --- */

static struct pdet_state peer_unsteady(const struct pdet_case *c)
{
	if (c->e.peer_frozen == PAGEDET_NO)
		return pdet_unseen("a comparison while nothing runs");
	if (c->e.peer_frozen == PAGEDET_YES)
		return pdet_gone("the peer was frozen");
	return is(c, PEER, PEER_AGAIN) ?
	       pdet_gone("it was the same when it was read twice") :
	       pdet_unseen("whether the peer was frozen when it was read");
}

static struct pdet_state here_unsteady(const struct pdet_case *c)
{
	if (c->e.here_frozen == PAGEDET_NO || pdet_moved(c))
		return pdet_unseen("a comparison while nothing runs");
	if (c->e.here_frozen == PAGEDET_YES)
		return pdet_gone("the source was frozen");
	return is(c, NOW, AGAIN) ?
	       pdet_gone("it was the same when it was read twice") :
	       pdet_unseen("whether the source was frozen: a second hash of "
			   "it would tell");
}

static struct pdet_state while_frozen(const struct pdet_case *c)
{
	if (c->e.here_frozen == PAGEDET_YES)
		return pdet_maybe("the source is said to have been frozen");
	return pdet_unseen("whether the source was frozen when it was read");
}

static struct pdet_state still(const struct pdet_case *c)
{
	return pdet_runs(c) ?
	       pdet_gone("a side is known to have run, or not to have been "
			 "frozen") :
	       pdet_unseen("whether a side ran before it was read");
}

static struct pdet_state refused(const struct pdet_case *c)
{
	return pdet_row_poisoned(&c->here) == PAGEDET_YES ||
	       pdet_row_poisoned(&c->peer) == PAGEDET_YES ?
	       pdet_gone("the kernel has marked it as a memory error") :
	       pdet_unseen("whether the kernel has marked it as a memory "
			   "error");
}

/* The row says that it is poisoned, and nobody tried to read it then. */
static struct pdet_state readable(const struct pdet_case *c)
{
	const bool here = pdet_row_poisoned(&c->here) == PAGEDET_YES &&
			  was_read(c->e.here_read, c, NOW);
	const bool peer = pdet_row_poisoned(&c->peer) == PAGEDET_YES &&
			  was_read(c->e.peer_read, c, PEER);

	return here || peer ? pdet_maybe("its bytes were read") :
	       pdet_unseen("whether its bytes can still be read");
}

static struct pdet_state several(const struct pdet_case *c)
{
	return c->e.unique == PAGEDET_YES ?
	       pdet_gone("one other page has it") :
	       pdet_unseen("which page it belongs to: several pages have the "
			   "same contents");
}

/* --- pages that one side lacks --- */

static struct pdet_state zero_here(const struct pdet_case *c)
{
	return pdet_is_zero(c, NOW, PAGEDET_NO) ?
	       pdet_gone("here it is not all zero") :
	       pdet_unseen("whether the page here is all zero");
}

static struct pdet_state written_late(const struct pdet_case *c)
{
	if (pdet_is_zero(c, SENT, PAGEDET_NO))
		return pdet_gone("other bytes than zeroes were sent");
	if (pdet_is_zero(c, STOPPED, PAGEDET_NO))
		return pdet_gone("it was not zero when the source stopped");
	return pdet_is_zero(c, STOPPED, PAGEDET_YES) ?
	       pdet_maybe("it was all zero when the source stopped") :
	       pdet_unseen(look_stopped);
}

static bool is_shared(const struct pagedet_page *row)
{
	return !pdet_row_has(row, PAGEDET_FIELD_VMA_PROT) ||
	       row->vma_prot & PAGEDET_PROT_SHARED;
}

/* A page of a file may be cached although no entry maps it. */
static struct pdet_state unmapped_peer(const struct pdet_case *c)
{
	if (c->e.peer_missing == PAGEDET_YES || !is_shared(&c->peer))
		return pdet_gone("no file is behind it, or the file has "
				 "nothing there");
	return pdet_is_zero(c, PEER, PAGEDET_YES) ?
	       pdet_gone("zeroes were read there") :
	       pdet_unseen("whether the peer's file holds the page without "
			   "mapping it");
}

static struct pdet_state unmapped_here(const struct pdet_case *c)
{
	if (c->e.here_missing == PAGEDET_YES || !is_shared(&c->here))
		return pdet_gone("no file is behind it, or the file has "
				 "nothing there");
	return pdet_is_zero(c, NOW, PAGEDET_YES) ?
	       pdet_gone("zeroes were read there") :
	       pdet_unseen("whether the file here holds the page without "
			   "mapping it");
}

static struct pdet_state row_moved(const struct pagedet_page *row,
				   bool rests_on_it, const char *look)
{
	if (!rests_on_it)
		return pdet_gone("it does not rest on the row");
	return pdet_row_note(row, PAGEDET_NOTE_TORN) == PAGEDET_NO ?
	       pdet_gone("it stayed the same meanwhile") : pdet_unseen(look);
}

static struct pdet_state peer_moved(const struct pdet_case *c)
{
	const bool said = c->e.peer_missing == PAGEDET_YES ||
			  pdet_is_zero(c, PEER, PAGEDET_YES);

	return row_moved(&c->peer, !said, "a row of the peer's page that was "
			 "not torn");
}

static struct pdet_state here_moved(const struct pdet_case *c)
{
	const bool said = c->e.here_missing == PAGEDET_YES ||
			  pdet_is_zero(c, NOW, PAGEDET_YES);

	return row_moved(&c->here, !said, "a row of the source's page that was "
			 "not torn");
}

static struct pdet_state other_here(const struct pdet_case *c)
{
	return row_moved(&c->here, true, "a row of the source's page that was "
			 "not torn");
}

static struct pdet_state other_peer(const struct pdet_case *c)
{
	return row_moved(&c->peer, true, "a row of the peer's page that was "
			 "not torn");
}

/* --- the list --- */

#define RIVAL(rival, name, look, blind, cause) \
	const struct pdet_rival pdet_rival_##rival = \
		{ name, cause, look, PAGEDET_CONFIDENCE_##blind }
#define LOOK(rival, name, look, blind, cause) static RIVAL(rival, name, look, \
							  blind, cause)

RIVAL(changed_here, "changed-here-after-stop", changed_here, LOW,
      "it changed here after the source had stopped");
RIVAL(vanished, "vanished-here", vanished, MEDIUM,
      "the source has given the page back");
RIVAL(before_tap, "changed-before-tap", before_tap, MEDIUM,
      "the bytes that were sent differ from those in memory");
RIVAL(not_resent, "dirty-log-lost", not_resent, MEDIUM,
      "the guest wrote it after it was sent, and it was not sent again");
RIVAL(untracked, "write-untracked", untracked, LOW,
      "it was written after it was sent, but not through the tracked mapping");
RIVAL(old, "stale-version", old, MEDIUM,
      "the peer has an earlier version of the page");
RIVAL(misplaced, "misplaced", misplaced, MEDIUM,
      "the peer has the contents of another page");
RIVAL(after_tap, "changed-after-send", after_tap, MEDIUM,
      "it changed on the way, or at the peer");
RIVAL(missing, "missing-at-peer", missing, MEDIUM,
      "the peer does not have the page");
RIVAL(poison, "memory-error", poison, MEDIUM,
      "its bytes are lost to a memory error");
RIVAL(two, "two-faults", two, MEDIUM, "there are two faults");

LOOK(writers, "other-writer", writers, MEDIUM, "another writer wrote it");
LOOK(flip, "bit-flip", flip, MEDIUM, "a bit of memory flipped");
LOOK(rot, "broken-memory", rot, MEDIUM, "memory of the source is broken");
LOOK(in_flight, "write-in-flight", in_flight, MEDIUM,
     "a write of the guest's device was in flight when the source stopped");
LOOK(by_guest, "given-back-by-guest", by_guest, MEDIUM,
     "the guest gave it back while it ran: a balloon, or free page reporting");
LOOK(still, "nothing-ran", still, MEDIUM,
     "neither side ran, and the contents differ");
LOOK(refused, "read-refused", refused, MEDIUM,
     "the read was refused for another reason");
LOOK(readable, "still-readable", readable, MEDIUM,
     "its bytes can still be read");
LOOK(here_ran, "source-ran", here_ran, MEDIUM,
     "the source ran after the switch");
LOOK(peer_ran, "peer-ran", peer_ran, MEDIUM, "the peer ran after the switch");
LOOK(here_unsteady, "source-unsteady", here_unsteady, MEDIUM,
     "the source changed while it was read");
LOOK(peer_unsteady, "peer-unsteady", peer_unsteady, MEDIUM,
     "the peer changed while it was read");
LOOK(while_frozen, "changed-while-frozen", while_frozen, MEDIUM,
     "memory changed while nothing ran");
LOOK(several, "other-place", several, MEDIUM, "it belongs to yet another page");
LOOK(zero_here, "zero-here", zero_here, MEDIUM,
     "the page is all zero here, so that nothing is missing");
LOOK(written_late, "written-late", written_late, LOW,
     "it was all zero, and changed here after the source had stopped");
LOOK(unmapped_peer, "unmapped-at-peer", unmapped_peer, MEDIUM,
     "the peer's file has the page");
LOOK(unmapped_here, "unmapped-here", unmapped_here, MEDIUM,
     "the file here has the page");
LOOK(peer_moved, "peer-moved", peer_moved, MEDIUM,
     "the peer's row is about another page, or another moment");
LOOK(here_moved, "moved", here_moved, MEDIUM,
     "the row here is about another page, or another moment");

LOOK(other_here, "moved", other_here, MEDIUM,
     "the row here is about another page, or another moment");
LOOK(other_peer, "peer-moved", other_peer, MEDIUM,
     "the peer's row is about another page, or another moment");

#define CAUSES \
	&pdet_rival_changed_here, &pdet_rival_here_ran, &pdet_rival_vanished, \
	&pdet_rival_before_tap, &pdet_rival_not_resent, \
	&pdet_rival_untracked, &pdet_rival_old, &pdet_rival_misplaced, \
	&pdet_rival_after_tap, &pdet_rival_missing, &pdet_rival_peer_ran, \
	&pdet_rival_poison, &pdet_rival_two, &pdet_rival_here_unsteady, \
	&pdet_rival_peer_unsteady

const struct pdet_rival *const pdet_rivals_mismatch[] = { CAUSES, NULL };
const struct pdet_rival *const pdet_rivals_written[] = {
	CAUSES, &pdet_rival_writers, NULL
};
const struct pdet_rival *const pdet_rivals_flip[] = {
	CAUSES, &pdet_rival_flip, NULL
};
const struct pdet_rival *const pdet_rivals_untracked[] = {
	CAUSES, &pdet_rival_rot, NULL
};
const struct pdet_rival *const pdet_rivals_misplaced[] = {
	CAUSES, &pdet_rival_several, NULL
};
const struct pdet_rival *const pdet_rivals_missing[] = {
	&pdet_rival_zero_here, &pdet_rival_written_late,
	&pdet_rival_unmapped_peer, &pdet_rival_peer_moved, NULL
};
const struct pdet_rival *const pdet_rivals_vanished[] = {
	&pdet_rival_after_tap, &pdet_rival_peer_ran, &pdet_rival_two,
	&pdet_rival_here_ran, &pdet_rival_unmapped_here,
	&pdet_rival_here_moved, &pdet_rival_by_guest, NULL
};
const struct pdet_rival *const pdet_rivals_changed_here[] = {
	&pdet_rival_in_flight, &pdet_rival_here_ran, &pdet_rival_vanished,
	&pdet_rival_two, &pdet_rival_here_unsteady, NULL
};
const struct pdet_rival *const pdet_rivals_equal[] = {
	&pdet_rival_here_unsteady, &pdet_rival_peer_unsteady, NULL
};
const struct pdet_rival *const pdet_rivals_unsteady[] = {
	&pdet_rival_while_frozen, NULL
};
const struct pdet_rival *const pdet_rivals_poison[] = {
	&pdet_rival_readable, NULL
};
const struct pdet_rival *const pdet_rivals_running[] = {
	&pdet_rival_still, NULL
};
const struct pdet_rival *const pdet_rivals_refused[] = {
	&pdet_rival_refused, NULL
};
const struct pdet_rival *const pdet_rivals_same_page[] = {
	&pdet_rival_other_here, &pdet_rival_other_peer, NULL
};
