/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The field "content", for all backends that read bytes of pages: which pages
 * must not be read, and the classification of the others.
 */
#ifndef PDET_BACKEND_PAGE_CONTENT_H
#define PDET_BACKEND_PAGE_CONTENT_H

#include "schema/batch.h"

/* Flags of pages that must never be read: the read would raise a machine check,
 * or access another machine's memory. */
#define PDET_UNREADABLE \
	(PAGEDET_PF(PAGEDET_PF_HWPOISON) | PAGEDET_PF(PAGEDET_PF_OFFLINE))

/*
 * pdet_content_why_not - PAGEDET_HAVE if the page of a row may be read,
 * according to the columns pfn, kind, flags, pte and notes. Otherwise the state
 * for the cell. For a dump (not @live), unknown columns do no harm.
 */
unsigned pdet_content_why_not(const struct pdet_batch *b, uint32_t row,
			      bool live);

/* pdet_content_take - the bytes at pdet_page_bytes_next() belong to the row. */
void pdet_content_take(struct pdet_batch *b, uint32_t row, unsigned source);

#endif
