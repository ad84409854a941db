/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Groups page_owner's records, from text (a file, a pipe, or the running
 * kernel's own) or from the pages of a dump.
 */
#ifndef PDET_OWNERS_OWNERS_H
#define PDET_OWNERS_OWNERS_H

#include "backend/backend.h"
#include "owners/keys.h"
#include "owners/read.h"

struct pdet_owners;

struct pdet_owners_args {
	struct pdet_env *env;
	struct pdet_backend *const *backends;
	size_t n_backends;
	uint32_t sources;	/* allowed sources */
	const struct pagedet_owners_query *query;
	uint64_t page_size;
};

int pdet_owners_new(const struct pdet_owners_args *args,
		    struct pdet_owners **ret);
void pdet_owners_free(struct pdet_owners *o);

/* pdet_owners_compare - returns 0, or -EINVAL, -ENOMEM with an error text. */
int pdet_owners_compare(struct pdet_owners *o, struct pdet_env *env,
			const struct pdet_owners *before);
/* pdet_owners_compared - whether groups have their earlier counts. */
bool pdet_owners_compared(const struct pdet_owners *o);

/* pdet_owners_mixed - whether groups have numbers of blocks. */
bool pdet_owners_mixed(const struct pdet_owners *o);

/* pdet_owners_order - returns 0, or -EINVAL, -ENOMEM with an error text. */
int pdet_owners_order(struct pdet_owners *o, struct pdet_env *env,
		      const char *keys, uint64_t min_pages);

/* pdet_owners_next - get the next group. Returns 1, or 0 at the end. */
int pdet_owners_next(struct pdet_owners *o, struct pagedet_owner_group *ret);
/* pdet_owners_at - where the next group is, and how to return there. */
size_t pdet_owners_at(const struct pdet_owners *o);
void pdet_owners_return(struct pdet_owners *o, size_t at);
const char *pdet_owners_text(const struct pdet_owners *o, uint64_t id,
			     size_t *len);
/*
 * pdet_owners_stack - get the frames. Returns their number, -ENOENT or -ENOMEM.
 */
int pdet_owners_stack(struct pdet_owners *o, uint64_t id, const char **frames,
		      uint32_t n);
void pdet_owners_total(const struct pdet_owners *o,
		       struct pagedet_owners_total *ret);

/* pdet_owners_keys - the keys of the groups. */
const uint32_t *pdet_owners_keys(const struct pdet_owners *o, unsigned *n);

/*
 * owners/rows.c: counts the pages of the backends of @args into @to. Returns 0,
 * or -ENOTSUP, -EACCES or -ENODATA with an error text if no backend has such
 * records.
 */
int pdet_owners_by_rows(const struct pdet_owners_args *args,
			struct pdet_owners_reading *to);

#endif
