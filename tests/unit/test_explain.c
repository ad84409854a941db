/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The rules about mismatches: each has a scenario that fires it and one, a
 * little different, that does not; and what holds for any evidence, however it
 * came about.
 */
#include "explain.h"

#define MISMATCH(name, confidence) \
	expect(PAGEDET_ASK_MISMATCH, name, PAGEDET_CONFIDENCE_##confidence)

START_TEST(rule_1_not_frozen)
{
	hashes(1, 2, 1);
	e.peer_frozen = PAGEDET_NO;
	MISMATCH("not-frozen", CERTAIN);
	hashes(1, 2, 1);
	set_hash(PAGEDET_AS_AGAIN, 3);
	MISMATCH("not-frozen", CERTAIN);
	ck_assert_ptr_nonnull(fact("hash_again", PAGEDET_SIDE_HERE));
	/* another key proves nothing */
	e.hash_key[PAGEDET_AS_AGAIN] = 9;
	MISMATCH("dirty-log-lost", MEDIUM);
	/* and equal contents are no mismatch at all */
	hashes(1, 1, 1);
	e.peer_frozen = PAGEDET_NO;
	MISMATCH("no-difference", HIGH);
	/* nor certain while they change */
	e.compared = PAGEDET_YES;
	MISMATCH("no-difference", HIGH);
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
	/* whether it was hardware is another question */
	ck_assert_str_eq(found[0].likely, "");
	ck_assert(names_unknown("machine checks"));
	e.counters_here = PAGEDET_YES;
	MISMATCH("memory-error", CERTAIN);
	ck_assert_ptr_nonnull(strstr(found[0].likely, "broken memory"));
	/* a read that fails for another reason is none */
	set_flags(&here, 0);
	MISMATCH("mismatch-unknown", NONE);
	/* the entry at the peer says it, too */
	set_pte(&peer, PAGEDET_PTE(PAGEDET_PTE_HWPOISON));
	e.peer_read = PAGEDET_READ_REFUSED;
	MISMATCH("memory-error", CERTAIN);
}
END_TEST

START_TEST(rule_3_missing)
{
	hashes(1, 1, 0);
	set_pte(&peer, 0);
	MISMATCH("missing-at-peer", CERTAIN);
	ck_assert_uint_eq(found[0].likely_confidence,
			  PAGEDET_CONFIDENCE_MEDIUM);
	e.peer_complete = PAGEDET_NO;
	MISMATCH("missing-at-peer", CERTAIN);
	ck_assert_str_eq(found[0].likely, "pages are still to come");
	/* without its contents, a file may hold it unmapped */
	e.hash_state[PAGEDET_AS_PEER] = PAGEDET_TOO_COSTLY;
	e.zero[PAGEDET_AS_PEER] = PAGEDET_DUNNO;
	MISMATCH("missing-at-peer", HIGH);
	ck_assert(names_unknown("without mapping it"));
	/* swapped is not missing */
	set_pte(&peer, PAGEDET_PTE(PAGEDET_PTE_SWAPPED));
	MISMATCH("mismatch-unknown", NONE);
	/* read as zeroes, and the file has nothing there */
	hashes(1, 1, 0);
	set_pte(&peer, PAGEDET_PTE(PAGEDET_PTE_PRESENT));
	e.peer_hole = PAGEDET_YES;
	MISMATCH("missing-at-peer", CERTAIN);
	ck_assert_ptr_nonnull(fact("hole", PAGEDET_SIDE_PEER));
	/* zeroes that were sent are there without being stored */
	hashes(0, 1, 0);
	set_pte(&peer, PAGEDET_PTE(PAGEDET_PTE_PRESENT));
	e.peer_hole = PAGEDET_YES;
	MISMATCH("zero-page-race", HIGH);
	/* what was sent is not known */
	e.hash_state[PAGEDET_AS_SENT] = PAGEDET_NOT_ASKED;
	e.zero[PAGEDET_AS_SENT] = PAGEDET_DUNNO;
	MISMATCH("mismatch-unknown", NONE);
	/* it is known that it never was */
	e.hash_state[PAGEDET_AS_SENT] = PAGEDET_NONE;
	MISMATCH("missing-at-peer", CERTAIN);
	ck_assert_str_eq(found[0].likely, "it was never sent");
	ck_assert(!names_unknown("hash as sent"));
	/* zeroes here are what is missing there */
	hashes(0, 0, 0);
	set_pte(&peer, 0);
	MISMATCH("no-difference", HIGH);
}
END_TEST

START_TEST(rule_4_zero_race)
{
	hashes(0, 5, 0);
	set_pte(&peer, PAGEDET_PTE(PAGEDET_PTE_PRESENT));
	MISMATCH("zero-page-race", HIGH);
	hashes(5, 6, 0);
	MISMATCH("two-faults", LOW);
}
END_TEST

START_TEST(rule_5_untracked)
{
	hashes(1, 2, 1);
	e.track = PAGEDET_WRITES_NONE;
	MISMATCH("write-untracked", MEDIUM);
	ck_assert(names_unknown("who else may write"));
	e.extra_mappers = PAGEDET_YES;
	MISMATCH("write-untracked", HIGH);
	e.extra_mappers = PAGEDET_NO;
	e.file_written = PAGEDET_YES;
	MISMATCH("write-untracked", HIGH);
	/* not armed: the file's time speaks for it, no more */
	e.track = PAGEDET_WRITES_NOT_ARMED;
	MISMATCH("write-untracked", MEDIUM);
	/* written through the mapping: not this rule */
	e.track = PAGEDET_WRITES_SEEN;
	MISMATCH("dirty-log-lost", HIGH);
	/* the time of its file, told by nobody */
	hashes(1, 2, 1);
	e.track = PAGEDET_WRITES_NONE;
	e.hash_ns[PAGEDET_AS_SENT] = 1000;
	e.file_ns = 1000;
	MISMATCH("write-untracked", MEDIUM);
	e.file_ns = 1001;
	MISMATCH("write-untracked", HIGH);
	ck_assert_ptr_nonnull(fact("file_ns", PAGEDET_SIDE_HERE));
	ck_assert_ptr_nonnull(strstr(found[0].likely, "who is gone"));
	/* stores through a mapping move it as well */
	e.track = PAGEDET_WRITES_NOT_ARMED;
	MISMATCH("dirty-log-lost", LOW);
	ck_assert(names_unknown("its time moved"));
}
END_TEST

START_TEST(rule_6_dirty_log)
{
	hashes(1, 2, 1);
	e.track = PAGEDET_WRITES_SEEN;
	MISMATCH("dirty-log-lost", HIGH);
	e.track = PAGEDET_WRITES_NOT_ARMED;
	MISMATCH("dirty-log-lost", MEDIUM);
	ck_assert(names_unknown("not armed"));
	e.extra_mappers = PAGEDET_YES;
	MISMATCH("dirty-log-lost", LOW);
	/* who may have run makes it less sure */
	e.extra_mappers = PAGEDET_DUNNO;
	e.track = PAGEDET_WRITES_SEEN;
	e.peer_frozen = PAGEDET_DUNNO;
	MISMATCH("dirty-log-lost", MEDIUM);
	ck_assert(names_unknown("peer was frozen"));
	/* never sent this: not this rule */
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
	/* it may have been lost on the way, so that an old one stayed there */
	e.earlier = PAGEDET_DUNNO;
	MISMATCH("changed-after-send", MEDIUM);
	ck_assert(names_unknown("earlier version"));
	/* but there is none */
	e.pass_sent = 1;
	MISMATCH("changed-after-send", HIGH);
	/* without the hash as sent nobody can say so */
	e.hash_state[PAGEDET_AS_SENT] = PAGEDET_NOT_ASKED;
	e.zero[PAGEDET_AS_SENT] = PAGEDET_DUNNO;
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
	/* one bit alone says nothing of hardware */
	MISMATCH("changed-after-send", HIGH);
	ck_assert(names_unknown("machine checks"));
	e.counters_here = e.counters_peer = PAGEDET_NO;
	MISMATCH("changed-after-send", HIGH);
	ck_assert(!names_unknown("machine checks"));
	e.counters_peer = PAGEDET_YES;
	MISMATCH("bit-flip", MEDIUM);
	/* old pages differ by a bit, too */
	e.earlier = PAGEDET_DUNNO;
	MISMATCH("bit-flip", LOW);
	e.earlier = PAGEDET_NO;
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
	/* zeroes are anywhere */
	hashes(1, 1, 0);
	e.earlier = PAGEDET_NO;
	e.same_as_other = PAGEDET_YES;
	MISMATCH("changed-after-send", HIGH);
}
END_TEST

START_TEST(rule_10_stale)
{
	hashes(1, 2, 3);
	e.earlier = PAGEDET_YES;
	e.hash_state[PAGEDET_AS_SENT] = PAGEDET_NOT_ASKED;
	e.zero[PAGEDET_AS_SENT] = PAGEDET_DUNNO;
	MISMATCH("stale-version", HIGH);
	ck_assert(names_unknown("the hash as sent"));
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
	/* hashes that say otherwise are not believed, nor the bytes */
	e.bits = 3;
	e.bytes = 1;
	MISMATCH("mismatch-unknown", NONE);
}
END_TEST

START_TEST(rule_11_same_page)
{
	hashes(1, 2, 3);	/* whatever they say */
	e.one_host = PAGEDET_YES;
	set_pte(&here, PAGEDET_PTE(PAGEDET_PTE_PRESENT));
	set_pte(&peer, PAGEDET_PTE(PAGEDET_PTE_PRESENT));
	SET(&here, NOTES, notes, 0);
	SET(&peer, NOTES, notes, 0);
	SET(&here, PFN, pfn, 4);
	SET(&peer, PFN, pfn, 4);
	MISMATCH("no-difference", CERTAIN);
	/* a pfn is a name within one kernel only, and at one time */
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
	/* bytes do not care for keys */
	e.compared = PAGEDET_YES;
	MISMATCH("no-difference", CERTAIN);
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
	/* no longer the only one */
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
	/* a text that leads nowhere, and one without end */
	here.comm = UINT64_MAX;
	ask(PAGEDET_ASK_NOT_FREE);
	ck_assert_str_eq(fact("comm", PAGEDET_SIDE_HERE)->text, "");
	memset(e.texts, 'x', sizeof(e.texts));
	here.comm = 3;
	ask(PAGEDET_ASK_NOT_FREE);
	ck_assert_str_eq(fact("comm", PAGEDET_SIDE_HERE)->text, "");
}
END_TEST

/* Without a question: what it is about, and only what is worth saying. */
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
	/* what means nothing here is not answered */
	ask(0x100);
	ck_assert_int_eq(n_found, 0);
}
END_TEST

START_TEST(sizes_and_room)
{
	struct { struct pagedet_evidence e; uint64_t more; } newer;

	hashes(1, 1, 2);
	found[0].size = sizeof(found[0]);
	/* nowhere to put anything: how many there are */
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

/* Asked so often that libcheck would write a lot. */
#define HOLDS(promise) do {                                                  \
	if (!(promise))                                                      \
		ck_abort_msg("broken: %s", #promise);                        \
} while (0)

static uint64_t seed;

static uint64_t some(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

static void some_row(struct pagedet_page *row)
{
	unsigned f;
	uint64_t i;

	for (i = 0; i < sizeof(*row) / 8; i++) {
		const uint64_t v = some(3) ? some(4) : some(~0ull);

		memcpy((char *)row + i * 8, &v, 8);
	}
	for (f = 0; f < PAGEDET_FIELDS_MAX; f++)
		row->cell[f] = (uint16_t)(some(3) ? PAGEDET_HAVE :
					  some(0x10000));
	if (some(2))
		row->kind = (uint32_t)some(20);
	if (some(2))
		row->flags_known = ~0ull;
	if (some(2))
		row->pte_known = 0xffff;
}

static void some_evidence(void)
{
	unsigned v;

	setup();
	if (some(50) == 0) {	/* not even numbers that mean something */
		uint64_t i, x;

		for (i = 8; i < sizeof(e); i += 8) {
			x = some(~0ull);
			memcpy((char *)&e + i, &x, 8);
		}
	}
	some_row(&here);
	some_row(&peer);
	for (v = 0; v < 4; v++) {
		e.hash[v] = some(4);
		e.hash_key[v] = some(8) == 0;
		e.hash_state[v] = some(3) ? PAGEDET_HAVE : (uint32_t)some(31);
		e.zero[v] = (uint32_t)some(3);
	}
	e.one_host = (uint32_t)some(3);
	e.here_frozen = some(3) ? PAGEDET_YES : (uint32_t)some(3);
	e.peer_frozen = some(3) ? PAGEDET_YES : (uint32_t)some(3);
	e.here_read = (uint32_t)some(4);
	e.peer_read = (uint32_t)some(4);
	e.track = (uint32_t)some(5);
	e.compared = (uint32_t)some(3);
	e.bits = some(3);
	e.bytes = e.bits;
	e.shape = (uint32_t)some(12);
	e.file_written = (uint32_t)some(3);
	e.extra_mappers = (uint32_t)some(3);
	e.counters_here = (uint32_t)some(3);
	e.counters_peer = (uint32_t)some(3);
	e.same_as_other = (uint32_t)some(3);
	e.unique = (uint32_t)some(3);
	e.earlier = (uint32_t)some(3);
	e.mode = (uint32_t)some(7);
	e.peer_complete = (uint32_t)some(3);
	e.peer_discarded = (uint32_t)some(3);
	e.alloc_task = (uint32_t)some(3);
	e.no_swap = (uint32_t)some(3);
	e.peer_hole = (uint32_t)some(3);
	e.file_ns = some(3);
	e.hash_ns[PAGEDET_AS_SENT] = some(3);
	e.size = sizeof(e);
	e.id = 77;
}

static bool rule_is(const struct pagedet_finding *f, uint32_t a, uint32_t b)
{
	return f->rule == a || f->rule == b;
}

static void check_mismatch(const struct pagedet_finding *f)
{
	/* Certain of contents are only bytes, or one and the same page. */
	if (f->confidence == PAGEDET_CONFIDENCE_CERTAIN && f->rule > 3)
		HOLDS(f->rule == 11 && (e.compared == PAGEDET_YES ||
					    e.one_host == PAGEDET_YES));
	/* Hardware is what counters say, not a bit. */
	if (f->rule == 8 || strstr(f->likely, "broken"))
		HOLDS(e.counters_here == PAGEDET_YES ||
			  e.counters_peer == PAGEDET_YES);
	if (f->rule == 8)
		HOLDS(f->confidence < PAGEDET_CONFIDENCE_HIGH);
	/* What was sent must be known to say what became of it. */
	if (e.hash_state[PAGEDET_AS_SENT] != PAGEDET_HAVE &&
	    e.zero[PAGEDET_AS_SENT] == PAGEDET_DUNNO) {
		HOLDS(!rule_is(f, 5, 6) && !rule_is(f, 7, 8) &&
			  !rule_is(f, 4, 12));
		if (f->rule == 14 &&
		    e.hash_state[PAGEDET_AS_SENT] != PAGEDET_NONE)
			HOLDS(names_unknown("the hash as sent"));
	}
	if (e.track != PAGEDET_WRITES_SEEN && f->rule == 6)
		HOLDS(f->confidence < PAGEDET_CONFIDENCE_HIGH);
	if (e.peer_frozen == PAGEDET_NO)
		HOLDS(f->verdict != PAGEDET_VERDICT_CAUSE || f->rule <= 2);
}

static bool have(unsigned field)
{
	return PAGEDET_CELL_STATE(here.cell[field]) == PAGEDET_HAVE;
}

static void check_page(const struct pagedet_finding *f)
{
	/* Pins and references are never made up. */
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
		/* as much room as is said to be enough */
		n = pagedet_explain(&e, 1, arena, 8 * 4096 + 32, f, 8);
		ck_assert_int_eq(n, 8);
		for (k = 0; k < n; k++) {
			seen[f[k].rule]++;
			check_finding(&f[k]);
		}
	}
	for (i = 0; (r = pagedet_rule(i)); i++)
		rules += seen[r->id] != 0;
	/* the others have scenarios above */
	ck_assert_uint_ge(rules, 60);
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
	unit_test(s, others_are_found);
	unit_test(s, facts_have_words);
	unit_test(s, questions_of_their_own);
	unit_test(s, sizes_and_room);
	unit_test(s, rules_are_told_apart);
	unit_test(s, holds_for_any_evidence);
	return unit_main(s);
}
