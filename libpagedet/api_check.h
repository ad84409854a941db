/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What callers hand in is checked here, before anything believes it. */
#ifndef PDET_API_CHECK_H
#define PDET_API_CHECK_H

#include "handle.h"

/*
 * pdet_check_struct - copy a caller's struct, whose first member is its size,
 * into ours of @size bytes. A shorter one is filled up with zeroes; a longer
 * one must be zero where we know nothing of it: -E2BIG names the byte. NULL
 * takes @defaults.
 */
int pdet_check_struct(struct pdet_env *env, void *to, size_t size,
		      const void *from, const void *defaults,
		      const char *name);

/* pdet_answer_struct - the caller's prefix of our answer; its tail beyond
 * ours is zeroed. */
int pdet_answer_struct(struct pdet_env *env, void *to, const void *from,
		       size_t size);

int pdet_check_query(struct pagedet *pd, const struct pagedet_query *q);
int pdet_check_items(struct pagedet *pd, uint32_t target,
		     const struct pagedet_item *items, uint64_t n);

/* pdet_check_extras - extra information that was named can be read. */
int pdet_check_extras(struct pdet_env *env,
		      const struct pagedet_options *options);

/* pdet_check_files - nothing is looked into that must not be: a kernel of 6.12
 * dies when page_owner_stacks/show_stacks is read 6 bytes at a time. */
int pdet_check_files(struct pdet_env *env,
		     const struct pagedet_options *options);

/* pdet_refuse_files - what is wrong with files that no source took. */
int pdet_refuse_files(struct pdet_env *env,
		      const struct pagedet_options *options);

/* pdet_track_of - what a caller's tracker is inside. */
struct pdet_track *pdet_track_of(struct pagedet_track *track);

/* Why a source is not there: sets reason and advice. */
void pdet_survey_absent(struct pagedet *pd, uint32_t source,
			struct pdet_ability *ret);
/* What the library makes itself. */
void pdet_survey_derived(struct pagedet *pd, uint32_t field,
			 struct pdet_ability *ret);

#endif
