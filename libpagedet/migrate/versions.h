/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Stores the versions that each page had, and which of them was sent. With
 * these, an outdated page can be told from a damaged one. A query says if it is
 * about more than what was kept.
 */
#ifndef PDET_MIGRATE_VERSIONS_H
#define PDET_MIGRATE_VERSIONS_H

#include "pagedet.h"

struct pdet_versions;

/* @o must be valid. Returns 0 or -ENOMEM. */
int pdet_versions_new(const struct pagedet_versions_options *o,
		      struct pdet_versions **ret);
int pdet_versions_sent(struct pdet_versions *v, uint64_t page, uint32_t state,
		       uint64_t hash, uint64_t turn);
int pdet_versions_dropped(struct pdet_versions *v, uint64_t first, uint64_t n);
void pdet_versions_complete(struct pdet_versions *v, uint32_t complete);
int pdet_versions_look(struct pdet_versions *v, const struct pagedet_seen *seen,
		       uint64_t n, uint32_t when);
int pdet_versions_had(struct pdet_versions *v, uint64_t page, uint64_t hash);
/* As pdet_versions_had(), for contents that may be absent. */
int pdet_versions_had_seen(struct pdet_versions *v, uint64_t page,
			   const struct pagedet_seen *seen);
int pdet_versions_of(struct pdet_versions *v, uint64_t page,
		     struct pagedet_version_of *ret);
void pdet_versions_info(struct pdet_versions *v,
			struct pagedet_versions_info *ret);
/* The caller has checked the size of @e. */
int pdet_versions_evidence(struct pdet_versions *v, uint64_t page,
			   struct pagedet_evidence *e);
void pdet_versions_free(struct pdet_versions *v);

#endif
