/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Detects frames that were freed and allocated again during a query. A page may
 * be swapped out if memory is short, and its address may get the same frame
 * again. The entry is then equal before and after, but the page was read while
 * the frame was free or in other use. A row whose page does not look mapped is
 * therefore read again. Pages of drivers stay unchanged: they are mapped, but
 * nothing in the page shows it.
 */
#ifndef PDET_BACKEND_REUSED_FRAME_H
#define PDET_BACKEND_REUSED_FRAME_H

#include "schema/batch.h"

enum pdet_reused {
	PDET_READ_FLAGS = 1,
	PDET_READ_MAPCOUNT = 2
};

/* pdet_reused_read - decide which parts to read again for the page of a row
 * with a present entry: PDET_READ_*, usually none. Only values from @source
 * count. */
unsigned pdet_reused_read(const struct pdet_batch *b, uint32_t row,
			  unsigned source);

/* pdet_reused - true if the new values of @flags (KPF bits) and @mapcount
 * show that the row has another page now. @read says which of the two were
 * read. */
bool pdet_reused(const struct pdet_batch *b, uint32_t row, unsigned source,
		 unsigned read, uint64_t flags, uint64_t mapcount);

/* pdet_reused_cached - check rows first .. first + n - 1, which are about
 * cached pages of a file. A row with flags that no cached page has gets the
 * note "torn". */
void pdet_reused_cached(struct pdet_batch *b, uint32_t first, uint32_t n);

#endif
