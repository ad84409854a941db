/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests the rules about mismatches. Each rule has a scenario that it fits, and
 * a slightly different one that it does not. Also tests properties of any
 * evidence.
 */
#include "explain/explain.h"
#include "../explain_any.h"

#define MISMATCH(name, confidence) \
	expect(PAGEDET_ASK_MISMATCH, name, PAGEDET_CONFIDENCE_##confidence)

START_TEST(rule_1_not_frozen)
{
	hashes(1, 2, 1);
	e.peer_frozen = PAGEDET_NO;
	MISMATCH("not-frozen", CERTAIN);
	hashes(1, 2, 1);
	set_hash(PAGEDET_AS_AGAIN, 3);
	/* With a claim that it was frozen, memory changed by itself. */
	MISMATCH("not-frozen", MEDIUM);
	e.here_frozen = PAGEDET_NO;
	MISMATCH("not-frozen", CERTAIN);
	e.here_frozen = PAGEDET_YES;
	ck_assert_ptr_nonnull(fact("hash_again", PAGEDET_SIDE_HERE));
	/* Another key proves nothing. */
	e.hash_key[PAGEDET_AS_AGAIN] = 9;
	MISMATCH("dirty-log-lost", LOW);
	/* Equal contents are not a mismatch. */
	hashes(1, 1, 1);
	e.peer_frozen = PAGEDET_NO;
	MISMATCH("no-difference", MEDIUM);
	/* Nor is it certain while they change. */
	e.compared = PAGEDET_YES;
	MISMATCH("no-difference", MEDIUM);
	ck_assert(names_unknown("while nothing runs"));
	e.peer_frozen = PAGEDET_YES;
	MISMATCH("no-difference", CERTAIN);
}
END_TEST

START_TEST(rule_2_memory_error)
{
	hashes(1, 2, 1);
	e.hash_state[PAGEDET_AS_NOW] = PAGEDET_IO;
	e.zero[PAGEDET_AS_NOW] = PAGEDET_DUNNO;
	e.here_read = PAGEDET_READ_REFUSED;
	set_flags(&here, PAGEDET_PF(PAGEDET_PF_HWPOISON));
	MISMATCH("memory-error", CERTAIN);
	/* Whether hardware caused it is another question. */
	ck_assert_str_eq(found[0].likely, "");
	e.counters_peer = PAGEDET_DUNNO;
	MISMATCH("memory-error", CERTAIN);
	ck_assert(names_unknown("machine checks"));
	e.counters_here = PAGEDET_YES;
	MISMATCH("memory-error", CERTAIN);
	ck_assert_ptr_nonnull(strstr(found[0].likely, "broken memory"));
	/* They count the errors of all memory, and a page can be poisoned by
	 * hand. */
	ck_assert_uint_eq(found[0].likely_confidence,
			  PAGEDET_CONFIDENCE_MEDIUM);
	/* Its bytes are lost, whatever runs. */
	e.peer_ran = PAGEDET_YES;
	MISMATCH("memory-error", CERTAIN);
	e.peer_ran = PAGEDET_NO;
	/* A read that failed for another reason is not poison. */
	set_flags(&here, 0);
	MISMATCH("mismatch-unknown", NONE);
	/* The entry at the peer also shows it. */
	set_pte(&peer, PAGEDET_PTE(PAGEDET_PTE_HWPOISON));
	e.peer_read = PAGEDET_READ_REFUSED;
	MISMATCH("memory-error", CERTAIN);
	/* That it was read does not make it surer that it cannot be read. */
	hashes(1, 1, 2);
	set_flags(&here, PAGEDET_PF(PAGEDET_PF_HWPOISON));
	MISMATCH("memory-error", MEDIUM);
	ck_assert_uint_eq(alternative("still-readable")->state,
			  PAGEDET_ALTERNATIVE_POSSIBLE);
	e.hash_state[PAGEDET_AS_NOW] = PAGEDET_IO;
	e.zero[PAGEDET_AS_NOW] = PAGEDET_DUNNO;
	MISMATCH("memory-error", MEDIUM);
	ck_assert(names_unknown("can still be read"));
}
END_TEST

START_TEST(rule_3_missing)
{
	hashes(1, 1, 0);
	set_pte(&peer, 0);
	MISMATCH("missing-at-peer", CERTAIN);
	ck_assert_uint_eq(found[0].likely_confidence,
			  PAGEDET_CONFIDENCE_MEDIUM);
	ck_assert_ptr_nonnull(strstr(found[0].likely, "did not store it"));
	/* The source may have told it to discard the page. */
	e.peer_discarded = PAGEDET_YES;
	MISMATCH("missing-at-peer", CERTAIN);
	ck_assert_ptr_nonnull(strstr(found[0].likely, "postcopy"));
	e.peer_discarded = PAGEDET_DUNNO;
	e.peer_complete = PAGEDET_NO;
	MISMATCH("missing-at-peer", CERTAIN);
	ck_assert_str_eq(found[0].likely, "pages are still to come");
	ck_assert_uint_eq(found[0].likely_confidence,
			  PAGEDET_CONFIDENCE_MEDIUM);
	e.peer_discarded = PAGEDET_YES;
	MISMATCH("missing-at-peer", CERTAIN);
	ck_assert_uint_eq(found[0].likely_confidence,
			  PAGEDET_CONFIDENCE_HIGH);
	e.peer_discarded = PAGEDET_DUNNO;
	/* Without its contents, it may be in a file without being mapped. */
	e.hash_state[PAGEDET_AS_PEER] = PAGEDET_TOO_COSTLY;
	e.zero[PAGEDET_AS_PEER] = PAGEDET_DUNNO;
	SET(&peer, NOTES, notes, 0);
	MISMATCH("missing-at-peer", MEDIUM);
	ck_assert(names_unknown("without mapping it"));
	/* A swapped page is not missing. */
	set_pte(&peer, PAGEDET_PTE(PAGEDET_PTE_SWAPPED));
	MISMATCH("mismatch-unknown", NONE);
	/* Read as zeroes, and the file has a hole there. */
	hashes(1, 1, 0);
	set_pte(&peer, PAGEDET_PTE(PAGEDET_PTE_PRESENT));
	e.peer_hole = PAGEDET_YES;
	MISMATCH("missing-at-peer", CERTAIN);
	ck_assert_ptr_nonnull(fact("hole", PAGEDET_SIDE_PEER));
	/* Zeroes that were sent are present without being stored. */
	hashes(0, 1, 0);
	set_pte(&peer, PAGEDET_PTE(PAGEDET_PTE_PRESENT));
	e.peer_hole = PAGEDET_YES;
	e.track = PAGEDET_WRITES_SEEN;
	MISMATCH("zero-page-race", HIGH);
	/* The sent version is not known. */
	e.hash_state[PAGEDET_AS_SENT] = PAGEDET_NOT_ASKED;
	e.zero[PAGEDET_AS_SENT] = PAGEDET_DUNNO;
	MISMATCH("mismatch-unknown", NONE);
	/* It is known that it was never sent. */
	e.hash_state[PAGEDET_AS_SENT] = PAGEDET_NONE;
	MISMATCH("missing-at-peer", CERTAIN);
	ck_assert_str_eq(found[0].likely, "it was never sent");
	ck_assert(!names_unknown("hash as sent"));
	/* Zeroes here are the missing page there. */
	hashes(0, 0, 0);
	set_pte(&peer, 0);
	MISMATCH("no-difference", HIGH);
	/* Neither side has it, and nothing shows that it had contents. */
	setup();
	e.here_frozen = e.peer_frozen = PAGEDET_YES;
	set_pte(&here, 0);
	set_pte(&peer, 0);
	MISMATCH("mismatch-unknown", NONE);
}
END_TEST

START_TEST(rule_4_zero_race)
{
	hashes(0, 5, 0);
	set_pte(&peer, PAGEDET_PTE(PAGEDET_PTE_PRESENT));
	e.track = PAGEDET_WRITES_SEEN;
	MISMATCH("zero-page-race", HIGH);
	/* Zeroes that are sent need not be stored. */
	set_pte(&peer, 0);
	MISMATCH("zero-page-race", HIGH);
	/* The source told the peer to drop them, and nothing came then. */
	e.peer_discarded = PAGEDET_YES;
	MISMATCH("missing-at-peer", CERTAIN);
	e.peer_discarded = PAGEDET_DUNNO;
	/* A write that bypassed the tracked mapping is not excluded. */
	e.track = PAGEDET_WRITES_DUNNO;
	MISMATCH("zero-page-race", LOW);
	/* It did. */
	e.track = PAGEDET_WRITES_NONE;
	MISMATCH("write-untracked", MEDIUM);
	hashes(5, 6, 0);
	MISMATCH("two-faults", LOW);
}
END_TEST

START_TEST(rule_5_untracked)
{
	hashes(1, 2, 1);
	e.track = PAGEDET_WRITES_NONE;
	MISMATCH("write-untracked", MEDIUM);
	ck_assert(names_unknown("what else may write"));
	e.extra_mappers = PAGEDET_YES;
	MISMATCH("write-untracked", HIGH);
	e.extra_mappers = PAGEDET_NO;
	e.file_written = PAGEDET_YES;
	MISMATCH("write-untracked", HIGH);
	/*
	 * Write tracking was not armed, so only the file's mtime supports it.
	 */
	e.track = PAGEDET_WRITES_NOT_ARMED;
	MISMATCH("write-untracked", LOW);
	/* Written through the mapping: this rule does not fit. */
	e.track = PAGEDET_WRITES_SEEN;
	MISMATCH("dirty-log-lost", HIGH);
	/* The file's mtime, without a known writer. */
	hashes(1, 2, 1);
	e.track = PAGEDET_WRITES_NONE;
	e.hash_ns[PAGEDET_AS_SENT] = 1000;
	e.file_ns = 1000;
	MISMATCH("write-untracked", MEDIUM);
	e.file_ns = 1001;
	MISMATCH("write-untracked", HIGH);
	ck_assert_ptr_nonnull(fact("file_ns", PAGEDET_SIDE_HERE));
	ck_assert_ptr_nonnull(strstr(found[0].likely, "that has ended"));
	/* Stores through a mapping change it as well. */
	e.track = PAGEDET_WRITES_NOT_ARMED;
	MISMATCH("dirty-log-lost", LOW);
	ck_assert_ptr_nonnull(strstr(alternative("other-writer")->why,
				     "its time moved"));
}
END_TEST

START_TEST(rule_6_dirty_log)
{
	hashes(1, 2, 1);
	e.track = PAGEDET_WRITES_SEEN;
	MISMATCH("dirty-log-lost", HIGH);
	e.track = PAGEDET_WRITES_NOT_ARMED;
	MISMATCH("dirty-log-lost", LOW);
	ck_assert(names_unknown("not armed"));
	e.extra_mappers = PAGEDET_YES;
	MISMATCH("dirty-log-lost", LOW);
	/* A side that may have run lowers the confidence. */
	e.extra_mappers = PAGEDET_NO;
	e.track = PAGEDET_WRITES_SEEN;
	e.peer_frozen = PAGEDET_DUNNO;
	MISMATCH("dirty-log-lost", MEDIUM);
	ck_assert(names_unknown("peer was frozen"));
	/* This was never sent: the rule does not fit. */
	hashes(3, 3, 1);
	e.earlier = PAGEDET_NO;
	e.track = PAGEDET_WRITES_SEEN;
	MISMATCH("changed-after-send", HIGH);
}
END_TEST

START_TEST(rule_7_changed_after)
{
	hashes(1, 1, 2);
	e.earlier = PAGEDET_NO;
	MISMATCH("changed-after-send", HIGH);
	/* It may have been lost on the way, so that an old version stayed. */
	e.earlier = PAGEDET_DUNNO;
	MISMATCH("changed-after-send", MEDIUM);
	ck_assert(names_unknown("earlier version"));
	/* But there is no older version. */
	e.pass_sent = 1;
	MISMATCH("changed-after-send", HIGH);
	/* Without the hash as sent this cannot be known. */
	unset_sent();
	MISMATCH("mismatch-unknown", NONE);
	ck_assert(names_unknown("the hash as sent"));
}
END_TEST

START_TEST(rule_8_bit_flip)
{
	hashes(1, 1, 2);
	e.earlier = PAGEDET_NO;
	e.compared = PAGEDET_YES;
	e.bits = e.bytes = 1;
	e.shape = PAGEDET_SHAPE_BIT;
	/* A single bit does not prove a hardware error. */
	e.counters_here = e.counters_peer = PAGEDET_DUNNO;
	MISMATCH("changed-after-send", MEDIUM);
	ck_assert(names_unknown("machine checks"));
	e.counters_here = e.counters_peer = PAGEDET_NO;
	MISMATCH("changed-after-send", HIGH);
	ck_assert(!names_unknown("machine checks"));
	e.counters_peer = PAGEDET_YES;
	MISMATCH("bit-flip", MEDIUM);
	/* Old versions may differ by one bit, too. */
	e.earlier = e.same_as_other = PAGEDET_DUNNO;
	MISMATCH("bit-flip", LOW);
	e.earlier = e.same_as_other = PAGEDET_NO;
	e.bits = 2;
	MISMATCH("changed-after-send", HIGH);
}
END_TEST

START_TEST(rule_9_misplaced)
{
	hashes(1, 1, 2);
	e.same_as_other = PAGEDET_YES;
	e.unique = PAGEDET_YES;
	e.same_as = 5;
	MISMATCH("misplaced", HIGH);
	ck_assert_uint_eq(fact("same_as", PAGEDET_SIDE_HERE)->value, 5);
	e.unique = PAGEDET_NO;
	MISMATCH("misplaced", MEDIUM);
	/* Zero pages are everywhere. */
	hashes(1, 1, 0);
	e.peer_missing = PAGEDET_NO;
	e.earlier = PAGEDET_NO;
	e.same_as_other = PAGEDET_YES;
	MISMATCH("changed-after-send", HIGH);
}
END_TEST

START_TEST(rule_10_stale)
{
	hashes(1, 1, 3);
	e.earlier = PAGEDET_YES;
	MISMATCH("stale-version", HIGH);
	/* Damage does not create a valid version. */
	ck_assert_uint_eq(alternative("changed-after-send")->state,
			  PAGEDET_ALTERNATIVE_EXCLUDED);
	/*
	 * A lost dirty log looks like this if the version was the last one
	 * sent.
	 */
	unset_sent();
	MISMATCH("stale-version", LOW);
	ck_assert(names_unknown("the hash as sent"));
	/* But not if the source changed after it stopped. */
	set_more(PAGEDET_AS_STOPPED, 3);
	MISMATCH("changed-here-after-stop", HIGH);
	set_more(PAGEDET_AS_STOPPED, 1);
	e.earlier = PAGEDET_NO;
	MISMATCH("mismatch-unknown", NONE);
}
END_TEST

START_TEST(rule_11_no_difference)
{
	hashes(1, 1, 1);
	set_flags(&here, PAGEDET_PF(PAGEDET_PF_KSM));
	MISMATCH("no-difference", HIGH);
	ck_assert_uint_eq(found[0].verdict, PAGEDET_VERDICT_FINE);
	ck_assert(names_unknown("comparison of the bytes"));
	e.compared = PAGEDET_YES;
	MISMATCH("no-difference", CERTAIN);
	/* Contradicting hashes make the bytes unreliable as well. */
	e.bits = 3;
	e.bytes = 1;
	MISMATCH("mismatch-unknown", NONE);
}
END_TEST

START_TEST(rule_11_same_page)
{
	hashes(1, 2, 3);	/* whatever they are */
	e.one_host = PAGEDET_YES;
	set_pte(&here, PAGEDET_PTE(PAGEDET_PTE_PRESENT));
	set_pte(&peer, PAGEDET_PTE(PAGEDET_PTE_PRESENT));
	SET(&here, NOTES, notes, 0);
	SET(&peer, NOTES, notes, 0);
	SET(&here, PFN, pfn, 4);
	SET(&peer, PFN, pfn, 4);
	MISMATCH("no-difference", CERTAIN);
	/* A pfn identifies a page only within one kernel, at one time. */
	e.one_host = PAGEDET_DUNNO;
	MISMATCH("two-faults", LOW);
	e.one_host = PAGEDET_YES;
	SET(&peer, NOTES, notes, PAGEDET_NOTE(PAGEDET_NOTE_TORN));
	MISMATCH("two-faults", LOW);
}
END_TEST

START_TEST(rule_12_two_faults)
{
	hashes(1, 2, 3);
	MISMATCH("two-faults", LOW);
	hashes(1, 2, 2);
	MISMATCH("no-difference", HIGH);
}
END_TEST

START_TEST(rule_13_keys)
{
	hashes(1, 1, 1);
	e.hash_key[PAGEDET_AS_PEER] = 8;
	e.zero[PAGEDET_AS_PEER] = PAGEDET_DUNNO;
	MISMATCH("hash-keys-differ", NONE);
	ck_assert_uint_eq(found[0].verdict, PAGEDET_VERDICT_CANNOT_TELL);
	/* Bytes need no keys. */
	e.compared = PAGEDET_YES;
	MISMATCH("no-difference", CERTAIN);
}
END_TEST

START_TEST(rule_15_changed_here)
{
	/* The peer has the final version; only the source has changed. */
	hashes(1, 2, 1);
	set_more(PAGEDET_AS_STOPPED, 1);
	MISMATCH("changed-here-after-stop", HIGH);
	ck_assert_uint_eq(found[0].here_intact, PAGEDET_NO);
	ck_assert_uint_eq(found[0].peer_intact, PAGEDET_YES);
	ck_assert_uint_eq(found[0].lets_run, PAGEDET_SIDE_PEER);
	e.here_other_maps = PAGEDET_YES;
	e.file_written = PAGEDET_YES;
	MISMATCH("changed-here-after-stop", HIGH);
	ck_assert_ptr_nonnull(strstr(found[0].likely, "another process"));
	/*
	 * Without observations everything is a guess, and neither side may
	 * continue.
	 */
	e.track = PAGEDET_WRITES_SEEN;
	unset_more(PAGEDET_AS_STOPPED);
	MISMATCH("dirty-log-lost", LOW);
	ck_assert(names_unknown("as soon as the source had stopped"));
	ck_assert_uint_eq(found[0].lets_run, PAGEDET_SIDE_BOTH);
	ck_assert_ptr_nonnull(strstr(found[0].advice, "not proven"));
	/* The side with an apparently old version may be the right one. */
	set_more(PAGEDET_AS_STOPPED, 1);
	e.earlier = PAGEDET_YES;
	MISMATCH("changed-here-after-stop", HIGH);
	/* The peer differs as well. */
	set_hash(PAGEDET_AS_PEER, 3);
	MISMATCH("two-faults", LOW);
	ck_assert_ptr_nonnull(strstr(found[0].cause, "had stopped"));
}
END_TEST

START_TEST(rule_16_before_tap)
{
	hashes(1, 2, 1);
	set_more(PAGEDET_AS_BEFORE, 2);
	e.track = PAGEDET_WRITES_NONE;
	MISMATCH("changed-before-tap", MEDIUM);
	/* Without tracking it may have been written and restored. */
	e.track = PAGEDET_WRITES_NOT_ARMED;
	MISMATCH("dirty-log-lost", LOW);
	ck_assert_ptr_nonnull(strstr(found[0].likely, "sent wrongly"));
	ck_assert_uint_eq(found[0].likely_confidence,
			  PAGEDET_CONFIDENCE_LOW);
	ck_assert_ptr_nonnull(fact("hash_before", PAGEDET_SIDE_HERE));
	e.track = PAGEDET_WRITES_NONE;
	/* Sent while nothing could write it: nothing else is possible. */
	e.sent_stopped = PAGEDET_YES;
	MISMATCH("changed-before-tap", HIGH);
	ck_assert_uint_eq(found[0].here_intact, PAGEDET_YES);
	ck_assert_uint_eq(found[0].lets_run, PAGEDET_SIDE_HERE);
	/* The read before sending is missing, and a write was seen. */
	e.sent_stopped = PAGEDET_NO;
	e.track = PAGEDET_WRITES_SEEN;
	unset_more(PAGEDET_AS_BEFORE);
	MISMATCH("dirty-log-lost", HIGH);
	e.track = PAGEDET_WRITES_NONE;
	e.extra_mappers = PAGEDET_YES;
	MISMATCH("write-untracked", MEDIUM);
	ck_assert(names_unknown("right before it was sent"));
}
END_TEST

START_TEST(rule_17_vanished)
{
	hashes(1, 0, 1);
	set_more(PAGEDET_AS_STOPPED, 1);
	e.here_missing = PAGEDET_YES;
	MISMATCH("vanished-here", HIGH);
	ck_assert_uint_eq(found[0].here_intact, PAGEDET_NO);
	e.here_discarded = PAGEDET_YES;
	MISMATCH("vanished-here", HIGH);
	ck_assert_ptr_nonnull(strstr(found[0].likely, "given back"));
	/* Its row shows it, too. */
	e.here_missing = e.here_discarded = PAGEDET_DUNNO;
	set_pte(&here, 0);
	MISMATCH("vanished-here", HIGH);
	/* Present zeroes were written. */
	e.here_missing = PAGEDET_NO;
	MISMATCH("changed-here-after-stop", HIGH);
}
END_TEST

static void expect_sides(uint32_t here_is, uint32_t peer_is, uint32_t runs)
{
	ck_assert_uint_eq(found[0].here_intact, here_is);
	ck_assert_uint_eq(found[0].peer_intact, peer_is);
	ck_assert_uint_eq(found[0].lets_run, runs);
}

#define SIDES(here_is, peer_is, runs) \
	expect_sides(PAGEDET_##here_is, PAGEDET_##peer_is, PAGEDET_SIDE_##runs)
#define CAUSE(part) ck_assert_ptr_nonnull(strstr(found[0].cause, part))

/* QEMU says STOP before the reads of its disks have landed in memory. */
START_TEST(write_in_flight_at_the_stop)
{
	hashes(1, 2, 1);
	set_more(PAGEDET_AS_STOPPED, 1);
	set_hash(PAGEDET_AS_AGAIN, 2);
	e.stopped_drained = PAGEDET_DUNNO;
	MISMATCH("changed-here-after-stop", LOW);
	SIDES(DUNNO, DUNNO, BOTH);
	CAUSE("in flight");
	ck_assert_ptr_null(strstr(found[0].cause, "not the peer"));
	ck_assert_uint_eq(alternative("write-in-flight")->state,
			  PAGEDET_ALTERNATIVE_NOT_LOOKED);
	ck_assert(names_unknown("had ended their writes"));
	/* It changed meanwhile: so would it by damage. */
	e.stopped_drained = PAGEDET_NO;
	MISMATCH("changed-here-after-stop", LOW);
	SIDES(DUNNO, DUNNO, BOTH);
	ck_assert_uint_eq(alternative("write-in-flight")->state,
			  PAGEDET_ALTERNATIVE_POSSIBLE);
	/* The peer differs as well. */
	set_hash(PAGEDET_AS_PEER, 3);
	MISMATCH("two-faults", LOW);
	SIDES(DUNNO, DUNNO, BOTH);
	CAUSE("in flight");
	set_hash(PAGEDET_AS_PEER, 1);
	e.stopped_drained = PAGEDET_YES;
	MISMATCH("changed-here-after-stop", HIGH);
	SIDES(NO, YES, PEER);
	/* What is here is not known at all. */
	e.hash_state[PAGEDET_AS_NOW] = PAGEDET_IO;
	e.zero[PAGEDET_AS_NOW] = PAGEDET_DUNNO;
	e.hash_state[PAGEDET_AS_AGAIN] = PAGEDET_IO;
	e.zero[PAGEDET_AS_AGAIN] = PAGEDET_DUNNO;
	e.here_read = PAGEDET_READ_REFUSED;
	set_flags(&here, PAGEDET_PF(PAGEDET_PF_HWPOISON));
	MISMATCH("memory-error", CERTAIN);
	SIDES(NO, YES, BOTH);
	e.stopped_drained = PAGEDET_DUNNO;
	MISMATCH("memory-error", CERTAIN);
	SIDES(NO, DUNNO, BOTH);
}
END_TEST

/* Its guest may have written the page, or given it back. */
START_TEST(sides_that_may_have_run)
{
	hashes(1, 1, 2);
	e.peer_ran = PAGEDET_DUNNO;
	MISMATCH("changed-after-send", MEDIUM);
	SIDES(YES, DUNNO, BOTH);
	/* This page was like that before anything ran there. */
	set_more(PAGEDET_AS_PEER_STOPPED, 2);
	MISMATCH("changed-after-send", HIGH);
	SIDES(YES, NO, BOTH);
	/* What the guest did there would be lost. */
	hashes(1, 1, 3);
	e.earlier = PAGEDET_YES;
	MISMATCH("stale-version", HIGH);
	SIDES(YES, NO, HERE);
	e.peer_ran = PAGEDET_DUNNO;
	MISMATCH("stale-version", MEDIUM);
	SIDES(YES, DUNNO, BOTH);
	ck_assert_ptr_nonnull(strstr(found[0].advice, "did not run"));
	hashes(1, 2, 1);
	set_more(PAGEDET_AS_STOPPED, 1);
	e.here_ran = PAGEDET_DUNNO;
	MISMATCH("changed-here-after-stop", MEDIUM);
	SIDES(DUNNO, YES, BOTH);
	ck_assert_ptr_nonnull(strstr(found[0].advice, "did not run"));
	hashes(1, 0, 1);
	set_more(PAGEDET_AS_STOPPED, 1);
	e.here_missing = PAGEDET_YES;
	e.here_ran = PAGEDET_DUNNO;
	MISMATCH("vanished-here", MEDIUM);
	SIDES(DUNNO, YES, BOTH);
}
END_TEST

/* It landed, and was then sent. */
START_TEST(sent_after_the_look_at_the_stop)
{
	hashes(2, 2, 3);
	set_more(PAGEDET_AS_STOPPED, 1);
	e.sent_stopped = PAGEDET_YES;
	e.stopped_drained = PAGEDET_DUNNO;
	MISMATCH("changed-after-send", HIGH);
	SIDES(YES, NO, BOTH);
	e.here_other_maps = PAGEDET_YES;
	MISMATCH("changed-after-send", HIGH);
	SIDES(DUNNO, DUNNO, BOTH);
	e.here_other_maps = PAGEDET_NO;
	/* The peer kept what it had before. */
	set_hash(PAGEDET_AS_PEER, 1);
	e.earlier = PAGEDET_YES;
	MISMATCH("stale-version", HIGH);
	SIDES(YES, NO, HERE);
	/* Nothing was in flight: it was damaged before it was sent. */
	set_hash(PAGEDET_AS_PEER, 3);
	e.earlier = PAGEDET_NO;
	e.stopped_drained = PAGEDET_YES;
	MISMATCH("two-faults", LOW);
	SIDES(NO, DUNNO, BOTH);
}
END_TEST

/* Cleared or given back while the guest ran, and zero before it was written. */
START_TEST(same_before_proves_little)
{
	hashes(4, 0, 4);
	set_more(PAGEDET_AS_BEFORE, 0);
	e.here_missing = PAGEDET_NO;
	e.track = PAGEDET_WRITES_NOT_ARMED;
	MISMATCH("dirty-log-lost", LOW);
	SIDES(DUNNO, DUNNO, BOTH);
	ck_assert_ptr_nonnull(strstr(found[0].advice, "not proven"));
	/* No tracker sees what is given back. */
	e.track = PAGEDET_WRITES_NONE;
	MISMATCH("write-untracked", LOW);
	SIDES(DUNNO, DUNNO, BOTH);
	/* Bytes do not come back by themselves. */
	hashes(4, 2, 4);
	set_more(PAGEDET_AS_BEFORE, 2);
	e.track = PAGEDET_WRITES_NONE;
	MISMATCH("changed-before-tap", MEDIUM);
	SIDES(YES, NO, HERE);
	e.file_written = PAGEDET_YES;
	ask(PAGEDET_ASK_MISMATCH);
	SIDES(DUNNO, DUNNO, BOTH);
	e.file_written = PAGEDET_NO;
	e.here_other_maps = PAGEDET_YES;
	ask(PAGEDET_ASK_MISMATCH);
	SIDES(DUNNO, DUNNO, BOTH);
	e.here_other_maps = PAGEDET_NO;
	e.track = PAGEDET_WRITES_NOT_ARMED;
	MISMATCH("dirty-log-lost", LOW);
	SIDES(DUNNO, DUNNO, BOTH);
}
END_TEST

/* A balloon takes a page that was sent, and nobody sends it again. */
START_TEST(given_back_by_the_guest)
{
	hashes(1, 0, 1);
	e.here_missing = PAGEDET_YES;
	MISMATCH("vanished-here", MEDIUM);
	SIDES(DUNNO, DUNNO, BOTH);
	CAUSE("by its guest");
	ck_assert_ptr_nonnull(strstr(found[0].advice, "nothing is wrong"));
	ck_assert_uint_eq(alternative("given-back-by-guest")->state,
			  PAGEDET_ALTERNATIVE_POSSIBLE);
	e.track = PAGEDET_WRITES_SEEN;
	MISMATCH("vanished-here", MEDIUM);
	SIDES(DUNNO, DUNNO, BOTH);
	unset_more(PAGEDET_AS_STOPPED);
	MISMATCH("vanished-here", MEDIUM);
	SIDES(DUNNO, DUNNO, BOTH);
	ck_assert(names_unknown("as soon as the source had stopped"));
	/* It was there when the guest could not give anything back. */
	e.sent_stopped = PAGEDET_YES;
	MISMATCH("vanished-here", HIGH);
	ck_assert_uint_eq(found[0].here_intact, PAGEDET_NO);
	ck_assert_ptr_null(strstr(found[0].advice, "nothing is wrong"));
	/* It was gone at the stop, so that the bytes may be from before. */
	set_more(PAGEDET_AS_STOPPED, 0);
	MISMATCH("vanished-here", MEDIUM);
	SIDES(DUNNO, DUNNO, BOTH);
}
END_TEST

/* Without tracking the versions of a page do not tell which it was. */
START_TEST(one_of_three)
{
	hashes(1, 2, 1);
	e.track = PAGEDET_WRITES_NOT_ARMED;
	MISMATCH("dirty-log-lost", LOW);
	CAUSE("one of these two");
	unset_more(PAGEDET_AS_BEFORE);
	MISMATCH("dirty-log-lost", LOW);
	CAUSE("one of these three");
	CAUSE("changed-before-tap");
	e.file_written = PAGEDET_YES;
	MISMATCH("write-untracked", LOW);
	CAUSE("one of these three");
	e.track = PAGEDET_WRITES_SEEN;
	MISMATCH("dirty-log-lost", HIGH);
	ck_assert_ptr_null(strstr(found[0].cause, "one of these"));
	hashes(0, 5, 0);
	set_pte(&peer, PAGEDET_PTE(PAGEDET_PTE_PRESENT));
	MISMATCH("zero-page-race", LOW);
	CAUSE("one of these two");
	CAUSE("sent as a zero page");
}
END_TEST

START_TEST(more_than_is_explained)
{
	static struct pagedet_evidence all[3];
	static struct pagedet_finding f[3];
	int i, named = 0;

	hashes(1, 1, 2);
	e.differences = 5000;
	all[0] = all[1] = all[2] = e;
	f[0].size = sizeof(f[0]);
	ck_assert_int_eq(pagedet_explain(all, 3, arena, sizeof(arena), f, 3),
			 3);
	for (i = 0; i < 3; i++) {
		found[0] = f[i];
		named += names_unknown("other pages that differ");
	}
	ck_assert_int_eq(named, 1);
	e.differences = 1;
	MISMATCH("changed-after-send", HIGH);
	ck_assert(!names_unknown("other pages that differ"));
}
END_TEST

/* A client built with an older, shorter struct. */
START_TEST(shorter_findings)
{
	static struct pagedet_finding f[2];
	const uint64_t size = offsetof(struct pagedet_finding, alternatives);

	hashes(1, 1, 2);
	e.questions = PAGEDET_ASK_MISMATCH;
	f[0].size = size;
	f[0].n_alternatives = 0x55;
	ck_assert_int_eq(pagedet_explain(&e, 1, arena, ROOM, f, 1), 1);
	ck_assert_str_eq(f[0].name, "changed-after-send");
	ck_assert_uint_eq(f[0].n_alternatives, 0x55);
	f[0].size = size - 8;
	ck_assert_int_eq(pagedet_explain(&e, 1, arena, ROOM, f, 1), -22);
}
END_TEST

START_TEST(others_are_found)
{
	static struct pagedet_evidence all[3];
	static struct pagedet_finding f[3];
	int i;

	for (i = 0; i < 3; i++) {
		hashes((uint64_t)i + 1, (uint64_t)i + 1, (uint64_t)i + 1);
		e.id = 100 + (uint64_t)i;
		e.same_as_other = PAGEDET_DUNNO;
		all[i] = e;
	}
	all[0].hash[PAGEDET_AS_PEER] = 2; /* that of all[1] */
	f[0].size = sizeof(f[0]);
	ck_assert_int_eq(pagedet_explain(all, 3, arena, sizeof(arena), f, 3),
			 3);
	ck_assert_str_eq(f[0].name, "misplaced");
	ck_assert_uint_eq(f[0].confidence, PAGEDET_CONFIDENCE_HIGH);
	found[0] = f[0];
	ck_assert_uint_eq(fact("same_as", PAGEDET_SIDE_HERE)->value, 101);
	ck_assert_str_eq(f[1].name, "no-difference");
	ck_assert_uint_eq(f[2].evidence, 2);
	/* No longer the only one. */
	all[2].hash[PAGEDET_AS_SENT] = all[2].hash[PAGEDET_AS_NOW] =
		all[2].hash[PAGEDET_AS_PEER] = 2;
	ck_assert_int_eq(pagedet_explain(all, 3, arena, sizeof(arena), f, 3),
			 3);
	ck_assert_str_eq(f[0].name, "misplaced");
	ck_assert_uint_eq(f[0].confidence, PAGEDET_CONFIDENCE_MEDIUM);
}
END_TEST

START_TEST(facts_have_words)
{
	setup();
	set_kind(PAGEDET_KIND_ANON);
	set_mapcount(&here, 2);
	SET(&here, TIME_NS, time_ns, 1234);
	strcpy(e.texts + 1, "qemu");
	SET(&here, COMM, comm, 1);
	expect(PAGEDET_ASK_NOT_FREE, "mapped", PAGEDET_CONFIDENCE_CERTAIN);
	ck_assert_str_eq(fact("kind", PAGEDET_SIDE_HERE)->text, "anon");
	ck_assert_str_eq(fact("kind", PAGEDET_SIDE_HERE)->source, "procfs");
	ck_assert_uint_eq(fact("kind", PAGEDET_SIDE_HERE)->time_ns, 1234);
	ck_assert_str_eq(fact("mapcount", PAGEDET_SIDE_HERE)->text, "2");
	ck_assert_str_eq(fact("comm", PAGEDET_SIDE_HERE)->text, "qemu");
	/* A text outside of texts, and one without an end. */
	here.comm = UINT64_MAX;
	ask(PAGEDET_ASK_NOT_FREE);
	ck_assert_str_eq(fact("comm", PAGEDET_SIDE_HERE)->text, "");
	memset(e.texts, 'x', sizeof(e.texts));
	here.comm = 3;
	ask(PAGEDET_ASK_NOT_FREE);
	ck_assert_str_eq(fact("comm", PAGEDET_SIDE_HERE)->text, "");
}
END_TEST

/*
 * Without questions: chosen by the evidence, and only what is worth a finding.
 */
START_TEST(questions_of_their_own)
{
	user_page(PAGEDET_KIND_ANON, F(ANON) | F(LRU));
	set_mapcount(&here, 1);
	ask(0);
	ck_assert_int_eq(n_found, 1);
	ck_assert_str_eq(found[0].name, "mapped");
	counted(5000, 1);
	ask(0);
	ck_assert_int_eq(n_found, 2);
	ck_assert_str_eq(found[1].name, "pinned");
	hashes(1, 1, 2);
	ask(0);
	ck_assert_int_eq(n_found, 1);
	ck_assert_str_eq(found[0].name, "changed-after-send");
	ask(0xff);
	ck_assert_int_eq(n_found, 8);
	/* Unknown questions are not answered. */
	ask(0x100);
	ck_assert_int_eq(n_found, 0);
}
END_TEST

START_TEST(sizes_and_room)
{
	struct { struct pagedet_evidence e; uint64_t more; } newer;

	hashes(1, 1, 2);
	found[0].size = sizeof(found[0]);
	/* Without room for findings: only their number. */
	ck_assert_int_eq(pagedet_explain(&e, 1, NULL, 0, NULL, 0), 1);
	ck_assert_int_eq(pagedet_explain(&e, 1, NULL, 0, found, 8), 1);
	ck_assert_uint_eq(found[0].n_facts, 0);
	ck_assert_int_eq(pagedet_explain(&e, 1, arena, 16, found, 8), -12);
	ck_assert_int_eq(pagedet_explain(NULL, 1, arena, ROOM, found, 8), -22);
	ck_assert_int_eq(pagedet_explain(NULL, 0, arena, ROOM, found, 8), 0);
	newer.e = e;
	newer.e.size = sizeof(newer);
	newer.more = 0;
	ck_assert_int_eq(pagedet_explain(&newer.e, 1, arena, ROOM, found, 8),
			 1);
	newer.more = 1;
	ck_assert_int_eq(pagedet_explain(&newer.e, 1, arena, ROOM, found, 8),
			 -7);
	newer.e.size = offsetof(struct pagedet_evidence, more_hash);
	ck_assert_int_eq(pagedet_explain(&newer.e, 1, arena, ROOM, found, 8),
			 1);
	newer.e.size = 8;
	ck_assert_int_eq(pagedet_explain(&newer.e, 1, arena, ROOM, found, 8),
			 -22);
	e.size = sizeof(e) + 4;
	ck_assert_int_eq(pagedet_explain(&e, 1, arena, ROOM, found, 8), -22);
}
END_TEST

START_TEST(rules_are_told_apart)
{
	const struct pagedet_rule *r, *s;
	uint32_t n, m;

	for (n = 0; (r = pagedet_rule(n)); n++) {
		ck_assert_uint_eq(r->size, sizeof(*r));
		ck_assert_str_ne(r->cause, "");
		ck_assert_str_ne(r->advice, "");
		for (m = 0; m < n; m++) {
			s = pagedet_rule(m);
			ck_assert_str_ne(r->name, s->name);
			ck_assert_uint_ne(r->id, s->id);
		}
	}
	ck_assert_uint_ge(n, 60);
	ck_assert_int_eq(pagedet_question_by_name("leak"),
			 PAGEDET_ASK_LEAKED);
	ck_assert_int_eq(pagedet_question_by_name("fun"), -2);
	ck_assert_str_eq(pagedet_confidence_name(4), "certain");
	ck_assert_ptr_null(pagedet_confidence_name(5));
}
END_TEST

/* --- what holds for any evidence --- */

static bool rule_is(const struct pagedet_finding *f, uint32_t a, uint32_t b)
{
	return f->rule == a || f->rule == b;
}

static void check_mismatch(const struct pagedet_finding *f)
{
	/* Only bytes, or an identical page, make contents certain. */
	if (f->confidence == PAGEDET_CONFIDENCE_CERTAIN && f->rule > 3)
		HOLDS(f->rule == 11 && (e.compared == PAGEDET_YES ||
					    e.one_host == PAGEDET_YES));
	/* Only counters prove a hardware error, not a bit. */
	if (f->rule == 8 || strstr(f->likely, "broken"))
		HOLDS(e.counters_here == PAGEDET_YES ||
			  e.counters_peer == PAGEDET_YES);
	if (f->rule == 8)
		HOLDS(f->confidence < PAGEDET_CONFIDENCE_HIGH);
	/* The fate of a sent version needs the sent version. */
	if (e.hash_state[PAGEDET_AS_SENT] != PAGEDET_HAVE &&
	    e.zero[PAGEDET_AS_SENT] == PAGEDET_DUNNO) {
		HOLDS(!rule_is(f, 5, 6) && !rule_is(f, 7, 8) &&
			  !rule_is(f, 4, 16));
		HOLDS(f->rule != 12 || strstr(f->cause, "had stopped"));
		if (f->rule == 14 &&
		    e.hash_state[PAGEDET_AS_SENT] != PAGEDET_NONE)
			HOLDS(names_unknown("the hash as sent"));
	}
	if (e.track != PAGEDET_WRITES_SEEN && f->rule == 6)
		HOLDS(f->confidence < PAGEDET_CONFIDENCE_HIGH);
	if (e.peer_frozen == PAGEDET_NO)
		HOLDS(f->verdict != PAGEDET_VERDICT_CAUSE || f->rule <= 2 ||
		      rule_is(f, 15, 17));
}

static bool have(unsigned field)
{
	return PAGEDET_CELL_STATE(here.cell[field]) == PAGEDET_HAVE;
}

static void check_page(const struct pagedet_finding *f)
{
	/* Pins and references are never invented. */
	if (f->verdict == PAGEDET_VERDICT_CAUSE &&
	    f->question == PAGEDET_ASK_PINNED)
		HOLDS(have(PAGEDET_FIELD_PINCOUNT) ||
			  have(PAGEDET_FIELD_REFCOUNT));
	if (f->question == PAGEDET_ASK_LEAKED &&
	    f->verdict == PAGEDET_VERDICT_CAUSE)
		HOLDS(f->confidence <= PAGEDET_CONFIDENCE_MEDIUM);
	if (have(PAGEDET_FIELD_NOTES) &&
	    here.notes & PAGEDET_NOTE(PAGEDET_NOTE_TORN))
		HOLDS(f->confidence <= PAGEDET_CONFIDENCE_MEDIUM);
	if (!have(PAGEDET_FIELD_FLAGS) && !have(PAGEDET_FIELD_PTE))
		HOLDS(f->rule != 601 && f->rule != 602);
}

static void check_finding(const struct pagedet_finding *f)
{
	uint32_t i;

	HOLDS(f->verdict <= PAGEDET_VERDICT_FINE);
	HOLDS((f->verdict == PAGEDET_VERDICT_CANNOT_TELL) ==
		  (f->confidence == PAGEDET_CONFIDENCE_NONE));
	if (f->verdict == PAGEDET_VERDICT_CANNOT_TELL)
		HOLDS(f->n_unknown > 0);
	for (i = 0; i < f->n_facts; i++) {
		HOLDS(f->facts[i].field);
		HOLDS(strlen(f->facts[i].text) < 1281);
		HOLDS(f->facts[i].source);
	}
	found[0] = *f;		/* for names_unknown() */
	if (f->question == PAGEDET_ASK_MISMATCH)
		check_mismatch(f);
	else
		check_page(f);
}

/* The number of a source may be one that this library does not know. */
START_TEST(unknown_sources)
{
	struct pagedet_page row = { 0 };
	unsigned source;

	for (source = 0; source < 256; source++) {
		row.cell[PAGEDET_FIELD_PFN] =
			(uint16_t)(source << 8 | PAGEDET_HAVE);
		ck_assert_int_eq(pdet_row_is_from_memory(&row),
				 source == PAGEDET_SOURCE_BPF ||
				 source == PAGEDET_SOURCE_KCORE ||
				 source == PAGEDET_SOURCE_VMCORE);
	}
}
END_TEST

START_TEST(holds_for_any_evidence)
{
	struct pagedet_finding f[8];
	unsigned seen[1024] = { 0 }, i, rules = 0;
	const struct pagedet_rule *r;
	int n, k;

	seed = 0x5eed5eed5eed5eed;
	for (i = 0; i < 100000; i++) {
		some_evidence();
		e.questions = 0xff;
		memcpy(e.here, &here, sizeof(here));
		memcpy(e.peer, &peer, sizeof(peer));
		f[0].size = sizeof(f[0]);
		/* The room that is documented as enough. */
		n = pagedet_explain(&e, 1, arena, 8 * 4096 + 32, f, 8);
		ck_assert_int_eq(n, 8);
		for (k = 0; k < n; k++) {
			seen[f[k].rule]++;
			check_finding(&f[k]);
		}
	}
	for (i = 0; (r = pagedet_rule(i)); i++)
		rules += seen[r->id] != 0;
	/* The others have scenarios above. */
	ck_assert_uint_ge(rules, 60);
}
END_TEST

/* The question of every rule is asked, and always gets an answer. */
START_TEST(every_question_is_asked)
{
	const struct pagedet_rule *rule;
	uint32_t n;

	for (n = 0; (rule = pagedet_rule(n)); n++) {
		hashes(1, 2, 3);
		set_kind(PAGEDET_KIND_UNKNOWN);
		ask(rule->question);
		ck_assert_msg(n_found == 1, "%s is never asked", rule->name);
		ck_assert_uint_eq(found[0].question, rule->question);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("explain");

	unit_test(s, rule_1_not_frozen);
	unit_test(s, rule_2_memory_error);
	unit_test(s, rule_3_missing);
	unit_test(s, rule_4_zero_race);
	unit_test(s, rule_5_untracked);
	unit_test(s, rule_6_dirty_log);
	unit_test(s, rule_7_changed_after);
	unit_test(s, rule_8_bit_flip);
	unit_test(s, rule_9_misplaced);
	unit_test(s, rule_10_stale);
	unit_test(s, rule_11_no_difference);
	unit_test(s, rule_11_same_page);
	unit_test(s, rule_12_two_faults);
	unit_test(s, rule_13_keys);
	unit_test(s, rule_15_changed_here);
	unit_test(s, rule_16_before_tap);
	unit_test(s, rule_17_vanished);
	unit_test(s, write_in_flight_at_the_stop);
	unit_test(s, sides_that_may_have_run);
	unit_test(s, sent_after_the_look_at_the_stop);
	unit_test(s, same_before_proves_little);
	unit_test(s, given_back_by_the_guest);
	unit_test(s, one_of_three);
	unit_test(s, more_than_is_explained);
	unit_test(s, shorter_findings);
	unit_test(s, others_are_found);
	unit_test(s, facts_have_words);
	unit_test(s, questions_of_their_own);
	unit_test(s, sizes_and_room);
	unit_test(s, rules_are_told_apart);
	unit_test(s, every_question_is_asked);
	unit_test(s, unknown_sources);
	unit_test(s, holds_for_any_evidence);
	return unit_main(s);
}
