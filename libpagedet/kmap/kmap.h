/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A KMAP, object by object or in groups. */
#ifndef PDET_KMAP_KMAP_H
#define PDET_KMAP_KMAP_H

#include "base/env.h"
#include "pagedet.h"

struct pdet_kmap;

/* These return 0, or a negative errno with an error text. */
int pdet_kmap_new(struct pdet_env *env, const struct pagedet_kmap_query *q,
		  struct pdet_kmap **ret);
int pdet_kmap_compare(struct pdet_kmap *k, struct pdet_env *env,
		      const struct pdet_kmap *before);
int pdet_kmap_order(struct pdet_kmap *k, struct pdet_env *env,
		    const char *keys);
void pdet_kmap_free(struct pdet_kmap *k);

/* pdet_kmap_next - 1 and the next object, 0 at the end, or an error. */
int pdet_kmap_next(struct pdet_kmap *k, struct pdet_env *env,
		   struct pagedet_kmap_object *ret);

/* These return 1, or 0 at the end. */
int pdet_kmap_next_access(struct pdet_kmap *k, struct pagedet_kmap_access *ret);
int pdet_kmap_next_group(struct pdet_kmap *k, struct pagedet_kmap_group *ret);

const char *pdet_kmap_text(const struct pdet_kmap *k, uint64_t id, size_t *len);
void pdet_kmap_total(const struct pdet_kmap *k, struct pagedet_kmap_total *ret);

/* pdet_kmap_keys - the keys of the groups; *n 0: there are none. */
const uint32_t *pdet_kmap_keys(const struct pdet_kmap *k, unsigned *n);

/* pdet_kmap_lifetime_of - as pdet_kmap_lifetime(), of the last object. */
unsigned pdet_kmap_lifetime_of(const struct pdet_kmap *k, uint64_t *ret);

/* pdet_kmap_nested_told - whether it is known if the last object is nested. */
bool pdet_kmap_nested_told(const struct pdet_kmap *k);

/* pdet_kmap_lifetime_name - the name of a lifetime, with its unit. */
const char *pdet_kmap_lifetime_name(const struct pdet_kmap *k);

#endif
