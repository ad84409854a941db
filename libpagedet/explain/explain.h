/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What the rules share: the case before them, what they may ask of it, and how
 * they say what a finding rests on. Nothing here reads or allocates anything.
 */
#ifndef PDET_EXPLAIN_EXPLAIN_H
#define PDET_EXPLAIN_EXPLAIN_H

#include <stdbool.h>
#include <string.h>

#include "base/env.h"
#include "schema/schema.h"

/* What one finding may rest on, and name as unknown. */
#define PDET_FACTS 16
#define PDET_UNKNOWN 12

/* Memory of the caller, handed out from its start. */
struct pdet_arena {
	char *at;
	char *end;
	bool none;		/* nothing is to be kept */
	bool full;		/* something did not fit */
};

struct pdet_case {
	struct pagedet_evidence e;
	struct pagedet_page here, peer; /* its rows */
	struct pdet_arena *arena;
	/* what the rule says, beside its own words */
	const char *cause;
	const char *likely;
	uint32_t confidence;
	uint32_t likely_confidence;
	struct pagedet_fact facts[PDET_FACTS];
	const char *unknown[PDET_UNKNOWN];
	uint32_t n_facts, n_unknown;
};

struct pdet_rule {
	struct pagedet_rule info;
	/* Does it fit? Says so, how sure it is, and what it rests on. What it
	 * says is forgotten if it does not. */
	bool (*fits)(struct pdet_case *c);
};

#define PDET_RULE(id, question, verdict, name, fits, cause, advice)       \
	{ { sizeof(struct pagedet_rule), (name), (cause), (advice), (id), \
	    PAGEDET_ASK_##question, PAGEDET_VERDICT_##verdict, 0 },       \
	  (fits) }

/* Each ends with a rule without name. */
extern const struct pdet_rule pdet_rules_mismatch[];
extern const struct pdet_rule pdet_rules_use[];
extern const struct pdet_rule pdet_rules_move[];
extern const struct pdet_rule pdet_rules_charge[];

/* --- facts.c --- */

/* pdet_fact_field - a field of a row; nothing if it is not answered, or there
 * is nothing. */
void pdet_fact_field(struct pdet_case *c, uint32_t side, unsigned field);
/* pdet_fact_number - a member of the evidence, or a sum. */
void pdet_fact_number(struct pdet_case *c, const char *name, uint64_t value,
		      uint32_t type, uint32_t side, uint64_t time_ns);
/* pdet_fact_word - the same, of a value that has a name. */
void pdet_fact_word(struct pdet_case *c, const char *name, uint64_t value,
		    const char *word, uint32_t side);
/* pdet_fact_known - PAGEDET_YES and PAGEDET_NO; else nothing. */
void pdet_fact_known(struct pdet_case *c, const char *name, uint32_t known,
		     uint32_t side);
/* pdet_fact_hash - PAGEDET_AS_*, if it is known. */
void pdet_fact_hash(struct pdet_case *c, uint32_t version);
/* pdet_unknown - a static text: what would have decided. */
void pdet_unknown(struct pdet_case *c, const char *what);
/* pdet_lower - the same, and the finding is less sure without it. */
void pdet_lower(struct pdet_case *c, const char *what);
/* pdet_rest_on - so sure it is, and a field of the row here says so; true. */
bool pdet_rest_on(struct pdet_case *c, unsigned field, uint32_t confidence);
/* pdet_rest_on_kind - the same of its kind, if it is known to be this one. */
bool pdet_rest_on_kind(struct pdet_case *c, uint32_t kind, uint32_t confidence);
/* pdet_rest_on_poison - the kernel has taken the page here for a memory error:
 * that is certain. */
bool pdet_rest_on_poison(struct pdet_case *c);
/* pdet_case_text - the text at a place of the evidence; "" if there is none. */
const char *pdet_case_text(const struct pdet_case *c, uint64_t id);

/* pdet_arena_take - room of @size bytes; NULL if there is none. */
void *pdet_arena_take(struct pdet_arena *arena, size_t size, size_t align);

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

/* PAGEDET_YES, PAGEDET_NO, or PAGEDET_DUNNO of PAGEDET_PF_*, PAGEDET_PTE_*. */
uint32_t pdet_row_flag(const struct pagedet_page *row, unsigned bit);
uint32_t pdet_row_pte(const struct pagedet_page *row, unsigned bit);
uint32_t pdet_row_note(const struct pagedet_page *row, unsigned bit);
/* The kind is known, and it is this one. */
bool pdet_row_is(const struct pagedet_page *row, uint32_t kind);
/* Memory of tasks or files: PAGEDET_KIND_ANON, _FILE, _SHMEM. */
bool pdet_row_is_user(const struct pagedet_page *row);
/* There is no page to ask about: free, or no memory at all. */
bool pdet_row_is_nothing(const struct pagedet_page *row);
/* Whether the kernel has taken it for a memory error. */
uint32_t pdet_row_poisoned(const struct pagedet_page *row);
/* No entry in the page table, not even one of swap. */
uint32_t pdet_row_absent(const struct pagedet_page *row);
/* Whether a task maps this very page. */
uint32_t pdet_row_mapped(const struct pagedet_page *row);
/*
 * References beyond those that mappings and caches explain: of a folio of one
 * page, whose counts are all known; else false. Those of mappings and caches go
 * to *expected.
 */
bool pdet_row_extra(const struct pagedet_page *row, uint64_t *expected,
		    uint64_t *extra);
/*
 * PAGEDET_YES if it is pinned, with how sure that is: the count of a small
 * folio is made of its references, of which 1024 may also be 1024 ordinary ones
 * (Documentation/core-api/pin_user_pages.rst).
 */
uint32_t pdet_row_pinned(const struct pagedet_page *row, uint32_t *confidence);

/* --- explain.c --- */

/*
 * pdet_explain - as pagedet_explain(); structs are of the library's own size
 * when @stride and @finding_size say so, else shorter or longer ones.
 */
int pdet_explain(const void *evidence, uint64_t stride, uint64_t n,
		 struct pdet_arena *arena, void *findings,
		 uint64_t finding_size, uint64_t max);

const struct pdet_rule *pdet_rule(uint32_t n);

#endif
