/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Fields, their groups and names, and sets of fields. */
#ifndef PDET_SCHEMA_SCHEMA_H
#define PDET_SCHEMA_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

#include "pagedet.h"

/* How many fields this library has; ids are 0 .. PDET_FIELDS - 1. */
#define PDET_FIELDS 57

/* A set of fields, as pagedet_query.fields. */
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

static inline bool pdet_fields_empty(const struct pdet_fields *set)
{
	return !(set->bits[0] | set->bits[1]);
}

/* The next field of a set at or after @f; PDET_FIELDS past the last. */
static inline unsigned pdet_fields_next(const struct pdet_fields *set,
					unsigned f)
{
	unsigned word;

	for (word = f / 64; word < 2; word++, f = 0) {
		uint64_t bits = set->bits[word] >> (f % 64) << (f % 64);

		if (bits)
			return word * 64 + (unsigned)__builtin_ctzll(bits);
	}
	return PDET_FIELDS;
}

#define pdet_fields_for(f, set)                                           \
	for ((f) = pdet_fields_next(set, 0); (f) < PDET_FIELDS;           \
	     (f) = pdet_fields_next(set, (f) + 1))

/* All fields of this library. */
struct pdet_fields pdet_fields_all(void);

/* The order in which fields are shown: position 0 .. PDET_FIELDS - 1. */
unsigned pdet_field_at(unsigned position);

/* pdet_field_info - never NULL for an id below PDET_FIELDS. */
const struct pagedet_field_info *pdet_field_info(unsigned field);

/* pdet_field_by_name - the id, or -1. */
int pdet_field_by_name(const char *name, unsigned len);

/*
 * pdet_group_fields - the fields of "owner", "vma" ..., "all", "everything";
 * false if there is no such group.
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

/* pdet_is_reason - the state says that there is no answer. */
static inline bool pdet_is_reason(unsigned state)
{
	return state >= PAGEDET_UNSUPPORTED;
}

/* The field that holds the known bits of a mask field, or the field itself. */
static inline unsigned pdet_known_field(unsigned field)
{
	return pdet_field_info(field)->known;
}

#endif
