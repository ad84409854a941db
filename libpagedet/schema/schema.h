/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Fields, their names and groups, and sets of fields. */
#ifndef PDET_SCHEMA_SCHEMA_H
#define PDET_SCHEMA_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

#include "pagedet.h"

/* Number of fields of this library; ids are 0 .. PDET_FIELDS - 1. */
#define PDET_FIELDS 83

/* A set of fields, in the form of pagedet_query.fields. */
struct pdet_fields {
	uint64_t bits[2];
};

static inline bool pdet_fields_has(const struct pdet_fields *set, unsigned f)
{
	return set->bits[f / 64] >> (f % 64) & 1;
}

static inline void pdet_fields_add(struct pdet_fields *set, unsigned f)
{
	set->bits[f / 64] |= (uint64_t)1 << (f % 64);
}

static inline void pdet_fields_remove(struct pdet_fields *set, unsigned f)
{
	set->bits[f / 64] &= ~((uint64_t)1 << (f % 64));
}

/* Adds the fields of @more. */
static inline void pdet_fields_join(struct pdet_fields *set,
				    const struct pdet_fields *more)
{
	set->bits[0] |= more->bits[0];
	set->bits[1] |= more->bits[1];
}

static inline bool pdet_fields_meet(const struct pdet_fields *a,
				    const struct pdet_fields *b)
{
	return (a->bits[0] & b->bits[0]) | (a->bits[1] & b->bits[1]);
}

static inline bool pdet_fields_empty(const struct pdet_fields *set)
{
	return !(set->bits[0] | set->bits[1]);
}

/* Remove the lowest field from a set. Returns false if it is empty. */
static inline bool pdet_fields_take(struct pdet_fields *set, unsigned *f)
{
	if (set->bits[0]) {
		*f = (unsigned)__builtin_ctzll(set->bits[0]);
		set->bits[0] &= set->bits[0] - 1;
		return true;
	}
	if (set->bits[1]) {
		*f = 64 + (unsigned)__builtin_ctzll(set->bits[1]);
		set->bits[1] &= set->bits[1] - 1;
		return true;
	}
	return false;
}

#define PDET_REST_AT(line) pdet_rest_##line
#define PDET_REST(line) PDET_REST_AT(line)

/* Loop over the fields of the set. The loop uses a copy. */
#define pdet_fields_for(f, set)                                           \
	for (struct pdet_fields PDET_REST(__LINE__) = *(set);             \
	     pdet_fields_take(&PDET_REST(__LINE__), &(f));)

/* All fields of this library. */
struct pdet_fields pdet_fields_all(void);

/* The order in which fields are printed: position 0 .. PDET_FIELDS - 1. */
unsigned pdet_field_at(unsigned position);

/*
 * pdet_field_info - get the description of a field. It is never NULL for an id
 * below PDET_FIELDS.
 */
const struct pagedet_field_info *pdet_field_info(unsigned field);

/* pdet_field_by_name - the id, or -1. */
int pdet_field_by_name(const char *name, unsigned len);

/* pdet_field_by_any_name - the same. It also knows aliases. */
int pdet_field_by_any_name(const char *name, unsigned len);

/* Candidates for a mistyped name. */
#define PDET_MEANT 320
struct pdet_meant {
	const char *name[PDET_MEANT];
	size_t n;
};

/* pdet_meant_fields - add the names and aliases of all fields.
 * pdet_meant_groups - add the names of groups. pdet_meant_values - add the
 * names of a field's values. */
void pdet_meant_fields(struct pdet_meant *m);
void pdet_meant_groups(struct pdet_meant *m);
void pdet_meant_values(struct pdet_meant *m, unsigned field);

/* pdet_meant - the nearest name, or NULL. */
const char *pdet_meant(const struct pdet_meant *m, const char *word,
		       size_t len);

/*
 * pdet_group_fields - the fields of "owner", "vma" ..., "all", "everything".
 * Returns false if there is no such group.
 */
bool pdet_group_fields(const char *name, unsigned len,
		       struct pdet_fields *ret);

/* pdet_value_name - the name of an enum's value or of a mask's bit, or NULL. */
const char *pdet_value_name(unsigned field, uint64_t value);

/* pdet_named_bits - the bits of a mask that have names. */
uint64_t pdet_named_bits(unsigned field);

/* pdet_value_by_name - the value or bit, or -1. */
int pdet_value_by_name(unsigned field, const char *name, unsigned len);

const char *pdet_state_name(unsigned state);
const char *pdet_state_text(unsigned state);
const char *pdet_source_name(unsigned source);

/* pdet_is_reason - true if the state means that there is no answer. */
static inline bool pdet_is_reason(unsigned state)
{
	return state >= PAGEDET_UNSUPPORTED;
}

/* pdet_reason_of - the reason for a value that could not be read, from negative
 * errno. */
unsigned pdet_reason_of(int error);

/* pdet_setup_reason - the same for what a source needs before it reads. */
unsigned pdet_setup_reason(int error);

/* pdet_live_reason - @reason, or, because what looks damaged in a running
 * kernel has changed while it was read, PAGEDET_RACED. */
static inline unsigned pdet_live_reason(bool live, unsigned reason)
{
	return live && reason == PAGEDET_CORRUPT ? PAGEDET_RACED : reason;
}

/* The field with the known bits of a mask field; otherwise the field itself. */
static inline unsigned pdet_known_field(unsigned field)
{
	return pdet_field_info(field)->known;
}

/*
 * Advice for an expensive field that the query did not name. The field's name
 * follows the text.
 */
/* In a reason of a log: a test has asked for the memory error. */
#define PDET_INJECTED "injected for a test"
/* The same, in front of what was said of a memory error before the report. */
#define PDET_SAID_BEFORE "before: "
/* The last part of it, before the name of a report: the hardware or firmware
 * that reported the page in the same boot. */
#define PDET_REPORTED_AS "also reported as "
/* Of a report of a bad page: what the words of its struct page show. */
#define PDET_OVERWRITTEN "struct page overwritten"
#define PDET_POOLED "marked as a page of a page_pool"

#define PDET_NOT_LOOKED_FOR "not read; add --fields cheap,"

#endif
