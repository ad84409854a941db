/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Filters: "kind=anon and not (flags:lru or mapcount>1)". Three-valued, so
 * that what is not known decides nothing: "!flags:ksm" is not true where ksm
 * could not be read.
 *
 *   expression  and, or, not (also !), parentheses; "not" binds first
 *   test        FIELD OP VALUE
 *   =  !=       numbers, names, texts; VALUE none: there is nothing there
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

/* pdet_filter_new - parse; -EINVAL with words that name the place. */
int pdet_filter_new(struct pdet_env *env, const char *text,
		    struct pdet_filter **ret);
void pdet_filter_free(struct pdet_filter *f);

/* The fields that it looks at. */
struct pdet_fields pdet_filter_fields(const struct pdet_filter *f);

/*
 * pdet_filter_range - bounds that @field must be in for the filter not to be
 * false, from tests joined by "and" at the top; the whole range if there are
 * none. Lets a walk leave out what cannot match.
 */
void pdet_filter_range(const struct pdet_filter *f, unsigned field,
		       uint64_t *first, uint64_t *last);

/* Bytes of scratch that pdet_filter_eval() needs for @rows rows. */
size_t pdet_filter_scratch(const struct pdet_filter *f, uint32_t rows);

/* pdet_filter_eval - enum pdet_truth per row into scratch[0 .. n - 1]. */
void pdet_filter_eval(const struct pdet_filter *f, const struct pdet_batch *b,
		      uint8_t *scratch);

#endif
