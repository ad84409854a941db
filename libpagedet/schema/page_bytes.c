/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Maps rows to the pages that were read for them. */
#include <stdlib.h>
#include <string.h>

#include "schema/page_bytes.h"

bool pdet_page_bytes_room(struct pdet_page_bytes **ret, uint32_t rows,
			  size_t page_size)
{
	struct pdet_page_bytes *p;

	if (*ret)
		return true;
	p = malloc(sizeof(*p));
	if (!p)
		return false;
	p->page_size = page_size;
	p->rows = rows;
	p->used = 0;
	p->page = calloc(rows, sizeof(*p->page));
	p->bytes = malloc((size_t)rows * page_size);
	if (p->page && p->bytes) {
		*ret = p;
		return true;
	}
	pdet_page_bytes_free(p);
	return false;
}

void pdet_page_bytes_free(struct pdet_page_bytes *p)
{
	if (!p)
		return;
	free(p->page);
	free(p->bytes);
	free(p);
}

void pdet_page_bytes_clear(struct pdet_page_bytes *p)
{
	memset(p->page, 0, p->rows * sizeof(*p->page));
	p->used = 0;
}

char *pdet_page_bytes_next(const struct pdet_page_bytes *p)
{
	return p->bytes + p->used * p->page_size;
}

const char *pdet_page_bytes_take(struct pdet_page_bytes *p, uint32_t row)
{
	p->page[row] = ++p->used;
	return pdet_page_bytes_of(p, row);
}

void pdet_page_bytes_drop(struct pdet_page_bytes *p, uint32_t row)
{
	if (p)
		p->page[row] = 0;
}

void pdet_page_bytes_move(struct pdet_page_bytes *p, uint32_t row,
			  uint32_t from)
{
	p->page[row] = p->page[from];
}

bool pdet_page_bytes_copy(struct pdet_page_bytes **to, uint32_t rows,
			  uint32_t to_row, const struct pdet_page_bytes *from,
			  uint32_t from_row)
{
	const char *bytes = pdet_page_bytes_of(from, from_row);

	if (!bytes)
		return true;
	if (!pdet_page_bytes_room(to, rows, from->page_size))
		return false;
	memcpy(pdet_page_bytes_next(*to), bytes, from->page_size);
	pdet_page_bytes_take(*to, to_row);
	return true;
}

const char *pdet_page_bytes_of(const struct pdet_page_bytes *p, uint32_t row)
{
	if (!p || !p->page[row])
		return NULL;
	return p->bytes + (p->page[row] - 1) * p->page_size;
}
