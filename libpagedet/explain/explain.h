/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Shared by the rules: the case, the questions that a rule may ask about it,
 * and functions that record facts. Nothing here reads files or allocates
 * memory.
 */
#ifndef PDET_EXPLAIN_EXPLAIN_H
#define PDET_EXPLAIN_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/env.h"
#include "schema/schema.h"

/* Limit of facts, and of unknown data, of one finding. */
#define PDET_FACTS 24
#define PDET_UNKNOWN 24
/* Limit of alternatives. */
#define PDET_ALTERNATIVES 24

/* Memory of the caller, which is used up from its start. */
struct pdet_arena {
	char *at;
	char *end;
	bool none;		/* keep nothing */
	bool full;		/* something did not fit */
};

struct pdet_case {
	struct pagedet_evidence e;
	struct pagedet_page here, peer; /* rows of the evidence */
	struct pdet_arena *arena;
	/* what the rule adds to its own texts */
	const char *cause;
	const char *advice;
	const char *otherwise;	/* as in the rule */
	const char *likely;
	/* reports of the page that contradict them: PDET_REPORTED() of each */
	uint64_t advice_unless, likely_unless;
	uint32_t confidence;
	uint32_t likely_confidence;
	struct pagedet_fact facts[PDET_FACTS];
	const char *unknown[PDET_UNKNOWN];
	struct pagedet_alternative alternatives[PDET_ALTERNATIVES];
	uint32_t n_facts, n_unknown, n_alternatives;
	bool early;		/* the look at the stop came too early */
};

/* The state of an alternative, PAGEDET_ALTERNATIVE_*, and the reason for it. */
struct pdet_state {
	uint32_t state;
	const char *why;	/* as pagedet_alternative.why */
};

/*
 * One alternative: another cause, or an error of the observation. While it is
 * not examined, the finding has at most the confidence @blind.
 */
struct pdet_rival {
	const char *name;
	const char *cause;
	struct pdet_state (*look)(const struct pdet_case *c);
	uint32_t blind;		/* PAGEDET_CONFIDENCE_MEDIUM, _LOW */
};

/* One way in which a rule can fit. */
struct pdet_way {
	/*
	 * Whether the rule fits. It records facts, which are dropped if it does
	 * not fit.
	 */
	bool (*fits)(struct pdet_case *c);
	uint32_t most;		/* confidence without alternatives */
	const struct pdet_rival *const *rivals; /* NULL: none; ends with NULL */
};

#define PDET_WAYS 3

struct pdet_rule {
	struct pagedet_rule info;
	struct pdet_way ways[PDET_WAYS]; /* the first one that fits is used */
	const struct pdet_rival *own; /* the rule itself among its rivals */
	/*
	 * For rules whose advice is to let a side continue: that side, and the
	 * advice to give if it may not: see pdet_may_run().
	 */
	uint32_t lets_run;
	const char *otherwise;
};

#define PDET_RULE_INFO(id, question, verdict, name, cause, advice)         \
	{ sizeof(struct pagedet_rule), (name), (cause), (advice), (id),     \
	  PAGEDET_ASK_##question, PAGEDET_VERDICT_##verdict, 0 }

/*
 * The last arguments are the ways in which it can fit: { fits, highest
 * confidence, rivals }.
 */
#define PDET_RULE(id, question, verdict, name, cause, advice, ...)         \
	{ .info = PDET_RULE_INFO(id, question, verdict, name, cause,        \
				 advice),                                   \
	  .ways = { __VA_ARGS__ } }

#define PDET_CERTAIN PAGEDET_CONFIDENCE_CERTAIN
#define PDET_HIGH PAGEDET_CONFIDENCE_HIGH
#define PDET_MEDIUM PAGEDET_CONFIDENCE_MEDIUM
#define PDET_LOW PAGEDET_CONFIDENCE_LOW

/* Each table ends with a rule without a name. */
extern const struct pdet_rule pdet_rules_mismatch[];
extern const struct pdet_rule pdet_rules_use[];
extern const struct pdet_rule pdet_rules_move[];
extern const struct pdet_rule pdet_rules_charge[];

/* --- facts.c --- */

/* pdet_fact_field - record a field of a row, if it has a value. */
void pdet_fact_field(struct pdet_case *c, uint32_t side, unsigned field);
/* pdet_fact_number - record a member of the evidence, or a sum. */
void pdet_fact_number(struct pdet_case *c, const char *name, uint64_t value,
		      uint32_t type, uint32_t side, uint64_t time_ns);
/* pdet_fact_word - the same for a value with a name. */
void pdet_fact_word(struct pdet_case *c, const char *name, uint64_t value,
		    const char *word, uint32_t side);
/*
 * pdet_fact_known - record PAGEDET_YES or PAGEDET_NO. Other values are not
 * recorded.
 */
void pdet_fact_known(struct pdet_case *c, const char *name, uint32_t known,
		     uint32_t side);
/* pdet_fact_hash - record the hash of PAGEDET_AS_*, if it is known. */
void pdet_fact_hash(struct pdet_case *c, uint32_t version);
/*
 * pdet_unknown - record missing data that would have decided. @what must be
 * static. It may end in PDET_IN_MEMORY, which advises to ask a source, unless
 * such a source was asked.
 */
#define PDET_IN_MEMORY \
	" (needs a dump, or a source that reads kernel memory)"
void pdet_unknown(struct pdet_case *c, const char *what);
/*
 * pdet_rest_on - record that a field of the row of this side shows this.
 * Returns true.
 */
bool pdet_rest_on(struct pdet_case *c, unsigned field);
/*
 * pdet_rest_on_kind - whether the kind is known to be this one. Records the
 * kind.
 */
bool pdet_rest_on_kind(struct pdet_case *c, uint32_t kind);
/* pdet_fact_folio - for a page of a large folio: record the number of its
 * pages, and the number of entries that map it. */
void pdet_fact_folio(struct pdet_case *c);
/* pdet_unknown_report - record as unknown whether the kernel found the struct
 * page wrong, if nobody looked or if a part of the log was not seen. */
void pdet_unknown_report(struct pdet_case *c);
/*
 * pdet_rest_on_poison - whether the kernel took the page of this side out of
 * use because of a memory error.
 */
bool pdet_rest_on_poison(struct pdet_case *c);
/*
 * pdet_case_text - the text at an offset of the evidence; "" if there is none.
 */
const char *pdet_case_text(const struct pdet_case *c, uint64_t id);
/* pdet_case_reason - the reason of the report; "" if there is none. */
const char *pdet_case_reason(const struct pdet_case *c);

/*
 * pdet_keep - copy a text into the arena. Returns "" if there is no room, or if
 * nothing is to be kept.
 */
const char *pdet_keep(struct pdet_case *c, const char *text, size_t len);

/* pdet_arena_take - take @size bytes. Returns NULL if there is no room. */
void *pdet_arena_take(struct pdet_arena *arena, size_t size, size_t align);

/* --- advice.c --- */

/* Begins an advice for the machine that a file is about. */
#define PDET_ELSEWHERE "on that machine: "

/*
 * pdet_fit_advice - the advice of a rule, as it fits the source of the row: for
 * a file, what can be done with it, or on the machine that it is about.
 */
const char *pdet_fit_advice(struct pdet_case *c, const char *text);

/* --- bad_page.c --- */

/*
 * pdet_rest_on_bad_page - whether a kernel reported the page as bad when it was
 * freed or handed out. If so, its struct page shows that moment, or is damaged.
 */
bool pdet_rest_on_bad_page(struct pdet_case *c);
#define PDET_BAD_PAGE_ADVICE \
	"find what freed it too early, or wrote to it or its struct page " \
	"later: the report's call trace shows where that was noticed"
/* A rule of each question that asks what such a page cannot tell. */
#define PDET_BAD_PAGE(id, question, name, what) \
	PDET_RULE(id, question, CANNOT_TELL, name, \
		  "cannot tell " what ": the kernel reported it as a bad " \
		  "page", PDET_BAD_PAGE_ADVICE, \
		  { pdet_rest_on_bad_page, PDET_LOW, NULL })

/*
 * pdet_rest_on_low_count - whether a count of its users is below zero. Then no
 * count of it is of use.
 */
bool pdet_rest_on_low_count(struct pdet_case *c);
#define PDET_LOW_COUNT_ADVICE \
	"find the code that gives back references or mappings more often " \
	"than it takes them; the page may be in use twice"
#define PDET_LOW_COUNT(id, question, name, what) \
	PDET_RULE(id, question, CANNOT_TELL, name, \
		  "cannot tell " what ": a count of its users is below zero", \
		  PDET_LOW_COUNT_ADVICE, \
		  { pdet_rest_on_low_count, PDET_LOW, NULL })

/* --- poison.c: how the handling of a memory error ended --- */

/* pdet_poisoned_in_use - the page is marked, and was not taken out of use, or
 * not wholly. pdet_poisoned_mapped - so it seems: tasks mapped it after the
 * kernel tried to unmap it. pdet_poisoned_killed - so it may be: a task had to
 * be killed. */
bool pdet_poisoned_in_use(struct pdet_case *c);
bool pdet_poisoned_mapped(struct pdet_case *c);
bool pdet_poisoned_killed(struct pdet_case *c);
/* pdet_poisoned_aside - nothing uses it any more; _likely - so it seems;
 * pdet_poisoned_again - nothing tells, but the error was reported before. */
bool pdet_poisoned_aside(struct pdet_case *c);
bool pdet_poisoned_aside_likely(struct pdet_case *c);
bool pdet_poisoned_again(struct pdet_case *c);

/* pdet_poisoned_unfound - the error was reported before, and nothing is known
 * of that: what the report says of its origin is not what marked the page. */
bool pdet_poisoned_unfound(const struct pdet_case *c);

/* --- report.c --- */

/* Reports that contradict a guess of a rule that the page is in order. */
#define PDET_REPORTED(name) ((uint64_t)1 << PAGEDET_REPORT_##name)
#define PDET_REPORTED_MEMORY \
	(PDET_REPORTED(MEMORY_FAILURE) | PDET_REPORTED(SOFT_OFFLINE) | \
	 PDET_REPORTED(MACHINE_CHECK) | PDET_REPORTED(EDAC) | \
	 PDET_REPORTED(APEI))
#define PDET_REPORTED_STATE \
	(PDET_REPORTED(DUMP_PAGE) | PDET_REPORTED(BAD_PAGE_MAP) | \
	 PDET_REPORTED(SLAB) | PDET_REPORTED(KASAN) | \
	 PDET_REPORTED(KFENCE) | PDET_REPORTED(LIST))
/* Something holds it. */
#define PDET_REPORTED_USE \
	(PDET_REPORTED(HUNG_TASK) | PDET_REPORTED(MIGRATION))
/* For: reclaim takes it. And for: it is free, but not marked as that. */
#define PDET_UNLESS_KEPT \
	(PDET_REPORTED_MEMORY | PDET_REPORTED_STATE | PDET_REPORTED_USE)
#define PDET_UNLESS_USED \
	(PDET_REPORTED_MEMORY | PDET_REPORTED(BAD_PAGE_MAP) | PDET_REPORTED_USE)

/* pdet_say_first - "WHAT: REASON; CAUSE". Without a @reason, "WHAT; CAUSE". */
void pdet_say_first(struct pdet_case *c, const char *what, const char *reason);
/*
 * pdet_report_first - put the kernel's report of the page first, if there is
 * one and no rule is about it.
 */
void pdet_report_first(struct pdet_case *c);
/* pdet_reported_past - the machine has restarted since the report, or may have,
 * so that it says nothing of the page as it is. pdet_unknown_past - record this
 * as unknown, if so. */
bool pdet_reported_past(const struct pdet_case *c);
void pdet_unknown_past(struct pdet_case *c);
/*
 * pdet_drop_guesses - drop what a rule thinks likely and its advice, if the
 * kernel's report of the page contradicts them.
 */
void pdet_drop_guesses(struct pdet_case *c);

/* --- certainty.c: the confidence of a finding --- */

static inline struct pdet_state pdet_gone(const char *by)
{
	return (struct pdet_state){ PAGEDET_ALTERNATIVE_EXCLUDED, by };
}

static inline struct pdet_state pdet_maybe(const char *why)
{
	return (struct pdet_state){ PAGEDET_ALTERNATIVE_POSSIBLE, why };
}

static inline struct pdet_state pdet_unseen(const char *look)
{
	return (struct pdet_state){ PAGEDET_ALTERNATIVE_NOT_LOOKED, look };
}

/* @is: PAGEDET_YES, _NO or _DUNNO: what the alternative needs. */
static inline struct pdet_state pdet_needs(unsigned is, const char *gone,
					   const char *open, const char *look)
{
	return is == PAGEDET_NO ? pdet_gone(gone) :
	       is == PAGEDET_YES ? pdet_maybe(open) : pdet_unseen(look);
}

/*
 * pdet_weigh - examine the alternatives of a rule that fits, and set the
 * confidence. If all are excluded, it is that of the way. If one is not
 * excluded, it is at most medium, and lower than that of the way; if data is
 * missing, it is not above the rival's blind. If several are not excluded, it
 * is low.
 */
void pdet_weigh(struct pdet_case *c, const struct pdet_rule *rule,
		const struct pdet_way *way);

/* --- rivals_row.c: alternatives of findings that rest on a row --- */

/* The row is about one page at one moment, and its counts are right. */
extern const struct pdet_rival *const pdet_rivals_row[];
extern const struct pdet_rival *const pdet_rivals_counts[];
/* Also, the page is in the page cache. */
extern const struct pdet_rival *const pdet_rivals_cached[];
extern const struct pdet_rival pdet_rival_moved, pdet_rival_stale;
extern const struct pdet_rival pdet_rival_estimated;

/* --- mismatch.c, mismatch_intact.c --- */

/* pdet_drop_early - drop the look at the stop if a device wrote later. */
void pdet_drop_early(struct pdet_case *c);

/*
 * pdet_intact - whether the contents of a side of a mismatch are proven right
 * (PAGEDET_YES) or wrong (PAGEDET_NO); otherwise PAGEDET_DUNNO.
 */
uint32_t pdet_intact(const struct pdet_case *c, uint32_t side);
/*
 * pdet_may_run - whether an advice may let a side continue: it is proven right,
 * and the other one did not run.
 */
bool pdet_may_run(const struct pdet_case *c, uint32_t side);

/* --- row.c: what a row proves --- */

static inline bool pdet_row_has(const struct pagedet_page *row, unsigned field)
{
	return PAGEDET_CELL_STATE(row->cell[field]) == PAGEDET_HAVE;
}

static inline bool pdet_row_lacks(const struct pagedet_page *row,
				  unsigned field)
{
	return PAGEDET_CELL_STATE(row->cell[field]) == PAGEDET_NONE;
}

/* True if the references are known, and not damaged. */
static inline bool pdet_row_has_refs(const struct pagedet_page *row)
{
	return pdet_row_has(row, PAGEDET_FIELD_REFCOUNT) &&
	       !(row->refcount >> 63);
}

/* The same for the mapcount. */
static inline bool pdet_row_has_maps(const struct pagedet_page *row)
{
	return pdet_row_has(row, PAGEDET_FIELD_MAPCOUNT) &&
	       !(row->mapcount >> 63);
}

/*
 * The state of flag PAGEDET_PF_* or PAGEDET_PTE_*: PAGEDET_YES, PAGEDET_NO or
 * PAGEDET_DUNNO.
 */
uint32_t pdet_row_flag(const struct pagedet_page *row, unsigned bit);
uint32_t pdet_row_pte(const struct pagedet_page *row, unsigned bit);
uint32_t pdet_row_note(const struct pagedet_page *row, unsigned bit);
/*
 * The kernel has migrated the page before, and its owner has not changed since.
 */
bool pdet_row_was_moved(const struct pagedet_page *row);
/* The kind is known, and is this one. */
bool pdet_row_is(const struct pagedet_page *row, uint32_t kind);
/*
 * Whether it is memory of tasks or files: PAGEDET_KIND_ANON, _FILE or _SHMEM.
 */
bool pdet_row_is_user(const struct pagedet_page *row);
/* A source that reads kernel memory has answered a part of the row. */
bool pdet_row_is_from_memory(const struct pagedet_page *row);
/* A file has answered the row, and no running kernel: a dump, a log, a snapshot
 * or a trace. */
bool pdet_row_is_past(const struct pagedet_page *row);
/* The sources that have answered it: PAGEDET_SOURCE_BIT() of each. */
uint32_t pdet_row_sources(const struct pagedet_page *row);
/* There is no page to explain: it is free, or not memory. */
bool pdet_row_is_nothing(const struct pagedet_page *row);
/* Whether the kernel disabled the page after a memory error. */
uint32_t pdet_row_poisoned(const struct pagedet_page *row);
/* It was free when it was marked as a memory error. The kernel takes such a
 * page off its free lists (mm/memory-failure.c), so it is not free any more. */
bool pdet_row_was_free(const struct pagedet_page *row);
/* The page table has no entry, not even a swap entry. */
uint32_t pdet_row_absent(const struct pagedet_page *row);
/* Whether a task maps exactly this page. */
uint32_t pdet_row_mapped(const struct pagedet_page *row);
/*
 * Whether the page is in the page cache of a file. If a page is on an LRU list
 * and has a mapping, it is. A mapping alone is not enough, because drivers
 * (perf, fb) also set the mapping of their own pages.
 */
uint32_t pdet_row_cached(const struct pagedet_page *row);
/*
 * Whether the kernel allocated it as whole pages. Such a page has no kind, and
 * is not on an LRU list.
 */
bool pdet_row_is_kernel(const struct pagedet_page *row);
/*
 * Whether page_owner's record of the allocation is about the present user.
 * PAGEDET_NO: the page was freed since. When the kernel migrates a page, it
 * copies both the time of the allocation and that of the free.
 */
uint32_t pdet_row_owned(const struct pagedet_page *row);
/* The page belongs to a folio of several pages. */
bool pdet_row_is_large(const struct pagedet_page *row);
/*
 * Counts the references that mappings, caches and the allocation do not
 * explain. Returns false if a count is unknown. *@expected gets the number of
 * explained references. For a page of a large folio the counts are those of the
 * folio. @folio is the number of entries that map it, or PDET_NOT_COUNTED if
 * that is not known.
 */
#define PDET_NOT_COUNTED UINT64_MAX
bool pdet_row_extra(const struct pagedet_page *row, uint64_t folio,
		    uint64_t *expected, uint64_t *extra);

static inline bool pdet_case_extra(const struct pdet_case *c,
				   uint64_t *expected, uint64_t *extra)
{
	return pdet_row_extra(&c->here, c->e.folio_counted == PAGEDET_YES ?
					c->e.folio_mapcount : PDET_NOT_COUNTED,
			      expected, extra);
}
/*
 * PAGEDET_YES if the page is pinned, with a confidence. A small folio has no
 * separate pin count: a pin adds 1024 references, and 1024 ordinary references
 * look the same (Documentation/core-api/pin_user_pages.rst).
 */
uint32_t pdet_row_pinned(const struct pagedet_page *row, uint32_t *confidence);

/* --- explain.c --- */

/*
 * pdet_explain - as pagedet_explain(). @stride and @finding_size are the sizes
 * of the client's structs. These may be shorter or longer than the structs of
 * the library.
 */
int pdet_explain(const void *evidence, uint64_t stride, uint64_t n,
		 struct pdet_arena *arena, void *findings,
		 uint64_t finding_size, uint64_t max);

const struct pdet_rule *pdet_rule(uint32_t n);

/* Size of the first struct pagedet_finding. Old clients may use it. */
#define PDET_FINDING_FIRST offsetof(struct pagedet_finding, alternatives)

#endif
