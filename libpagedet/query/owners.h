/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * page_owner's records, grouped: out of text - a file, a pipe, the running
 * kernel's own - or out of the pages of a dump.
 */
#ifndef PDET_QUERY_OWNERS_H
#define PDET_QUERY_OWNERS_H

#include "backend/backend.h"
#include "query/owners_read.h"

struct pdet_owners;

struct pdet_owners_args {
	struct pdet_env *env;
	struct pdet_backend *const *backends;
	size_t n_backends;
	uint32_t sources;	/* allowed */
	const struct pagedet_owners_query *query;
	uint64_t page_size;
};

int pdet_owners_new(const struct pdet_owners_args *args,
		    struct pdet_owners **ret);
void pdet_owners_free(struct pdet_owners *o);

/* pdet_owners_compare - 0, -EINVAL, -ENOMEM with words. */
int pdet_owners_compare(struct pdet_owners *o, struct pdet_env *env,
			const struct pdet_owners *before);
/* pdet_owners_compared - the groups say what was before. */
bool pdet_owners_compared(const struct pdet_owners *o);

/* pdet_owners_next - 1, or 0 at the end. */
int pdet_owners_next(struct pdet_owners *o, struct pagedet_owner_group *ret);
const char *pdet_owners_text(const struct pdet_owners *o, uint64_t id,
			     size_t *len);
/* pdet_owners_stack - how many frames, -ENOENT, -ENOMEM. */
int pdet_owners_stack(struct pdet_owners *o, uint64_t id, const char **frames,
		      uint32_t n);
void pdet_owners_total(const struct pdet_owners *o,
		       struct pagedet_owners_total *ret);

/* pdet_owners_keys - what they are grouped by. */
const uint32_t *pdet_owners_keys(const struct pdet_owners *o, unsigned *n);

/* pdet_owner_key_name - NULL: there is no such key. */
const char *pdet_owner_key_name(uint32_t key);
bool pdet_owner_key_is_text(uint32_t key);

/* owners_rows.c: into @to, from the pages of @args's backends. 0; -ENOTSUP,
 * -EACCES, -ENODATA with words: none of them keeps such records. */
int pdet_owners_by_rows(const struct pdet_owners_args *args,
			struct pdet_owners_reading *to);

#endif
