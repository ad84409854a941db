/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The bytes of the pages that rows of a batch are about. They are there only
 * once somebody has read some, and go with the row: a row that is filtered out
 * takes its page along, without others being copied.
 */
#ifndef PDET_SCHEMA_PAGE_BYTES_H
#define PDET_SCHEMA_PAGE_BYTES_H

#include "schema/batch.h"

struct pdet_page_bytes {
	size_t page_size;
	uint32_t used;		/* pages taken */
	uint32_t *page;		/* by row: 1 + number of its page; 0: none */
	char *bytes;		/* of as many pages as there can be rows */
};

/* pdet_page_bytes_room - before the first is read; false without memory. */
bool pdet_page_bytes_room(struct pdet_batch *b, size_t page_size);
void pdet_page_bytes_free(struct pdet_batch *b);
void pdet_page_bytes_clear(struct pdet_batch *b);

/* pdet_page_bytes_next - where to read to: the page of the row that is taken
 * next, and behind it those of the ones after that. */
char *pdet_page_bytes_next(const struct pdet_batch *b);

/* pdet_page_bytes_take - what was read there is the page of @row, which had
 * none. */
const char *pdet_page_bytes_take(struct pdet_batch *b, uint32_t row);

/* pdet_page_bytes_drop - the row has none. */
void pdet_page_bytes_drop(struct pdet_batch *b, uint32_t row);

/* pdet_page_bytes_move - what @from has, @row has now. */
void pdet_page_bytes_move(struct pdet_batch *b, uint32_t row, uint32_t from);

/* pdet_page_bytes_copy - out of another batch, into a row that has none; false
 * without memory. */
bool pdet_page_bytes_copy(struct pdet_batch *to, uint32_t to_row,
			  const struct pdet_batch *from, uint32_t from_row);

/* pdet_page_bytes_of - NULL: they were not read. */
const char *pdet_page_bytes_of(const struct pdet_batch *b, uint32_t row);

#endif
