/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Allocations of the running kernel that BPF programs add up in the kernel, so
 * that no event is kept.
 */
#ifndef PDET_RECORD_TOTALS_H
#define PDET_RECORD_TOTALS_H

#include "base/env.h"
#include "record/sums.h"

struct pdet_totals;
struct pagedet_record_options;
struct pagedet_record_total;

/* pdet_totals_have_key - whether the kernel can add up by this key. */
bool pdet_totals_have_key(uint32_t key);

/*
 * pdet_totals_new - begin; @o is complete, and totals have its keys. Errors as
 * those of pagedet_allocs_record().
 */
int pdet_totals_new(struct pdet_env *env,
		    const struct pagedet_record_options *o,
		    struct pdet_totals **ret);

/* pdet_totals_stop - end; the second time it does nothing. */
int pdet_totals_stop(struct pdet_totals *t, struct pdet_env *env);

/*
 * pdet_totals_read - what was added up; stops it first. Call
 * pdet_totals_sums_free() in any case. -ENOMEM, -EIO.
 */
int pdet_totals_read(struct pdet_totals *t, struct pdet_env *env,
		     struct pdet_kmem_sums *ret);
void pdet_totals_sums_free(struct pdet_kmem_sums *s);

/*
 * pdet_totals_objects - give the live objects that are not pages to @take: with
 * what their keys tell, object and allocated; @sums is that of
 * pdet_totals_read(), and gets their stacks. -ENOMEM, -EIO, or what @take
 * returns if it is negative.
 */
int pdet_totals_objects(struct pdet_totals *t, struct pdet_env *env,
			struct pdet_kmem_sums *sums,
			int (*take)(void *arg, const struct pdet_kmem_event *e),
			void *arg);

/* pdet_totals_by - the keys of the groups. */
const uint32_t *pdet_totals_by(const struct pdet_totals *t, uint64_t *n);

void pdet_totals_total(const struct pdet_totals *t,
		       struct pagedet_record_total *ret);

void pdet_totals_free(struct pdet_totals *t);

#endif
