/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Knows which row has which of the pages that were read. */
#include <stdlib.h>
#include <string.h>

#include "schema/page_bytes.h"

bool pdet_page_bytes_room(struct pdet_batch *b, size_t page_size)
{
	struct pdet_page_bytes *p = b->bytes;

	if (p)
		return true;
	p = malloc(sizeof(*p));
	if (!p)
		return false;
	p->page_size = page_size;
	p->used = 0;
	p->page = calloc(b->cap, sizeof(*p->page));
	p->bytes = malloc((size_t)b->cap * page_size);
	b->bytes = p;
	if (p->page && p->bytes)
		return true;
	pdet_page_bytes_free(b);
	return false;
}

void pdet_page_bytes_free(struct pdet_batch *b)
{
	if (!b->bytes)
		return;
	free(b->bytes->page);
	free(b->bytes->bytes);
	free(b->bytes);
	b->bytes = NULL;
}

void pdet_page_bytes_clear(struct pdet_batch *b)
{
	memset(b->bytes->page, 0, b->cap * sizeof(*b->bytes->page));
	b->bytes->used = 0;
}

char *pdet_page_bytes_next(const struct pdet_batch *b)
{
	return b->bytes->bytes + b->bytes->used * b->bytes->page_size;
}

const char *pdet_page_bytes_take(struct pdet_batch *b, uint32_t row)
{
	b->bytes->page[row] = ++b->bytes->used;
	return pdet_page_bytes_of(b, row);
}

void pdet_page_bytes_drop(struct pdet_batch *b, uint32_t row)
{
	if (b->bytes)
		b->bytes->page[row] = 0;
}

void pdet_page_bytes_move(struct pdet_batch *b, uint32_t row, uint32_t from)
{
	b->bytes->page[row] = b->bytes->page[from];
}

bool pdet_page_bytes_copy(struct pdet_batch *to, uint32_t to_row,
			  const struct pdet_batch *from, uint32_t from_row)
{
	const char *bytes = pdet_page_bytes_of(from, from_row);

	if (!bytes)
		return true;
	if (!pdet_page_bytes_room(to, from->bytes->page_size))
		return false;
	memcpy(pdet_page_bytes_next(to), bytes, from->bytes->page_size);
	pdet_page_bytes_take(to, to_row);
	return true;
}

const char *pdet_page_bytes_of(const struct pdet_batch *b, uint32_t row)
{
	const struct pdet_page_bytes *p = b->bytes;

	if (!p || !p->page[row])
		return NULL;
	return p->bytes + (p->page[row] - 1) * p->page_size;
}
