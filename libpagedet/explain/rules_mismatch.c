/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The table of rules about mismatches. They compare versions of the page:
 * before it was sent, as sent, when the source had stopped, and now on both
 * sides. The first rule that fits is used, so rules with more conditions come
 * first.
 */
#include "explain/mismatch.h"

#define RULE(id, verdict, name, rival, cause, advice, ...) {                 \
	.info = PDET_RULE_INFO(id, MISMATCH, verdict, name, cause, advice),  \
	.own = rival,                                                        \
	.ways = { __VA_ARGS__ } }
/* A rule with advice to let a side continue. */
#define RUNS(id, verdict, name, rival, side, cause, advice, unproven, ...) { \
	.info = PDET_RULE_INFO(id, MISMATCH, verdict, name, cause, advice),  \
	.own = rival,                                                        \
	.lets_run = PAGEDET_SIDE_##side,                                     \
	.otherwise = unproven,                                               \
	.ways = { __VA_ARGS__ } }

static const char copy_again[] =
	"report it to the maker of the VMM; stop, and copy again";
static const char report_keep[] =
	"report it to the maker of the VMM; " PDET_KEEP_BOTH;

const struct pdet_rule pdet_rules_mismatch[] = {
	RULE(2, CAUSE, "memory-error", NULL,
	     "the kernel has marked the page as a memory error: its bytes are "
	     "lost",
	     "if this is the source, fail the migration; do not read the page "
	     "again; look for machine checks in the kernel log, and replace "
	     "the memory if there are any",
	     { pdet_unreadable, PDET_CERTAIN, pdet_rivals_refused },
	     { pdet_poisoned, PDET_HIGH, pdet_rivals_poison }),
	RULE(1, FINE, "not-frozen", NULL,
	     "no fault is shown: one side ran before it was read, so its "
	     "contents may be of several moments",
	     "freeze both sides, and compare again",
	     { pdet_not_frozen, PDET_CERTAIN, pdet_rivals_running },
	     { pdet_moved_frozen, PDET_HIGH, pdet_rivals_unsteady }),
	RULE(13, CANNOT_TELL, "hash-keys-differ", NULL,
	     "hashes under different keys say nothing about the contents",
	     "hash both sides under one key (--hash-key), or compare their "
	     "bytes",
	     { pdet_other_keys, PDET_LOW, NULL }),
	RULE(11, FINE, "no-difference", NULL,
	     "no fault: the contents are equal; another page frame, other "
	     "flags, or a merged, split or swapped page is not a difference",
	     "nothing",
	     { pdet_same_page, PDET_CERTAIN, pdet_rivals_same_page },
	     { pdet_same_bytes, PDET_CERTAIN, pdet_rivals_equal },
	     { pdet_same_hash, PDET_HIGH, pdet_rivals_equal }),
	RULE(17, CAUSE, "vanished-here", &pdet_rival_vanished,
	     "the page has vanished here: the source has given back what it "
	     "had",
	     "do not let the source go on; find what gives back its memory: "
	     "MADV_DONTNEED, a balloon, holes in its file, or a file that was "
	     "cut off",
	     { pdet_vanished, PDET_HIGH, pdet_rivals_vanished }),
	RULE(3, CAUSE, "missing-at-peer", &pdet_rival_missing,
	     "the page is missing at the peer: it never arrived, or was "
	     "discarded there",
	     "check the state of postcopy, balloon and free page hints, and "
	     "what punches holes into the file",
	     { pdet_missing, PDET_CERTAIN, pdet_rivals_missing }),
	RUNS(15, CAUSE, "changed-here-after-stop", &pdet_rival_changed_here,
	     PEER,
	     "changed here after the source had stopped: the source is "
	     "damaged, not the peer",
	     "do not let the source go on: the peer has what the source had "
	     "when it stopped; find what writes the memory of the source while "
	     "its guest is stopped, and suspect its hardware last",
	     "let neither the source nor the peer go on: it is not proven that "
	     "the peer is intact, and that the source did not run; find what "
	     "writes the memory of the source while its guest is stopped",
	     { pdet_changed_here, PDET_HIGH, pdet_rivals_changed_here },
	     { pdet_changed_at_stop, PDET_MEDIUM, pdet_rivals_changed_here }),
	RUNS(16, CAUSE, "changed-before-tap", &pdet_rival_before_tap, HERE,
	     "the bytes that were sent differ from those that memory here had "
	     "before and afterwards: they changed between memory and the "
	     "stream",
	     "report it to the maker of the VMM: check how it reads, "
	     "compresses and queues pages; stop, and copy again",
	     "report it to the maker of the VMM: check how it reads, "
	     "compresses and queues pages; " PDET_KEEP_BOTH,
	     { pdet_before_tap, PDET_HIGH, pdet_rivals_mismatch }),
	RUNS(4, CAUSE, "zero-page-race", &pdet_rival_not_resent, HERE,
	     "sent as a zero page, and written later without being sent again",
	     copy_again, report_keep,
	     { pdet_zero_race, PDET_HIGH, pdet_rivals_written }),
	RUNS(10, CAUSE, "stale-version", &pdet_rival_old, HERE,
	     "the peer has an earlier version of the page",
	     "stop, and copy again; look for writes past the dirty log, and "
	     "for a lost dirty log",
	     "look for writes past the dirty log, and for a lost dirty log; "
	     PDET_KEEP_BOTH,
	     { pdet_stale_version, PDET_HIGH, pdet_rivals_mismatch }),
	RULE(9, CAUSE, "misplaced", &pdet_rival_misplaced,
	     "the peer has the contents of another page",
	     "a fault of the VMM (offset, order of blocks, channel): report "
	     "both places",
	     { pdet_misplaced, PDET_HIGH, pdet_rivals_misplaced }),
	RULE(8, CAUSE, "bit-flip", &pdet_rival_after_tap,
	     "one bit differs, and counters of machine checks moved: a bit "
	     "flip of the memory",
	     "test the memory of the host whose counters moved",
	     { pdet_bit_flip, PDET_MEDIUM, pdet_rivals_mismatch }),
	RULE(5, CAUSE, "write-untracked", &pdet_rival_untracked,
	     "written after it was sent, but not through the tracked mapping: "
	     "by another mapping, through its file, or into memory that a "
	     "device or io_uring has pinned",
	     "list the processes that map the page or have its file open; "
	     "check the ranges that vhost-user and VFIO log, and the buffers "
	     "that are registered with io_uring",
	     { pdet_untracked_by, PDET_HIGH, pdet_rivals_untracked },
	     { pdet_untracked, PDET_MEDIUM, pdet_rivals_untracked }),
	RUNS(6, CAUSE, "dirty-log-lost", &pdet_rival_not_resent, HERE,
	     "written after it was sent, and not sent again: the dirty log "
	     "lost it",
	     copy_again, report_keep,
	     { pdet_dirty_log_lost, PDET_HIGH, pdet_rivals_written }),
	RULE(7, CAUSE, "changed-after-send", &pdet_rival_after_tap,
	     "changed on the way, or at the peer after it arrived",
	     "find what maps or writes the page at the peer; then suspect the "
	     "transport, and the hardware last",
	     { pdet_changed_after, PDET_HIGH, pdet_rivals_flip }),
	RULE(12, CAUSE, "two-faults", &pdet_rival_two,
	     "all three contents differ: two faults, or the hash as sent is "
	     "wrong",
	     "keep both pages, and collect again",
	     { pdet_two_faults, PDET_LOW, pdet_rivals_mismatch }),
	RULE(14, CANNOT_TELL, "mismatch-unknown", NULL,
	     "cannot tell why the contents differ",
	     "keep the hash of each page as it is sent, read the source as "
	     "soon as it stops, and arm write tracking",
	     { pdet_mismatch_unknown, PDET_LOW, pdet_rivals_mismatch }),
	{ .info = { 0 } },
};
