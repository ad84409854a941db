/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Compares and searches the contents of pages. */
#ifndef PDET_MIGRATE_SEEN_H
#define PDET_MIGRATE_SEEN_H

#include <stdbool.h>

#include "pagedet.h"

/*
 * pdet_seen_known - whether a page can be compared: its bytes are known, or it
 * is known that there is no page.
 */
bool pdet_seen_known(const struct pagedet_seen *seen);

uint32_t pdet_seen_equal(const struct pagedet_seen *a,
			 const struct pagedet_seen *b);
void pdet_seen_find(const struct pagedet_seen *seen, uint64_t n,
		    struct pagedet_elsewhere *found, uint64_t n_found);

/* pdet_seen_evidence - set @version of @e. Both must be valid. */
#define PDET_SEEN_VERSIONS 8u
void pdet_seen_evidence(const struct pagedet_seen *seen, unsigned version,
			uint64_t hash_key, struct pagedet_evidence *e);

#endif
