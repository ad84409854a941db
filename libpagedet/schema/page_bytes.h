/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Stores the bytes of pages for the rows of a batch. Memory is allocated at the
 * first read. A page belongs to its row: removing a row removes its page
 * without copying others.
 */
#ifndef PDET_SCHEMA_PAGE_BYTES_H
#define PDET_SCHEMA_PAGE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pdet_page_bytes {
	size_t page_size;
	uint32_t rows;		/* of the batch */
	uint32_t used;		/* pages taken */
	uint32_t *page;		/* by row: 1 + index of its page; 0: none */
	char *bytes;		/* room for one page for each row */
};

/* pdet_page_bytes_room - if *@p is NULL, allocate it for @rows rows. Returns
 * false if there is not enough memory. */
bool pdet_page_bytes_room(struct pdet_page_bytes **p, uint32_t rows,
			  size_t page_size);
void pdet_page_bytes_free(struct pdet_page_bytes *p);
void pdet_page_bytes_clear(struct pdet_page_bytes *p);

/* pdet_page_bytes_next - the read buffer: the page of the next row, followed by
 * those of the rows after it. */
char *pdet_page_bytes_next(const struct pdet_page_bytes *p);

/* pdet_page_bytes_take - assign the next page that was read to @row, which must
 * have none. */
const char *pdet_page_bytes_take(struct pdet_page_bytes *p, uint32_t row);

/* pdet_page_bytes_drop - remove the page of the row. @p may be NULL. */
void pdet_page_bytes_drop(struct pdet_page_bytes *p, uint32_t row);

/* pdet_page_bytes_move - move the page of row @from to @row. */
void pdet_page_bytes_move(struct pdet_page_bytes *p, uint32_t row,
			  uint32_t from);

/* pdet_page_bytes_copy - copy the page of a row of @from, which may be NULL.
 * Row @to_row of *@to must not have a page yet. If *@to is NULL, it is
 * allocated for @rows rows. Returns false if there is not enough memory. */
bool pdet_page_bytes_copy(struct pdet_page_bytes **to, uint32_t rows,
			  uint32_t to_row, const struct pdet_page_bytes *from,
			  uint32_t from_row);

/*
 * pdet_page_bytes_of - get the bytes of a row. Returns NULL if they were not
 * read. @p may be NULL.
 */
const char *pdet_page_bytes_of(const struct pdet_page_bytes *p, uint32_t row);

#endif
