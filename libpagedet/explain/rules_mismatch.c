/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Why contents here and at the peer differ. Three hashes decide most cases: as
 * it was sent (S0), as it is now (S1), as it is at the peer (D). The first rule
 * that fits is taken; those that need more than others stand before them.
 */
#include "explain/explain.h"
#include "kernel/difference.h"

#define SENT PAGEDET_AS_SENT
#define NOW PAGEDET_AS_NOW
#define AGAIN PAGEDET_AS_AGAIN
#define PEER PAGEDET_AS_PEER

enum relation {
	UNKNOWN,		/* one of them is not known */
	OTHER_KEYS,		/* hashes under different keys say nothing */
	EQUAL,
	DIFFERENT
};

static bool is_pair(uint32_t a, uint32_t b, uint32_t x, uint32_t y)
{
	return (a == x && b == y) || (a == y && b == x);
}

/* Different hashes under one key are a proof, equal ones nearly so. */
static enum relation compare(const struct pdet_case *c, uint32_t a, uint32_t b)
{
	const struct pagedet_evidence *e = &c->e;
	const bool hashed = e->hash_state[a] == PAGEDET_HAVE &&
			    e->hash_state[b] == PAGEDET_HAVE;

	if (is_pair(a, b, NOW, PEER) && e->compared == PAGEDET_YES)
		return e->bits || e->bytes ? DIFFERENT : EQUAL;
	if (hashed && e->hash_key[a] == e->hash_key[b])
		return e->hash[a] == e->hash[b] ? EQUAL : DIFFERENT;
	if (e->zero[a] == PAGEDET_YES && e->zero[b] == PAGEDET_YES)
		return EQUAL;
	if ((e->zero[a] == PAGEDET_YES && e->zero[b] == PAGEDET_NO) ||
	    (e->zero[a] == PAGEDET_NO && e->zero[b] == PAGEDET_YES))
		return DIFFERENT;
	return hashed ? OTHER_KEYS : UNKNOWN;
}

/* Page frame and kernel are the same: so are the bytes. */
static bool is_same_page(const struct pdet_case *c)
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

static enum relation contents(const struct pdet_case *c)
{
	return is_same_page(c) ? EQUAL : compare(c, NOW, PEER);
}

/* --- what findings rest on --- */

static bool never_sent(const struct pdet_case *c)
{
	return c->e.hash_state[SENT] == PAGEDET_NONE;
}

static void three_hashes(struct pdet_case *c)
{
	if (never_sent(c))
		pdet_fact_word(c, "hash_sent", 0, "never sent",
			       PAGEDET_SIDE_HERE);
	else
		pdet_fact_hash(c, SENT);
	pdet_fact_hash(c, NOW);
	pdet_fact_hash(c, PEER);
}

static void both_fields(struct pdet_case *c, unsigned field)
{
	pdet_fact_field(c, PAGEDET_SIDE_HERE, field);
	pdet_fact_field(c, PAGEDET_SIDE_PEER, field);
}

static void frozen(struct pdet_case *c)
{
	pdet_fact_known(c, "frozen", c->e.here_frozen, PAGEDET_SIDE_HERE);
	pdet_fact_known(c, "frozen", c->e.peer_frozen, PAGEDET_SIDE_PEER);
}

static void difference(struct pdet_case *c)
{
	const char *shape = pdet_shape_name(c->e.shape);

	if (c->e.compared != PAGEDET_YES)
		return;
	pdet_fact_number(c, "bits", c->e.bits, PAGEDET_TYPE_NUMBER,
			 PAGEDET_SIDE_BOTH, 0);
	pdet_fact_number(c, "bytes", c->e.bytes, PAGEDET_TYPE_NUMBER,
			 PAGEDET_SIDE_BOTH, 0);
	if (shape)
		pdet_fact_word(c, "shape", c->e.shape, shape,
			       PAGEDET_SIDE_BOTH);
}

static void sending(struct pdet_case *c)
{
	static const char *const modes[] = {
		NULL, "precopy", "multifd", "postcopy", "ignore-shared",
		"snapshot",
	};

	if (c->e.mode && c->e.mode < PDET_COUNT(modes))
		pdet_fact_word(c, "mode", c->e.mode, modes[c->e.mode],
			       PAGEDET_SIDE_BOTH);
	if (c->e.pass_sent)
		pdet_fact_number(c, "pass_sent", c->e.pass_sent,
				 PAGEDET_TYPE_NUMBER, PAGEDET_SIDE_HERE, 0);
}

static void tracking(struct pdet_case *c)
{
	static const char *const words[] = {
		NULL, "not armed", "written", "not written",
	};

	if (c->e.track && c->e.track < PDET_COUNT(words))
		pdet_fact_word(c, "track", c->e.track, words[c->e.track],
			       PAGEDET_SIDE_HERE);
}

/* Its mtime is of a tick that began after the page was sent. That it is not
 * proves nothing: a store through a mapping need not move it. */
static bool file_moved(const struct pdet_case *c)
{
	return c->e.file_ns && c->e.hash_ns[SENT] &&
	       c->e.file_ns > c->e.hash_ns[SENT];
}

static void writers(struct pdet_case *c)
{
	const char *comm = pdet_case_text(c, c->e.mapper_comm);

	pdet_fact_known(c, "file_written", c->e.file_written,
			PAGEDET_SIDE_HERE);
	if (c->e.file_ns &&
	    (c->e.file_written == PAGEDET_YES || file_moved(c)))
		pdet_fact_number(c, "file_ns", c->e.file_ns,
				 PAGEDET_TYPE_NUMBER, PAGEDET_SIDE_HERE, 0);
	if (c->e.extra_mappers != PAGEDET_YES) {
		pdet_fact_known(c, "extra_mappers", c->e.extra_mappers,
				PAGEDET_SIDE_HERE);
		return;
	}
	pdet_fact_number(c, "mappers", c->e.mappers, PAGEDET_TYPE_NUMBER,
			 PAGEDET_SIDE_HERE, 0);
	if (c->e.mapper_pid)
		pdet_fact_number(c, "mapper_pid", c->e.mapper_pid,
				 PAGEDET_TYPE_NUMBER, PAGEDET_SIDE_HERE, 0);
	if (*comm)
		pdet_fact_word(c, "mapper_comm", c->e.mapper_comm, comm,
			       PAGEDET_SIDE_HERE);
}

static bool counters_moved(const struct pdet_case *c)
{
	return c->e.counters_here == PAGEDET_YES ||
	       c->e.counters_peer == PAGEDET_YES;
}

static void counters(struct pdet_case *c)
{
	pdet_fact_known(c, "counters_moved", c->e.counters_here,
			PAGEDET_SIDE_HERE);
	pdet_fact_known(c, "counters_moved", c->e.counters_peer,
			PAGEDET_SIDE_PEER);
}

static void counters_unknown(struct pdet_case *c)
{
	if (!counters_moved(c) && (c->e.counters_here != PAGEDET_NO ||
				   c->e.counters_peer != PAGEDET_NO))
		pdet_unknown(c, "whether counters of machine checks (MCE, "
			     "EDAC) moved on either host");
}

/* What is compared must have stood still. */
static void steadiness(struct pdet_case *c)
{
	if (c->e.peer_frozen != PAGEDET_YES)
		pdet_lower(c, "whether the peer was frozen when it was read");
	if (c->e.here_frozen != PAGEDET_YES && compare(c, NOW, AGAIN) != EQUAL)
		pdet_lower(c, "whether the source was frozen: a second hash "
			   "of it would tell");
}

static void sent_unknown(struct pdet_case *c)
{
	if (never_sent(c))
		return;
	if (compare(c, SENT, NOW) == OTHER_KEYS ||
	    compare(c, SENT, PEER) == OTHER_KEYS)
		pdet_unknown(c, "the hash as sent, under the key of the "
			     "others");
	else
		pdet_unknown(c, "the hash as sent");
}

static const char version_unknown[] =
	"whether it is an earlier version of the page";

/* --- the rules --- */

static bool moved(const struct pdet_case *c)
{
	return compare(c, NOW, AGAIN) == DIFFERENT;
}

static bool runs(const struct pdet_case *c)
{
	return c->e.peer_frozen == PAGEDET_NO ||
	       c->e.here_frozen == PAGEDET_NO || moved(c);
}

static bool not_frozen(struct pdet_case *c)
{
	if (contents(c) == EQUAL || !runs(c))
		return false;
	c->confidence = PAGEDET_CONFIDENCE_CERTAIN;
	frozen(c);
	if (moved(c)) {
		pdet_fact_hash(c, NOW);
		pdet_fact_hash(c, AGAIN);
	}
	return true;
}

static bool unreadable(struct pdet_case *c, const struct pagedet_page *row,
		       uint32_t read, uint32_t side)
{
	if (pdet_row_poisoned(row) != PAGEDET_YES ||
	    (read != PAGEDET_READ_REFUSED && read != PAGEDET_READ_DUNNO))
		return false;
	if (c->confidence == PAGEDET_CONFIDENCE_NONE)
		c->confidence = PAGEDET_CONFIDENCE_HIGH;
	if (read == PAGEDET_READ_REFUSED) {
		c->confidence = PAGEDET_CONFIDENCE_CERTAIN;
		pdet_fact_word(c, "read", read, "refused", side);
	} else {
		pdet_unknown(c, "whether its bytes can still be read");
	}
	pdet_fact_field(c, side, PAGEDET_FIELD_FLAGS);
	pdet_fact_field(c, side, PAGEDET_FIELD_PTE);
	return true;
}

static bool memory_error(struct pdet_case *c)
{
	const bool here = unreadable(c, &c->here, c->e.here_read,
				     PAGEDET_SIDE_HERE);
	const bool peer = unreadable(c, &c->peer, c->e.peer_read,
				     PAGEDET_SIDE_PEER);

	if (!here && !peer)
		return false;
	counters(c);
	if ((here && c->e.counters_here == PAGEDET_YES) ||
	    (peer && c->e.counters_peer == PAGEDET_YES)) {
		c->likely = "broken memory: counters of machine checks moved";
		c->likely_confidence = PAGEDET_CONFIDENCE_HIGH;
	} else {
		counters_unknown(c);
	}
	return true;
}

static bool other_keys(struct pdet_case *c)
{
	if (contents(c) != OTHER_KEYS)
		return false;
	three_hashes(c);
	pdet_fact_number(c, "hash_key_now", c->e.hash_key[NOW],
			 PAGEDET_TYPE_HEX, PAGEDET_SIDE_HERE, 0);
	pdet_fact_number(c, "hash_key_peer", c->e.hash_key[PEER],
			 PAGEDET_TYPE_HEX, PAGEDET_SIDE_PEER, 0);
	pdet_unknown(c, "hashes of both sides under one key, or a comparison "
		     "of their bytes");
	return true;
}

static bool no_difference(struct pdet_case *c)
{
	if (contents(c) != EQUAL)
		return false;
	c->confidence = PAGEDET_CONFIDENCE_CERTAIN;
	if (is_same_page(c)) {
		c->cause = "no fault: both sides are the same page of one "
			   "kernel";
	} else if (c->e.compared == PAGEDET_YES) {
		difference(c);
		/* equal by chance, at two moments of pages that change */
		if (runs(c))
			pdet_lower(c, "a comparison while nothing runs");
	} else {
		c->confidence = PAGEDET_CONFIDENCE_HIGH;
		pdet_fact_hash(c, NOW);
		pdet_fact_hash(c, PEER);
		pdet_unknown(c, "a comparison of the bytes");
	}
	frozen(c);
	both_fields(c, PAGEDET_FIELD_PFN);
	both_fields(c, PAGEDET_FIELD_FLAGS);
	both_fields(c, PAGEDET_FIELD_PTE);
	return true;
}

static bool is_shared(const struct pagedet_page *row)
{
	return !pdet_row_has(row, PAGEDET_FIELD_VMA_PROT) ||
	       row->vma_prot & PAGEDET_PROT_SHARED;
}

static void why_missing(struct pdet_case *c)
{
	if (c->e.peer_complete == PAGEDET_NO) {
		c->likely = "pages are still to come";
		c->likely_confidence = PAGEDET_CONFIDENCE_HIGH;
	} else if (never_sent(c)) {
		c->likely = "it was never sent";
		c->likely_confidence = PAGEDET_CONFIDENCE_HIGH;
	} else if (c->e.peer_discarded == PAGEDET_YES) {
		c->likely = "the peer gave it back: a balloon, free page "
			    "hints, or a hole in its file";
		c->likely_confidence = PAGEDET_CONFIDENCE_HIGH;
	} else {
		c->likely = "it was never sent, or the peer gave it back";
		c->likely_confidence = PAGEDET_CONFIDENCE_MEDIUM;
		if (c->e.peer_complete == PAGEDET_DUNNO)
			pdet_unknown(c, "whether all pages have been sent");
		if (c->e.peer_discarded == PAGEDET_DUNNO)
			pdet_unknown(c, "whether the peer gave it back "
				     "(balloon, punched hole)");
	}
}

/* Where its file has nothing, who looks finds zeroes all the same, and may have
 * looked: unless zeroes were sent, nothing has arrived. */
static bool is_never_filled(const struct pdet_case *c)
{
	return c->e.peer_hole == PAGEDET_YES &&
	       c->e.zero[PEER] == PAGEDET_YES &&
	       (never_sent(c) || c->e.zero[SENT] == PAGEDET_NO);
}

static bool missing(struct pdet_case *c)
{
	/* A file's page may be cached without an entry that maps it. */
	if ((pdet_row_absent(&c->peer) != PAGEDET_YES && !is_never_filled(c)) ||
	    c->e.zero[PEER] == PAGEDET_NO || c->e.zero[NOW] == PAGEDET_YES)
		return false;
	c->confidence = PAGEDET_CONFIDENCE_CERTAIN;
	if (pdet_row_note(&c->peer, PAGEDET_NOTE_TORN) == PAGEDET_YES)
		pdet_lower(c, "a row of the peer that did not move while it "
			   "was read");
	if (c->e.zero[NOW] != PAGEDET_NO)
		pdet_lower(c, "whether the page here is all zero");
	if (is_shared(&c->peer) && c->e.zero[PEER] != PAGEDET_YES)
		pdet_lower(c, "whether the peer's file holds the page without "
			   "mapping it");
	pdet_fact_field(c, PAGEDET_SIDE_PEER, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, PAGEDET_SIDE_PEER, PAGEDET_FIELD_PTE);
	pdet_fact_field(c, PAGEDET_SIDE_PEER, PAGEDET_FIELD_VMA_PROT);
	pdet_fact_known(c, "hole", c->e.peer_hole, PAGEDET_SIDE_PEER);
	three_hashes(c);
	sending(c);
	why_missing(c);
	return true;
}

static bool zero_race(struct pdet_case *c)
{
	if (c->e.zero[PEER] != PAGEDET_YES || c->e.zero[SENT] != PAGEDET_YES ||
	    contents(c) != DIFFERENT)
		return false;
	c->confidence = PAGEDET_CONFIDENCE_HIGH;
	three_hashes(c);
	tracking(c);
	sending(c);
	steadiness(c);
	return true;
}

static bool stale(struct pdet_case *c)
{
	if (c->e.earlier != PAGEDET_YES || contents(c) != DIFFERENT ||
	    compare(c, SENT, PEER) == EQUAL)
		return false;
	c->confidence = PAGEDET_CONFIDENCE_HIGH;
	three_hashes(c);
	pdet_fact_known(c, "earlier", c->e.earlier, PAGEDET_SIDE_PEER);
	if (c->e.earlier_pass)
		pdet_fact_number(c, "earlier_pass", c->e.earlier_pass,
				 PAGEDET_TYPE_NUMBER, PAGEDET_SIDE_PEER, 0);
	tracking(c);
	sending(c);
	difference(c);
	if (compare(c, SENT, PEER) != DIFFERENT)
		sent_unknown(c);
	steadiness(c);
	return true;
}

static bool misplaced(struct pdet_case *c)
{
	if (c->e.same_as_other != PAGEDET_YES || contents(c) != DIFFERENT ||
	    c->e.zero[PEER] == PAGEDET_YES ||
	    compare(c, SENT, PEER) == EQUAL)
		return false;
	c->confidence = PAGEDET_CONFIDENCE_HIGH;
	if (c->e.unique != PAGEDET_YES)
		pdet_lower(c, "which page it belongs to: several hold the "
			   "same");
	pdet_fact_number(c, "same_as", c->e.same_as, PAGEDET_TYPE_NUMBER,
			 PAGEDET_SIDE_HERE, 0);
	three_hashes(c);
	sending(c);
	difference(c);
	steadiness(c);
	return true;
}

/* Left alone here, and yet another one there. */
static bool is_changed_after(const struct pdet_case *c)
{
	return compare(c, SENT, NOW) == EQUAL &&
	       compare(c, SENT, PEER) != EQUAL && contents(c) == DIFFERENT;
}

/* An old one that stayed there looks the same. What was sent only once has no
 * earlier version. */
static void earlier_unknown(struct pdet_case *c)
{
	if (c->e.earlier == PAGEDET_DUNNO && c->e.pass_sent != 1)
		pdet_lower(c, version_unknown);
}

/* One bit that differs is no proof: stale pages do that, too. */
static bool bit_flip(struct pdet_case *c)
{
	if (!is_changed_after(c) || c->e.compared != PAGEDET_YES ||
	    c->e.bits != 1 || !counters_moved(c))
		return false;
	c->confidence = PAGEDET_CONFIDENCE_MEDIUM;
	three_hashes(c);
	difference(c);
	counters(c);
	earlier_unknown(c);
	steadiness(c);
	return true;
}

/* Sent, changed here afterwards, and not sent again. */
static bool is_not_resent(const struct pdet_case *c)
{
	return compare(c, SENT, PEER) == EQUAL &&
	       compare(c, SENT, NOW) == DIFFERENT;
}

static void not_resent_facts(struct pdet_case *c)
{
	three_hashes(c);
	tracking(c);
	writers(c);
	sending(c);
	difference(c);
	steadiness(c);
}

static bool write_untracked(struct pdet_case *c)
{
	const bool found = c->e.extra_mappers == PAGEDET_YES ||
			   c->e.file_written == PAGEDET_YES || file_moved(c);

	if (!is_not_resent(c) || c->e.track == PAGEDET_WRITES_SEEN)
		return false;
	if (c->e.track == PAGEDET_WRITES_NONE) {
		c->confidence = found ? PAGEDET_CONFIDENCE_HIGH :
					PAGEDET_CONFIDENCE_MEDIUM;
		if (!found)
			pdet_unknown(c, "who else may write it: other "
				     "mappings, descriptors of its file, "
				     "devices and io_uring with pages that "
				     "they have pinned");
	} else if (c->e.file_written == PAGEDET_YES) {
		/* Who writes through a mapping moves the mtime of some
		 * filesystems, too. */
		c->confidence = PAGEDET_CONFIDENCE_MEDIUM;
		pdet_unknown(c, "whether the write went through the tracked "
			     "mapping: tracking was not armed");
	} else {
		return false;
	}
	c->likely_confidence = PAGEDET_CONFIDENCE_MEDIUM;
	if (c->e.file_written == PAGEDET_YES) {
		c->likely = "its file was written";
	} else if (c->e.extra_mappers == PAGEDET_YES) {
		c->likely = "somebody else who maps it wrote it";
	} else if (found) {
		c->likely = "its file was written, or mapped by somebody who "
			    "is gone";
	} else {
		c->likely_confidence = PAGEDET_CONFIDENCE_NONE;
	}
	not_resent_facts(c);
	return true;
}

static bool dirty_log_lost(struct pdet_case *c)
{
	if (!is_not_resent(c))
		return false;
	c->confidence = PAGEDET_CONFIDENCE_HIGH;
	if (c->e.track != PAGEDET_WRITES_SEEN)
		pdet_lower(c, c->e.track == PAGEDET_WRITES_NOT_ARMED ?
			   "whether the write went through the tracked "
			   "mapping: tracking was not armed" :
			   "whether the write went through the tracked "
			   "mapping");
	if (c->e.track != PAGEDET_WRITES_SEEN &&
	    c->e.extra_mappers == PAGEDET_YES)
		pdet_lower(c, "whether another mapping wrote it");
	else if (c->e.track != PAGEDET_WRITES_SEEN && file_moved(c))
		pdet_lower(c, "whether its file was written past the mapping: "
			   "its time moved");
	not_resent_facts(c);
	return true;
}

static bool changed_after(struct pdet_case *c)
{
	if (!is_changed_after(c))
		return false;
	c->confidence = PAGEDET_CONFIDENCE_HIGH;
	three_hashes(c);
	difference(c);
	counters(c);
	both_fields(c, PAGEDET_FIELD_MAPCOUNT);
	sending(c);
	if (c->e.compared != PAGEDET_YES)
		pdet_unknown(c, "where the bytes differ");
	else if (c->e.bits == 1)
		counters_unknown(c);
	earlier_unknown(c);
	steadiness(c);
	return true;
}

static bool two_faults(struct pdet_case *c)
{
	if (compare(c, SENT, PEER) != DIFFERENT ||
	    compare(c, SENT, NOW) != DIFFERENT || contents(c) != DIFFERENT)
		return false;
	c->confidence = PAGEDET_CONFIDENCE_LOW;
	three_hashes(c);
	tracking(c);
	writers(c);
	difference(c);
	if (c->e.earlier == PAGEDET_DUNNO)
		pdet_unknown(c, version_unknown);
	if (c->e.same_as_other == PAGEDET_DUNNO)
		pdet_unknown(c, "whether it is another page's contents");
	steadiness(c);
	return true;
}

static bool cannot_tell(struct pdet_case *c)
{
	three_hashes(c);
	difference(c);
	tracking(c);
	writers(c);
	frozen(c);
	both_fields(c, PAGEDET_FIELD_PTE);
	if (contents(c) == UNKNOWN) {
		c->cause = "cannot tell whether the contents differ";
		if (c->e.hash_state[PEER] != PAGEDET_HAVE)
			pdet_unknown(c, "the hash at the peer");
		if (c->e.hash_state[NOW] != PAGEDET_HAVE)
			pdet_unknown(c, "the hash here");
	}
	if (compare(c, SENT, PEER) != EQUAL &&
	    compare(c, SENT, PEER) != DIFFERENT)
		sent_unknown(c);
	if (c->e.earlier == PAGEDET_DUNNO)
		pdet_unknown(c, version_unknown);
	return true;
}

#define RULE(id, verdict, name, fits, cause, advice) \
	PDET_RULE(id, MISMATCH, verdict, name, fits, cause, advice)

const struct pdet_rule pdet_rules_mismatch[] = {
	RULE(1, FINE, "not-frozen", not_frozen,
	     "no fault is shown: one side ran while it was read, so its contents "
	     "need not be of one moment",
	     "freeze both sides, and compare again"),
	RULE(2, CAUSE, "memory-error", memory_error,
	     "the kernel has taken the page for a memory error: its bytes are "
	     "lost",
	     "if it is the source, fail the migration; do not try the page "
	     "again; look into the kernel log for machine checks, and replace "
	     "the memory if there are any"),
	RULE(13, CANNOT_TELL, "hash-keys-differ", other_keys,
	     "hashes under different keys say nothing about the contents",
	     "hash both sides under one key (--hash-key), or compare their "
	     "bytes"),
	RULE(11, FINE, "no-difference", no_difference,
	     "no fault: the contents are equal; another page frame, other "
	     "flags, a merged, split or swapped page are no difference",
	     "nothing"),
	RULE(3, CAUSE, "missing-at-peer", missing,
	     "the page is missing at the peer: it never arrived, or was "
	     "discarded there",
	     "look at the state of postcopy, at balloon and free page hints, "
	     "and at who punches holes into the file"),
	RULE(4, CAUSE, "zero-page-race", zero_race,
	     "sent as a zero page, and written later without being sent again",
	     "as for a lost dirty log: report it to the maker of the VMM; "
	     "stop, and copy again"),
	RULE(10, CAUSE, "stale-version", stale,
	     "the peer has an earlier version of the page",
	     "stop, and copy again; look for writes past the dirty log, and "
	     "for a lost dirty log"),
	RULE(9, CAUSE, "misplaced", misplaced,
	     "the peer has the contents of another page",
	     "a fault of the VMM (offset, order of blocks, channel): report "
	     "both places"),
	RULE(8, CAUSE, "bit-flip", bit_flip,
	     "one bit differs, and counters of machine checks moved: a bit "
	     "flip of the memory",
	     "test the memory of the host whose counters moved"),
	RULE(5, CAUSE, "write-untracked", write_untracked,
	     "written after it was sent, past the tracked mapping: by another "
	     "mapping, through its file, or into memory that a device or "
	     "io_uring has pinned",
	     "list who maps the page and who has its file open; check the "
	     "ranges that vhost-user and VFIO log, and what is registered "
	     "with io_uring"),
	RULE(6, CAUSE, "dirty-log-lost", dirty_log_lost,
	     "written after it was sent, and not sent again: the dirty log "
	     "lost it",
	     "report it to the maker of the VMM; stop, and copy again"),
	RULE(7, CAUSE, "changed-after-send", changed_after,
	     "changed on the way, or at the peer after it arrived",
	     "look who maps or writes the page at the peer, then at the "
	     "transport, at the hardware last"),
	RULE(12, CAUSE, "two-faults", two_faults,
	     "all three contents differ: two faults, or the hash as sent is "
	     "wrong",
	     "keep both pages, and collect again"),
	RULE(14, CANNOT_TELL, "mismatch-unknown", cannot_tell,
	     "cannot tell why the contents differ",
	     "keep the hash of each page as it is sent, and arm write "
	     "tracking"),
	{ { 0, NULL, NULL, NULL, 0, 0, 0, 0 }, NULL },
};
