/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Which pages' rows a damage touches: those whose struct pages it hits, and
 * those whose answer comes from there, too; all, if it hits what tells how
 * struct pages are found and read. */
#ifndef TESTS_DUMPS_TOUCHED_H
#define TESTS_DUMPS_TOUCHED_H

#include "answer.h"
#include "damage.h"

/* Frames that answers come from: page tables and sections, symbols and types,
 * struct pages. */
enum { TOUCHED_TABLES, TOUCHED_NAMES, TOUCHED_PAGES, TOUCHED_USES };

struct touched {
	uint64_t *frame;	/* of the struct page of each row */
	uint64_t *group;	/* rows of one folio have the same one */
	bool *row;		/* touched_find() */
	struct touched_frames {
		uint64_t *data;
		size_t n, cap;
	} used[TOUCHED_USES];
};

/* touched_open - of the rows of the whole dump. What fails ends the program. */
void touched_open(struct touched *t, const struct dump_map *map,
		  const struct answer *whole);
void touched_close(struct touched *t);

/* touched_used - some frame that answers come from. */
uint64_t touched_used(const struct touched *t, uint64_t random);

void touched_find(struct touched *t, const struct damage *d,
		  const struct answer *whole);

#endif
