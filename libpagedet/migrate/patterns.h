/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Looks at all pages that differ as a whole. Some harm shows in no single page:
 * a block at a wrong offset, memory behind a border, swapped pages sent as
 * empty.
 */
#ifndef PDET_MIGRATE_PATTERNS_H
#define PDET_MIGRATE_PATTERNS_H

#include "migrate/blocks.h"
#include "migrate/versions.h"

/* All kinds, and this many shifts. */
#define PDET_MOST_SHIFTS 4u
#define PDET_MOST_PATTERNS \
	(PAGEDET_PATTERN_EXCHANGED + PDET_MOST_SHIFTS - 1u)

/* Both sides of all pages, and what is known of these; both may be NULL. */
struct pdet_sides {
	const struct pagedet_seen *here, *peer;
	uint64_t n;
	const struct pdet_blocks *blocks;
	struct pdet_versions *versions;
};

/*
 * pdet_patterns - find what pages that differ have in common
 * @ret receives at most PDET_MOST_PATTERNS, the largest first; @of, unless it
 * is NULL, for each page the index of its pattern, plus 1, or 0. Returns their
 * number, or -ENOMEM.
 */
int pdet_patterns(const struct pdet_sides *s, struct pagedet_pattern *ret,
		  uint8_t *of);

/* pattern_text.c: returns the length of the sentence, or -EINVAL. */
int pdet_pattern_text(const struct pagedet_pattern *p, uint64_t page_size,
		      const char *here, const char *peer, char *text,
		      size_t size);
const char *pdet_pattern_name(uint32_t kind);

#endif
