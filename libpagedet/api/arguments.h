/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Checks the caller's arguments before any other code uses them. */
#ifndef PDET_API_ARGUMENTS_H
#define PDET_API_ARGUMENTS_H

#include "api/handle.h"

/*
 * pdet_check_struct - copy a caller's struct to one of @size bytes. The first
 * member of the struct is its size. If it is shorter, the rest is filled with
 * zeroes. If it is longer, the bytes past @size must be zero; otherwise the
 * function returns -E2BIG, and the error text names the byte. If @from is NULL,
 * @defaults is copied.
 */
int pdet_check_struct(struct pdet_env *env, void *to, size_t size,
		      const void *from, const void *defaults,
		      const char *name);

/* pdet_check_answer - check that the caller has set the size of the struct. */
int pdet_check_answer(struct pdet_env *env, const void *to);

/*
 * pdet_answer_struct - copy an answer to the caller's struct, whose size stays
 * as it is. If that is longer, the rest is set to zero.
 */
int pdet_answer_struct(struct pdet_env *env, void *to, const void *from,
		       size_t size);

/*
 * pdet_query - the same as pagedet_query(). @verifies: of objects, addresses
 * are enough, which a trace may have without events.
 */
int pdet_query(struct pagedet *pd, const struct pagedet_query *query,
	       bool verifies, struct pagedet_iter **ret);
int pdet_check_query(struct pagedet *pd, const struct pagedet_query *q);

/* pdet_check_page_size - 0 if a machine of Linux may have pages of @bytes, or
 * it is 0; else -EINVAL. */
int pdet_check_page_size(struct pdet_env *env, uint64_t bytes);
int pdet_check_items(struct pagedet *pd, uint32_t target,
		     const struct pagedet_item *items, uint64_t n);

/* pdet_check_extras - check that named extra information can be read. */
int pdet_check_extras(struct pdet_env *env,
		      const struct pagedet_options *options);

/*
 * pdet_check_files - reject files that must not be read. Linux 6.12 crashes if
 * page_owner_stacks/show_stacks is read 6 bytes at a time.
 */
int pdet_check_files(struct pdet_env *env,
		     const struct pagedet_options *options);

/* pdet_refuse_files - explain files that no source accepts. */
int pdet_refuse_files(struct pdet_env *env,
		      const struct pagedet_options *options);

/* pdet_track_of - the inner object of a caller's tracker. */
struct pdet_track *pdet_track_of(struct pagedet_track *track);

/* Sets reason and advice for a source that is absent. */
void pdet_survey_absent(struct pagedet *pd, uint32_t source,
			struct pdet_ability *ret);
/* Sets that of fields that DAMON tells. */
void pdet_survey_heat(struct pagedet *pd, struct pdet_ability *ret);
/* Sets the ability of fields that the library computes. */
void pdet_survey_derived(struct pagedet *pd, uint32_t field,
			 struct pdet_ability *ret);

#endif
