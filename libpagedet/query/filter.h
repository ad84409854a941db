/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Filters of rows, for example "kind=anon and not (flags:lru or mapcount>1)".
 * The logic has three values, so that an unknown value decides nothing:
 * "!flags:ksm" is not true if ksm could not be read.
 *
 *   expression  and, or, not (also !), parentheses; "not" binds first
 *   test        FIELD OP VALUE, or only the name of a kind or a flag
 *   =  !=       numbers, names, texts; VALUE none: definitely nothing
 *   <  <= > >=  numbers
 *   :           a bit of a mask, or a name in a list
 *   ~  !~       texts: POSIX extended regular expression
 *   VALUE       up to a blank or parenthesis, or in '...' or "..."
 */
#ifndef PDET_QUERY_FILTER_H
#define PDET_QUERY_FILTER_H

#include "base/env.h"
#include "schema/batch.h"

enum pdet_truth {
	PDET_FALSE = 0,
	PDET_UNKNOWN = 1,
	PDET_TRUE = 2
};

struct pdet_filter;

/*
 * pdet_filter_new - parse a filter. If it returns -EINVAL, the error text
 * quotes the wrong place.
 */
int pdet_filter_new(struct pdet_env *env, const char *text,
		    struct pdet_filter **ret);

/* What a filter tests if it is not rows of fields. */
struct pdet_filter_names {
	/* The number of a name, below 256; *@is_text: what it has. -1: none. */
	int (*find)(void *arg, const char *name, size_t len, bool *is_text);
	void *arg;
	const char *none;	/* what a name without number is not */
};

/* pdet_filter_of - the same, of names; without bare ones. */
int pdet_filter_of(struct pdet_env *env, const char *text,
		   const struct pdet_filter_names *names,
		   struct pdet_filter **ret);

struct pdet_filter_cell {
	unsigned state;		/* PAGEDET_HAVE, PAGEDET_NONE, or unknown */
	uint64_t number;
	bool negative;		/* it is less than any number */
	const char *text;	/* NULL: a number */
};

/* pdet_filter_test - test one thing, whose cells @get tells by their number. */
enum pdet_truth pdet_filter_test(const struct pdet_filter *f,
				 void (*get)(void *arg, unsigned name,
					     struct pdet_filter_cell *ret),
				 void *arg);
void pdet_filter_free(struct pdet_filter *f);

/* The fields that the filter reads. */
struct pdet_fields pdet_filter_fields(const struct pdet_filter *f);

/*
 * pdet_filter_range - bounds of @field. The filter is false for all values
 * outside of them, so a walk can leave these out. The bounds come from tests
 * that "and" joins at the top level. Without such tests there are no bounds.
 */
void pdet_filter_range(const struct pdet_filter *f, unsigned field,
		       uint64_t *first, uint64_t *last);

/* Bytes of scratch that pdet_filter_eval() needs for @rows rows. */
size_t pdet_filter_scratch(const struct pdet_filter *f, uint32_t rows);

/*
 * pdet_filter_eval - write an enum pdet_truth for each row to scratch[0 .. n -
 * 1].
 */
void pdet_filter_eval(const struct pdet_filter *f, const struct pdet_batch *b,
		      uint8_t *scratch);

#endif
