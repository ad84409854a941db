/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The field "content", for all backends that can read bytes of pages: which
 * pages must not be read, and what is said of those that were.
 */
#ifndef PDET_BACKEND_PAGE_CONTENT_H
#define PDET_BACKEND_PAGE_CONTENT_H

#include "schema/batch.h"

/* Flags of pages that nobody may read: a machine check follows, or another
 * machine's memory is asked for. */
#define PDET_UNREADABLE \
	(PAGEDET_PF(PAGEDET_PF_HWPOISON) | PAGEDET_PF(PAGEDET_PF_OFFLINE))

/*
 * pdet_content_why_not - PAGEDET_HAVE: the page of a row may be read, as far as
 * its columns pfn, kind, flags, pte and notes tell. Else its state: nothing is
 * there, or why it is left alone. Of a dump (not @live) what is not known does
 * no harm.
 */
unsigned pdet_content_why_not(const struct pdet_batch *b, uint32_t row,
			      bool live);

/* pdet_content_take - the bytes at pdet_page_bytes_next() are the row's. */
void pdet_content_take(struct pdet_batch *b, uint32_t row, unsigned source);

#endif
