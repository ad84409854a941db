/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the pages whose rows a damage affects: those with a damaged struct
 * page, and those whose answer uses one. All rows are affected if the damage
 * hits data that locates or describes struct pages.
 */
#ifndef TESTS_DUMPS_TOUCHED_H
#define TESTS_DUMPS_TOUCHED_H

#include "answer.h"
#include "damage.h"

/*
 * Frames that answers need: page tables and sections, symbols and types, struct
 * pages.
 */
enum { TOUCHED_TABLES, TOUCHED_NAMES, TOUCHED_PAGES, TOUCHED_USES };

struct touched {
	uint64_t *frame;	/* frame of each row's struct page */
	uint64_t *group;	/* the same for all rows of a folio */
	bool *row;		/* set by touched_find() */
	struct touched_frames {
		uint64_t *data;
		size_t n, cap;
	} used[TOUCHED_USES];
};

/*
 * touched_open - prepare for the rows of the whole dump. A failure ends the
 * program.
 */
void touched_open(struct touched *t, const struct dump_map *map,
		  const struct answer *whole);
void touched_close(struct touched *t);

/* touched_used - a random frame that answers need. */
uint64_t touched_used(const struct touched *t, uint64_t random);

void touched_find(struct touched *t, const struct damage *d,
		  const struct answer *whole);

#endif
