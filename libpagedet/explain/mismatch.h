/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Shared by the rules about mismatches. */
#ifndef PDET_EXPLAIN_MISMATCH_H
#define PDET_EXPLAIN_MISMATCH_H

#include "explain/explain.h"

/* Versions of the page, in the order of time. */
#define BEFORE PAGEDET_AS_BEFORE
#define SENT PAGEDET_AS_SENT
#define STOPPED PAGEDET_AS_STOPPED
#define NOW PAGEDET_AS_NOW
#define AGAIN PAGEDET_AS_AGAIN
#define PEER_STOPPED PAGEDET_AS_PEER_STOPPED
#define PEER PAGEDET_AS_PEER
#define PEER_AGAIN PAGEDET_AS_PEER_AGAIN

#define PDET_KEEP_BOTH \
	"keep both sides stopped, and keep their memory: it is not proven " \
	"that the source is intact, and that the peer did not run"

enum relation {
	UNKNOWN,		/* one of them is not known */
	OTHER_KEYS,		/* hashes with different keys say nothing */
	EQUAL,
	DIFFERENT
};

/* --- mismatch.c: what the evidence proves --- */

enum relation pdet_compare(const struct pdet_case *c, unsigned a, unsigned b);
/* pdet_contents - compare the current contents of this side and the peer. */
enum relation pdet_contents(const struct pdet_case *c);
bool pdet_is_same_page(const struct pdet_case *c);
bool pdet_is_zero(const struct pdet_case *c, unsigned version, uint32_t known);
bool pdet_never_sent(const struct pdet_case *c);
bool pdet_runs(const struct pdet_case *c);
bool pdet_moved(const struct pdet_case *c);
bool pdet_counters_moved(const struct pdet_case *c);
/*
 * The mtime belongs to a tick after the page was sent. The reverse proves
 * nothing: a store through a mapping may leave the mtime unchanged.
 */
bool pdet_file_moved(const struct pdet_case *c);
/* pdet_others_map - a process other than the owner maps the page. */
uint32_t pdet_others_map(const struct pdet_case *c);
/* pdet_lacks - PAGEDET_YES: the side has no contents for the page. */
uint32_t pdet_lacks(const struct pdet_case *c, uint32_t side);
/* The source still had contents when it had stopped, and has none now. */
bool pdet_is_given_back(const struct pdet_case *c);
/* The page was sent, then changed here, and was not sent again. */
bool pdet_is_not_resent(const struct pdet_case *c);
/* The page differs from its version at the time when the source had stopped. */
bool pdet_is_changed_here(const struct pdet_case *c);
/* The page is unchanged here, but differs at the peer. */
bool pdet_is_changed_after(const struct pdet_case *c);
bool pdet_is_cleared_there(const struct pdet_case *c);

/* --- mismatch_facts.c: facts of findings --- */

void pdet_facts_versions(struct pdet_case *c);
void pdet_facts_both(struct pdet_case *c, unsigned field);
void pdet_facts_still(struct pdet_case *c);
void pdet_facts_difference(struct pdet_case *c);
void pdet_facts_sending(struct pdet_case *c);
void pdet_facts_track(struct pdet_case *c);
void pdet_facts_writers(struct pdet_case *c);
void pdet_facts_counters(struct pdet_case *c);
void pdet_counters_unknown(struct pdet_case *c);
void pdet_sent_unknown(struct pdet_case *c);

/* --- mismatch_rivals.c --- */

/* All causes of a difference, and all errors of the observation. */
extern const struct pdet_rival *const pdet_rivals_mismatch[];
extern const struct pdet_rival *const pdet_rivals_written[];
extern const struct pdet_rival *const pdet_rivals_untracked[];
extern const struct pdet_rival *const pdet_rivals_changed_here[];
extern const struct pdet_rival *const pdet_rivals_misplaced[];
extern const struct pdet_rival *const pdet_rivals_missing[];
extern const struct pdet_rival *const pdet_rivals_vanished[];
extern const struct pdet_rival *const pdet_rivals_flip[];
extern const struct pdet_rival *const pdet_rivals_equal[];
extern const struct pdet_rival *const pdet_rivals_unsteady[];
extern const struct pdet_rival *const pdet_rivals_poison[];
extern const struct pdet_rival *const pdet_rivals_running[];
extern const struct pdet_rival *const pdet_rivals_refused[];
extern const struct pdet_rival *const pdet_rivals_same_page[];
extern const struct pdet_rival pdet_rival_changed_here, pdet_rival_before_tap;
extern const struct pdet_rival pdet_rival_not_resent, pdet_rival_untracked;
extern const struct pdet_rival pdet_rival_old, pdet_rival_misplaced;
extern const struct pdet_rival pdet_rival_after_tap, pdet_rival_missing;
extern const struct pdet_rival pdet_rival_vanished, pdet_rival_poison;
extern const struct pdet_rival pdet_rival_two;

/* --- the rules, by subject --- */

/* mismatch_alike.c: there is no difference, or none that can be judged. */
bool pdet_not_frozen(struct pdet_case *c);
bool pdet_moved_frozen(struct pdet_case *c);
bool pdet_other_keys(struct pdet_case *c);
bool pdet_same_page(struct pdet_case *c);
bool pdet_same_bytes(struct pdet_case *c);
bool pdet_same_hash(struct pdet_case *c);
bool pdet_mismatch_unknown(struct pdet_case *c);
/* mismatch_lost.c: one side has no contents. */
bool pdet_unreadable(struct pdet_case *c);
bool pdet_poisoned(struct pdet_case *c);
bool pdet_missing(struct pdet_case *c);
bool pdet_vanished(struct pdet_case *c);
/* mismatch_here.c: it happened at the source. */
bool pdet_changed_here(struct pdet_case *c);
bool pdet_changed_at_stop(struct pdet_case *c);
bool pdet_before_tap(struct pdet_case *c);
bool pdet_zero_race(struct pdet_case *c);
bool pdet_untracked(struct pdet_case *c);
bool pdet_untracked_by(struct pdet_case *c);
bool pdet_dirty_log_lost(struct pdet_case *c);
/* mismatch_there.c: it happened on the way, or at the peer. */
bool pdet_stale_version(struct pdet_case *c);
bool pdet_misplaced(struct pdet_case *c);
bool pdet_bit_flip(struct pdet_case *c);
bool pdet_changed_after(struct pdet_case *c);
bool pdet_two_faults(struct pdet_case *c);

#endif
