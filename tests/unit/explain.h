/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Makes evidence for tests of the rules, and checks the findings. */
#ifndef TESTS_UNIT_EXPLAIN_H
#define TESTS_UNIT_EXPLAIN_H

#include <stdbool.h>

#include "pagedet.h"
#include "unit.h"

#define ROOM 65536

/* The evidence of the current scenario. */
static struct pagedet_evidence e;
static struct pagedet_page here, peer;
static struct pagedet_finding found[8];
static char arena[ROOM];
static int n_found;

static inline void setup(void)
{
	memset(&e, 0, sizeof(e));
	memset(&here, 0, sizeof(here));
	memset(&peer, 0, sizeof(peer));
	e.size = sizeof(e);
	e.id = 77;
}

#define SET(row, FIELD, member, v) do {                                      \
	(row)->cell[PAGEDET_FIELD_##FIELD] =                                 \
		PAGEDET_HAVE | PAGEDET_SOURCE_PROCFS << 8;                   \
	(row)->member = (v);                                                 \
} while (0)

static inline void set_flags(struct pagedet_page *row, uint64_t flags)
{
	SET(row, FLAGS, flags, flags);
	SET(row, FLAGS_KNOWN, flags_known, ~0ull);
}

static inline void set_pte(struct pagedet_page *row, uint32_t pte)
{
	SET(row, PTE, pte, pte);
	SET(row, PTE_KNOWN, pte_known, 0xffff);
}

static inline void set_mapcount(struct pagedet_page *row, uint64_t n)
{
	SET(row, MAPCOUNT, mapcount, n);
	SET(row, MAPCOUNT_KIND, mapcount_kind, PAGEDET_MAPCOUNT_EXACT);
}

static inline void set_kind(uint32_t kind)
{
	SET(&here, KIND, kind, kind);
	SET(&here, PFN, pfn, 4711);
	SET(&here, NOTES, notes, 0);
}

static inline void set_hash(unsigned version, uint64_t hash)
{
	e.hash[version] = hash;
	e.hash_state[version] = PAGEDET_HAVE;
	e.zero[version] = hash ? PAGEDET_NO : PAGEDET_YES;
}

static inline void set_more(unsigned version, uint64_t hash)
{
	const unsigned i = version - PAGEDET_AS_MORE;

	e.more_hash[i] = hash;
	e.more_state[i] = PAGEDET_HAVE;
	e.more_zero[i] = hash ? PAGEDET_NO : PAGEDET_YES;
}

static inline void unset_more(unsigned version)
{
	e.more_state[version - PAGEDET_AS_MORE] = PAGEDET_NOT_ASKED;
	e.more_zero[version - PAGEDET_AS_MORE] = PAGEDET_DUNNO;
}

static inline void unset_sent(void)
{
	e.hash_state[PAGEDET_AS_SENT] = PAGEDET_NOT_ASKED;
	e.zero[PAGEDET_AS_SENT] = PAGEDET_DUNNO;
}

/*
 * Both sides are frozen, and all observations but tracking are present. Memory
 * had the sent version, and the source had its current version when it stopped.
 */
static inline void hashes(uint64_t sent, uint64_t now, uint64_t at_peer)
{
	setup();
	e.here_frozen = e.peer_frozen = PAGEDET_YES;
	e.here_ran = e.peer_ran = PAGEDET_NO;
	e.here_other_maps = e.extra_mappers = PAGEDET_NO;
	e.counters_here = e.counters_peer = PAGEDET_NO;
	e.earlier = e.same_as_other = PAGEDET_NO;
	e.stopped_drained = PAGEDET_YES;
	set_more(PAGEDET_AS_BEFORE, sent);
	set_hash(PAGEDET_AS_SENT, sent);
	set_more(PAGEDET_AS_STOPPED, now);
	set_hash(PAGEDET_AS_NOW, now);
	set_hash(PAGEDET_AS_PEER, at_peer);
}

static inline void ask(uint32_t questions)
{
	e.questions = questions;
	memcpy(e.here, &here, sizeof(here));
	memcpy(e.peer, &peer, sizeof(peer));
	found[0].size = sizeof(found[0]);
	n_found = pagedet_explain(&e, 1, arena, sizeof(arena), found, 8);
	ck_assert_int_ge(n_found, 0);
	ck_assert_int_le(n_found, 8);
}

static inline void expect(uint32_t question, const char *name,
			  uint32_t confidence)
{
	ask(question);
	ck_assert_int_eq(n_found, 1);
	ck_assert_str_eq(found[0].name, name);
	ck_assert_uint_eq(found[0].confidence, confidence);
	ck_assert_uint_eq(found[0].id, 77);
	ck_assert_uint_eq(found[0].question, question);
}

static inline bool names_unknown(const char *part)
{
	uint32_t i;

	for (i = 0; i < found[0].n_unknown; i++)
		if (strstr(found[0].unknown[i], part))
			return true;
	return false;
}

static inline const struct pagedet_alternative *alternative(const char *name)
{
	uint32_t i;

	for (i = 0; i < found[0].n_alternatives; i++)
		if (!strcmp(found[0].alternatives[i].name, name))
			return &found[0].alternatives[i];
	ck_abort_msg("no alternative %s", name);
	return NULL;
}

static inline const struct pagedet_fact *fact(const char *field, uint32_t side)
{
	uint32_t i;

	for (i = 0; i < found[0].n_facts; i++)
		if (!strcmp(found[0].facts[i].field, field) &&
		    found[0].facts[i].side == side)
			return &found[0].facts[i];
	return NULL;
}

/* A scenario for one page. A test changes one thing and asks again. */
static inline void user_page(uint32_t kind, uint64_t flags)
{
	setup();
	set_kind(kind);
	set_flags(&here, flags);
	set_mapcount(&here, 0);
	SET(&here, NOTES, notes, 0);
	SET(&here, ORDER, order, 0);
}

static inline void counted(uint64_t refcount, uint64_t mapcount)
{
	SET(&here, REFCOUNT, refcount, refcount);
	set_mapcount(&here, mapcount);
}

#define F(name) PAGEDET_PF(PAGEDET_PF_##name)
#define EXPECT(question, name, confidence) \
	expect(PAGEDET_ASK_##question, name, PAGEDET_CONFIDENCE_##confidence)

#endif
